"""Closed forms to 50 digits: against trapezoid sums, and for kinks against univariate normal integrals."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from normal_pairs import gap, line, pair

from gateproof.numerics.meanfield.activation import phi
from gateproof.numerics.meanfield.closed_forms import Form, closed_form
from gateproof.numerics.meanfield.closed_forms_space import MpSpace

DIGITS = 50


def form(text: str) -> Form:
    maker = closed_form(phi(text))
    assert maker is not None
    return maker(MpSpace())


def close(found, right, scale=None, digits=DIGITS):
    return abs(found - right) <= mp.mpf(10) ** -digits * abs(right if scale is None else scale)


def _gaussian_part(a):
    return lambda x: mp.exp(-a * x * x)


#: Text; phi and its first three derivatives as calculus has them.
SMOOTH = {
    "erf": (
        mp.erf,
        lambda x: 2 / mp.sqrt(mp.pi) * mp.exp(-x * x),
        lambda x: -4 * x / mp.sqrt(mp.pi) * mp.exp(-x * x),
        lambda x: (8 * x * x - 4) / mp.sqrt(mp.pi) * mp.exp(-x * x),
    ),
    "gelu": (
        lambda x: x * mp.erfc(-x / mp.sqrt(2)) / 2,
        lambda x: mp.erfc(-x / mp.sqrt(2)) / 2 + x * mp.npdf(x),
        lambda x: (2 - x * x) * mp.npdf(x),
        lambda x: (x**3 - 4 * x) * mp.npdf(x),
    ),
    "gaussian": (
        lambda x: mp.exp(-x * x),
        lambda x: -2 * x * mp.exp(-x * x),
        lambda x: (4 * x * x - 2) * mp.exp(-x * x),
        lambda x: (12 * x - 8 * x**3) * mp.exp(-x * x),
    ),
    "1 - 3*exp(-x**2/4)": (
        lambda x: 1 - 3 * mp.exp(-x * x / 4),
        lambda x: 3 * x / 2 * mp.exp(-x * x / 4),
        lambda x: (3 - 3 * x * x / 2) / 2 * mp.exp(-x * x / 4),
        lambda x: (3 * x**3 / 8 - 9 * x / 4) * mp.exp(-x * x / 4),
    ),
    "sin": (mp.sin, mp.cos, lambda x: -mp.sin(x), lambda x: -mp.cos(x)),
    "cos": (mp.cos, lambda x: -mp.sin(x), lambda x: -mp.cos(x), mp.sin),
    "cos(2*x + 1)": (
        lambda x: mp.cos(2 * x + 1),
        lambda x: -2 * mp.sin(2 * x + 1),
        lambda x: -4 * mp.cos(2 * x + 1),
        lambda x: 8 * mp.sin(2 * x + 1),
    ),
    "snake": (
        lambda x: x + mp.sin(x) ** 2,
        lambda x: 1 + mp.sin(2 * x),
        lambda x: 2 * mp.cos(2 * x),
        lambda x: -4 * mp.sin(2 * x),
    ),
    "exp(x/3) - 1": (
        lambda x: mp.exp(x / 3) - 1,
        lambda x: mp.exp(x / 3) / 3,
        lambda x: mp.exp(x / 3) / 9,
        lambda x: mp.exp(x / 3) / 27,
    ),
    "1 - exp(-x**2)": (
        lambda x: 1 - mp.exp(-x * x),
        lambda x: 2 * x * mp.exp(-x * x),
        lambda x: (2 - 4 * x * x) * mp.exp(-x * x),
        lambda x: (8 * x**3 - 12 * x) * mp.exp(-x * x),
    ),
    "x**3 - 2*x**2 + 1": (
        lambda x: x**3 - 2 * x * x + 1,
        lambda x: 3 * x * x - 4 * x,
        lambda x: 6 * x - 4,
        lambda x: mp.mpf(6),
    ),
}


#: Points (q, c); those after the first are deep.
POINTS = [
    pytest.param("0.3", "0.7"),
    pytest.param("1.5", "-0.9", marks=pytest.mark.deep),
    pytest.param("2", "0", marks=pytest.mark.deep),
    pytest.param("0.01", "0.999", marks=pytest.mark.deep),
]


@pytest.mark.parametrize(("q", "c"), POINTS)
@pytest.mark.parametrize("text", SMOOTH)
def test_smooth_forms(text, q, c):
    with mp.workdps(DIGITS + 6):
        _smooth_form(form(text), SMOOTH[text], mp.mpf(q), mp.mpf(c))


def _smooth_form(own, derivatives, q, c):
    f, f1, f2, f3 = derivatives
    strip, more = 2.0, DIGITS + 6
    top = line(lambda x: f(x) ** 2, q, strip, more)
    steep = line(lambda x: f1(x) ** 2, q, strip, more)
    assert close(own.mean(q), line(f, q, strip, more), mp.sqrt(top))
    assert close(own.variance(q), top)
    assert close(own.slope_energy(q), steep)
    assert close(own.curvature_energy(q), line(lambda x: f2(x) ** 2, q, strip, more))
    assert close(own.third_energy(q), line(lambda x: f3(x) ** 2, q, strip, more))
    for slope, g in ((own.variance_slope(q), f), (own.slope_energy_slope(q), f1)):
        heat = line(lambda x, g=g: g(x) ** 2 * (x * x - q) / (2 * q * q), q, strip, more)
        assert close(slope, heat, abs(heat) + top + steep)
    assert close(own.correlation(q, c), pair(f, q, c, strip, more), top)
    slopes = pair(f1, q, c, strip, more)
    assert close(own.correlation_slope(q, c), slopes, steep)
    assert close(own.slope_gap(q, 1 - c), steep - slopes, steep)
    assert close(own.gap(q, 1 - c), top - pair(f, q, c, strip, more), top)


@pytest.mark.parametrize("text", SMOOTH)
def test_gaps_of_smooth_forms_near_one(text):
    f, f1, _, _ = SMOOTH[text]
    with mp.workdps(60):
        own, q, eps = form(text), mp.mpf(3) / 2, mp.mpf(10) ** -30
        assert close(own.gap(q, eps), gap(f, q, eps, 2.0, 25), digits=22)
        assert close(own.slope_gap(q, eps), gap(f1, q, eps, 2.0, 25), digits=22)


#: Text; slopes left to right, kinks, value at 0.
LINES = {
    "relu": ((0, 1), (0,), 0),
    "leaky_relu(x, 2)": ((2, 1), (0,), 0),
    "abs(x)": ((-1, 1), (0,), 0),
    "x": ((1, 1), (0,), 0),
    "2*relu(x) - 1": ((0, 2), (0,), -1),
    "hardtanh": ((0, 1, 0), (-1, 1), 0),
    "soft_threshold": ((1, 0, 1), (mp.mpf(-1) / 2, mp.mpf(1) / 2), 0),
    "relu6": ((0, 1, 0), (0, 6), 0),
    "abs(x - 1) + x/2": ((mp.mpf(-1) / 2, mp.mpf(3) / 2), (1,), 1),
}


class Lines:
    """phi and its means over v ~ N(m, w^2), by the univariate normal."""

    def __init__(self, slopes, kinks, at_zero):
        self.slopes, self.kinks = slopes, kinks
        self.shift = 0
        self.shift = at_zero - self(mp.mpf(0))

    def __call__(self, x):
        total = self.slopes[0] * x
        for k, a, b in zip(self.kinks, self.slopes, self.slopes[1:], strict=False):
            total += (b - a) * max(x - k, 0)
        return total + self.shift

    def slope(self, x):
        return self.slopes[sum(x > k for k in self.kinks)]

    def mean(self, m, w):
        total = self.slopes[0] * m + self.shift
        for k, a, b in zip(self.kinks, self.slopes, self.slopes[1:], strict=False):
            z = (m - k) / w
            total += (b - a) * ((m - k) * mp.ncdf(z) + w * mp.npdf(z))
        return total

    def slope_mean(self, m, w):
        return self.slopes[0] + sum(
            (b - a) * mp.ncdf((m - k) / w)
            for k, a, b in zip(self.kinks, self.slopes, self.slopes[1:], strict=False)
        )


def outer(f, q, kinks, layers=()):
    """E f(u) by mpmath's Gauss-Legendre rule between kinks."""
    s = mp.sqrt(q)
    ends = sorted({*(k * s for k in (-16, -8, -4, -2, -1, 0, 1, 2, 4, 8, 16)), *map(mp.mpf, kinks), *layers})
    bell = lambda x: mp.exp(-x * x / (2 * q)) / mp.sqrt(2 * mp.pi * q)  # noqa: E731
    return mp.quad(lambda x: f(x) * bell(x), ends, method="gauss-legendre")


