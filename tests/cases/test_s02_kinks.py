"""S02: sympy#9907, #11060, #24056: one gradient at a kink for all spellings of one function."""

from __future__ import annotations

import numpy as np
import pytest
from array_backends import SLOPES, VALUES

RELU = [
    "max(0, x)",
    "max(x, 0)",
    "relu(x)",
    "x*step(x)",
    "where(x > 0, x, 0)",
    "where(x >= 0, x, 0)",
    "x*where(x >= 0, 1, 0)",
    "(x + abs(x))/2",
    "(x + sqrt(x**2))/2",
    "-min(-x, 0)",
    "x - min(x, 0)",
    "max(0, max(0, x))",
    "tg(x, tau=oo, theta=[0], slope=[0, 1], intercept=[0, 0])",
    "leaky_relu(x, 0)",
]
SOFT = [
    "sign(x)*max(abs(x) - 1/2, 0)",
    "soft_threshold(x)",
    "max(x - 1/2, 0) - max(-x - 1/2, 0)",
    "where(x > 1/2, x - 1/2, where(x < -1/2, x + 1/2, 0))",
    "x - max(-1/2, min(1/2, x))",
]
X = np.array([-2.0, -0.5, 0.0, 0.5, 2.0])


@pytest.mark.parametrize("backend", SLOPES)
@pytest.mark.parametrize("text", RELU)
def test_relu_in_all_spellings(backend, text):
    assert VALUES[backend](text, X).tolist() == [0, 0, 0, 0.5, 2]
    assert SLOPES[backend](text, X).tolist() == [0, 0, 0, 1, 1]


@pytest.mark.parametrize("backend", SLOPES)
@pytest.mark.parametrize("text", SOFT)
def test_soft_threshold_in_all_spellings(backend, text):
    assert VALUES[backend](text, X).tolist() == [-1.5, 0, 0, 0, 1.5]
    assert SLOPES[backend](text, X).tolist() == [1, 0, 0, 0, 1]


@pytest.mark.parametrize("backend", SLOPES)
@pytest.mark.parametrize("text", ["relu(x) - relu(-x)", "x", "max(x, x)", "where(x > 0, x, x)"])
def test_no_kink_where_the_pieces_continue_each_other(backend, text):
    assert SLOPES[backend](text, X).tolist() == [1] * 5


@pytest.mark.parametrize("backend", SLOPES)
@pytest.mark.parametrize("text", ["abs(x)", "sqrt(x**2)", "max(x, -x)", "x*sign(x)", "where(x < 0, -x, x)"])
def test_abs_in_all_spellings(backend, text):
    assert SLOPES[backend](text, X).tolist() == [-1, -1, 0, 1, 1]
