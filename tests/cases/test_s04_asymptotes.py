"""S04: slopes and intercepts at both ends. sympy#24386, sympy#24276, sympy#28360, sympy#20731.

SymPy's limits of Min, Max and Piecewise raise TypeError, or have the wrong sign.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from gateproof.numerics.points import enclosure
from gateproof.theory.asymptotes import (
    AWAY,
    FASTER,
    NO_VALUES,
    PERIODIC,
    WAVES,
    Asymptote,
    NoAsymptote,
    as_expr,
)
from gateproof.theory.facts import facts
from gateproof.theory.formula import expand, parse_expr
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import num
from gateproof.theory.zeros import order

#: Formula, then slope and intercept on the left, and on the right.
TABLE = [
    ("min(6, max(0, x))", "0", "0", "0", "6"),
    ("where(x > 0, x, exp(x) - 1)", "0", "-1", "1", "0"),
    ("max(0, x) + min(0, exp(x) - 1)", "0", "-1", "1", "0"),
    ("x*tanh(log(1 + 1/(1 + exp(-x))))", "0", "0", "3/5", "0"),
    ("x*tanh(log(1 + 1/(1 + exp(-x)))) - x", "-1", "0", "-2/5", "0"),
    ("x*atan(x)", "-pi/2", "-1", "pi/2", "-1"),
    # By hand: sqrt(x**2 + 2*x) = |x + 1| + o(1); the second is a shifted softplus.
    ("sqrt(x**2 + 2*x + 5)", "-1", "-1", "1", "1"),
    ("softplus(2*x - 3)/2 + 1", "0", "1", "1", "-1/2"),
    ("abs(x - sqrt(2))", "-1", "sqrt(2)", "1", "-sqrt(2)"),
]
NONE = [
    ("sin(3*x) + 2", PERIODIC, PERIODIC),
    ("x + sin(x)**2", WAVES, WAVES),
    ("asinh(x)", AWAY, AWAY),
    ("x**2", FASTER, FASTER),
    ("log(x)", NO_VALUES, AWAY),
    ("sqrt(x)", NO_VALUES, AWAY),
]


@pytest.mark.parametrize(("text", "left", "below", "right", "above"), TABLE)
def test_slope_and_intercept(text: str, left: str, below: str, right: str, above: str) -> None:
    found = facts(expand(parse_expr(text)))
    for end, slope, intercept in ((found.left, left, below), (found.right, right, above)):
        assert isinstance(end, Asymptote)
        for value, known in ((end.slope, slope), (end.intercept, intercept)):
            assert order(as_expr(value), expand(parse_expr(known))) == 0


@pytest.mark.parametrize(("text", "left", "right"), NONE)
def test_why_there_is_none(text: str, left: str, right: str) -> None:
    found = facts(expand(parse_expr(text)))
    for end, reason in ((found.left, left), (found.right, right)):
        assert isinstance(end, NoAsymptote)
        assert end.reason == reason


@pytest.mark.parametrize("text", ["x*sin(x)", "sin(x**2)", "tan(x)"])
def test_what_is_not_decided_is_not_made_up(text: str) -> None:
    found = facts(expand(parse_expr(text)))
    assert found.left is None
    assert found.right is None


@pytest.mark.parametrize(("text", "left", "below", "right", "above"), TABLE)
def test_the_table_itself_far_out(text: str, left: str, below: str, right: str, above: str) -> None:
    """The values at |x| = 10**8 lie beside the lines, so that a slip in the table shows."""
    expr = expand(parse_expr(text))
    for x, slope, intercept in ((-(10**8), left, below), (10**8, right, above)):
        lo, hi = enclosure(substitute(expr, {"x": num(x)}), 512)
        s, c = (sum(enclosure(expand(parse_expr(t)))) / 2 for t in (slope, intercept))
        assert abs((lo + hi) / 2 - (s * x + c)) < Fraction(1, 10**7)
