"""Softmax and attention of the Triton source itself, in Triton's interpreter: one process for all of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("triton")


@pytest.mark.parametrize("size", ["some", pytest.param("all", marks=pytest.mark.deep)])
def test_softmax_and_attention_in_the_interpreter(size):
    script = Path(__file__).with_name("softmax_in_triton.py")
    done = subprocess.run(
        [sys.executable, "-P", str(script), size],
        env={**os.environ, "TRITON_INTERPRET": "1"},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr
