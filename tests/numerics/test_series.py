from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import pytest
from flint import arb, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from random_formulas import SMOOTH, by_mpmath, core, formulas, mpf

from gateproof.numerics.errors import MaybeUndefined, NotSmooth
from gateproof.numerics.forms import Line
from gateproof.numerics.interval import to_fraction
from gateproof.numerics.jets import jet
from gateproof.numerics.precision import precision
from gateproof.numerics.series import taylor

POINTS = st.integers(-192, 192).map(lambda n: Fraction(n, 64))


def contains(ball: arb, value, slack: str = "1e-25") -> bool:
    if not ball.is_finite():
        return True
    lo, hi = mpf(to_fraction(ball.lower())), mpf(to_fraction(ball.upper()))
    room = mp.mpf(slack) * (1 + abs(value))
    return lo - room <= value <= hi + room


@settings(max_examples=60, deadline=None)
@given(formulas(SMOOTH, 4), POINTS)
def test_coefficients_are_those_of_mpmath(expr, x):
    found = taylor(expr, "x", {"x": arb(fmpq(x.numerator, x.denominator))}, 4, 128)
    with mp.workdps(60):
        right = mp.taylor(lambda t: by_mpmath(expr, t), mpf(x), 4)
        assert all(contains(c, r, "1e-10") for c, r in zip(found, right, strict=True))


@settings(max_examples=80, deadline=None)
@given(formulas(SMOOTH), POINTS, st.integers(1, 128), st.integers(1, 6))
def test_taylor_forms_hold_the_values(expr, lo, width, order):
    hi = lo + Fraction(width, 64)
    with precision(96):
        found = Line(expr, "x", order).taylor(lo, hi)
        full = jet(Line(expr, "x"), lo, hi)
    with mp.workdps(40):
        for i in range(9):
            t = mpf(lo + (hi - lo) * Fraction(i, 8))
            value = by_mpmath(expr, t)
            for form in (found and found[0], full and full.value):
                if form is not None:
                    assert contains(arb(form[0]).union(form[1]), value)
            if full is not None:
                slope = mp.diff(lambda s: by_mpmath(expr, s), t)
                assert contains(arb(full.slope[0]).union(full.slope[1]), slope, "1e-9")


@pytest.mark.parametrize(
    ("text", "coefficients"),
    [
        ("tan(x)", [0, 1, 0, Fraction(1, 3), 0, Fraction(2, 15)]),
        ("asinh(x)", [0, 1, 0, Fraction(-1, 6), 0, Fraction(3, 40)]),
        ("asin(x)", [0, 1, 0, Fraction(1, 6), 0, Fraction(3, 40)]),
        ("atanh(x)", [0, 1, 0, Fraction(1, 3), 0, Fraction(1, 5)]),
        ("log(1+x)", [0, 1, Fraction(-1, 2), Fraction(1, 3), Fraction(-1, 4), Fraction(1, 5)]),
        (
            "sqrt(1+x)",
            [1, Fraction(1, 2), Fraction(-1, 8), Fraction(1, 16), Fraction(-5, 128), Fraction(7, 256)],
        ),
        ("(1+x)**(-2)", [1, -2, 3, -4, 5, -6]),
        (
            "(1+x)**(1/3)",
            [1, Fraction(1, 3), Fraction(-1, 9), Fraction(5, 81), Fraction(-10, 243), Fraction(22, 729)],
        ),
        ("tanh(x)*sech(x)", [0, 1, 0, Fraction(-5, 6), 0, Fraction(61, 120)]),
        ("abs(x-1)", [1, -1, 0, 0, 0, 0]),
        ("max(x, x**2-1)", [0, 1, 0, 0, 0, 0]),
        ("where(x < 1, x, 7)", [0, 1, 0, 0, 0, 0]),
        ("x**0", [1, 0, 0, 0, 0, 0]),
    ],
)
def test_known_coefficients(text, coefficients):
    for c, right in zip(taylor(core(text), "x", {"x": arb(0)}, 5, 100), coefficients, strict=True):
        assert c.overlaps(arb(fmpq(Fraction(right).numerator, Fraction(right).denominator)))
        assert c.rad() < arb("1e-20")


@pytest.mark.parametrize(
    "text", ["abs(x)", "sign(x)", "max(x, 0)", "where(x > 0, x, 0)", "sqrt(x+1)", "(x+1)**(1/3)"]
)
def test_no_expansion_across_a_kink(text):
    with pytest.raises((NotSmooth, MaybeUndefined)):
        taylor(core(text), "x", {"x": arb(0, 1)}, 3, 64)


def test_huge_boxes_give_no_nan_at_order_0():
    for head in ("tanh", "sigmoid", "sech", "erf", "erfc"):
        assert taylor(core(f"{head}(x)"), "x", {"x": arb(0, 1e30)}, 3, 64)[0].is_finite()
