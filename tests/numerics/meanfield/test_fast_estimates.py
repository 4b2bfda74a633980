"""Where the engine at float speed must refuse or take another way: tails, waves, what cancels."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

pytest.importorskip("jax")

from gateproof.numerics.meanfield.fast import NotResolved, fast_engine
from gateproof.numerics.meanfield.fast_beyond import beyond
from gateproof.numerics.meanfield.plain import PlainEngine


def right_or_refused(engine, name, right, *at):
    try:
        found = getattr(engine, name)(*at)
    except NotResolved:
        return False
    assert found == pytest.approx(right, rel=1e-9), (name, at)
    return True


def test_what_grows_like_a_bell_is_right_or_refused():
    """For exp(x^2): V = 1/sqrt(1 - 4 q), C = (1 - 4 q + 4 q^2 (1 - c^2))^(-1/2), D = 4 q (1 - 4 q)^(-3/2)."""
    engine, c = fast_engine("exp(x*x)"), 0.5
    for q in (0.05, 0.1, 0.15, 0.2, 0.24, 0.2499):
        resolved = [
            right_or_refused(engine, "variance", (1 - 4 * q) ** -0.5, q),
            right_or_refused(engine, "slope_energy", 4 * q * (1 - 4 * q) ** -1.5, q),
            right_or_refused(engine, "correlation", (1 - 4 * q + 4 * q * q * (1 - c * c)) ** -0.5, q, c),
        ]
        assert all(resolved) or q > 0.1


@pytest.mark.parametrize("q", [0.25, 0.3, 1.0])
def test_a_mean_that_is_infinite_is_refused(q):
    engine = fast_engine("exp(x*x)")
    for name, at in (("variance", (q,)), ("variance_slope", (q,)), ("correlation", (q, 1.0))):
        with pytest.raises(NotResolved):
            getattr(engine, name)(*at)
    with pytest.raises(NotResolved):
        engine.traced("variance", q_max=q)


def test_the_tail_by_hand():
    """E over |z| > 9.2 of exp(a z^2) is erfc(9.2 sqrt((1 - 2 a)/2))/sqrt(1 - 2 a)."""
    for a in (0.0, 0.2, 0.4):
        found = beyond(lambda x, a=a: np.exp(a * x * x), np.array([1.0]))[0]
        with mp.workdps(20):
            right = mp.erfc(mp.mpf("9.2") * mp.sqrt((1 - 2 * a) / mp.mpf(2))) / mp.sqrt(1 - 2 * a)
        assert right / 2 < found < 2 * right
    assert beyond(lambda x: np.exp(0.6 * x * x), np.array([1.0]))[0] == np.inf
    assert beyond(lambda x: np.maximum(x - 9.0, 0), np.array([1.0]))[0] < 1e-18
    assert beyond(np.zeros_like, np.array([1.0]))[0] == 0.0


@pytest.mark.parametrize("q", [1.0, 50.0, 1e4, 1e6])
def test_slopes_of_tanh_far_out(q):
    """V' = E (tanh^2 - 1) (u^2 - q)/(2 q^2), an integral over a bounded range."""
    with mp.workdps(30):
        v = mp.mpf(q)
        heat = lambda u: (mp.tanh(u) ** 2 - 1) * (u * u - v) / (2 * v * v) * mp.npdf(u, 0, mp.sqrt(v))  # noqa: E731
        right = float(2 * mp.quad(heat, [0, 1, 2, 4, 8, 16, 32, 64]))
    assert fast_engine("tanh").variance_slope(q) == pytest.approx(right, rel=2e-16 * (10 + np.sqrt(q)))


@pytest.mark.parametrize("rate", [50, 55, 100, 120])
def test_a_wave_near_a_multiple_of_the_step_is_seen(rate):
    """E sin(k u)^2 exp(-2 u^2/9) = sqrt(s/q) (1 - exp(-2 k^2 s))/2, 1/s = 1/q + 4/9."""
    text = f"sin({rate}*x)*exp(-x**2/9)"
    q = np.geomspace(0.3, 1, 12)
    s = 1 / (1 / q + 4 / 9)
    right = np.sqrt(s / q) * (1 - np.exp(-2 * rate**2 * s)) / 2
    assert fast_engine(text).variance(q) == pytest.approx(right, rel=1e-13)
    if rate == 50:
        assert PlainEngine(text).variance(q) == pytest.approx(right, rel=1e-13)


@pytest.mark.parametrize("q", [0.2, 1e-2, 1e-4, 1e-6, 1e-10])
def test_a_line_less_a_sine_at_small_variances(q):
    """To what the estimate admits, and that is no more than what float64 makes of x - sin(x)."""
    engine = fast_engine("x - sin(x)")
    with mp.workdps(40):
        root = mp.sqrt(mp.mpf(q))
        body = lambda z: (root * z - mp.sin(root * z)) ** 2  # noqa: E731
        energy = 2 * mp.quad(lambda z: body(z) * mp.npdf(z), [0, 1, 2, 4, 8, 14])
        slope = 2 * mp.quad(lambda z: body(z) * (z * z - 1) * mp.npdf(z), [0, 1, 2, 4, 8, 14]) / (2 * q)
    for name, at, right in (
        ("variance", (q,), energy),
        ("variance_slope", (q,), slope),
        ("correlation", (q, 1.0), energy),
        ("correlation", (q, -1.0), -energy),
    ):
        assert getattr(engine, name)(*at) == pytest.approx(float(right), rel=1e-9)
        value, error = engine.estimated(name, *at)
        assert value == getattr(engine, name)(*at)
        assert error < 1e-9 * abs(right)


@pytest.mark.parametrize("text", ["elu", "hardswish"])
def test_gaps_near_one_where_there_are_kinks(text):
    """V - C = q eps D - (q eps)^2 .. /2: for both D at eps = 0 and the gap over q eps agree to eps."""
    engine = fast_engine(text)
    q = np.array([1e-4, 1e-2, 0.3, 1.0, 20.0, 1e4])
    assert engine.gap(q, 1e-6) / (q * 1e-6) == pytest.approx(engine.slope_energy(q), rel=1e-2)
    assert engine.gap(q, 1e-13) / (q * 1e-13) == pytest.approx(engine.slope_energy(q), rel=1e-5)
