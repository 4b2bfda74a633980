"""Pairs in balls by closed forms: far variances, wide arguments, all families against mpmath's quadrature."""

from __future__ import annotations

import mpmath as mp
import pytest
from flint import arb, ctx

from gateproof.numerics.meanfield.activation import phi
from gateproof.numerics.meanfield.certified import certified_engine
from gateproof.numerics.meanfield.closed_forms_balls import pair_form


@pytest.fixture(autouse=True)
def many_bits():
    with ctx.workprec(200), mp.workdps(40):
        yield


def test_far_variances_keep_their_digits():
    # E sin sin = (e^(-q (1 - c)) - e^(-q (1 + c)))/2; E bell bell = ((1 + 2 q)^2 - (2 q c)^2)^(-1/2).
    q, c = arb(1000), arb(7) / 10
    sine, bell = certified_engine("sin", 30), certified_engine("exp(-x**2)", 30)
    right = ((-q * (1 - c)).exp() - (-q * (1 + c)).exp()) / 2
    found = sine.correlation(1000, "0.7")
    assert found.overlaps(right)
    assert found.rad() < arb(10) ** -28 * right
    right = 1 / ((1 + 2 * q) ** 2 - (2 * q * c) ** 2).sqrt()
    found = bell.correlation(1000, "0.7")
    assert found.overlaps(right)
    assert found.rad() < arb(10) ** -28 * right
    # V - C = (1 - e^(-q eps)) (1 + e^(-q (2 - eps)))/2, near c = 1 too.
    assert sine.gap(1000, "1e-30").overlaps(-(-q * arb("1e-30")).expm1() / 2 * (1 + (-2 * q).exp()))


VALUES = {
    "x + sin(3*x) - cos(x)": lambda x: x + mp.sin(3 * x) - mp.cos(x),
    "1 - exp(-x**2/3)": lambda x: 1 - mp.exp(-x * x / 3),
    "exp(x) - 1": mp.expm1,
    "x**3 - x": lambda x: x**3 - x,
}


@pytest.mark.parametrize("name", VALUES)
def test_families_by_quadrature(name):
    # v = c u + sqrt(1 - c^2) w: trapezoids in both, exact to all digits here for entire functions.
    q, c, f = mp.mpf("0.3"), mp.mpf("-0.6"), VALUES[name]
    with mp.workdps(20):
        step = mp.mpf("0.3")
        total = mp.mpf(0)
        grid = [
            (k * step, mp.exp(-((k * step) ** 2) / 2) * step / mp.sqrt(2 * mp.pi)) for k in range(-36, 37)
        ]
        for x, p in grid:
            inner = sum(w * f(mp.sqrt(q) * (c * x + mp.mpf("0.8") * y)) for y, w in grid)
            total += p * f(mp.sqrt(q) * x) * inner
    engine = certified_engine(name, 25)
    assert abs(engine.correlation("0.3", "-0.6") - arb(mp.nstr(total, 20))) < 1e-14
    whole = engine.correlation("0.3", arb("-0.6") + arb(0, "0.05"))
    assert whole.overlaps(engine.correlation("0.3", "-0.56"))


def test_a_ball_across_a_border_holds_both_sides():
    # The waves' formula is chosen by the sign of c.
    engine = certified_engine("sin(x) + x", 25)
    over = engine.correlation(2, arb(0, "0.1"))
    for c in ("-0.09", "0", "0.09"):
        assert over.overlaps(engine.correlation(2, c))


def test_others_go_by_series():
    assert all(pair_form(phi(name)) is None for name in ("tanh", "gelu", "relu", "abs(x)", "erf"))
    assert pair_form(phi("cos")) is not None