@pytest.mark.parametrize(("q", "c"), POINTS[:3])
@pytest.mark.parametrize("text", LINES)
def test_piecewise_linear_forms(text, q, c):
    with mp.workdps(DIGITS + 6):
        _linear_form(form(text), Lines(*LINES[text]), mp.mpf(q), mp.mpf(c))


def _linear_form(own, right, q, c):
    w = mp.sqrt(q * (1 - c * c))
    top = outer(lambda x: right(x) ** 2, q, right.kinks)
    steep = outer(lambda x: mp.mpf(right.slope(x)) ** 2, q, right.kinks)
    layers = [(k + j * w) / c for k in right.kinks for j in (-6, -2, 2, 6)] if c else []
    values = outer(lambda x: right(x) * right.mean(c * x, w), q, right.kinks, layers)
    slopes = outer(lambda x: right.slope(x) * right.slope_mean(c * x, w), q, right.kinks, layers)
    assert close(own.mean(q), outer(right, q, right.kinks), mp.sqrt(top))
    assert close(own.variance(q), top)
    assert close(own.slope_energy(q), steep)
    for slope, g in ((own.variance_slope(q), right), (own.slope_energy_slope(q), right.slope)):
        heat = outer(lambda x, g=g: mp.mpf(g(x)) ** 2 * (x * x - q) / (2 * q * q), q, right.kinks)
        assert close(slope, heat, abs(heat) + top + steep)
    assert close(own.correlation(q, c), values, top)
    assert close(own.correlation_slope(q, c), slopes, steep)
    assert close(own.gap(q, 1 - c), top - values, top)
    assert close(own.slope_gap(q, 1 - c), steep - slopes, steep)
    assert own.curvature_energy(q) == (0 if right.slopes == (1, 1) else mp.inf)


