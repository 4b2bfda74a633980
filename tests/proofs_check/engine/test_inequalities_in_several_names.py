"""Textbook inequalities in two to four names, and what is off by little."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from gateproof.proofs_check.api import decide_text
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.feasible import feasible
from gateproof.theory.exact.weighted_means import prove_by_means
from gateproof.theory.formula import parse_expr
from gateproof.theory.formula.nodes import num

TRUE = [
    "for x in [0, 10], y in [0, 10]: (x + y)/2 >= sqrt(x*y)",
    "for x in [0, 10], y in [0, 10], z in [0, 10]: x**3 + y**3 + z**3 >= 3*x*y*z",
    "for x in [0, 1], y in [0, 1], z in [0, 1], w in [0, 1]: x*y*z*w <= (x**4 + y**4 + z**4 + w**4)/4",
    "for x in R, y in R, u in R, v in R: (x*u + y*v)**2 <= (x**2 + y**2)*(u**2 + v**2)",
    "for x in R, y in R, z in R: x**2 + y**2 + z**2 >= x*y + y*z + z*x",
    "for a in R, b in R, c in R, d in R: a**2 + b**2 + c**2 + d**2 >= a*b + b*c + c*d + d*a",
    "for a in R, b in R, c in R: a**4 + b**4 + c**4 >= a*b*c*(a + b + c)",
    "for x in R, y in R: x**4*y**2 + x**2*y**4 + 1 >= 3*x**2*y**2",
    "for x in R, y in R: x**4 + y**4 + 1 > 2*x**2*y**2",
    "for x in R, y in R: x**2 + 4*y**2 >= 4*x*y",
    "for x in R, y in R: (1 - x)**2 + 100*(y - x**2)**2 >= 0",
    "for x > 0, y > 0: x**3 + y**3 + 1 >= 3*x*y",
    "for x > 0, y > 0: x + y + 1/(x*y) >= 3",
    "for x > 0, y > 0, z > 0: (x + y + z)*(1/x + 1/y + 1/z) >= 9",
    "for x > 0, y > 0, z > 0: x/y + y/z + z/x >= 3",
    "for x > 0, y > 0, z > 0: x/(y + z) + y/(z + x) + z/(x + y) >= 3/2",
    "for x in [1/10, 10], y in [1/10, 10], z in [1/10, 10]: x/(y + z) + y/(z + x) + z/(x + y) >= 3/2",
    "for a > 0, b > 0, c > 0: (a + b)*(b + c)*(c + a) >= 8*a*b*c",
    "for a > 0, b > 0, c > 0, d > 0: (a + b + c + d)/4 >= 4/(1/a + 1/b + 1/c + 1/d)",
    "for a > 0, b > 0, c > 0: a**2/b + b**2/c + c**2/a >= a + b + c",
    "for x in [-5, 5], y in [-5, 5]: log(exp(x) + exp(y)) <= max(x, y) + log(2)",
    "for x in [-3, 3], y in [-3, 3]: log(exp(x) + exp(y)) >= (x + y)/2 + log(2)",
    "for x in [-4, 4], y in [-4, 4]: abs(sigmoid(x) - sigmoid(y)) <= abs(x - y)/4",
    "for x in [-2, 2], y in [-2, 2], z in [-2, 2]: sigmoid(x)*sigmoid(y)*sigmoid(z) <= 0.69",
    "inf((x**2 + y - 11)**2 + (x + y**2 - 7)**2, x in [-5, 5], y in [-5, 5]) == 0",
    "sup((x**2 + y - 11)**2 + (x + y**2 - 7)**2, x in [-5, 5], y in [-5, 5]) == 890",
    "sup(x*y*(1 - x - y), x in [0, 1], y in [0, 1]) == 1/27",
]
FALSE = [
    "for x in [0, 10], y in [0, 10]: (x + y)/2.01 >= sqrt(x*y)",
    "for x in R, y in R, z in R: x**3 + y**3 + z**3 >= 3*x*y*z",
    "for a in R, b in R, c in R, d in R: a**2 + b**2 + c**2 + d**2 >= a*b + b*c + c*d + d*a + a*c/100",
    "for x in R, y in R: x**4*y**2 + x**2*y**4 + 1 >= 3.01*x**2*y**2",
    "for x in R, y in R: x**4*y**2 + x**2*y**4 + 1 > 3*x**2*y**2",
    "for x in R, y in R: x**4 + y**4 + 1 > 2.1*x**2*y**2",
    "for x in R, y in R: x**2 + 4*y**2 >= 4.1*x*y",
    "for x in R, y in R: x**3 + y**3 + 1 >= 3*x*y",
    "for x > 0, y > 0: x + y + 1/(x*y) > 3",
    "for x > 0, y > 0, z > 0: x/(y + z) + y/(z + x) + z/(x + y) >= 1.501",
    "for a > 0, b > 0, c > 0: (a + b)*(b + c)*(c + a) >= 8.1*a*b*c",
    "for x in [-5, 5], y in [-5, 5]: log(exp(x) + exp(y)) <= max(x, y) + 0.69",
    "for x in [-4, 4], y in [-4, 4]: abs(tanh(x) - tanh(y)) <= 0.9*abs(x - y)",
    "inf((x**2 + y - 11)**2 + (x + y**2 - 7)**2, x in [-5, 5], y in [-5, 5]) == 1/1000",
    "sup((x**2 + y - 11)**2 + (x + y**2 - 7)**2, x in [-5, 5], y in [-5, 5]) == 889",
]


@pytest.mark.parametrize("text", TRUE)
def test_what_holds(text: str) -> None:
    assert decide_text(text).verdict in ("proved", "certified")


@pytest.mark.parametrize("text", FALSE)
def test_what_fails(text: str) -> None:
    assert decide_text(text).verdict == "refuted"


def test_a_wider_range_without_values_is_not_used() -> None:
    """1/(x + y + 3) has a value on the box and none on all of R."""
    text = "for x in [-1, 1], y in [-1, 1]: 1/(x + y + 3) + (x - y)**2 >= 1/(x + y + 3) + x - {}"
    assert decide_text(text.format("2")).verdict in ("proved", "certified", "inconclusive")
    assert decide_text(text.format("1/2")).verdict == "refuted"


def _gap(text: str, *, positive: bool, strict: bool = False) -> bool:
    domain = Domain(lo=num(0)) if positive else Domain()
    given = Assumptions({"x": domain, "y": domain})
    return prove_by_means(parse_expr(text), given, (), strict=strict) is not None


def test_means_need_terms_that_are_not_negative() -> None:
    assert _gap("x**3 + y**3 + 1 - 3*x*y", positive=True)
    assert not _gap("x**3 + y**3 + 1 - 3*x*y", positive=False)
    assert _gap("x**2 + y**2 + 2*x*y", positive=False)
    assert not _gap("x**2 + y**2 + 3*x*y", positive=False)
    assert not _gap("x**2 + y**2 - 3*x*y", positive=True)
    assert not _gap("x**2*y - x*y", positive=True)
    assert not _gap("x**2 + y**2 - 2*x*y", positive=True, strict=True)
    assert _gap("x**2 + y**2 - 2*x*y + 1", positive=True, strict=True)
    # A denominator that changes its sign shows nothing.
    assert not _gap("(x**2 + y**2)/(x - y)", positive=True)


def test_feasible_agrees_with_another_solver() -> None:
    rng = random.Random(7)
    seen = set()
    for _ in range(60):
        rows = [[Fraction(rng.randint(-3, 4)) for _ in range(6)] for _ in range(4)]
        right = [Fraction(rng.randint(-4, 6)) for _ in range(4)]
        found = feasible(rows, right)
        other = linprog(
            np.zeros(6), A_eq=np.array(rows, dtype=float), b_eq=np.array(right, dtype=float), method="highs"
        )
        assert (found is not None) == (other.status == 0)
        seen.add(found is not None)
        if found is not None:
            assert min(found) >= 0
            assert [sum(a * x for a, x in zip(row, found, strict=True)) for row in rows] == right
    assert seen == {True, False}
