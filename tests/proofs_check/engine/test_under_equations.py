"""Equalities that follow from polynomial equations among the conditions."""

from __future__ import annotations

import pytest

from gateproof.proofs_check.api import decide_text
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.under_equations import prove_under_equations
from gateproof.theory.formula import parse_expr
from gateproof.theory.formula.nodes import Rel, num

TRUE = [
    "for A in R**(2, 2), A @ transpose(A) == identity(2): det(A)**2 == 1",
    "for A in R**(2, 2), A @ transpose(A) == identity(2): transpose(A) @ A == identity(2)",
    "for A in R**(2, 2), A @ A == A: det(A)**2 == det(A)",
    "for A in R**(2, 2), A @ A == 0*identity(2): det(A) == 0",
    "for x in R, y in R, x**2 + y**2 == 1, x*y == 0: x**4 + y**4 == 1",
    "for x in R, y in R, x**2 + y**2 == 1: x**4 + y**4 == 1 - 2*x**2*y**2",
    "for a in R, b in R, c in R, a*b + b*c + c*a == 0, a + b + c == 1: a**2 + b**2 + c**2 == 1",
]
FALSE = [
    "for A in R**(2, 2), A @ transpose(A) == identity(2): det(A) == 1",
    "for A in R**(2, 2), A @ A == A: det(A) == 1",
    "for A in R**(2, 2), A @ A == 0*identity(2): A == 0*identity(2)",
    "for x in R, y in R, x**2 + y**2 == 1, x*y == 0: x + y == 1",
]


@pytest.mark.parametrize("text", TRUE)
def test_what_holds(text: str) -> None:
    assert decide_text(text).verdict == "proved"


@pytest.mark.parametrize("text", FALSE)
def test_what_fails(text: str) -> None:
    assert decide_text(text).verdict == "refuted"


def _follows(gap: str, *zeros: str) -> bool:
    facts = tuple(Rel(("==",), (parse_expr(z), num(0))) for z in zeros)
    given = Assumptions({name: Domain() for name in "xyz"}, facts)
    return prove_under_equations(parse_expr(gap), num(0), given) is not None


def test_only_what_lies_in_the_ideal() -> None:
    """x y = 0 and x + y = 1 have the points (0, 1) and (1, 0) in common."""
    assert _follows("x**2 - x", "x*y", "x + y - 1")
    assert not _follows("x", "x*y", "x + y - 1")
    assert not _follows("x**2 + x", "x*y", "x + y - 1")
    assert _follows("x", "x**2")
    assert not _follows("x*y - 1", "x**2*y - 1")
    assert not _follows("x - y", "x**2 - y**2")


def test_a_condition_that_is_met_nowhere_proves_nothing() -> None:
    assert decide_text("for x in R, y in R, x**2 + y**2 == -1: x == y").verdict in (
        "ill-posed",
        "inconclusive",
    )
    assert decide_text("for x in R, y in R, x*y == 0, x*y == 1: x == y").verdict in (
        "ill-posed",
        "inconclusive",
    )