@pytest.mark.parametrize("text", LINES)
def test_gaps_of_piecewise_linear_forms_near_one(text):
    """With digits to spare V - C itself is right, and its parts were held against integrals above."""
    q, eps = mp.mpf(3) / 2, mp.mpf(10) ** -30
    with mp.workdps(30):
        own = form(text)
        found = own.gap(q, eps), own.slope_gap(q, eps)
    with mp.workdps(80):
        own = form(text)
        assert close(found[0], own.variance(q) - own.correlation(q, 1 - eps), digits=24)
        right = own.slope_energy(q) - own.correlation_slope(q, 1 - eps)
        assert close(found[1], right, max(right, mp.mpf(10) ** -60), digits=24)


def test_relu_by_hand():
    """E relu relu = q/(2 pi) (sqrt(1 - c^2) + c (pi - acos c)), Cho and Saul 2009."""
    with mp.workdps(50):
        own = form("relu")
        q, c = mp.mpf(2), mp.mpf(3) / 5
        assert close(own.correlation(q, c), q / (2 * mp.pi) * (mp.mpf(4) / 5 + c * (mp.pi - mp.acos(c))))


@pytest.mark.parametrize(
    "text", ["tanh", "silu", "x*erf(x + 1)", "x + erf(x)", "exp(x**2/9)", "x*sin(x)", "elu", "hardshrink"]
)
def test_no_form_where_none_is_known(text):
    assert closed_form(phi(text)) is None


def test_a_wrong_parameter_is_seen():
    with mp.workdps(56):
        right = pair(SMOOTH["erf"][0], mp.mpf(1), mp.mpf(1) / 2, 2.0, 56)
        assert not close(form("erf(1.0000000000000000000000000000000000000000000000001*x)").correlation(
            mp.mpf(1), mp.mpf(1) / 2), right)  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        *SMOOTH,
        *(pytest.param(t, marks=[pytest.mark.deep] * (t in ("relu6", "soft_threshold"))) for t in LINES),
    ],
)
def test_forms_in_float64_are_those_in_mpmath(text):
    jax = pytest.importorskip("jax")
    from gateproof.numerics.meanfield.fast_space import JaxSpace, NumpySpace

    rng = np.random.default_rng(3)
    q = 10 ** rng.uniform(-12 if text not in LINES else -2, 2 if "exp(x" not in text else 1, 3)
    c = np.array([-1, rng.uniform(-1, 1), 1 - 1e-9])
    eps = 10 ** rng.uniform(-13, 0.3, 3)
    maker = closed_form(phi(text))
    assert maker is not None
    with jax.enable_x64(True), mp.workdps(25), np.errstate(all="ignore"):
        fast, right = (maker(JaxSpace()), maker(NumpySpace())), maker(MpSpace())
        for name, second in (
            ("variance", None), ("slope_energy", None), ("variance_slope", None), ("correlation", c),
            ("correlation_slope", c), ("gap", eps), ("slope_gap", eps),
        ):  # fmt: skip
            points = (q,) if second is None else (q, second)
            found = [np.broadcast_to(getattr(form, name)(*points), q.shape) for form in fast]
            scale = {"correlation": "variance", "correlation_slope": "slope_energy"}.get(name)
            for i in range(len(q)):
                at = [mp.mpf(float(p[i])) for p in points]
                value = getattr(right, name)(*at)
                size = abs(getattr(right, scale)(at[0])) if scale else abs(value)
                for values in found:
                    assert abs(mp.mpf(float(values[i])) - value) <= 3e-14 * size, (name, q[i], at, size)
