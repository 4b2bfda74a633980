"""Depth scales off the edge against closed forms and against layers that are iterated; finite variances."""

from __future__ import annotations

from math import inf, isinf

import pytest
from mpmath import mp

from gateproof.numerics.meanfield import depth_layers
from gateproof.numerics.meanfield.depth import NoFixedPoint, depth_scales, fixed_correlation, forgetting
from gateproof.numerics.meanfield.depth_law import told_apart
from gateproof.numerics.meanfield.depth_layers import steps_at, trajectory, variances
from gateproof.numerics.meanfield.mp import mp_engine


def fixed_variance(engine, w2, b2, near):
    with engine.context():
        return mp.findroot(lambda q: w2 * engine.variance(q) + b2 - q, mp.mpf(near), tol=mp.mpf(10) ** -50)


def erf_slope(w2, q, c):
    return w2 * 4 / mp.pi / mp.sqrt((1 + 2 * q) ** 2 - (2 * q * c) ** 2)


def test_chaotic_erf_in_closed_form():
    engine, w2, b2 = mp_engine("erf(x)", 30), mp.mpf(3), mp.mpf("0.05")
    q = fixed_variance(engine, w2, b2, 2)
    found = depth_scales(engine, w2, b2, q)
    with mp.workdps(40):
        c = mp.findroot(lambda c: (w2 * 2 / mp.pi * mp.asin(2 * q * c / (1 + 2 * q)) + b2) / q - c, 0.1)
        slope = erf_slope(w2, q, c)
        chi_parallel = w2 * 4 / (mp.pi * (1 + 2 * q) * mp.sqrt(1 + 4 * q))
        assert abs(found.c_star - c) < mp.mpf(10) ** -28
        assert abs(found.xi_c + 1 / mp.log(slope)) < mp.mpf(10) ** -26
        assert abs(found.xi_q + 1 / mp.log(chi_parallel)) < mp.mpf(10) ** -28
        assert abs(found.xi_gradient - 1 / mp.log(erf_slope(w2, q, 1))) < mp.mpf(10) ** -27


def test_ordered_side_goes_to_one():
    engine, w2, b2 = mp_engine("tanh", 20), mp.mpf("1.2"), mp.mpf("0.05")
    q = fixed_variance(engine, w2, b2, "0.3")
    found = depth_scales(engine, w2, b2, q)
    assert found.c_star == 1
    assert found.eps_star == 0
    assert found.slope == found.chi_1 < 1
    assert found.xi_c == found.xi_gradient


@pytest.mark.parametrize("power", [3, 6, 10])
def test_near_the_edge_the_root_keeps_its_digits(power):
    # sin: 1 - c* solves e^-q (cosh q - ..) exactly: sigma_w^2 e^-q (sinh q - sinh(c q)) = q (1 - c).
    engine = mp_engine("sin", 30)
    with mp.workdps(60):
        q = mp.mpf("0.5")
        w2 = (1 + mp.mpf(10) ** -power) / (mp.exp(-q) * mp.cosh(q))
        b2 = q - w2 * mp.exp(-q) * mp.sinh(q)
        guess = 2 * mp.mpf(10) ** -power / (w2 * q * mp.exp(-q) * mp.sinh(q))

        def f(e):
            return w2 * mp.exp(-q) * 2 * mp.cosh(q - e * q / 2) * mp.sinh(e * q / 2) / (q * e) - 1

        eps = mp.findroot(f, (guess * 0.9, guess * 1.1), solver="anderson", tol=mp.mpf(10) ** -55)
        found, _ = fixed_correlation(engine, w2, b2, q)
        assert abs(found / eps - 1) < mp.mpf(10) ** (power - 28)


def test_an_odd_activation_without_bias_forgets_all():
    engine, w2 = mp_engine("tanh", 20), mp.mpf(2)
    q = fixed_variance(engine, w2, 0, 1)
    found = depth_scales(engine, w2, mp.mpf(0), q)
    assert found.c_star == 0
    with mp.workdps(30):
        mean_slope = mp.sqrt(found.slope / w2)
        exact = mp.quad(
            lambda z: mp.sech(mp.sqrt(q) * z) ** 2 * mp.exp(-z * z / 2) / mp.sqrt(2 * mp.pi),
            [-12, -4, 0, 4, 12],
        )
    assert abs(mean_slope - exact) < mp.mpf(10) ** -18


