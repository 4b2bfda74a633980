"""Large variances: slow approach to the asymptotes, growth like a logarithm, exponentials, far cuts."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import pytest
from flint import arb, ctx

from gateproof.numerics.meanfield.activation import phi
from gateproof.numerics.meanfield.curves import Maps
from gateproof.numerics.meanfield.edge import edge
from gateproof.numerics.meanfield.far_out import edge_far, fixed_point_far
from gateproof.numerics.meanfield.far_slow import elasticity, slow_lines
from gateproof.numerics.meanfield.fixed_points import fixed_points


@pytest.fixture(autouse=True)
def many_bits():
    with ctx.workprec(160), mp.workdps(20):
        yield


#: phi and phi' by calculus, and the sign of (q - s) D - V far out.
SLOW = {
    "asinh": (mp.asinh, lambda x: 1 / mp.sqrt(1 + x * x), 1),
    "log(1+x**2)": (lambda x: mp.log1p(x * x), lambda x: 2 * x / (1 + x * x), 1),
    "squareplus": (
        lambda x: (x + mp.sqrt(x * x + 4)) / 2, lambda x: (1 + x / mp.sqrt(x * x + 4)) / 2, -1,
    ),
    "sqrt(1+x**2)": (lambda x: mp.sqrt(1 + x * x), lambda x: x / mp.sqrt(1 + x * x), -1),
    "x*abs(x)/(1+abs(x))": (
        lambda x: x * abs(x) / (1 + abs(x)), lambda x: abs(x) * (2 + abs(x)) / (1 + abs(x)) ** 2, 1,
    ),
    "x+arctan(x)": (lambda x: x + mp.atan(x), lambda x: 1 + 1 / (1 + x * x), -1),
}  # fmt: skip


def mean(f, q):
    """E f(u)^2."""
    root = mp.sqrt(q)
    ends = sorted({t * root for t in (-9, -4, -2, -1, 0, 1, 2, 4, 9)} | {-20, -3, 3, 20})
    return mp.quad(lambda x: f(x) ** 2 * mp.exp(-x * x / (2 * q)), ends) / mp.sqrt(2 * mp.pi * q)


@pytest.mark.parametrize("name", SLOW)
@pytest.mark.parametrize("sigma_b2", ["0.05", "40"])
def test_signs_far_out(name, sigma_b2):
    value, slope, right = SLOW[name]
    far = edge_far(Maps(phi(name)), Fraction(sigma_b2))
    s = mp.mpf(sigma_b2)
    for times in (1, 30):
        q = mp.mpf(far.beyond.str(20, radius=False)) * times
        known = (q - s) * mean(slope, q) - mean(value, q)
        assert mp.sign(known) == far.sign == (1 if name == "x+arctan(x)" and known > 0 else right)


def test_what_bounds_them():
    # |x/sqrt(1 + x^2)| and |x sech(x)^2| are bounded, x sigmoid(x) is not.
    assert 1 <= elasticity(phi("asinh")) < 2
    assert elasticity(phi("gelu")) is None
    assert slow_lines(phi("asinh")) is None
    # For squareplus g = phi'^2 - [x > 0] has -1/(x^2 + 4) as mean: I(q) = -(pi/2) e^(2/q) erfc(sqrt(2/q)).
    at = slow_lines(phi("squareplus"))
    for big in (256, 65536):
        gap = mp.pi / 2 - mp.pi / 2 * mp.exp(mp.mpf(2) / big) * mp.erfc(mp.sqrt(mp.mpf(2) / big))
        bound = mp.mpf(at.loose(arb(big)).str(15, radius=False))
        assert gap <= bound < 40 * gap
    # V = q/2 + 1.
    assert at.a == arb("0.5")
    assert at.top >= 1


def test_all_variances_are_searched():
    none = edge(phi("squareplus"), Fraction(1, 20))
    assert (none.points, none.certified, none.searched[1]) == ((), True, None)
    found = fixed_points(phi("asinh"), Fraction(3), Fraction(1, 10))
    assert (len(found.points), found.searched[1]) == (1, None)
    q = mp.mpf(found.points[0].q.str(20, radius=False))
    assert abs(3 * mean(mp.asinh, q) + mp.mpf("0.1") - q) < 1e-12
    # 2 V + s - q = 2 + s: no fixed point, but the lines' slope alone does not tell.
    assert fixed_point_far(Maps(phi("squareplus")), Fraction(2), Fraction(1)) is None


def test_exponentials():
    # E e^(2 u) = e^(2 q) = D: (q - s) D = V at q = 1 + s, where V' = 2 V.
    (point,) = edge(phi("exp(x)"), Fraction(1, 2)).points
    assert point.q.overlaps(arb("1.5"))
    assert point.chi_parallel.overlaps(arb(2))
    assert edge(phi("exp(x)"), Fraction(1, 2)).searched[1] is None


def test_a_bump_far_from_0():
    # E exp(-2 (u - 15)^2) = exp(-450/(1 + 4 q))/sqrt(1 + 4 q); chi_parallel = w V'.
    found = fixed_points(phi("exp(-(x-15)**2)"), Fraction(10) ** 37, Fraction(1), largest=Fraction(3))
    point = found.points[0]
    v = lambda q: mp.exp(-450 / (1 + 4 * q)) / mp.sqrt(1 + 4 * q)  # noqa: E731
    q = mp.mpf(point.q.str(25, radius=False))
    assert abs(mp.mpf(10) ** 37 * v(q) + 1 - q) < 1e-14
    assert abs(mp.mpf(10) ** 37 * mp.diff(v, q) - mp.mpf(point.chi_parallel.str(20, radius=False))) < 1e-10


@pytest.mark.parametrize("name", ["gelu", "telu"])
def test_the_line_is_cut_where_phi_is_its_asymptotes(name):
    # q = 10^6: V - q/2 = -int (x^2 [x > 0] - phi^2) dx / sqrt(2 pi q) + O(q^(-3/2)).
    value = {
        "gelu": lambda x: x * mp.ncdf(x),
        "telu": lambda x: x * mp.tanh(mp.exp(x)),
    }[name]
    lost = mp.quad(lambda x: value(x) ** 2 - (x * x if x > 0 else 0), [-60, -20, -8, -3, -1, 0, 1, 3, 8, 30])
    heavy = mp.quad(lambda x: x * x * abs(value(x) ** 2 - (x * x if x > 0 else 0)), [-60, -20, -8, 0, 8, 30])
    v = Maps(phi(name)).at(arb(10**6), 32).first[0]
    right = mp.mpf(10) ** 6 / 2 + lost / mp.sqrt(2 * mp.pi * 10**6)
    off = abs(mp.mpf(v.str(30, radius=False)) - right)
    assert off < heavy / (2 * mp.mpf(10) ** 6 * mp.sqrt(2 * mp.pi * 10**6)) + 1e-18
    assert v.rad() < 1e-20
