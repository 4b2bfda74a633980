from __future__ import annotations

from fractions import Fraction

import flint
import mpmath as mp
import pytest
from flint import arb, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from random_formulas import SMOOTH, by_mpmath, core, formulas, mpf

from gateproof.numerics.errors import MaybeUndefined, NotSmooth
from gateproof.numerics.forms import Line, arch, outer, polynomial_range
from gateproof.numerics.functions import logistic_on
from gateproof.numerics.interval import to_fraction
from gateproof.numerics.jets import jet
from gateproof.numerics.precision import precision
from gateproof.numerics.series import taylor
from gateproof.theory.formula.nodes import App, Var

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


def test_long_series_are_not_cut_short():
    cap = flint.ctx.cap
    found = taylor(core("exp(x)"), "x", {"x": arb(0)}, 40, 64)
    assert len(found) == 41
    assert all(c.overlaps(1 / arb(k).fac()) and c > 0 for k, c in enumerate(found))
    assert flint.ctx.cap == cap


@pytest.mark.parametrize("head", ["sigmoid", "tanh", "sech", "softplus", "erfc", "exp"])
@pytest.mark.parametrize("x", [Fraction(-50), Fraction(-1, 10**12), Fraction(3, 10), Fraction(40)])
def test_coefficients_far_out_and_near_0_keep_their_relative_accuracy(head, x):
    found = taylor(core(f"{head}(x)"), "x", {"x": arb(fmpq(x.numerator, x.denominator))}, 2, 64)
    with mp.workdps(80):
        right = mp.taylor(lambda t: by_mpmath(App(head, (Var("x"),)), t), mpf(x), 2)
        for c, r in zip(found, right, strict=True):
            # To far below the value where the coefficient is not 0 at nearby points: it is seen to its size.
            assert contains(c, r, "1e-45")
            if abs(r) > mp.mpf(10) ** -30:
                assert c.rel_accuracy_bits() > 40


@settings(max_examples=60, deadline=None)
@given(st.integers(-640, 640), st.integers(0, 640))
def test_logistic_functions_on_intervals(lo, width):
    a, b = Fraction(lo, 16), Fraction(lo + width, 16)
    with precision(64):
        ends = outer(a, b)
        found = logistic_on(ends)
    with mp.workdps(40):
        for i in range(9):
            t = mpf(a + (b - a) * Fraction(i, 8))
            right = 1 / (1 + mp.exp(-t)), mp.tanh(t / 2), mp.sech(t / 2) ** 2
            for (low, high), r in zip(found, right, strict=True):
                assert mpf(to_fraction(low)) <= r <= mpf(to_fraction(high))
        # The ends are values, or the top of the bell.
        s, _, q = found
        assert mpf(to_fraction(s[1])) - 1 / (1 + mp.exp(-mpf(b))) < mp.mpf(2) ** -60
        top = 1 if a <= 0 <= b else max(mp.sech(mpf(a) / 2) ** 2, mp.sech(mpf(b) / 2) ** 2)
        assert mpf(to_fraction(q[1])) - top < mp.mpf(2) ** -58


def test_the_quadratic_part_is_bounded_jointly():
    # h - h**2 on [-1, 1]: between -2 and 1/4; term by term it would be 1.
    with precision(64):
        low, high = polynomial_range((arb(0), arb(0)), [arb(1), arb(-1)], arb(1))
        assert (to_fraction(low), to_fraction(high)) == (-2, Fraction(1, 4))
        low, high = polynomial_range((arb(0), arb(0)), [arb(-4), arb(1), arb(1)], arb(1))
        assert (to_fraction(low), to_fraction(high)) == (-4, 6)
        assert to_fraction(arch(arb(0, 1), arb(-2, 1), arb(1))) >= Fraction(1, 4)
