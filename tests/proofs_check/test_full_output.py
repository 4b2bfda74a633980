"""Standard output that takes nothing: one line, exit code 3, and no traceback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FULL = Path("/dev/full")


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full here")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["certify", "1 + 1"], 3),
        (["certify", "1 + 1", "--json", "-j", "1"], 3),
        (["certify", "--help"], 3),
        (["--version"], 3),
        # What was refused has nothing to print.
        (["certify", "1 +"], 2),
    ],
)
def test_a_full_disk_is_one_line(environment, tmp_path, words, code, unbuffered):
    with FULL.open("w") as full:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "gateproof", *words],
            cwd=tmp_path, env={**environment, "PYTHONUNBUFFERED": unbuffered}, stdout=full,
            stderr=subprocess.PIPE, text=True, timeout=60, check=False,
        )  # fmt: skip
    assert done.returncode == code
    (line,) = done.stderr.splitlines()
    said = "gateproof: standard output cannot be written: No space left on device"
    assert (line == said) == (code == 3)
