from __future__ import annotations

import pytest

from gateproof.theory.exact.defined import prove_defined, undefined_point
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.formula import to_text
from gateproof.theory.formula.nodes import num

R = Domain()
POSITIVE = Domain(lo=num(0))

DEFINED = [
    ("1/(x**2 + 1)", R),
    ("1/(1 + exp(x))", R),
    ("log(1 + exp(x))", R),
    ("sqrt(x**2 - 2*x + 1)", R),
    ("where(x > 0, 1/x, 0)", R),
    ("where(x > 0, log(x), where(x < 0, log(-x), 0))", R),
    ("1/x", Domain(without=(num(0),))),
    ("log(x)/sqrt(x)", POSITIVE),
    ("x**(1/3)", POSITIVE),
    ("asin(tanh(x))", R),
    ("atanh(tanh(x))", R),
    ("sqrt(1 - x**2)", Domain(num(-1), num(1), True, True)),
    ("1/sqrt(1 - x**2)", Domain(num(-1), num(1))),
]
# The point where there is no value.
UNDEFINED = [
    ("1/x", R, "0"),
    ("log(x)", R, "0"),
    ("1/(x**2 - 2)", R, "sqrt(2)"),
    ("1/(exp(x) - 3)", R, "log(3)"),
    ("where(x >= 0, 1/x, 0)", R, "0"),
    ("1/tanh(x)", R, "0"),
    ("x**(-1)", R, "0"),
    ("sqrt(1 - x)", POSITIVE, "2"),
    ("1/sqrt(1 - x**2)", Domain(num(-1), num(1), True, True), "-1"),
]


@pytest.mark.parametrize(("text", "domain"), DEFINED)
def test_defined_everywhere(expression, text, domain):
    assumptions = Assumptions({"x": domain})
    assert prove_defined(expression(text), assumptions) is not None
    assert undefined_point(expression(text), assumptions) is None


@pytest.mark.parametrize(("text", "domain", "point"), UNDEFINED)
def test_a_point_without_value(expression, text, domain, point):
    assumptions = Assumptions({"x": domain})
    assert prove_defined(expression(text), assumptions) is None
    found = undefined_point(expression(text), assumptions)
    assert found is not None
    assert to_text(found["x"]) == point


def test_conventions_are_not_used_as_witnesses(expression):
    """0**0 and odd roots of negative numbers: neither proved defined nor shown undefined."""
    for text in ("x**0", "x**(1/3)"):
        assert prove_defined(expression(text), Assumptions({"x": R})) is None
        assert undefined_point(expression(text), Assumptions({"x": R})) is None


def test_facts_bound_the_points(expression, claim):
    body, assumptions = claim("for x in R, y in R, x < y: 1/(y - x) > 0")
    assert prove_defined(body.terms[0], assumptions) is not None
    body, assumptions = claim("for x in R, y in R, x <= y: 1/(y - x) > 0")
    found = undefined_point(body.terms[0], assumptions)
    assert found is not None
    assert found["x"] == found["y"]
