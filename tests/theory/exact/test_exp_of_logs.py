"""exp of a logarithm over a denominator: rewritten only where the denominator cancels."""

from __future__ import annotations

import pytest

from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula import expand, parse_expr
from gateproof.theory.formula.nodes import num

POSITIVE = Domain(num(0), None)
GIVEN = Assumptions({**dict.fromkeys("abnU", POSITIVE), "x": Domain()})


def proved(left, right):
    return prove_relation(expand(parse_expr(left)), "==", expand(parse_expr(right)), GIVEN) is not None


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("exp(n*log(a)/n)", "a"),
        ("exp((x + n*log(a))/n)", "a*exp(x/n)"),
        ("exp((x + 3*n*U*log(a/b))/(n*U))", "a**3/b**3*exp(x/(n*U))"),
        ("exp((x - n*log(a)/2)/n)", "exp(x/n)/sqrt(a)"),
    ],
)
def test_a_denominator_that_cancels(left, right):
    assert proved(left, right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("exp(log(a)/n)", "a"),
        ("exp((x + n*log(a))/n)", "a*exp(x)"),
        ("exp((x + n*log(a))/n)", "n*a*exp(x/n)"),
        ("exp((x + 2*n*log(a))/n)", "a*exp(x/n)"),
        ("exp((x + n*log(a)**2)/n)", "a**2*exp(x/n)"),
        ("exp(n*x*log(a)/n)", "a"),
    ],
)
def test_what_is_not_equal_is_not_proved(left, right):
    assert not proved(left, right)
