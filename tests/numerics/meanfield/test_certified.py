"""The certified engine against mpmath, closed forms and balls of arguments."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import pytest
from flint import arb, ctx
from known_zoo import ZOO

from gateproof.numerics.meanfield.activation import phi
from gateproof.numerics.meanfield.certified import certified_engine
from gateproof.numerics.meanfield.certified_moments import split
from gateproof.numerics.meanfield.certified_panels import NoPanels

DIGITS = 20


@pytest.fixture(autouse=True)
def many_bits():
    with ctx.workprec(256), mp.workdps(40):
        yield


def ball(x):
    """An mpf with its last digits left open."""
    return arb(mp.nstr(x, 36)) * (1 + arb(0, 1e-22)) + arb(0, 1e-24)


def mean(f, q, kinks=()):
    """E f(sqrt(q) z) by mpmath, split at kinks and at a lattice of the deviation."""
    q = mp.mpf(q)
    ends = [k * mp.sqrt(q) for k in (-15, -10, -7, -5, -3, -2, -1, 0, 1, 2, 3, 5, 7, 10, 15)]
    ends = sorted({*ends, *(k for k in kinks if abs(k) < ends[-1])})
    return mp.quad(lambda x: f(x) * mp.exp(-x * x / (2 * q)) / mp.sqrt(2 * mp.pi * q), ends)


CALLS = [
    "gelu(x)",
    "silu(x)",
    "softplus(x)",
    "elu(x)",
    "selu(x)",
    "softsign(x)",
    "mish(x)",
    "two_sided_surrogate(x)",
]


@pytest.mark.parametrize("text", CALLS)
@pytest.mark.parametrize("q", ["0.07", "2.9"])
def test_means_against_mpmath(text, q):
    known, engine = ZOO[text], certified_engine(text, DIGITS)
    kinks = [mp.mpf(at) for at, _ in known.kink_list()]
    with mp.workdps(28):
        value, square = (mean(lambda x, n=n: known.value(x) ** n, q, kinks) for n in (1, 2))
        heat = mean(lambda x: known.value(x) ** 2 * (x * x - mp.mpf(q)) / (2 * mp.mpf(q) ** 2), q, kinks)
    assert engine.mean(q).overlaps(ball(value))
    assert engine.variance(q).overlaps(ball(square))
    assert engine.variance_slope(q).overlaps(ball(heat))
    assert engine.variance(q).rad() < arb(10) ** -DIGITS * engine.variance(q)


@pytest.mark.parametrize("q", ["0.001", "1", "50"])
def test_erf_in_closed_form_to_50_digits(q):
    engine, q = certified_engine("erf", 52), Fraction(q)
    x, pi = arb(q.numerator) / q.denominator, arb.pi()
    square = 2 / pi * (2 * x / (1 + 2 * x)).asin()
    slope = 4 / pi / (1 + 4 * x).sqrt()
    for found, right in ((engine.variance(q), square), (engine.slope_energy(q), slope)):
        assert found.overlaps(right)
        assert found.rad() < arb(10) ** -50 * right
    heat = 2 / pi / (1 - (2 * x / (1 + 2 * x)) ** 2).sqrt() * 2 / (1 + 2 * x) ** 2
    assert engine.variance_slope(q).overlaps(heat)
    for c in ("-0.5", "0.25"):
        right = 2 / pi * (arb(c) * 2 * x / (1 + 2 * x)).asin()
        assert engine.correlation(q, c).overlaps(right)


@pytest.mark.parametrize("q", ["0.001", "1", "50"])
def test_sin_in_closed_form_to_50_digits(q):
    engine, q = certified_engine("sin", 52), Fraction(q)
    x = arb(q.numerator) / q.denominator
    for found, right in (
        (engine.variance(q), (1 - (-2 * x).exp()) / 2),
        (engine.slope_energy(q), (1 + (-2 * x).exp()) / 2),
        (engine.curvature_energy(q), (1 - (-2 * x).exp()) / 2),
        (engine.third_energy(q), (1 + (-2 * x).exp()) / 2),
    ):
        assert found.overlaps(right)
        assert found.rad() < arb(10) ** -50 * right
    c = arb(1) / 3
    assert engine.correlation(q, c).overlaps((-x).exp() * (c * x).sinh())
    assert engine.correlation_slope(q, c).overlaps((-x).exp() * (c * x).cosh())


@pytest.mark.parametrize("eps", ["1e-12", "0.001", "0.7", "1.9"])
def test_gaps_in_closed_form(eps):
    engine = certified_engine("sin", 20)
    e = arb(Fraction(eps).numerator) / Fraction(eps).denominator
    gap = (-arb(1)).exp() * (arb(1).sinh() - (1 - e).sinh())
    steep = (-arb(1)).exp() * (arb(1).cosh() - (1 - e).cosh())
    assert engine.gap(1, eps).overlaps(gap)
    assert engine.slope_gap(1, eps).overlaps(steep)
    assert engine.gap(1, eps).rad() < 1e-14 * gap


def test_relu_and_its_infinite_energies():
    engine = certified_engine("relu", 20)
    assert engine.variance(3).overlaps(arb(3) / 2)
    assert engine.curvature_energy(1) == arb.pos_inf()
    c = arb(1) / 2
    # The arc-cosine kernel of order 1 (Cho and Saul 2009).
    right = ((1 - c * c).sqrt() + c * (arb.pi() - c.acos())) / (2 * arb.pi())
    assert engine.correlation(1, c).overlaps(right)
    assert engine.correlation(1, c).rad() < 1e-15
    assert engine.gap("1", "1e-6").overlaps(arb("5e-7") * (1 + arb(0, 1e-3)))
    assert certified_engine("elu", 20).third_energy(1) == arb.pos_inf()
    assert certified_engine("hardshrink", 20).slope_energy(1) == arb.pos_inf()


@pytest.mark.parametrize("eps", ["1e-25", "0.3", "1.2", "2"])
def test_relu_near_1_and_beyond_by_its_kernels(eps):
    engine = certified_engine("relu", 20)
    with ctx.workprec(500):
        c = 1 - arb(Fraction(eps).numerator) / Fraction(eps).denominator
        angle = c.acos() if eps != "2" else arb.pi()
        steep = angle / (2 * arb.pi())
        # 1 - c^2 = 0 exactly at c = -1.
        sine = (1 - c * c).sqrt() if eps != "2" else arb(0)
        gap = 3 * (arb(1) / 2 - (sine + c * (arb.pi() - angle)) / (2 * arb.pi()))
    assert engine.slope_gap(3, eps).overlaps(steep)
    assert engine.gap(3, eps).overlaps(gap)
    assert engine.gap(3, eps).rad() < 1e-18 * gap
    assert engine.slope_gap(3, eps).rad() < 1e-18 * steep


@pytest.mark.parametrize(("q", "c"), [("1", "0.5"), ("0.2", "-0.7"), ("30", "0.99")])
def test_hardtanh_by_the_probability_of_a_square(q, c):
    # E phi'(u) phi'(v) = P(|u| < 1, |v| < 1).
    s, r = mp.sqrt(mp.mpf(q)), mp.mpf(c)
    off = mp.sqrt(1 - r * r)

    def inner(z):
        return mp.npdf(z) * (mp.ncdf((1 / s - r * z) / off) - mp.ncdf((-1 / s - r * z) / off))

    right = mp.quad(inner, mp.linspace(-1 / s, 1 / s, 9))
    engine = certified_engine("hardtanh", 20)
    assert engine.correlation_slope(q, c).overlaps(ball(right))
    assert engine.correlation_slope(q, c).rad() < 1e-18
    # dC/dc = q E phi' phi'.
    h = Fraction(1, 10**6)
    slope = (
        (engine.correlation(q, Fraction(c) + h) - engine.correlation(q, Fraction(c) - h))
        / (2 * h.numerator)
        * h.denominator
    )
    assert abs(slope - arb(q) * engine.correlation_slope(q, c)) < 1e-9


@pytest.mark.parametrize("text", ["tanh", "gelu", "relu6"])
def test_a_ball_of_variances_holds_all_of_them(text):
    engine = certified_engine(text, 20)
    for middle, radius in (("0.3", 1e-9), ("1", 0.05), ("3.9", 0.4)):
        q = arb(middle, radius)
        for name in ("variance", "slope_energy", "variance_slope", "mean"):
            over = getattr(engine, name)(q)
            for at in (q.lower(), arb(middle), q.upper()):
                assert over.contains(getattr(engine, name)(arb(at.mid())).mid())
        assert engine.variance(q).rad() < 3 * radius


def test_two_powers_of_4_are_joined():
    parts = split(arb(4, 3.5))
    assert [e for _, e in parts] == [-1, 0, 1]
    whole = certified_engine("tanh", 12).variance(arb(4, 3.5))
    assert whole.contains(certified_engine("tanh", 12).variance(arb("0.6")))


@pytest.mark.parametrize("q", [0, -1, "oo"])
def test_refused_variances(q):
    with pytest.raises(ValueError, match=r"variance|Invalid"):
        certified_engine("tanh").variance(q)


def test_other_refusals():
    engine = certified_engine("tanh")
    with pytest.raises(ValueError, match="correlation"):
        engine.correlation(1, "1.01")
    with pytest.raises(ValueError, match="eps"):
        engine.gap(1, -1)
    with pytest.raises(ValueError, match="digits"):
        certified_engine("tanh", 1000)
    with pytest.raises((NoPanels, ArithmeticError)):
        certified_engine("exp(x**2/4)").variance(3)


def test_a_kink_at_an_irrational_place():
    engine = certified_engine("silu_positive_cap", DIGITS)
    known = ZOO["silu_positive_cap(x)"]
    with mp.workdps(28):
        right = mean(lambda x: known.value(x) ** 2, 1, [mp.asinh(1)])
    assert engine.variance(1).overlaps(ball(right))
    assert len(phi("silu_positive_cap").branches) == 2
