"""Extrema, argmax and zeros over sets with holes; maxima over several names."""

from __future__ import annotations

import pytest

from gateproof.proofs_check.engine import decide
from gateproof.proofs_check.records import Reading, Settings


def verdict(formal: str) -> str:
    return decide(Reading("x", formal), Settings()).verdict


@pytest.mark.parametrize(
    "formal",
    [
        r"sup(1/x, x in R \ {0}) == oo",
        r"inf(abs(x), x in R \ {0}) == 0",
        r"sup(1 - x**2, x in R \ {0}) == 1",
        r"max(1 - (x-1)**2, x in R \ {0}) == 1",
        r"max(1 - (x-1)**2, x in R \ {0}) < 2",
        r"zeros(x**2 - x, x in R \ {0}) == 1",
        r"zeros(x**2 - x, x in R \ {0, 1}) == {}",
        r"argmax(-(x**2-1)**2, x in R \ {1}) == -1",
        r"argmax(-(x**2-1)**2, x in R \ {0}) == {-1, 1}",
        "max(x*y, x in [0,1], y in [0,1]) == 1",
        "max(x*y, x in [0,1], y in [0,1]) < 2",
        "min(x**2 + y**2, x in R, y in R) == 0",
        "sup(x + y, x in [0,1), y in [0,1]) == 2",
        "sup(x, x in [0,1], x**2 <= 1/4) == 1/2",
    ],
)
def test_true_ones_hold(formal: str) -> None:
    assert verdict(formal) in ("proved", "certified")


@pytest.mark.parametrize(
    "formal",
    [
        r"max(1 - (x-1)**2, x in R \ {0}) == 2",
        r"sup(1 - x**2, x in R \ {0}) < 1",
        r"zeros(x**2 - x, x in R \ {0}) == {0, 1}",
        r"argmax(-(x**2-1)**2, x in R \ {1}) == {-1, 1}",
        "max(x*y, x in [0,1], y in [0,1]) == 2",
        "min(x**2 + y**2 + 1, x in R, y in R) == 0",
        r"sup(1/x**2, x in R \ {0}) < oo",
        "sup(x + y, x in [0, 1), y in [0, 1]) == 2.001",
        r"zeros(x**2 - x, x in R \ {0}) == 2",
    ],
)
def test_false_ones_fail(formal: str) -> None:
    assert verdict(formal) == "refuted"


@pytest.mark.parametrize(
    "formal",
    [
        r"min(abs(x), x in R \ {0}) == 0",
        r"max(1 - x**2, x in R \ {0}) == 1",
        r"argmax(-(x-1)**2, x in R \ {1}) == 1",
        "max(x + y, x in [0,1), y in [0,1]) == 2",
        "argmax(x - y**2, x in [0, 1], y in R) == 1",
        "sup(1/x, x in R) == oo",
        r"argmax(-abs(x), x in R \ {0}) == 0",
    ],
)
def test_those_without_meaning_are_ill_posed(formal: str) -> None:
    assert verdict(formal) == "ill-posed"


def test_a_step_is_not_continued_over_its_jump() -> None:
    # The value at 1 itself is not approached from the left.
    assert verdict("sup(step(x - 1) + where(x == 1, 5, 0), x in [0, 1)) == 5") == "refuted"
    assert verdict("max(sign(x), x in R \\ {-1}) == 1") in ("certified", "proved", "inconclusive")
