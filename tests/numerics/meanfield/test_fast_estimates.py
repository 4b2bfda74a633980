"""Where the engine at float speed must refuse or take another way: tails, waves, what cancels."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

pytest.importorskip("jax")

from gateproof.numerics.meanfield.fast import NotResolved, fast_engine
from gateproof.numerics.meanfield.fast_window import beyond
from gateproof.numerics.meanfield.plain import PlainEngine


def test_what_grows_like_a_bell():
    """For exp(x^2): V = 1/sqrt(1 - 4 q), C = (1 - 4 q + 4 q^2 (1 - c^2))^(-1/2), D = 4 q (1 - 4 q)^(-3/2)."""
    engine, c = fast_engine("exp(x*x)"), 0.5
    for q in (0.05, 0.15, 0.2, 0.22):
        assert engine.variance(q) == pytest.approx((1 - 4 * q) ** -0.5, rel=1e-14)
        assert engine.slope_energy(q) == pytest.approx(4 * q * (1 - 4 * q) ** -1.5, rel=3e-14)
    for q in (0.05, 0.15, 0.2):
        right = (1 - 4 * q + 4 * q * q * (1 - c * c)) ** -0.5
        assert engine.correlation(q, c) == pytest.approx(right, rel=1e-14)
    # To within a quarter of a per cent of the end of the mean the integrand is no matter of doubles.
    with pytest.raises(NotResolved, match="infinite, or much of it lies beyond 37 deviations"):
        engine.variance(0.2499)


@pytest.mark.parametrize("q", [1.0, 10.0, 80.0])
def test_what_grows_like_an_exponential(q):
    """For sinh: V = (exp(2 q) - 1)/2, C = exp(q) sinh(c q), E cosh cosh = exp(q) cosh(c q)."""
    engine, c = fast_engine("sinh(x)"), 0.5
    v = float(mp.expm1(2 * q) / 2)
    value, error = engine.estimated("variance", q)
    assert abs(value - v) <= error < 1e-12 * v
    for name, side in (("correlation", mp.sinh), ("correlation_slope", mp.cosh)):
        right = float(mp.exp(q) * side(mp.mpf(c) * q))
        value, error = engine.estimated(name, q, c)
        assert abs(value - right) <= error + 1e-14 * v
        assert error < 1e-11 * v


@pytest.mark.parametrize(("place", "rate"), [(3, 1), (15, 1), (15, 100), (-30, 2)])
@pytest.mark.parametrize("q", [0.7, 4.0])
def test_a_bump_far_out(place, rate, q):
    """For exp(-r (x - m)^2): V = exp(-2 r m^2/k)/sqrt(k), k = 1 + 4 r q; C from the quadratic form."""
    engine, c = fast_engine(f"exp(-{rate}*(x-({place}))**2)"), 0.5
    with mp.workdps(40):
        k = 1 + 4 * rate * mp.mpf(q)
        v = mp.exp(-2 * rate * mp.mpf(place) ** 2 / k) / mp.sqrt(k)
        k = (1 + 2 * rate * mp.mpf(q)) ** 2 - (2 * rate * mp.mpf(q) * c) ** 2
        # u + v and u - v are independent; the second one has no mean shift.
        whole = 1 + 2 * rate * mp.mpf(q) * (1 + c)
        pair = mp.exp(-2 * rate * mp.mpf(place) ** 2 / whole) / mp.sqrt(k)
    if v < mp.mpf(10) ** -290:
        return
    assert engine.variance(q) == pytest.approx(float(v), rel=2e-13)
    assert abs(mp.mpf(float(engine.correlation(q, c))) - pair) < 1e-13 * v


def test_a_narrow_step_at_a_large_variance():
    """erf(50 x) in the dress of no closed form, and tanh(50 x) between two bounds."""
    engine = fast_engine("erf(50*x)")
    engine.form = None
    q, c = 1e4, np.array([0.5, 0.97, -0.2])
    ratio = 2 * 2500 * q / (1 + 2 * 2500 * q)
    assert engine.variance(q) == pytest.approx(2 / np.pi * np.arcsin(ratio), rel=1e-14)
    assert np.all(abs(engine.correlation(q, c) - 2 / np.pi * np.arcsin(ratio * c)) < 2e-14)
    with mp.workdps(30):
        lost = 2 * mp.quad(lambda u: mp.sech(50 * u) ** 2 * mp.npdf(u, 0, 100), [0, 0.02, 0.1, 0.5, 2])
    assert fast_engine("tanh(50*x)").variance(q) == pytest.approx(float(1 - lost), rel=1e-14)


@pytest.mark.parametrize(("q", "eps"), [(1e9, 0.5), (1e9, 1e-3), (4.0, 0.5)])
def test_the_gap_of_elu(q, eps):
    """By E(elu(v) | u), which is elementary, and one quadrature."""
    with mp.workdps(40):
        v, c = mp.mpf(q), 1 - mp.mpf(eps)
        s = mp.sqrt(v)
        t = s * mp.sqrt(1 - c * c)

        def given(m):
            tail = mp.exp(m + t * t / 2) * mp.erfc((m / t + t) / mp.sqrt(2)) / 2
            return m * mp.ncdf(m / t) + t * mp.npdf(m / t) + tail - mp.ncdf(-m / t)

        def body(u):
            return (u if u > 0 else mp.expm1(u)) * given(c * u) * mp.npdf(u, 0, s)

        ends = sorted(
            {k * s for k in (-14, -8, -4, -2, -1, 1, 2, 4, 8, 14)}
            | {-(mp.mpf(10) ** k) for k in range(-1, 5)}
        )
        product = mp.quad(
            body, [k for k in ends if k < 0 and k >= -14 * s] + [0] + [k for k in ends if k > 0]
        )
        tail = mp.exp(2 * v) * mp.erfc(mp.sqrt(2 * v)) / 2 - mp.exp(v / 2) * mp.erfc(mp.sqrt(v / 2))
        right = v / 2 + tail + mp.mpf(1) / 2 - product
    value, error = fast_engine("elu").estimated("gap", q, eps)
    assert value == pytest.approx(float(right), rel=1e-13)
    assert error < 1e-11 * value


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
        found = beyond(lambda x, a=a: np.exp(a * x * x / 2), 1.0)
        with mp.workdps(20):
            right = mp.erfc(mp.mpf("9.2") * mp.sqrt((1 - 2 * a) / mp.mpf(2))) / mp.sqrt(1 - 2 * a)
        assert right / 2 < found < 2 * right
    assert beyond(lambda x: np.exp(0.3 * x * x), 1.0) == np.inf
    assert beyond(lambda x: np.maximum(x - 9.0, 0), 1.0) < 1e-18
    assert beyond(lambda x: np.exp(-50 * (x - 15) ** 2), 1.0) > 1e-51
    assert beyond(np.zeros_like, 1.0) == 0.0


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
