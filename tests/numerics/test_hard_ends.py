"""Hard gates under tolerances, thresholds at an end of the domain: a side that no x takes does not count.

A hard gate is its right branch for x > theta and its left one for x <= theta.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from gateproof import certify

F = Fraction


def gate(*theta, levels=("-1/2", "1"), x="x"):
    zeros = ", ".join("0" for _ in levels)
    return f"tg({x}, tau=oo, theta=[{', '.join(theta)}], slope=[{zeros}], intercept=[{', '.join(levels)}])"


AT_1, AT_2 = gate("1"), gate("2")
CASES = [
    # x = 2 is left of a threshold at 2, and no x of the domain right of it.
    (f"sup({AT_2}, x in [1, 2])", {"intercept": "0.01"}, "-0.49"),
    (f"sup({AT_2}, x in [2, 2])", {"intercept": "0.01"}, "-0.49"),
    (f"sup({AT_2}, x in [1, sqrt(4)])", {"intercept": "0.01"}, "-0.49"),
    (f"sup(abs({AT_2}), x in [1, 2])", {"slope": "0.01"}, "0.52"),
    (f"sup({AT_2}, x in [1, 21/10])", {"intercept": "0.01"}, "1.01"),
    # A closed lower end at the threshold is left of it; an open one leaves only x right of it.
    (f"inf({AT_1}, x in [1, 2])", {"intercept": "0.01"}, "-0.51"),
    (f"inf({AT_1}, x in (1, 2])", {"intercept": "0.01"}, "0.99"),
    (f"inf({AT_1}, x in (1, oo))", {"intercept": "0.01"}, "0.99"),
    (f"sup({AT_1}, x in (-oo, 1])", {"intercept": "0.01"}, "-0.49"),
    (f"sup({AT_1}, x in (-oo, 1))", {"intercept": "0.01"}, "-0.49"),
    # Thresholds that vary about the end: both branches are reached.
    (f"sup({AT_2}, x in [1, 2])", {"intercept": "0.01", "theta": "0.1"}, "1.01"),
    (f"inf({AT_1}, x in (1, 2])", {"intercept": "0.01", "theta": "0.1"}, "-0.51"),
    # ... and one that comes as near as its tolerance allows, from either side.
    (f"sup({gate('5/2')}, x in [1, 2])", {"theta": "0.5"}, "-0.5"),
    (f"sup({gate('5/2')}, x in [1, 2])", {"theta": "0.51"}, "1"),
    (f"inf({gate('1/2')}, x in [1, 2])", {"theta": "0.5"}, "-0.5"),
    (f"inf({gate('1/2')}, x in (1, 2])", {"theta": "0.5"}, "1"),
    # Between equal thresholds lies no x, unless they vary.
    (f"sup({gate('0', '0', levels=('0', '5', '1'))}, x in [-1, 1])", {"intercept": "0.01"}, "1.01"),
    (f"sup({gate('0', '0', levels=('0', '5', '1'))}, x in [-1, 1])", {"theta": "0.1"}, "5"),
    (
        f"sup({gate('0', levels=('0', '1'))} - {gate('0', levels=('0', '2'))}, x in [-1, 1])",
        {"intercept": "0.01"},
        "0.02",
    ),
    (
        f"sup({gate('0', levels=('0', '1'))} - {gate('0', levels=('0', '2'))}, x in [-1, 1])",
        {"theta": "0.01"},
        "1",
    ),
    # Two thresholds, at both ends: (1, 2] is the middle branch.
    (f"sup({gate('1', '2', levels=('7', '3', '9'))}, x in (1, 2])", {"intercept": "0.01"}, "3.01"),
    (f"inf({gate('1', '2', levels=('1', '3', '2'))}, x in (1, 2])", {"intercept": "0.01"}, "2.99"),
    (f"sup({gate('1', '2', levels=('7', '3', '9'))}, x in [1, 2])", {"intercept": "0.01"}, "7.01"),
    # Further names, and a threshold reached through 2 x.
    (f"sup({AT_2} + y, x in [1, 2], y in [0, 1])", {"intercept": "0.01"}, "0.51"),
    (f"sup({AT_2} + y, x in [1, 2], y in (0, 1))", {"intercept": "0.01"}, "0.51"),
    (f"sup({gate('4', x='2*x')}, x in [1, 2])", {"intercept": "0.01"}, "-0.49"),
]


@pytest.mark.parametrize(("text", "given", "right"), CASES)
def test_only_sides_that_are_taken_count(text, given, right):
    found = certify(text, tolerance=given, digits=8)
    lo, hi = (F(found["value"][k]) for k in ("lo", "hi"))
    assert lo <= F(right) <= hi
    assert hi - lo <= F(1, 10**6)


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        (f"sup({AT_2}, x in [1, 2]) <= 0", True),
        (f"sup({AT_2}, x in [1, 2]) <= -1/2", False),
        (f"inf({AT_1}, x in (1, 2]) >= 9/10", True),
        (f"inf({AT_1}, x in [1, 2]) >= 9/10", False),
    ],
)
def test_claims_about_all_devices(text, truth):
    assert certify(text, tolerance={"intercept": "0.01"})["value"] is truth


def test_an_end_that_is_not_known_to_be_the_threshold_decides_nothing():
    # The end is 2: -0.49 is right, 1.01 is wrong.
    found = certify(f"sup({AT_2}, x in [1, 1 + sin(pi/2)])", tolerance={"intercept": "0.01"})
    if found["value"] is not None:
        assert F(found["value"]["lo"]) <= F("-0.49") <= F(found["value"]["hi"])


@pytest.mark.parametrize("where", ["x in (2, 2]", "x in [1, 2], y in (1, 1)"])
def test_no_supremum_over_nothing(where):
    found = certify(f"sup({AT_2} + 0*x, {where})", tolerance={"intercept": "0.01"})
    assert found["value"] is None
