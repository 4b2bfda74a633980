"""tanh written with exponentials: no inf/inf in any backend, and provably the same function."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from array_backends import ALL_SLOPES as SLOPES
from array_backends import ALL_VALUES as VALUES

from gateproof.numerics.points import at_point, rational_bounds
from gateproof.proofs_check.engine import decide
from gateproof.proofs_check.records import Reading
from gateproof.theory.formula import expand, parse_expr

QUOTIENTS = ["(exp(x)-exp(-x))/(exp(x)+exp(-x))", "(exp(2*x)-1)/(exp(2*x)+1)"]
TANH_GELU = "0.5*x*(1+tanh(sqrt(2/pi)*(x+0.044715*x**3)))"


@pytest.mark.parametrize("text", QUOTIENTS)
@pytest.mark.parametrize("x", ["-800", "-100", "-13.5", "50", "89", "100", "800"])
def test_values_far_out(text: str, x: str) -> None:
    lo, hi = rational_bounds(at_point(expand(parse_expr(text)), {"x": Fraction(x)}, 128))
    sign = -1 if x.startswith("-") else 1
    # 1 - |tanh x| < 2 exp(-2|x|)
    with mp.workdps(30):
        gap = Fraction(str(2 * mp.exp(-2 * abs(mp.mpf(x))))) + Fraction(1, 2**100)
    assert abs(lo - sign) <= gap
    assert abs(hi - sign) <= gap


@pytest.mark.parametrize("text", QUOTIENTS)
def test_both_are_tanh_everywhere(text: str) -> None:
    assert decide(Reading("", f"for x in R: {text} == tanh(x)")).verdict == "proved"


@pytest.mark.parametrize(("x", "right"), [("-13.5", "-3.386962024e-85"), ("100", "100")])
def test_the_cubic_argument(x: str, right: str) -> None:
    lo, hi = rational_bounds(at_point(expand(parse_expr(TANH_GELU)), {"x": Fraction(x)}, 512))
    close = abs(Fraction(right)) * Fraction(1, 10**9)
    assert abs(lo - Fraction(right)) <= close
    assert abs(hi - Fraction(right)) <= close


def test_derivatives_far_out() -> None:
    assert decide(Reading("", "limit(diff(tanh(x), x), x, oo) == 0")).verdict == "proved"
    assert decide(Reading("", "limit(diff(gelu_tanh(x), x), x, oo) == 1")).verdict in (
        "proved",
        "inconclusive",
    )


@pytest.mark.parametrize("backend", VALUES)
@pytest.mark.parametrize("text", QUOTIENTS)
def test_arrays_far_out(backend: str, text: str) -> None:
    for x in (np.array([-100, -13.5, 50, 89, 100], np.float32), np.array([-800.0, 800.0])):
        np.testing.assert_allclose(VALUES[backend](text, x), np.sign(x), rtol=1e-7)
        # sech(x)**2, below 1e-10 at all of these.
        assert (np.abs(SLOPES[backend](text, x)) < 1e-10).all()


@pytest.mark.parametrize("backend", VALUES)
def test_arrays_of_the_cubic_argument(backend: str) -> None:
    x = np.array([-100, -13.5, 50, 100, 1e19, -1e30, np.inf, -np.inf], np.float32)
    right = np.array([0, 0, 50, 100, 1e19, 0, np.inf, 0], np.float32)
    np.testing.assert_allclose(VALUES[backend](TANH_GELU, x), right, rtol=1e-7)
    np.testing.assert_allclose(SLOPES[backend](TANH_GELU, x), [0, 0, 1, 1, 1, 0, 1, 0], atol=1e-30)
