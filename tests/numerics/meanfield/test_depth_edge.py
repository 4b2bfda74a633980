"""Depth laws on the edge of chaos: limits against closed forms, and a million layers against the limits."""

from __future__ import annotations

from math import log, pi

import pytest
from edges_of_chaos import edge
from mpmath import mp

from gateproof.numerics.meanfield.activation import phi
from gateproof.numerics.meanfield.depth_edge import edge_rate
from gateproof.numerics.meanfield.depth_law import edge_law
from gateproof.numerics.meanfield.depth_layers import steps_at, trajectory
from gateproof.numerics.meanfield.mp import mp_engine

MILLION = 10**6
SMOOTH = [
    ("tanh", "0.1", "1"),
    ("erf(x)", "0.1", "1"),
    ("sin", "0.1", "0.8"),
    ("silu", "0.2", "2"),
    ("gelu", "0.2", "2"),
    ("mish", "0.2", "3"),
]


@pytest.mark.parametrize(("name", "lo", "hi"), SMOOTH)
def test_a_million_layers_reach_beta_to_4_digits(name, lo, hi):
    engine, w2, b2, q = edge(name, "0.05", lo, hi)
    rate = edge_rate(engine, engine.phi, w2, q)
    last = trajectory(engine, w2, b2, [MILLION], eps=1.0, q_star=q)[0]
    beta, factor = float(rate.beta_q), float(rate.log_factor)
    assert last.layer * last.eps == pytest.approx(beta, rel=5e-5)
    # With the logarithm the distance falls from log(l)/l to 1/l, and its constant is below 3 for these.
    assert abs(1 / last.eps - last.layer / beta - factor * log(last.layer)) < 3
    # A law off by one part in a thousand is seen.
    assert last.layer * last.eps != pytest.approx(1.001 * beta, rel=5e-5)


def test_critical_tanh_to_20_digits():
    _, w2, _, q = edge("tanh", "0.05", "0.1", "1", 25)
    with mp.workdps(40):
        assert abs(w2 - mp.mpf("1.76095463960673913163")) < mp.mpf(10) ** -20
        assert abs(q - mp.mpf("0.570047881640764")) < mp.mpf(10) ** -15


def test_rates_of_erf_and_sin_in_closed_form():
    # R(c) of erf is an arcsine and of sin a hyperbolic sine in c: a and b are their derivatives at 1.
    engine, w2, _, q = edge("erf(x)", "0.05", "0.1", "1")
    rate = edge_rate(engine, engine.phi, w2, q)
    with mp.workdps(40):
        a, b = mp.taylor(lambda e: w2 / q * 2 / mp.pi * mp.asin(2 * q * (1 - e) / (1 + 2 * q)), 0, 3)[2:]
        assert abs(rate.a - a) < 1e-18
        assert abs(rate.b + b) < 1e-17
    engine, w2, _, q = edge("sin", "0.05", "0.1", "0.8")
    rate = edge_rate(engine, engine.phi, w2, q)
    with mp.workdps(40):
        assert abs(rate.a - w2 * q * mp.exp(-q) * mp.sinh(q) / 2) < 1e-18
        assert abs(rate.b - w2 * q * q * mp.exp(-q) * mp.cosh(q) / 6) < 1e-18


# relu is known; |x| and a leak follow from the jump of their slope and sigma_w^2 = 2/(1 + leak^2).
@pytest.mark.parametrize(
    ("name", "w2", "limit"),
    [
        ("relu", 2, 4.5 * pi**2),
        ("abs(x)", 1, 4.5 * pi**2 / 4),
        ("max(x, x/100)", mp.mpf(20000) / 10001, 4.5 * pi**2 * (1.0001 / 0.99**2) ** 2),
    ],
)
def test_corners_converge_like_the_inverse_square(name, w2, limit):
    engine = mp_engine(name, 20)
    law = edge_law(engine, engine.phi, mp.mpf(w2), mp.mpf(1))
    assert law.limit == pytest.approx(limit, rel=1e-14)
    last = trajectory(engine, mp.mpf(w2), 0, [MILLION], eps=1.0, q_star=mp.mpf(1))[0]
    assert last.layer**2 * last.eps == pytest.approx(limit, rel=1e-4)
    assert last.eps == pytest.approx(law.eps(last.layer), rel=1e-8)


