"""T01, T02: triton#11584, #4972, #5895, #8322: bfloat16 in the interpreter; layouts, odd lengths."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("triton")


@pytest.fixture(scope="module")
def found():
    """What the script beside this file prints, in a process that chose the interpreter before Triton came."""
    done = subprocess.run(
        [sys.executable, "-P", str(Path(__file__).with_name("in_triton.py"))],
        env={**os.environ, "TRITON_INTERPRET": "1"},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def test_bfloat16_is_cut_off_without_the_repair_and_rounded_with_it(found):
    assert found["store"] == {"as it is": 1.0078125, "repaired": 1.015625}


def test_arithmetic_after_a_cast_to_float32_is_right(found):
    assert found["twice"] == [-400.0]
    assert found["relu"] == [0.0, 0.0]
    assert found["product"] is True


def test_bfloat16_operations_are_those_of_pytorch(found):
    assert found["silu in bfloat16"] is True


def test_relu_at_special_numbers(found):
    assert found["special"] == ["nan", "0.0", "0.0", "89.0", "inf"]


def test_every_length_and_layout(found):
    assert found["lengths"] == {"0": True, "1": True, "7": True, "8": True, "9": True, "1025": True}
    assert found["transposed"] == [[0.0, 0.0], [0.0, 1.0], [0.0, 2.0], [0.0, 3.0]]
