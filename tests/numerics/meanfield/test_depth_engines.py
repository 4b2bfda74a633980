"""Depth scales are the same by every engine, and balls hold what other digits say."""

from __future__ import annotations

import pytest
from flint import arb
from mpmath import mp

from gateproof.numerics.meanfield.activation import phi
from gateproof.numerics.meanfield.certified import certified_engine
from gateproof.numerics.meanfield.depth import depth_scales, fixed_correlation
from gateproof.numerics.meanfield.depth_edge import edge_rate
from gateproof.numerics.meanfield.depth_layers import trajectory
from gateproof.numerics.meanfield.depth_wide import WideGaps
from gateproof.numerics.meanfield.fast import fast_engine
from gateproof.numerics.meanfield.mp import mp_engine
from gateproof.numerics.precision import precision

# sin: V = e^-q sinh q, so that sigma_w^2 and sigma_b^2 of any q and chi_1 are at hand.
Q, CHI = "0.5", "1.05"


def sin_settings(kind):
    q, chi = kind(Q), kind(CHI)
    e = (-q).exp() if isinstance(q, arb) else mp.exp(-q)
    sinh, cosh = (q.sinh(), q.cosh()) if isinstance(q, arb) else (mp.sinh(q), mp.cosh(q))
    w2 = chi / (e * cosh)
    return w2, q - w2 * e * sinh, q


def exact_eps():
    with mp.workdps(50):
        w2, b2, q = sin_settings(mp.mpf)
        return mp.findroot(
            lambda x: 1 - (w2 * mp.exp(-q) * mp.sinh((1 - x) * q) + b2) / q - x,
            (0.05, 0.9),
            solver="anderson",
        )


def test_three_engines_agree_with_the_closed_form():
    eps = exact_eps()
    with mp.workdps(40):
        w2, b2, q = sin_settings(mp.mpf)
        slope = w2 * mp.exp(-q) * mp.cosh((1 - eps) * q)
        xi = -1 / mp.log(slope)
    by_mp = depth_scales(mp_engine("sin", 25), w2, b2, q)
    assert abs(by_mp.eps_star - eps) < mp.mpf(10) ** -24
    assert abs(by_mp.xi_c - xi) < mp.mpf(10) ** -21
    by_floats = depth_scales(fast_engine("sin"), float(w2), float(b2), 0.5)
    assert float(by_floats.eps_star) == pytest.approx(float(eps), rel=1e-13)
    assert float(by_floats.xi_c) == pytest.approx(float(xi), rel=1e-12)
    with precision(160):
        by_balls = depth_scales(certified_engine("sin", 25), *sin_settings(arb))
        for ball, value in ((by_balls.eps_star, eps), (by_balls.xi_c, xi), (by_balls.slope, slope)):
            assert ball.contains(arb(mp.nstr(value, 45)).mid()) or ball.overlaps(arb(mp.nstr(value, 45)))
            assert ball.rad() < arb(10) ** -15


def test_a_ball_of_variances_is_wide_by_its_own_width_only():
    engine = certified_engine("tanh", 20)
    with precision(160):
        q = arb("0.8").union(arb("0.8") + arb(10) ** -20)
        wide = WideGaps(engine, q)
        for eps in ("0.7", "0.001"):
            ball = wide.gap(arb(eps))
            assert ball.rad() < arb(10) ** -17
            # Both ends of the ball are in it.
            for end in ("0.8", "0.80000000000000000001"):
                assert ball.overlaps(engine.gap(arb(end), arb(eps)))
            assert not ball.overlaps(engine.gap(arb("0.8001"), arb(eps)))


def test_an_edge_inside_of_a_ball():
    engine = certified_engine("sin", 20)
    with precision(128):
        q = arb("0.5")
        w2 = 1 / ((-q).exp() * q.cosh())
        w2 = w2.union(w2 * (1 + arb(10) ** -12))
        eps, _ = fixed_correlation(engine, w2, q - w2 * (-q).exp() * q.sinh(), q)
        assert eps.contains(0)
        assert eps < arb(10) ** -9


@pytest.mark.parametrize("name", ["tanh", "silu"])
def test_a_million_layers_by_floats(name):
    fast = fast_engine(name)
    exact = mp_engine(phi(name), 20)
    w2 = 1 / float(exact.slope_energy("0.75"))
    found = trajectory(fast, w2, 0.0, [100, 10**6], eps=1.0, q_star=0.75)
    with exact.context():
        q = mp.mpf("0.75")
        w = 1 / exact.slope_energy(q)
        wanted = trajectory(exact, w, 0, [100, 10**6], eps=1.0, q_star=q)
    for a, b in zip(found, wanted, strict=True):
        assert a.eps == pytest.approx(b.eps, rel=1e-9)
    rate = edge_rate(fast, fast.phi, w2, 0.75)
    assert found[1].eps * 10**6 == pytest.approx(float(rate.beta_q), rel=1e-4)