def test_relu_layer_by_layer_in_closed_form():
    engine = mp_engine("relu", 20)
    found = trajectory(engine, mp.mpf(2), 0, [1, 7, 300], eps=1.0, q_star=mp.mpf(1))
    with mp.workdps(40):
        c, known = mp.mpf(0), {}
        for layer in range(1, 301):
            c = (mp.sqrt(1 - c * c) + (mp.pi - mp.acos(c)) * c) / mp.pi
            known[layer] = 1 - c
    for layer in found:
        assert layer.eps == pytest.approx(float(known[layer.layer]), rel=1e-12)


@pytest.mark.parametrize("q_0", [None, 3.0])
def test_erf_layer_by_layer_in_closed_form(q_0):
    engine, w2, b2, q = edge("erf(x)", "0.05", "0.1", "1")
    found = trajectory(engine, w2, b2, [1, 10, 500], eps=1.5, q=q_0, q_star=q)
    with mp.workdps(40):
        here, c, known = q if q_0 is None else mp.mpf(q_0), mp.mpf("-0.5"), {}
        for layer in range(1, 501):
            ahead = w2 * 2 / mp.pi * mp.asin(2 * here / (1 + 2 * here)) + b2
            c = (w2 * 2 / mp.pi * mp.asin(2 * here * c / (1 + 2 * here)) + b2) / ahead
            here, known[layer] = ahead, (ahead, 1 - c)
    for layer in found:
        assert layer.q == pytest.approx(float(known[layer.layer][0]), rel=1e-13)
        assert layer.eps == pytest.approx(float(known[layer.layer][1]), rel=1e-11)


def test_laws_with_their_constants():
    engine, w2, b2, q = edge("gelu", "0.05", "0.2", "2")
    law = edge_law(engine, engine.phi, w2, q)
    far = trajectory(engine, w2, b2, [1000, MILLION], eps=1.0, q_star=q)
    assert far[0].eps == pytest.approx(law.eps(1000), rel=1e-6)
    assert far[1].eps == pytest.approx(law.eps(MILLION), rel=1e-10)


def test_proved_bounds_hold_what_is_iterated():
    engine, w2, _, q = edge("silu", "0.05", "0.2", "2")
    rate, steps = edge_rate(engine, engine.phi, w2, q), steps_at(engine, w2, q)
    low, high = rate.bounds(1e-3, 10_000)
    here = steps.run(1e-3, 10_000)
    assert low <= here <= high
    assert high / low - 1 < 1e-3
    with pytest.raises(ValueError, match="at most"):
        rate.bounds(0.9 / float(rate.a), 5)


def test_what_has_no_law():
    step, line = phi("where(x > 0, 1, 0)"), phi("2*x")
    with pytest.raises(ValueError, match="jumps"):
        edge_rate(mp_engine(step, 15), step, mp.mpf(1), mp.mpf(1))
    with pytest.raises(ValueError, match="linear"):
        edge_rate(mp_engine(line, 15), line, mp.mpf("0.25"), mp.mpf(1))


@pytest.mark.parametrize("name", ["relu", "abs(x)", "max(-1, min(1, x))", "sin"])
def test_fitted_steps_are_the_map(name):
    engine = mp_engine(name, 20)
    q = mp.mpf("0.75")
    with engine.context():
        w2 = 1 / engine.slope_energy(q)
    steps = steps_at(engine, w2, q)
    for eps in (2.0, 1.9999, 1.3, 0.9, 0.2, 0.03, 0.005, 1e-3, 1e-5, 1e-9):
        with engine.context():
            e = mp.mpf(eps)
            taken = float(w2 * (engine.slope_energy(q) - engine.gap(q, e) / (q * e)))
        assert steps.taken(eps) == pytest.approx(taken, rel=2e-14, abs=1e-15)
    assert steps.error < 1e-13