def test_scales_are_those_of_iterated_layers():
    engine, w2, b2 = mp_engine("silu", 16), mp.mpf(2), mp.mpf("0.5")
    q = fixed_variance(engine, w2, b2, 1)
    found = depth_scales(engine, w2, b2, q)
    here = trajectory(engine, w2, b2, [300, 301], eps=1.0, q_star=q)
    kept = [abs(layer.eps - float(found.eps_star)) for layer in here]
    assert kept[1] / kept[0] == pytest.approx(float(mp.exp(-1 / found.xi_c)), rel=1e-6)
    q_layers = variances(engine, w2, b2, 2.0, [600, 601])
    off = [abs(x - float(q)) for x in q_layers]
    assert off[1] / off[0] == pytest.approx(float(mp.exp(-1 / found.xi_q)), rel=1e-2)


def test_a_variance_that_is_no_fixed_point_is_refused():
    with pytest.raises(NoFixedPoint):
        depth_scales(mp_engine("tanh", 15), mp.mpf(5), mp.mpf(1), mp.mpf("0.01"))
    with pytest.raises(ValueError, match="sigma_b2"):
        depth_scales(mp_engine("tanh", 15), mp.mpf(5), mp.mpf(-1), mp.mpf("0.8"))


def test_forgetting():
    assert forgetting(0.5) == pytest.approx(1.4426950408889634)
    assert forgetting(-0.5) == forgetting(0.5)
    assert isinf(forgetting(1.0))
    assert forgetting(0.0) == 0
    assert forgetting(2.0) < 0


def test_published_variances():
    # Public iterations of variance maps: a line of fixed points, 1/l, and an unstable fixed point.
    relu = mp_engine("relu", 16)
    for w2, wanted in (("2", 1.0), ("2.1", 131.501257846304), ("1.9", 0.95**100)):
        assert variances(relu, mp.mpf(w2), 0, 1.0, [100]) == [pytest.approx(wanted, rel=1e-12)]
    (tanh,) = variances(mp_engine("tanh", 16), mp.mpf(1), 0, 1.0, [10**4])
    assert 1e4 * tanh == pytest.approx(0.50016, abs=5e-6)
    gelu = mp_engine("gelu", 16)
    assert variances(gelu, mp.mpf("2.1"), 0, 3.0, [100])[0] < 1e-10
    assert variances(relu, mp.mpf("2.1"), 0, 1.0, [10**5]) == [inf]


@pytest.mark.parametrize("engine", ["fast", pytest.param("mp", marks=pytest.mark.deep)])
def test_beyond_the_unstable_fixed_point_variances_grow(engine):
    """The same activation from further out; in mpmath large variances take a minute."""
    pytest.importorskip("jax")
    from gateproof.numerics.meanfield.fast import fast_engine

    gelu, w2 = (fast_engine("gelu"), 2.1) if engine == "fast" else (mp_engine("gelu", 16), mp.mpf("2.1"))
    assert variances(gelu, w2, 0, 3.0, [100])[0] < 1e-10
    assert variances(gelu, w2, 0, 10.0, [300])[0] > 1e6


@pytest.mark.deep
def test_a_published_variance_after_a_million_layers():
    (tanh,) = variances(mp_engine("tanh", 16), mp.mpf(1), 0, 1.0, [10**6])
    assert 1e6 * tanh == pytest.approx(0.5, abs=1e-5)


def test_largest_depth_by_its_criterion():
    engine, w2, b2 = mp_engine("tanh", 16), mp.mpf(3), mp.mpf("0.05")
    q = fixed_variance(engine, w2, b2, 1)
    scales, steps = depth_scales(engine, w2, b2, q), steps_at(engine, w2, q)
    star = float(scales.eps_star)
    depth = told_apart(steps, 1.0, star, 1e-6)
    reached = trajectory(engine, w2, b2, [int(depth), int(depth) + 1], eps=1.0, q_star=q)
    assert abs(reached[0].eps - star) >= 1e-6 > abs(reached[1].eps - star)
    # A thousand times finer is log(1000) scales deeper.
    finer = told_apart(steps, 1.0, star, 1e-9)
    assert finer - depth == pytest.approx(float(scales.xi_c) * 6.907755, abs=2)
    assert told_apart(steps, star, star, 1e-3) == -1
    for constant in (0, 2, -1):
        with pytest.raises(ValueError, match="constant"):
            told_apart(steps, 1.0, star, constant)


@pytest.mark.parametrize(
    ("given", "match"),
    [({"eps": 3.0, "q": 1.0}, "eps"), ({"eps": 1.0}, "variance"), ({"eps": 1.0, "q": 1.0}, "settled")],
)
def test_bad_trajectories_are_refused(given, match, monkeypatch):
    monkeypatch.setattr(depth_layers, "MAX_MOVING", 20)
    engine = mp_engine("relu", 15)
    with pytest.raises(ValueError, match=match):
        trajectory(engine, mp.mpf(2), 0, [10**4], **given)
    with pytest.raises(ValueError, match="ascending"):
        variances(engine, mp.mpf(2), 0, 1.0, [3, 2])
