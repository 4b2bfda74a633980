"""Values of integrals against mpmath, and integrals that are infinite or do not exist."""

from __future__ import annotations

from fractions import Fraction

import pytest
from mpmath import mp

from gateproof.numerics.points import enclosure
from gateproof.theory.exact.definite import NoIntegral, integral_value
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.infinity import side
from gateproof.theory.formula import expand_node, parse_expr
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import Expr, Integral, Num, num

GIVEN = Assumptions({"a": Domain(lo=num(0)), "y": Domain()})


def value(text: str) -> object:
    node = expand_node(parse_expr(text))
    assert isinstance(node, Integral)
    found = integral_value(node, GIVEN)
    return found[0] if isinstance(found, tuple) else found


def is_number(found: Expr, right: Fraction) -> bool:
    lo, hi = enclosure(found)
    return lo <= right <= hi and hi - lo < Fraction(1, 10**60)


FINITE = [
    ("integrate(x**2, x, 0, 1)", "1/3"),
    ("integrate(x**2, x, 1, 0)", "-1/3"),
    ("integrate(exp(-s), s, 0, oo)", "1"),
    ("integrate(1/x**2, x, 1, oo)", "1"),
    ("integrate(1/sqrt(x), x, 0, 4)", "4"),
    ("integrate(log(x), x, 0, 1)", "-1"),
    ("integrate(x**(3/2), x, 0, 1)", "2/5"),
    ("integrate(abs(x), x, -1, 2)", "5/2"),
    ("integrate(relu(x - 1), x, 0, 3)", "2"),
    ("integrate(sign(x), x, -1, 3)", "2"),
    ("integrate(max(0, min(1, x)), x, -oo, 3)", "5/2"),
    ("integrate(where(x > 1, 2, 5), x, 0, 2)", "7"),
    ("integrate(x, x, 3, 3)", "0"),
]


@pytest.mark.parametrize(("text", "right"), FINITE)
def test_rational_values(text, right):
    found = value(text)
    assert isinstance(found, Expr)
    assert is_number(found, Fraction(right))


NUMERIC = [
    ("integrate(sin(x), x, 0, pi)", lambda: mp.mpf(2)),
    ("integrate(x*cos(x), x, 0, 2)", lambda: mp.quad(lambda x: x * mp.cos(x), [0, 2])),
    ("integrate(erf(x), x, 0, 1)", lambda: mp.quad(mp.erf, [0, 1])),
    ("integrate(x*erf(2*x), x, -1, 2)", lambda: mp.quad(lambda x: x * mp.erf(2 * x), [-1, 0, 2])),
    ("integrate(tanh(x), x, 0, 1)", lambda: mp.log(mp.cosh(1))),
    ("integrate(sigmoid(x), x, 0, 1)", lambda: mp.log((1 + mp.e) / 2)),
    ("integrate(x**3*exp(-x**2 + x), x, 0, 2)", lambda: mp.quad(lambda x: x**3 * mp.exp(x - x * x), [0, 2])),
    ("integrate(x**2*exp(-3*x), x, 0, oo)", lambda: mp.mpf(2) / 27),
    ("integrate(1/(1 + x**2), x, -oo, oo)", lambda: mp.pi),
    ("integrate(exp(-abs(x - 1)), x, -oo, oo)", lambda: mp.mpf(2)),
]


@pytest.mark.parametrize(("text", "right"), NUMERIC, ids=[t for t, _ in NUMERIC])
def test_values(text, right):
    found = value(text)
    assert isinstance(found, Expr)
    with mp.workdps(25):
        lo, hi = enclosure(found)
        middle = (lo + hi) / 2
        assert abs(mp.mpf(middle.numerator) / middle.denominator - right()) < mp.mpf(10) ** -15


@pytest.mark.parametrize(
    ("text", "at", "right"),
    [
        ("integrate(s**2, s, 0, y)", {"y": -3}, Fraction(-9)),
        ("integrate(x*exp(-a*x), x, 0, oo)", {"a": 2}, Fraction(1, 4)),
        ("integrate(relu(x), x, -1, a)", {"a": 3}, Fraction(9, 2)),
        ("integrate(abs(x - a), x, 0, 2*a)", {"a": 3}, Fraction(9)),
    ],
)
def test_values_with_names(text, at, right):
    found = value(text)
    assert isinstance(found, Expr)
    assert is_number(substitute(found, {k: Num(Fraction(v)) for k, v in at.items()}), right)


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("integrate(1/x, x, 0, 1)", 1),
        ("integrate(1/x, x, 1, oo)", 1),
        ("integrate(1/x, x, 1, 0)", -1),
        ("integrate(-exp(x), x, -oo, oo)", -1),
        ("integrate(relu(x), x, -oo, oo)", 1),
        ("integrate(tanh(x), x, 0, oo)", 1),
        ("integrate(x + 1/sqrt(x), x, 0, oo)", 1),
    ],
)
def test_infinite_values(text, sign):
    found = value(text)
    assert isinstance(found, Expr)
    assert side(found) == sign


@pytest.mark.parametrize(
    "text",
    [
        "integrate(sin(x), x, 0, oo)",
        "integrate(3*cos(2*x + 1), x, -oo, 0)",
        "integrate(x, x, -oo, oo)",
        "integrate(x - 1/x, x, 0, oo)",
        "integrate(where(x == 0, 0, 1/x), x, -1, 1)",
    ],
)
def test_integrals_that_do_not_exist(text):
    assert isinstance(value(text), NoIntegral)


@pytest.mark.parametrize(
    "text",
    [
        "integrate(1/x, x, -1, 1)",  # undefined inside
        "integrate(1/x, x, -1, y)",
        "integrate(sqrt(x), x, -1, 1)",
        "integrate(sin(x)/x, x, 1, oo)",  # no primitive here
        "integrate(log(s), s, 1, y)",  # y may be negative
    ],
)
def test_no_value_is_guessed(text):
    assert value(text) is None
