"""Faults planted in kernels are found by rows of ``gateproof kernels check``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("triton")
PLANTED = Path(__file__).with_name("planted.py")
#: Fault -> a row that must fail, and words of its reason.
FOUND = {
    "a cast that truncates": ("silu forward", "not correctly rounded"),
    "a store without its mask": ("silu bounds", "a store beside the tensor"),
    "a program id of 32 bits": ("silu 64-bit indices", "overflow"),
    "g and 1 - g swapped": ("tg_k3 forward", "units in the last place"),
    "no guard at -infinity": ("tg_k3 forward", "units in the last place"),
}


@pytest.fixture(scope="module")
def rows() -> dict[str, dict[str, str]]:
    done = subprocess.run(
        [sys.executable, "-P", str(PLANTED)],
        env={**os.environ, "TRITON_INTERPRET": "1"},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def test_without_a_fault_nothing_fails(rows):
    assert rows["none"] == {}


@pytest.mark.parametrize("fault", FOUND)
def test_a_planted_fault_is_found(rows, fault):
    row, said = FOUND[fault]
    assert said in rows[fault].get(row, ""), rows[fault]
