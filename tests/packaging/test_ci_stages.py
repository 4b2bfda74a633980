"""The table of `.ci/run`, with stand-ins for make and apt-get: a stage is never skipped silently."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ("bash", "cat", "dirname", "env", "grep", "mktemp", "rm", "timeout")
SUDO = 'while [[ $1 == -* ]]; do shift; done; exec "$@"'


@pytest.fixture
def run(tmp_path):
    """Runs one of the scripts with only some tools and the given stand-ins in PATH."""
    for tool in TOOLS:
        (tmp_path / tool).symlink_to(shutil.which(tool))

    def with_stand_ins(script, **stand_ins):
        for name, body in {"sudo": SUDO, **stand_ins}.items():
            file = tmp_path / name.replace("_", "-")
            file.write_text(f"#!{tmp_path}/bash\n{body}\n")
            file.chmod(0o755)
        return subprocess.run(
            [tmp_path / "bash", ROOT / ".ci" / script],
            capture_output=True, text=True, check=False, timeout=60, env={"PATH": str(tmp_path)},
        )  # fmt: skip

    return with_stand_ins


def test_without_coq_and_apt_the_theorems_are_skipped_with_the_reason(run):
    done = run("coq", make="exit 0")
    assert done.returncode == 77
    assert done.stdout == ("the theorems were NOT compiled: coqc is not installed, and there is no apt-get\n")


@pytest.mark.parametrize(
    ("apt", "reason", "other"),
    [
        (
            "echo 'E: Could not resolve host'; exit 100",
            *["apt-get update failed: E: Could not resolve host"] * 2,
        ),
        (
            "[[ $* == *update* ]] || exit 3",
            "apt-get install failed: exit 3",
            "apt-get download failed: exit 3",
        ),
    ],
)
def test_the_table_says_why_a_stage_was_skipped(run, apt, reason, other):
    done = run("run", make="exit 0", apt_get=apt)
    assert done.returncode == 0, done.stdout
    *_, table = done.stdout.partition("stage        seconds  result\n")
    rows = {line[:12].strip(): line[22:] for line in table.splitlines()}
    assert rows["theorems"] == f"skipped: {reason}"
    assert rows["browser"] == f"skipped: {reason}"
    assert rows["networks"] == f"skipped: {other}"
    assert rows["tests"] == rows["report"] == "passed"
    assert rows["total"] == "passed, 3 skipped"


def test_theorems_that_coqc_refuses_fail_the_run(run):
    done = run("run", make="[[ $1 != coq ]]", apt_get="exit 0")
    assert done.returncode == 1
    assert "theorems" in done.stdout
    assert "failed: exit 1" in done.stdout
    assert "FAILED" in done.stdout.splitlines()[-1]
