"""Where functions have no value, and what is said of functions with holes."""

from __future__ import annotations

from fractions import Fraction

import pytest

from gateproof.theory.asymptotes import NO_VALUES, NoAsymptote
from gateproof.theory.facts import Kink, facts
from gateproof.theory.formula import expand, parse_expr
from gateproof.theory.formula.nodes import Expr
from gateproof.theory.periods import period_of
from gateproof.theory.undefined_parts import undefined_parts
from gateproof.theory.zeros import order

#: Formula and the parts without a value, as intervals in the usual notation.
PARTS = [
    ("silu(x)", []),
    ("log(x)", ["(-oo, 0]"]),
    ("log(abs(x))", ["[0, 0]"]),
    ("1/x", ["[0, 0]"]),
    ("sqrt(x)", ["(-oo, 0)"]),
    ("1/sqrt(x)", ["(-oo, 0]"]),
    ("sqrt(x)/(x - 1)", ["(-oo, 0)", "[1, 1]"]),
    ("sqrt(x**2 - 2)", ["(-sqrt(2), sqrt(2))"]),
    ("1/(x**2 - 2)", ["[-sqrt(2), -sqrt(2)]", "[sqrt(2), sqrt(2)]"]),
    ("asin(x)", ["(-oo, -1)", "(1, oo)"]),
    ("atanh(x)", ["(-oo, -1]", "[1, oo)"]),
    ("acosh(x)", ["(-oo, 1)"]),
    ("log(log(x))", ["(-oo, 1]"]),
    ("1/(exp(x) - 1)", ["[0, 0]"]),
    ("log(x - asinh(1))", ["(-oo, asinh(1)]"]),
    ("x**(-2)", ["[0, 0]"]),
    ("sqrt(-x**2)", ["(-oo, 0)", "(0, oo)"]),
    ("sqrt(-1 - x**2)", ["(-oo, oo)"]),
    # A branch that is not taken needs no value.
    ("where(x > 0, log(x), 0)", []),
    ("where(x == 0, 1, sin(x)/x)", []),
    ("where(x > 1, log(x), log(x + 1))", ["(-oo, -1]"]),
]


def is_at(found: Expr | None, text: str) -> bool:
    if text in ("oo", "-oo"):
        return found is None
    return found is not None and order(found, expand(parse_expr(text))) == 0


@pytest.mark.parametrize(("text", "parts"), PARTS, ids=[row[0] for row in PARTS])
def test_parts_without_a_value(text: str, parts: list[str]) -> None:
    found = undefined_parts(expand(parse_expr(text)))
    assert found is not None
    assert len(found) == len(parts)
    for part, known in zip(found, parts, strict=True):
        lo, hi = known[1:-1].split(", ")
        assert is_at(part.lo, lo)
        assert is_at(part.hi, hi)
        assert (part.lo_in, part.hi_in) == (known[0] == "[", known[-1] == "]")


@pytest.mark.parametrize("text", ["tan(x)", "sqrt(sin(x))", "(-1)**x", "x**x", "log(x + exp(x))"])
def test_parts_that_are_not_found_are_not_said_to_be_none(text: str) -> None:
    assert undefined_parts(expand(parse_expr(text))) is None


def test_facts_of_functions_with_holes() -> None:
    log = facts(expand(parse_expr("log(x)")))
    assert log.left == NoAsymptote(NO_VALUES)
    assert log.kinks == ()
    assert log.parity is None
    steps = facts(expand(parse_expr("abs(x - 1)/x")))
    assert steps.kinks == (Kink(Fraction(1), 0),)
    unknown = facts(expand(parse_expr("tan(x)")))
    assert (unknown.undefined, unknown.kinks, unknown.left) == (None, None, None)


@pytest.mark.parametrize(
    ("text", "length", "slope"),
    [
        ("sin(x)", "2*pi", 0),
        ("cos(3*x/2) + sin(2*x)", "4*pi", 0),
        ("x/3 - sin(4*x)**2", "pi/2", Fraction(1, 3)),
        ("abs(sin(x))", "2*pi", 0),
    ],
)
def test_periods(text: str, length: str, slope: int | Fraction) -> None:
    found = period_of(expand(parse_expr(text)))
    assert found is not None
    assert order(found.length, expand(parse_expr(length))) == 0
    assert found.slope == slope


@pytest.mark.parametrize(
    "text",
    ["x", "sin(x) + sin(pi*x)", "sin(x)**2 + cos(x)**2", "sin(x**2)", "x*sin(x)", "where(x > 0, sin(x), 0)"],
)
def test_what_has_no_period_is_given_none(text: str) -> None:
    assert period_of(expand(parse_expr(text))) is None
