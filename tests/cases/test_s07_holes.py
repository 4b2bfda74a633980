"""S07: sympy#17438, #24072: holes that can be filled are, and a jump is not."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from array_backends import SLOPES, VALUES
from flint import arb

import gateproof
from gateproof.numerics.errors import Undefined

HOLES = {
    "x/tanh(x)": lambda x: x / mp.tanh(x),
    "sin(x)/x": lambda x: mp.sin(x) / x,
    "(exp(x)-1)/x": lambda x: mp.expm1(x) / x,
    "sinh(x)*x**-1": lambda x: mp.sinh(x) / x,
    "tan(x)/sin(x)": lambda x: 1 / mp.cos(x),
    "log(1+x)/x": lambda x: mp.log1p(x) / x,
    "x/(1-exp(-x))": lambda x: x / -mp.expm1(-x),
    "erf(x)*sqrt(pi)/(2*x)": lambda x: mp.erf(x) * mp.sqrt(mp.pi) / 2 / x,
}
#: The derivatives at 0 by the Taylor series.
SLOPE_AT_0 = {"(exp(x)-1)/x": 0.5, "log(1+x)/x": -0.5, "x/(1-exp(-x))": 0.5}
NEAR = [1e-8, -1e-8, 1e-3, -1e-3, 0.3, -0.3, 0.49, -0.74, 0.9]


@pytest.mark.parametrize("backend", VALUES)
@pytest.mark.parametrize("text", HOLES)
def test_filled_with_the_limit_and_right_beside_it(backend, text):
    assert VALUES[backend](text, np.array([0.0])).tolist() == [1.0]
    assert SLOPES[backend](text, np.array([0.0])).tolist() == [SLOPE_AT_0.get(text, 0.0)]
    found, slopes = VALUES[backend](text, np.array(NEAR)), SLOPES[backend](text, np.array(NEAR))
    with mp.workdps(60):
        for x, y, slope in zip(NEAR, found, slopes, strict=True):
            right = HOLES[text](mp.mpf(x))
            assert abs(y - right) <= 6 * np.spacing(float(right)), (text, x)
            # A derivative by differences of 20 digits.
            h = mp.mpf(10) ** -20
            right = (HOLES[text](mp.mpf(x) + h) - HOLES[text](mp.mpf(x) - h)) / (2 * h)
            assert abs(slope - right) <= 3e-15 * (abs(right) + abs(mp.mpf(x))), (text, x)


def test_the_neighbour_in_the_public_report():
    assert VALUES["numpy"]("x/tanh(x)", np.array([1e-8])).tolist() == [float("1.0000000000000000333")]
    with mp.workdps(30):
        found = gateproof.formula("x/tanh(x)").mp("1e-8")
        assert abs(found - mp.mpf("1.0000000000000000333333333333")) < mp.mpf(10) ** -27


@pytest.mark.parametrize("text", [t for t in HOLES if t != "erf(x)*sqrt(pi)/(2*x)"])
def test_filled_in_balls_and_mpmath(text):
    f = gateproof.formula(text)
    assert f.ball(0) == arb(1)
    assert f.mp(0) == 1
    assert f.domain != "R"


@pytest.mark.parametrize("backend", VALUES)
def test_a_jump_is_no_hole(backend):
    assert np.isnan(VALUES[backend]("abs(x)/x", np.array([0.0]))).all()
    assert VALUES[backend]("abs(x)/x", np.array([-2.0, 3.0])).tolist() == [-1, 1]


def test_a_jump_in_balls_and_mpmath():
    f = gateproof.formula("abs(x)/x")
    with pytest.raises(Undefined, match=r"abs\(x\)/x has no value at x = 0"):
        f.ball(0)
    assert f.ball(Fraction(-1, 4)) == arb(-1)
    assert mp.isnan(f.mp(0))
    assert f.domain == "x != 0"


@pytest.mark.parametrize("backend", VALUES)
def test_a_pole_stays_one(backend):
    assert np.isinf(VALUES[backend]("1/tanh(x)", np.array([0.0]))).all()
    # The poles of the two parts cancel: coth(x) - 1/x = x/3 - x**3/45 + ...
    found = VALUES[backend]("1/tanh(x) - 1/x", np.array([0.0, 1e-5]))
    np.testing.assert_allclose(found, [0.0, 3.3333333333111e-6], rtol=1e-13)
