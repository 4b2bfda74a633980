"""Decimal literals are exact: no double may leak into a many-digit check."""

from __future__ import annotations

from fractions import Fraction

import pytest

from gateproof.numerics.certify import certify
from gateproof.numerics.points import at_point, rational_bounds
from gateproof.theory.formula import expand, parse_expr

TANH_GELU = "0.5*x*(1+tanh(sqrt(2/pi)*(x+0.044715*x**3)))"


def test_forty_digits_of_the_tanh_form() -> None:
    lo, hi = rational_bounds(at_point(expand(parse_expr(TANH_GELU)), {"x": Fraction(1)}, 200))
    right = Fraction("0.8411919906082767047819957770451838608258")
    as_double = Fraction("0.84119199060827670431385755092200911511")
    assert abs(lo - right) < Fraction(1, 10**40)
    assert abs(hi - right) < Fraction(1, 10**40)
    assert not lo <= as_double <= hi


def test_certify_gives_them_as_asked() -> None:
    found = certify(parse_expr(f"at({TANH_GELU}, x=1)"), 40)
    assert Fraction(found["value"]["lo"]) <= Fraction("0.84119199060827670478199577704518386082588")
    assert Fraction(found["value"]["hi"]) >= Fraction("0.84119199060827670478199577704518386082572")
    assert Fraction(found["value"]["hi"]) - Fraction(found["value"]["lo"]) < Fraction(1, 10**39)


@pytest.mark.parametrize("digits", [30, 60, 120])
@pytest.mark.parametrize("x", [Fraction(1, 3), Fraction(-7, 5), Fraction(4)])
def test_the_residual_of_an_identity_falls_with_the_precision(digits: int, x: Fraction) -> None:
    """tanh(x) - (2 sigmoid(2x) - 1): a residual stuck near 1e-17 would show a float."""
    gap = expand(parse_expr("tanh(x) - (2*sigmoid(2*x) - 1)"))
    lo, hi = rational_bounds(at_point(gap, {"x": x}, int(digits * 3.33) + 8))
    assert lo <= 0 <= hi
    assert hi - lo < Fraction(1, 10 ** (digits - 5))
