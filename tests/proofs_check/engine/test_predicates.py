"""Predicates at ends, at kinks and with parameters. Reasons stand beside the statements."""

from __future__ import annotations

import pytest
from deciding import cases, check, verdict

HOLDS = [
    "differentiable(sqrt(x), x in (0, 1])",
    # x**(3/2) has the slope 0 at 0
    "differentiable(x*sqrt(x), x in [0, 1])",
    "for a in (0, 1): increasing(leaky_relu(x, a), x in R)",
    # slopes a < 1 on the left and 1 on the right
    "for a in (0, 1): convex(leaky_relu(x, a), x in R)",
    "for D >= 0: increasing(soft_threshold(x, D), x in R)",
    "for D in R: convex(max(x, D), x in R)",
    "for D >= 0: convex(abs(soft_threshold(x, D)), x in R)",
    "convex(-sqrt(x), x in [0, 1])",
    "for x in R: diff(x*abs(x), x) == 2*abs(x)",
    "for x >= 0: diff(x*abs(x), x) == 2*x",
]
FAILS = [
    # the slope 1/(2 sqrt(x)) grows without bound at 0
    "differentiable(sqrt(x), x in [0, 1])",
    "differentiable(asin(x), x in [-1, 1])",
    "for a in (0, 2): convex(leaky_relu(x, a), x in R)",
    "for a in (-1, 1): increasing(leaky_relu(x, a), x in R)",
    "for D in R: convex(min(x, D), x in R)",
    "for D >= 0: convex(soft_threshold(x, D), x in R)",
    "convex(sqrt(x), x in [0, 1])",
]
ILL_POSED = [
    # the kink lies at an end of the scope, but the function goes on beyond it
    "for x >= 0: diff(abs(x), x) == 1",
    "for x in [0, 1]: diff(relu(x), x) == 1",
]
NEVER_PROVED = [
    # |x y| has no derivative at 0; the formula sign(u) u' has the value 0 there
    r"for x >= 0, y in R \ {0}: diff(abs(x*y), x) == sign(x*y)*y",
    r"for x in R, y in R \ {0}: diff(where(x < 0, abs(x*y), abs(x*y)), x) == sign(x*y)*y",
    r"for y in R \ {0}: differentiable(where(x < 0, abs(x*y), abs(x*y)), x in R)",
    r"for y in R \ {0}: differentiable(abs(x*y), x in [-1, 1])",
]


@pytest.mark.parametrize(("text", "allowed"), cases(HOLDS, FAILS, ILL_POSED))
def test_verdict(text: str, allowed: tuple[str, ...]) -> None:
    check(text, allowed)


@pytest.mark.parametrize("text", NEVER_PROVED)
def test_never_proved(text: str) -> None:
    assert verdict(text).verdict not in ("proved", "certified")
