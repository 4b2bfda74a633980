"""The Triton source itself, run in Triton's interpreter: one process for all of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("triton")


def test_kernels_in_the_interpreter():
    script = Path(__file__).with_name("interpreted.py")
    done = subprocess.run(
        [sys.executable, "-P", str(script)],
        env={**os.environ, "TRITON_INTERPRET": "1"},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr
