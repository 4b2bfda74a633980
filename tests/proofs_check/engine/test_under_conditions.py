"""Bounds and extrema under conditions: x y <= 1/4 where x + y <= 1, x + y <= sqrt(2) on a disc."""

from __future__ import annotations

import pytest

from gateproof.proofs_check.engine import decide
from gateproof.proofs_check.records import Reading, Settings


def verdict(formal: str) -> str:
    return decide(Reading("x", formal), Settings()).verdict


@pytest.mark.parametrize(
    "formal",
    [
        "for x in [0, 1], y in [0, 1], x + y <= 1: x*y <= 1/4",
        "for x in R, y in R, x**2 + y**2 <= 1: x + y <= 1.42",
        "sup(x*y, x in [0, 1], y in [0, 1], x + y <= 1) == 1/4",
        "max(x*y, x in [0, 1], y in [0, 1], x + y <= 1) == 1/4",
        "inf(x + y, x in [0, 1], y in [0, 1], x*y >= 1/4) >= 0.99",
        "sup(exp(x)*y, x in [0, 1], y in [0, 1], x + 2*y <= 1) < 1.2",
    ],
)
def test_true_ones_hold(formal: str) -> None:
    assert verdict(formal) in ("proved", "certified")


@pytest.mark.parametrize(
    "formal",
    [
        "for x in [0, 1], y in [0, 1], x + y <= 1: x*y <= 0.24",
        "for x in [0, 1], y in [0, 1], x + y <= 1: x*y < 1/4",
        "sup(x*y, x in [0, 1], y in [0, 1], x + y <= 1) == 1/2",
        "sup(x*y, x in [0, 1], y in [0, 1], x + y <= 1) <= 1/5",
        # Without the second condition the greatest value would be 1/4.
        "sup(x*y, x in [0, 1], y in [0, 1], x + y <= 1, x <= 1/4) == 1/4",
    ],
)
def test_false_ones_fail(formal: str) -> None:
    assert verdict(formal) == "refuted"


def test_another_limit_of_the_same_name_is_not_passed() -> None:
    # x = 1/2, y = 1/4 meets all conditions and has the value 1/4.
    formal = "for x in [0, 1], y in [0, 1], x + y <= 1, x**2 <= y: x*(1 - x) <= 0.24"
    assert verdict(formal) in ("refuted", "inconclusive")
