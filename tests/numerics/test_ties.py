"""Maxima that agree to all bits: equal by a symmetry or exactly, told apart, or left undecided."""

from __future__ import annotations

import pytest

from gateproof.numerics.certify import certify
from gateproof.theory.formula import parse_expr

GATE = "abs(x*sigmoid(1.702*x) - gelu(x))"


def places(text: str) -> list[tuple[float, float]] | None:
    """The set that certify gives; None where it gives none."""
    found = certify(parse_expr(text), 15)
    if found["kind"] is None:
        assert "agree to all digits" in found["reason"]
        return None
    assert found["kind"] == "set"
    return [(float(p["lo"]), float(p["hi"])) for p in found["points"]]


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("argmax(x**2*(1 + 1e-60*x), x in [-1, 1])", [1]),
        ("argmax(x**2*(1 - 1e-60*x), x in [-1, 1])", [-1]),
        ("argmax(max(1 - (x + 1)**2, 1 + 1e-60 - (x - 1)**2), x in R)", [1]),
        ("argmax(cos(x) + where(x > 1, 1e-60, 0), x in [-7, 7])", [6.283185307179586]),
        (f"argmax({GATE} + 1e-50*tanh(x), x in R)", [2.27039773719661]),
        ("argmax(x**2*(1 + 1e-60*x), x in [-pi, pi])", [3.141592653589793]),
    ],
)
def test_a_near_tie_has_one_place(text, right):
    assert places(text) == [pytest.approx((r, r), abs=1e-13) for r in right]


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("argmax(x**2, x in [-1, 1])", [-1, 1]),
        ("argmax(x**2, x in [-pi, pi])", [-3.141592653589793, 3.141592653589793]),
        (f"argmax({GATE}, x in R)", [-2.27039773719661, 2.27039773719661]),
        ("argmax(abs(tanh(x)*sech(x)), x in R)", [-0.881373587019543, 0.881373587019543]),
        ("argmax(cos(x), x in [-7, 7])", [-6.283185307179586, 0, 6.283185307179586]),
        ("argmax(exp(-(x - 1/3)**2*(x + 1)**2), x in R)", [-1, 1 / 3]),
        ("argmax(gelu(x - 1)*exp(1 - x) + gelu(1 - x)*exp(x - 1), x in R)", None),
    ],
)
def test_equal_maxima_are_all_named(text, right):
    found = places(text)
    if right is not None:
        assert found == [pytest.approx((r, r), abs=1e-13) for r in right]
    else:
        assert found is not None
        assert [round(sum(p) / 2 - 1, 9) for p in found] == sorted(-round(sum(p) / 2 - 1, 9) for p in found)


def test_what_no_precision_and_no_symmetry_decides_is_undecided():
    two_equal = "argmax(max(gelu(x)*exp(-x), gelu(x - 3)*exp(3 - x)), x in R)"
    assert places(two_equal) is None


def test_an_end_that_is_hardly_no_mirror_image():
    found = places("argmax(x**2, x in [-1, 1 + 1e-50])")
    assert found is None or found == [pytest.approx((1, 1), abs=1e-13)]
