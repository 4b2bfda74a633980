"""Of a function or data that is a gate to rounding the gate comes out, not the last digits of doubles."""

from __future__ import annotations

import numpy as np
import pytest

import gateproof


def silu(x):
    """In doubles, of one number or many, so nothing is known of it but values."""
    e = np.exp(-np.abs(x))
    return x * np.where(x >= 0, 1, e) / (1 + e)


@pytest.mark.parametrize("k", [2, pytest.param(3, marks=pytest.mark.deep)])
def test_a_function_that_is_a_gate_to_rounding(k):
    found = gateproof.fit(silu, k, domain="[-8, 8]")
    assert found.text == "tg(x, tau=1, theta=[0], slope=[0, 1], intercept=[0, 0])"
    assert 0 < float(found.error.hi) < 1e-14


def test_data_with_a_missing_value_that_are_a_gate_to_rounding(tmp_path):
    x = np.linspace(-4, 4, 100)
    y = np.where(x == x[30], np.nan, np.tanh(x))
    path = tmp_path / "tanh.csv"
    np.savetxt(path, np.column_stack([x, y]), delimiter=",", fmt="%.17g")
    found = gateproof.fit(str(path), 3)
    assert found.text == "tg(x, tau=2, theta=[0], slope=[0, 0], intercept=[-1, 1])"


def test_what_is_above_rounding_is_kept():
    # A slope of 1e-9 on the left, far above the rounding of the values, is seen.
    found = gateproof.fit(lambda x: silu(x) + 1e-9 * (x - silu(x)), 2, domain="[-8, 8]")
    assert float(found.error.hi) < 1e-13
    assert found.numpy(-8.0) == pytest.approx(silu(-8.0) + 1e-9 * (-8 - silu(-8.0)), abs=1e-13)
