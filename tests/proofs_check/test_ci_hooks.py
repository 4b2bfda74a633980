"""What other repositories plug in: the action's step, its annotations, the hook, each run as it stands."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gateproof.proofs_check.cli import main
from gateproof.proofs_check.render import annotations

ROOT = Path(__file__).resolve().parents[2]
GOOD = '[[claim]]\nid = "good"\nformal = "for x in R: tanh(x)**2 <= 1"\npin = "proved"\n'
BAD = '\n[[claim]]\nid = "bad"\nformal = "for x in R: tanh(x)**2 <= 1/2"\npin = "proved"\n'


@pytest.fixture
def step(tmp_path):
    """Runs the action's script with a gateproof on the path, as the action has installed it."""
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin/gateproof"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m gateproof "$@"\n')
    command.chmod(0o755)

    def run(files=""):
        environment = {
            **os.environ,
            "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
            "GITHUB_OUTPUT": str(tmp_path / "output"),
            "GATEPROOF_FILES": files,
        }
        return subprocess.run(
            [ROOT / ".github/check.sh"],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_a_job_that_is_as_pinned(step, tmp_path):
    (tmp_path / "gateproof.toml").write_text(GOOD)
    found = step()
    assert found.returncode == 0, found.stderr
    assert "::" not in found.stdout
    assert "good" in (tmp_path / "summary.md").read_text()
    assert (tmp_path / "output").read_text() == "exit-code=0\n"
    assert (tmp_path / "gateproof-report/report.sarif").is_file()


def test_drift_fails_the_job_at_its_line(step, tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.claims.toml").write_text(GOOD + BAD)
    found = step("docs/a.claims.toml")
    assert found.returncode == 1
    (line,) = [row for row in found.stdout.splitlines() if row.startswith("::")]
    assert line.startswith("::error file=docs/a.claims.toml,line=7,title=bad%3A refuted::")
    assert "DRIFT from proved%0Afor x in R" in line
    assert (tmp_path / "summary.md").read_text().index("Drift") < 2_000
    assert (tmp_path / "output").read_text() == "exit-code=1\n"


def test_globs_reach_gateproof_as_they_are(step, tmp_path):
    (tmp_path / "gateproof.toml").write_text(GOOD + BAD)
    assert step("go*").returncode == 0
    assert step("nosuch*").returncode == 5


def test_files_may_stand_on_lines_of_their_own(step, tmp_path):
    (tmp_path / "a.claims.toml").write_text(GOOD)
    (tmp_path / "b.claims.toml").write_text(BAD)
    assert step("a.claims.toml\nb.claims.toml\n").returncode == 1


def test_a_paper_that_is_named_as_a_command_is_only_printed(step, tmp_path):
    (tmp_path / "gateproof.toml").write_text(GOOD.replace("pin", 'paper = "::add-mask::a"\npin', 1))
    lines = step().stdout.splitlines()
    (stop, *_), (start, *_) = (
        [k for k, row in enumerate(lines) if re.fullmatch(p, row)]
        for p in (r"::stop-commands::\w{32}", r"::\w{32}::")
    )
    assert lines[stop].removeprefix("::stop-commands::") == lines[start].strip(":")
    assert all(stop < k < start for k, row in enumerate(lines) if "add-mask" in row)


def test_text_from_a_claim_cannot_open_another_command():
    reading = {
        "name": "r\n::error::x",
        "verdict": "refuted",
        "pin": "proved",
        "drift": True,
        "formal": "100% ::set-env",
        "witness": {"x": "1\r\n::warning::y"},
        "reason": "",
    }
    claim = {"id": "a", "source": {"file": "a,b:c.toml", "line": 3}, "readings": [reading]}
    text = annotations.render({"claims": [claim]})
    assert len(text.splitlines()) == 1
    assert text.startswith("::error file=a%2Cb%3Ac.toml,line=3,title=a%3A refuted::")
    assert "100%25" in text


def test_the_action_uses_the_script_and_passes_its_inputs():
    text = (ROOT / "action.yml").read_text()
    assert ".github/check.sh" in text
    assert set(re.findall(r"GATEPROOF_\w+", text)) == set(
        re.findall(r"GATEPROOF_\w+", (ROOT / ".github/check.sh").read_text())
    )
    assert os.access(ROOT / ".github/check.sh", os.X_OK)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("docs/a.claims.toml", True),
        ("gateproof.toml", True),
        ("x/gateproof.toml", True),
        ("mygateproof.toml", False),
        ("a.toml", False),
        ("claims.toml", False),
    ],
)
def test_the_hook_is_for_claims_files(name, wanted):
    text = (ROOT / ".pre-commit-hooks.yaml").read_text()
    pattern = re.search(r"files: (.*)", text)[1]
    assert bool(re.search(pattern, name)) == wanted
    (entry,) = re.findall(r"entry: gateproof (\w+)", text)
    assert main([entry, "--show-settings"]) == 0


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_pre_commit_runs_the_hook(tmp_path, step):
    from importlib.util import find_spec

    if find_spec("pre_commit") is None:
        pytest.skip("pre-commit is not installed")
    # The hook as it stands, but run by the gateproof of this environment instead of a new one.
    hook = (ROOT / ".pre-commit-hooks.yaml").read_text().replace("language: python", "language: system")
    hook = "\n".join(f"      {line}" for line in hook.splitlines() if not line.startswith("#"))
    (tmp_path / ".pre-commit-config.yaml").write_text(f"repos:\n  - repo: local\n    hooks:\n{hook}\n")
    (tmp_path / "gateproof.toml").write_text(GOOD)
    environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "HOME": str(tmp_path)}

    def run(*words):
        return subprocess.run(
            words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )

    run("git", "init", "-q")
    run("git", "add", "gateproof.toml")
    command = (sys.executable, "-P", "-m", "pre_commit", "run", "--all-files")
    passed = run(*command)
    assert passed.returncode == 0, passed.stdout + passed.stderr
    assert "gateproof check" in passed.stdout
    (tmp_path / "gateproof.toml").write_text(GOOD + BAD)
    failed = run(*command)
    assert failed.returncode == 1
    assert "DRIFT from proved" in failed.stdout
