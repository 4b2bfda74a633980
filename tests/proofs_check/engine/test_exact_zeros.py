"""Zeros and places of extrema that boxes do not isolate: multiple zeros, far tails, plateaus."""

from __future__ import annotations

from fractions import Fraction

import pytest
from deciding import cases, check, verdict

TRUE = [
    "zeros(sin(p)-1, p in [0,2*pi)) == {pi/2}",
    "zeros(sin(p)-1, p in [0,4*pi)) == {pi/2, 5*pi/2}",
    "zeros(1+cos(p), p in [0,2*pi]) == pi",
    "zeros(diff(gelu(x),x,2), x in R) == {-sqrt(2), sqrt(2)}",
    "zeros(diff(tanh(x),x,2), x in R) == 0",
    "zeros(diff(sigmoid(x),x,2), x in R) == 0",
    "zeros(diff(tanh(x)*sech(x),x), x in R) == {-asinh(1), asinh(1)}",
    "zeros(x**2*exp(x), x in R) == 0",
    "zeros((x-1)**2*(x+2), x in R) == {-2, 1}",
    "zeros(x**4 - 2*x**2 + 1, x in R) == {-1,1}",
    "zeros(x - sin(x), x in R) == 0",
    "zeros(exp(x) - 1 - x, x in R) == 0",
    "zeros(cosh(x)-1, x in R) == 0",
    "zeros(log(x), x > 0) == 1",
    "zeros(sqrt(x), x in [0,1]) == 0",
    "zeros(max(0,x-1)-1/2, x in R) == 3/2",
    "zeros(tanh(50*(x-1)), x in R) == 1",
]
FALSE = [
    "zeros(sin(p)-1, p in [0,2*pi)) == {1.5708}",
    "zeros(sin(p)-1, p in [0,4*pi)) == {pi/2}",
    "zeros(diff(gelu(x),x,2), x in R) == {-1.4142135, 1.4142135}",
    "zeros(diff(gelu(x),x,2), x in R) == sqrt(2)",
    "argmax(min(x,1), x in [0,2]) == {1,2}",
    "argmax(min(x,1), x in [0,2]) == 1",
    "zeros(x - x, x in R) == 0",
    "zeros(sin(x)**2+cos(x)**2-1, x in R) == 0",
    "zeros(relu(x), x in R) == 0",
    "zeros(x**4 - 2*x**2 + 1, x in R) == {-1}",
    "zeros(exp(x) - 1 - x, x in R) == {0, 1}",
    "zeros(sqrt(x), x in (0,1]) == 0",
    "zeros(tanh(50*(x-1)), x in R) == 1.0000001",
    "zeros(max(0,x-1)-1/2, x in R) == 1.4999999",
    "argmax(relu(1-x), x in [0,3]) == {0, 3}",
    "argmin(relu(x), x in [-1,3]) == {0}",
]
ILL_POSED = [
    "argmax(tanh(x), x in R) == 1",
    "zeros(log(x), x in R) == 1",
    "zeros(sin(x)/x, x in R) == 1",
]


@pytest.mark.parametrize(("text", "allowed"), cases(TRUE, FALSE, ILL_POSED))
def test_verdict(text: str, allowed: tuple[str, ...]) -> None:
    check(text, allowed)


def test_plateau_is_refuted_by_a_point_of_it():
    found = verdict("argmax(min(x, 1), x in [0, 2]) == {1, 2}")
    assert 1 < Fraction(found.witness["x"]) < 2


def test_missing_double_zero_is_named():
    found = verdict("zeros(sin(p) - 1, p in [0, 4*pi)) == {pi/2}")
    assert "pi" in found.witness["p"]
