"""Enclosures of integrals and normal means hold mpmath's values, and are narrow."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import flint
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp

from gateproof.numerics.gauss import density_form, gaussian, gaussian_over
from gateproof.numerics.gauss_pair import gaussian_pair
from gateproof.numerics.integral import Value, integral
from gateproof.numerics.kinks import parts
from gateproof.numerics.precision import precision
from gateproof.theory.formula import expand_node, parse_expr
from gateproof.theory.formula.nodes import Expr, Gauss, Gauss2, Integral, Num, Var


def read(text: str) -> Expr:
    node = expand_node(parse_expr(text))
    assert isinstance(node, Expr)
    return node


def value(text: str, digits: int = 20) -> Value:
    node = read(text)
    if isinstance(node, Integral):
        return integral(node.body, node.var, node.lo, node.hi, digits)
    if isinstance(node, Gauss):
        return gaussian(node.body, node.var, node.q, node.mean, digits)
    assert isinstance(node, Gauss2)
    return gaussian_pair(node, digits)


def holds(found: Value, right: object, digits: int) -> bool:
    """Whether the enclosure has that many digits and holds the value (given to some more)."""
    assert found.enclosure is not None, found
    lo, hi = found.enclosure
    with mp.workdps(60):
        low, high = (mp.mpf(e.numerator) / e.denominator for e in (lo, hi))
        slack = abs(right) * mp.mpf(10) ** (-digits - 1)
        return bool(low - slack <= right <= high + slack and high - low <= 4 * slack)


INTEGRALS = [
    ("integrate(x**2, x, 0, 1)", lambda: mp.mpf(1) / 3),
    ("integrate(exp(-x), x, 1, 0)", lambda: mp.exp(-1) - 1),
    ("integrate(tan(x), x, 0, 1)", lambda: -mp.log(mp.cos(1))),
    ("integrate(abs(sin(x)), x, 0, 2*pi)", lambda: mp.mpf(4)),
    ("integrate(abs(x**2 - 2), x, 0, 3)", lambda: mp.mpf(3) + 8 * mp.sqrt(2) / 3),
    ("integrate(max(x**2, 1, x), x, -3, 3)", lambda: mp.mpf(58) / 3),
    ("integrate(where(x**2 > 2, 1, x), x, 0, 2)", lambda: 2 - mp.sqrt(2) + 1),
    ("integrate(sqrt(1 - x**2), x, -1, 1)", lambda: mp.pi / 2),
    ("integrate(x**2*sech(x)**2, x, -oo, oo)", lambda: mp.pi**2 / 6),
    ("integrate(1/(1 + x**4), x, -oo, oo)", lambda: mp.pi / mp.sqrt(2)),
    ("integrate(exp(-x**2), x, pi, oo)", lambda: mp.sqrt(mp.pi) / 2 * mp.erfc(mp.pi)),
    ("integrate(exp(x), x, -oo, -sqrt(2))", lambda: mp.exp(-mp.sqrt(2))),
    ("integrate(log(x), x, 1, 2)", lambda: 2 * mp.log(2) - 1),
    ("integrate(asin(x)*atan(x), x, 0, 1/2)", lambda: mp.quad(lambda x: mp.asin(x) * mp.atan(x), [0, 0.5])),
    ("integrate(acosh(x), x, 2, 3)", lambda: mp.quad(mp.acosh, [2, 3])),
    ("integrate(x**(1/3), x, 1, 2)", lambda: (mp.mpf(2) ** (mp.mpf(4) / 3) - 1) * 3 / 4),
]


@pytest.mark.parametrize(("text", "right"), INTEGRALS, ids=[t for t, _ in INTEGRALS])
def test_integrals(text, right):
    with mp.workdps(40):
        assert holds(value(text), right(), 20)


@pytest.mark.parametrize(
    ("text", "status", "sign"),
    [
        ("integrate(1/x, x, 1, oo)", "infinite", 1),
        ("integrate(-tanh(x)**2, x, -oo, 0)", "infinite", -1),
        ("integrate(1/x, x, -1, 1)", "undefined", 0),
        ("integrate(x*tanh(x)**2, x, -oo, oo)", "undefined", 0),
        ("integrate(sqrt(x), x, -1, 1)", "undefined", 0),
        ("integrate(sin(x), x, 0, oo)", "unknown", 0),
        ("integrate(log(x)*tanh(x), x, 0, 1)", "unknown", 0),
        ("integrate(tanh(x) - 1/x, x, 0, oo)", "unknown", 0),
        ("gauss(z**2, z, q=-1)", "undefined", 0),
        ("gauss(1/z, z, q=1)", "undefined", 0),
        ("gauss(exp(z**2), z, q=1)", "infinite", 1),
        ("gauss(z*exp(z**2), z, q=1)", "undefined", 0),
        ("gauss2(u*v, u, v, q=1, c=2)", "undefined", 0),
        ("gauss2(u*v, u, v, q=-1, c=0)", "undefined", 0),
        ("gauss2(tanh(u*v), u, v, q=1, c=0)", "unknown", 0),
    ],
)
def test_what_is_no_number_says_so(text, status, sign):
    found = value(text, 8)
    assert (found.status, found.sign) == (status, sign), found
    assert found.enclosure is None


def mean(f, q, m=0, kinks=()):
    q, m = mp.mpf(q), mp.mpf(m)
    s = mp.sqrt(q)
    ends = sorted([m - 14 * s, m - 4 * s, m, m + 4 * s, *map(mp.mpf, kinks), m + 14 * s])
    return mp.quad(lambda z: f(z) * mp.npdf(z, m, s), ends)


MEANS = [
    ("gauss(tanh(z)**2, z, q=4)", lambda: mean(lambda z: mp.tanh(z) ** 2, 4)),
    ("gauss(mish(z)**2, z, q=1/2)", lambda: mean(lambda z: (z * mp.tanh(mp.log1p(mp.exp(z)))) ** 2, "0.5")),
    ("gauss(silu(z), z, q=1, mean=-2)", lambda: mean(lambda z: z / (1 + mp.exp(-z)), 1, -2)),
    ("gauss(abs(z)*tanh(z), z, q=2, mean=1)", lambda: mean(lambda z: abs(z) * mp.tanh(z), 2, 1, (0,))),
    (
        "gauss(relu(tanh(z) - 1/2), z, q=3)",
        lambda: mean(lambda z: max(mp.tanh(z) - 0.5, 0), 3, 0, (mp.atanh(0.5),)),
    ),
    ("gauss(tanh(z)**2, z, q=pi)", lambda: mean(lambda z: mp.tanh(z) ** 2, mp.pi)),
    ("gauss(tanh(z)**2, z, q=1, mean=sqrt(2))", lambda: mean(lambda z: mp.tanh(z) ** 2, 1, mp.sqrt(2))),
]


@pytest.mark.parametrize(("text", "right"), MEANS, ids=[t for t, _ in MEANS])
def test_means(text, right):
    with mp.workdps(32):
        assert holds(value(text, 18), right(), 18)


def test_variances_far_from_one():
    # tanh(z) is nearly z, or nearly sign(z); E tanh^2 = q - 2 q^2 + 17 q^3/3 - ..
    with mp.workdps(50):
        q = mp.mpf(10) ** -30
        assert holds(value("gauss(tanh(z)**2, z, q=1/10**30)", 25), q - 2 * q**2, 25)
    found = value("gauss(tanh(z)**2, z, q=10**20)", 12)
    assert found.enclosure is not None
    # 1 - E sech^2 is close to 1 - 2/sqrt(2 pi q)
    with mp.workdps(30):
        lo = mp.mpf(found.enclosure[0].numerator) / found.enclosure[0].denominator
        assert abs(lo - (1 - 2 / mp.sqrt(2 * mp.pi * mp.mpf(10) ** 20))) < mp.mpf(10) ** -12


def pair(f, c, s=1.0):
    """The trapezoidal rule, exponentially exact for analytic functions."""
    import math

    h, d = 0.2, math.sqrt(1 - c * c)
    grid = [h * k for k in range(-45, 46)]
    w = {x: h * math.exp(-x * x / 2) / math.sqrt(2 * math.pi) for x in grid}
    return math.fsum(f(s * x, s * (c * x + d * y)) * w[x] * w[y] for x in grid for y in grid)


@pytest.mark.parametrize("c", ["1/2", "-9/10"])
def test_two_variables(c):
    import math

    right = pair(lambda u, v: math.tanh(u) * math.tanh(v), float(Fraction(c)))
    found = value(f"gauss2(tanh(u)*tanh(v), u, v, q=1, c={c})", 10)
    assert found.enclosure is not None
    lo, hi = found.enclosure
    assert hi - lo < Fraction(1, 10**10)
    assert lo - Fraction(1, 10**11) <= Fraction(right) <= hi + Fraction(1, 10**11)


def test_two_variables_with_kinks():
    # Arc cosine kernel of order 1: (sqrt(1-c^2) + c (pi/2 + asin c))/(2 pi).
    with mp.workdps(20):
        c = mp.mpf(1) / 2
        right = (mp.sqrt(1 - c * c) + c * (mp.pi / 2 + mp.asin(c))) / (2 * mp.pi)
        assert holds(value("gauss2(relu(u)*relu(v), u, v, q=1, c=1/2)", 9), right, 8)
    assert value("gauss2(tanh(u)*tanh(v), u, v, q=1, c=1)", 9) == value("gauss(tanh(z)*tanh(z), z, q=1)", 9)


@settings(max_examples=6, deadline=None)
@given(st.fractions(Fraction(1, 10), 3), st.fractions(0, 1))
def test_a_range_of_variances_holds_each_of_them(q, part):
    node = read("gauss(tanh(z)**2, z, q=s)")
    assert isinstance(node, Gauss)
    whole = gaussian_over(node, "s", q, q * Fraction(11, 10), 6)
    inside = q * (1 + part / 10)
    one = gaussian(node.body, "z", Num(inside), node.mean, 12)
    assert whole.enclosure is not None
    assert one.enclosure is not None
    assert whole.enclosure[0] <= one.enclosure[1]
    assert one.enclosure[0] <= whole.enclosure[1]


def test_parts_cover_the_interval_and_follow_the_sign():
    body = read("abs(x*sigmoid(1.702*x) - gelu(x))")
    with precision(120):
        found = parts(body, "x", Fraction(-3), Fraction(3), Fraction(1, 10**15))
    assert found is not None
    assert found[0].lo == -3
    assert found[-1].hi == 3
    assert all(a.hi == b.lo for a, b in pairwise(found))
    loose = sum(p.hi - p.lo for p in found if p.smooth is None)
    assert loose < Fraction(1, 10**4)


def test_the_precision_of_the_process_is_left_alone():
    before = flint.ctx.prec
    value("gauss(tanh(z)**2, z, q=1)", 30)
    value("gauss2(tanh(u)*relu(v), u, v, q=1, c=1/3)", 6)
    assert flint.ctx.prec == before


def test_density_form_is_the_density():
    node = read("gauss(1 + 0*z, z, q=3, mean=5)")
    assert isinstance(node, Gauss)
    form = density_form(node.body, "z", node.q, node.mean)
    found = integral(form, "z", read("-oo"), read("oo"), 15)
    assert found.enclosure is not None
    assert found.enclosure[0] <= 1 <= found.enclosure[1]
    assert Var("z") in set(form.walk())
