"""`pytest --gateproof`: a test a reading, in a project of its own."""

from __future__ import annotations

import re
import subprocess
import sys
from xml.etree import ElementTree as Tree

import pytest

CLAIMS = """\
[[claim]]
id = "good"
formal = "for x in R: tanh(x)**2 <= 1"

[[claim]]
id = "known.bad"
formal = "for x in R: x**2 > 0"
pin = "refuted"

[[claim]]
id = "two"
  [[claim.reading]]
  name = "first"
  formal = "sup(sin(x), x in R) == 1"
  [[claim.reading]]
  name = "second"
  formal = "sup(sin(x), x in R) <= 1/2"

[[claim]]
id = "waits"
evidence = "tosses"
criterion = "heads_lo < 1/2"
needs = "a coin"
pin = "not-run"
"""


def run(folder, *words, xml=True):
    command = [sys.executable, "-P", "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:randomly", *words]
    found = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    return found.returncode, found.stdout + found.stderr


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    (folder / "paper.claims.toml").write_text(CLAIMS)
    (folder / "test_other.py").write_text("def test_other():\n    pass\n")
    (folder / "pyproject.toml").write_text("[tool.gateproof]\nboxes = 5000\n")
    return folder


def test_a_reading_is_a_test_with_a_clear_account(project):
    code, text = run(project, "--gateproof", "-v", "--junit-xml=out.xml")
    assert code == 1
    assert re.search(r"paper\.claims\.toml::good PASSED", text)
    assert re.search(r"paper\.claims\.toml::known\.bad PASSED", text)
    assert re.search(r"paper\.claims\.toml::two\[first\] PASSED", text)
    assert re.search(r"paper\.claims\.toml::two\[second\] FAILED", text)
    assert re.search(r"paper\.claims\.toml::waits SKIPPED", text)
    assert "two, second: refuted (FAILED: not pinned)" in text
    assert "formal       sup(sin(x), x in R) <= 1/2" in text
    assert "true instead sup(sin(x), x in R) <= 1" in text
    assert "Traceback" not in text
    assert "4 passed, 1 skipped" in text.replace("1 failed, ", "")
    cases = {case.get("name") for case in Tree.parse(project / "out.xml").getroot().iter("testcase")}
    assert {"good", "two[second]", "test_other"} <= cases


def test_without_the_option_claims_are_no_tests(project):
    code, text = run(project, "-q")
    assert code == 0
    assert "1 passed" in text


def test_readings_are_chosen_as_tests_are(project):
    code, text = run(project, "--gateproof", "-q", "-k", "good or first")
    assert code == 0
    assert "2 passed, 4 deselected" in text
    code, text = run(project, "--gateproof", "-q", "paper.claims.toml::two[second]")
    assert code == 1
    assert "1 failed" in text
    code, text = run(
        project, "--gateproof", "-q", "-m", "gateproof", "--deselect", "paper.claims.toml::two[second]"
    )
    assert code == 0
    assert "3 passed, 1 skipped, 2 deselected" in text


def test_xdist_runs_them_in_parallel(project):
    code, text = run(project, "--gateproof", "-q", "-n", "2", "-k", "not second")
    assert code == 0
    assert "4 passed, 1 skipped" in text


def test_a_file_with_faults_is_a_collection_error_with_every_fault(tmp_path):
    (tmp_path / "gateproof.toml").write_text(
        '[[claim]]\nid = "a"\nformal = "1 +"\n[[claim]]\nformal = "1 == 1"\n'
    )
    code, text = run(tmp_path, "--gateproof", "-q")
    assert code == 2
    assert "gateproof.toml:3: a: formal: column" in text
    assert "gateproof.toml:5: claim 2: has no id" in text or "gateproof.toml:4: claim 2: has no id" in text
    assert "Traceback" not in text


def test_text_of_a_claim_is_no_command_to_a_terminal_or_a_host(tmp_path):
    says = 'says = "one\\n::error::two \\u001b[31m"'
    (tmp_path / "a.claims.toml").write_text(f'[[claim]]\nid = "a"\n{says}\nformal = "1 == 2"\n')
    code, text = run(tmp_path, "--gateproof", "-q")
    assert code == 1
    assert "one ::error::two \\x1b[31m" in text
    assert "\x1b[31m" not in text


def test_files_of_the_project_are_collected_also_from_below_it(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.md").write_text("gateproof-claim a: 1 == 1\n")
    (tmp_path / "docs/b.md").write_text("gateproof-claim b: 1 == 2\n")
    (tmp_path / "pyproject.toml").write_text('[tool.gateproof]\nfiles = ["docs/a.md"]\n[tool.pytest]\n')
    code, text = run(tmp_path, "--gateproof", "--collect-only", "-q", "--rootdir", ".")
    assert (code, "docs/a.md::a" in text, "b.md" in text) == (0, True, False)
    code, text = run(tmp_path / "docs", "--gateproof", "-q", "--rootdir", "..")
    assert code == 0
    assert "1 passed" in text
