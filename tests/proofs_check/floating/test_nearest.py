"""A refuted bound comes with one that holds, and with what is computed where it fails."""

from __future__ import annotations

import pytest

from gateproof.proofs_check.api import decide_text
from gateproof.theory.formula import parse_claim, to_text


@pytest.mark.parametrize(
    ("formal", "nearest"),
    [
        # 1/x is rounded by up to half a unit, and the worst case of float16 comes very near to it.
        (
            "in float16: for x in [1, 60000]: abs(fl(1/x) - 1/x) <= 0.499*ulp",
            "in float16: for x in [1, 60000]: abs(fl(1/x) - 1/x) <= 0.5*ulp(1/x)",
        ),
        # Where x*x - 1 falls into the binade below, half a unit of x*x becomes a whole one.
        (
            "in float32: for x in [2, 4]: abs(fl(x*x - 1) - (x*x - 1)) <= 0.5*ulp",
            "in float32: for x in [2, 4]: abs(fl(x*x - 1) - (x*x - 1)) <= ulp(x*x - 1)",
        ),
        (
            "in bfloat16: for x in [1, 2]: x > 1.5 => 2 > fl(x*x)",
            "in bfloat16: for x in [1, 2]: x > 1.5 => 4.2 > fl(x*x)",
        ),
    ],
)
def test_the_nearest_bound(formal, nearest):
    found = decide_text(formal)
    assert found.verdict == "refuted"
    assert found.nearest == {"formal": nearest, "verdict": "certified", "kind": "constant"}
    assert to_text(parse_claim(nearest)) == nearest


@pytest.mark.parametrize(
    "formal",
    [
        "in bfloat16: for x in [1, 2]: fl(x/3*3) == x",
        "in bfloat16: for x in [1, 2]: fl(x) <= -1",
        "in bfloat16: for x in [0, 1]: fl(x) < x",
    ],
)
def test_where_no_larger_constant_helps_there_is_none(formal):
    found = decide_text(formal)
    assert (found.verdict, found.nearest) == ("refuted", None)


def test_steps_show_what_is_computed():
    # 0.1 + 0.2 in binary64 is 0.3000000000000000444 (IEEE 754), 5404319552844596/2^54.
    found = decide_text("in float64: fl(0.1 + 0.2) == 0.3")
    assert found.steps == (
        "it fails",
        "fl(0.1 + 0.2) is 1351079888211149/4503599627370496, about 0.3",
    )
