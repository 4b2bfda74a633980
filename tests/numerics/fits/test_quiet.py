"""Compiled code must not write into a program's output."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = """
import ctypes, os, sys
from gateproof.numerics.fits.quiet import quiet
libc = ctypes.CDLL(None)
print("before")
with quiet():
    libc.puts(b"from C")
    print("from Python", flush=True)
    os.system("echo from a child")
print("after", flush=True)
libc.puts(b"C again"); libc.fflush(None)
"""


def run(script):
    return subprocess.run(
        [sys.executable, "-P", "-c", script],
        env={"PYTHONPATH": str(ROOT / "src"), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stdout.split("\n")


def test_what_is_written_inside_goes_nowhere_and_the_output_is_back_afterwards():
    assert run(SCRIPT) == ["before", "after", "C again", ""]


def test_without_a_standard_output_nothing_happens():
    closed = SCRIPT.split("print")[0] + "os.close(1)\nwith quiet():\n    pass\n"
    assert run(closed) == [""]
