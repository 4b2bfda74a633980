"""Polynomial activations: points decided exactly, against algebra by hand and Gauss and Hermite's rule."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from random import Random

import mpmath as mp
import pytest
from flint import arb, ctx

from gateproof.numerics.meanfield.activation import phi
from gateproof.numerics.meanfield.edge import edge
from gateproof.numerics.meanfield.field import MeanField
from gateproof.numerics.meanfield.fixed_points import fixed_points
from gateproof.numerics.meanfield.polynomials import means


@pytest.fixture(autouse=True)
def many_bits():
    with ctx.workprec(200), mp.workdps(40):
        yield


def at(name, w, s, **options):
    return fixed_points(phi(name), Fraction(w), Fraction(s), **options)


def test_exactly_critical():
    # x^2: V = 3 q^2, D = 4 q. w = 1, s = 1/16: 3 q^2 - q + 1/16 = 3 (q - 1/4)(q - 1/12).
    low, high = at("x**2", 1, "1/16").points
    assert (low.q * 12).overlaps(arb(1))
    assert high.q == arb("0.25")
    assert (high.chi_1, high.chi_parallel, high.stable) == (arb(1), arb("1.5"), False)
    point = MeanField(phi("x**2")).fixed_points(1, "1/16")[1]
    assert point.on_edge
    # beta_q = 2 D/(q K2) = 2 (4 q)/(q 4) = 2.
    assert str(point.beta_q) == "2.00000000000000"
    off = at("x**2", 1, str(Fraction(1, 16) + Fraction(1, 10**40))).points[1]
    assert off.chi_1 != 1


def test_a_fold_and_past_it():
    # w = 1, s = 1/12: 3 (q - 1/6)^2, from above the map lies above the diagonal.
    (fold,) = at("x**2", 1, "1/12").points
    assert (fold.chi_parallel, fold.stable) == (arb(1), None)
    assert "from below" in fold.note
    assert at("x**2", 1, str(Fraction(1, 12) + Fraction(1, 10**50))).points == ()
    assert len(at("x**2", 1, str(Fraction(1, 12) - Fraction(1, 10**30))).points) == 2


def test_slopes_that_vanish_exactly():
    # x^2 - 1: V = 3 q^2 - 2 q + 1, V' = 6 q - 2 = 0 at q = 1/3 = V/3 + 1/9.
    low, high = at("x**2 - 1", "1/3", "1/9").points
    assert low.chi_parallel.is_zero()
    assert high.chi_parallel.overlaps(arb(2))
    assert high.stable is False
    # The edge without biases: 4 q^2 = 3 q^2 - 2 q + 1 at q = sqrt(2) - 1.
    (point,) = edge(phi("x**2 - 1"), Fraction(0)).points
    assert point.q.overlaps(arb(2).sqrt() - 1)
    # V'/D = (6 q - 2)/(4 q).
    assert point.chi_parallel.overlaps((6 * arb(2).sqrt() - 8) / (4 * (arb(2).sqrt() - 1)))


def test_a_slope_of_minus_one():
    # w (6 q - 2) = -1 at q = 1/6, w = 1: V = 3/36 - 1/3 + 1 = 3/4 > q, so that s = 1/6 - w V needs w < 2/9;
    # with phi = a (x^2 - 1) only the product w a^2 counts: no such point has s >= 0.
    for w in ("1/9", "2/9", "1"):
        assert all(p.chi_parallel > -1 for p in at("x**2 - 1", w, "1/100").points)


@pytest.mark.parametrize("seed", range(3))
def test_random_polynomials_against_gauss_hermite(seed):
    draw = Random(seed)
    parts = [Fraction(draw.randint(-9, 9) or 1, draw.randint(3, 9)) for _ in range(draw.randint(3, 5))]
    w, s = Fraction(draw.randint(1, 20), 40), Fraction(draw.randint(1, 9), 90)
    text = f"{parts[0]} + " + " + ".join(f"({c})*x**{k}" for k, c in enumerate(parts) if k)
    found = at(text, w, s)
    # Ten nodes integrate polynomials up to degree 19 exactly.
    nodes = [(mp.mpf(x), mp.mpf(y)) for x, y in zip(*_hermite(10), strict=True)]
    value = lambda x: sum(mp.mpf(c.numerator) / c.denominator * x**k for k, c in enumerate(parts))  # noqa: E731
    slope = lambda x: sum(  # noqa: E731
        k * mp.mpf(c.numerator) / c.denominator * x ** (k - 1) for k, c in enumerate(parts) if k
    )
    v = lambda q: sum(y * value(x * mp.sqrt(q)) ** 2 for x, y in nodes)  # noqa: E731
    d = lambda q: sum(y * slope(x * mp.sqrt(q)) ** 2 for x, y in nodes)  # noqa: E731
    weight, bias = mp.mpf(w.numerator) / w.denominator, mp.mpf(s.numerator) / s.denominator
    for point in found.points:
        q = mp.mpf(point.q.str(35, radius=False))
        assert abs(weight * v(q) + bias - q) < 1e-25 * (1 + q)
        assert abs(weight * d(q) - mp.mpf(point.chi_1.str(30, radius=False))) < 1e-20 * (1 + weight * d(q))
    gaps = [
        mp.sign(weight * v(q) + bias - q) for q in (mp.mpf(10) ** (mp.mpf(k) / 4) for k in range(-16, 17))
    ]
    changes = sum(a != b for a, b in pairwise(gaps))
    inside = sum(bool(p.q > arb("1e-4") and p.q < arb("1e4")) for p in found.points)
    assert inside % 2 == changes % 2
    assert inside >= changes


def _hermite(n):
    """Nodes and weights for a standard normal: zeros of He_n, weights n!/(n He_(n-1))^2."""
    zeros = mp.polyroots(_he(n)[::-1], maxsteps=500, extraprec=200)
    return zeros, [mp.factorial(n) / (n * mp.polyval(_he(n - 1)[::-1], x)) ** 2 for x in zeros]


def _he(n):
    before, here = [1], [0, 1]
    for k in range(1, n):
        following = [0, *here]
        for j, c in enumerate(before):
            following[j] -= k * c
        before, here = here, following
    return here if n else before


def test_only_rational_polynomials():
    assert means(phi("x**3 - x/2 + 1")) is not None
    for name in ("pi*x**2", "tanh", "relu", "x + sin(x)"):
        assert means(phi(name)) is None
