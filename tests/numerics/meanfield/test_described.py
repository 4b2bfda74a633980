"""Depth scales beside chi_1 that is exactly 1, near 1, or not told from 1."""

from __future__ import annotations

from fractions import Fraction
from math import log, pi

import pytest
from flint import arb

from gateproof.numerics.meanfield.activation import phi
from gateproof.numerics.meanfield.certified import certified_engine
from gateproof.numerics.meanfield.described import described
from gateproof.numerics.meanfield.fixed_points import fixed_points


def points(text, sigma_w2, sigma_b2):
    found = fixed_points(phi(text), Fraction(sigma_w2), Fraction(sigma_b2), 20)
    return [described(certified_engine(text, 20), point) for point in found.points]


# D = P(u > 0) = 1/2 and D = 1 for every variance, so that chi_1 = 1 exactly. 1 - c_l is about 4/(s l)^2 with
# s = (2/3) sigma_w^2 sqrt(q/pi) sum J^2 p(x_k): 9 pi^2/2 for the one kink at 0.
@pytest.mark.parametrize(("text", "sigma_w2"), [("relu(x)-1", 2), ("abs(abs(x)-1)", 1)])
def test_a_slope_energy_that_is_one_number(text, sigma_w2):
    (point,) = points(text, sigma_w2, "1/10")
    assert point.on_edge
    assert point.xi_gradient.is_exact
    assert point.xi_gradient.hi == float("inf")
    assert point.xi_c == point.xi_gradient
    assert point.law == "l^-2"
    if text == "relu(x)-1":
        assert float(point.limit.lo) == pytest.approx(9 * pi**2 / 2, rel=1e-12)


def test_a_variance_that_grows_without_bound():
    # V = q + 4 sqrt(2 q/pi) + 4 > q.
    assert points("abs(x)+2", 1, "1/10") == []


def test_off_the_edge_it_is_the_exact_number():
    (point,) = points("relu(x)-1", 1, "1/10")
    assert point.chi_1.is_exact
    assert float(point.xi_gradient.lo) == pytest.approx(1 / log(2), rel=1e-12)


def test_a_polynomial_whose_slope_energy_is_one_at_a_point():
    # q = 5/4 * 3 q^2 + 1/20 has the roots 1/15 and 1/5; chi_1 = 5/4 * 4 q: 1/3 and 1. With phi'' = 2 the
    # rate at 1/5 is 2/(5/4 * 1/5 * 4) = 2.
    first, second = points("x**2", "5/4", "1/20")
    assert float(first.xi_gradient.lo) == pytest.approx(1 / log(3), rel=1e-12)
    assert second.chi_1.is_exact
    assert second.chi_1.lo == 1
    assert second.xi_gradient.lo == second.xi_c.lo == float("inf")
    assert second.law == "l^-1"
    assert float(second.limit.lo) == pytest.approx(2, rel=1e-12)


def test_balls():
    from gateproof.numerics.meanfield.described import _gradient, _layers

    wide = arb(1, "1e-20")
    assert _gradient(wide) is None
    assert _layers(wide) is None
    assert _layers(-wide) is None
    assert float(_gradient(arb(2)).lo) == pytest.approx(1 / log(2))
    assert _gradient(arb(0)).hi == 0
    assert _gradient(arb.pos_inf()).hi == 0
    assert _gradient(arb.nan()) is None
