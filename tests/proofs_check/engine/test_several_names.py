"""Statements in several names: shifts, scalings, equations as conditions, mean values.

Reasons stand beside the statements; no verdict here was read off the engine.
"""

from __future__ import annotations

import pytest
from deciding import cases, check, verdict

HOLDS = [
    # sup |y sigmoid(y) - relu(y)| = W(1/e) = 0.27846..., by x = y/C + h
    "for x in R, h in R, C > 0: abs((x - h)*sigmoid(C*(x - h)) - relu(x - h)) <= 0.2785/C",
    # two softplus functions cut off at +-D: each is off by at most log(2)/C, on opposite sides
    (
        "for x in R, D > 0, C > 0: abs(softplus(C*(x - D))/C - softplus(C*(-x - D))/C"
        " - soft_threshold(x, D)) <= log(2)/C"
    ),
    (
        "for x in R, D > 0, C > 0: abs(softplus(C*(x - D))/C - softplus(C*(-x - D))/C"
        " - soft_threshold(x, D)) < log(2)/C"
    ),
    # the mean of two numbers with a given sum, and with a given product
    "for x in R, y in R, x + y == 1: x*y <= 1/4",
    "for x > 0, y > 0, x*y == 1: x + y >= 2",
    "for a in R, b in R, t > 0, a == b: b + (a - b)*sigmoid(t*(a - b)) == max(a, b)",
    "for x in R, y > 0, x + log(y) == 1: x == 1 - log(y)",
    # slopes between 0 and 1
    "for x in R, y in R: abs(tanh(x) - tanh(y)) <= abs(x - y)",
    "for x in R, y in R: abs(sin(x) - sin(y)) <= abs(x - y)",
    "for x in R, y in R: abs(sigmoid(x) - sigmoid(y)) <= abs(x - y)/4",
    "for x in R, y in R, x < y: tanh(y) - tanh(x) < y - x",
    "for x in R, y in R: abs(atan(x) - atan(y)) <= abs(x - y)",
]
FAILS = [
    "for x in R, h in R, C > 0: abs((x - h)*sigmoid(C*(x - h)) - relu(x - h)) <= 0.2784/C",
    (
        "for x in R, D > 0, C > 0: abs(softplus(C*(x - D))/C - softplus(C*(-x - D))/C"
        " - soft_threshold(x, D)) <= 0.69/C"
    ),
    "for x in R, y in R, x + y == 1: x*y < 1/4",
    "for x in R, y in R, x + y == 1: x*y <= 0.24",
    "for x > 0, y > 0, x*y == 1: x + y > 2",
    "for x in R, y in R: abs(tanh(x) - tanh(y)) <= 0.99*abs(x - y)",
    "for x in R, y in R: abs(sigmoid(x) - sigmoid(y)) <= abs(x - y)/5",
    # the tangent at 1
    "for x in R: exp(x) > e*x",
    "for x in R: exp(2*x) > 2*e*x",
]
ILL_POSED = [
    "for x in R, y in R, x == 5, x < 3: y == 7",
    "for x in R, y in R, x < y, y < x: x == 7",
    "for x in R, y in R, x + log(y) == 1: x == 1 - log(y)",
]


@pytest.mark.parametrize(("text", "allowed"), cases(HOLDS, FAILS, ILL_POSED))
def test_verdict(text: str, allowed: tuple[str, ...]) -> None:
    check(text, allowed)


def test_a_witness_holds_the_name_that_was_solved_for() -> None:
    found = verdict("for x in R, y in R, x + y == 1: x - y == 3")
    assert found.verdict == "refuted"
    assert found.witness is not None
    assert {"x", "y"} <= set(found.witness)
