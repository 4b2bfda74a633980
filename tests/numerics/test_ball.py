from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import pytest
from flint import arb, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from random_formulas import by_mpmath, core, formulas, mpf

from gateproof.numerics.ball import decide, evaluate, evaluate_interval
from gateproof.numerics.errors import MaybeUndefined, NotReal, Undefined
from gateproof.numerics.interval import to_fraction
from gateproof.theory.formula import parse_claim


def box(lo: Fraction, hi: Fraction) -> arb:
    return arb(fmpq(lo.numerator, lo.denominator)).union(arb(fmpq(hi.numerator, hi.denominator)))


ENDS = st.integers(-1920, 1920).map(lambda n: Fraction(n, 64))


@settings(max_examples=150, deadline=None)
@given(formulas(), ENDS, ENDS, st.lists(st.integers(0, 16), min_size=3, max_size=3))
def test_a_random_formula_never_leaves_its_enclosure(expr, a, b, steps):
    lo, hi = min(a, b), max(a, b)
    low, high = evaluate_interval(expr, {"x": (box(lo, hi).lower(), box(lo, hi).upper())}, 64)
    ball = evaluate(expr, {"x": box(lo, hi)}, 64)
    assert not low > high
    with mp.workdps(60):
        for step in steps:
            value = by_mpmath(expr, mpf(lo + (hi - lo) * Fraction(step, 16)))
            slack = abs(value) * mp.mpf(10) ** -50 + mp.mpf(10) ** -50
            if low.is_finite():
                assert mpf(to_fraction(low)) <= value + slack
            if high.is_finite():
                assert mpf(to_fraction(high)) >= value - slack
        if ball.is_finite():
            assert ball.lower() <= low
            assert ball.upper() >= high


@settings(max_examples=60, deadline=None)
@given(formulas(), ENDS)
def test_more_bits_give_a_narrower_enclosure_that_overlaps(expr, x):
    at = {"x": box(x, x)}
    coarse, fine = evaluate(expr, at, 40), evaluate(expr, at, 160)
    if coarse.is_finite():
        assert fine.is_finite()
        assert coarse.overlaps(fine)
        assert fine.rad() <= coarse.rad() * 2 + arb(2) ** -100


@pytest.mark.parametrize("head", ["tanh", "sigmoid", "sech", "softplus", "erf", "erfc", "exp", "atan"])
@pytest.mark.parametrize("x", [arb(0, 1e30), arb(1e30), arb(-1e30), arb(0, 50), arb(-800), arb(800)])
def test_huge_arguments_give_no_nan(head, x):
    value = evaluate(core(f"{head}(x)"), {"x": x}, 64)
    assert not value.is_nan()
    if head in ("tanh", "sigmoid", "sech", "erf", "erfc"):
        assert value.is_finite()
        assert value.abs_upper() < 2.0001


@pytest.mark.parametrize(
    ("text", "x", "right"),
    [
        ("abs(x)", (-3, 2), (0, 3)),
        ("max(x, 0)", (-3, 2), (0, 2)),
        ("min(x, 0, -1)", (-3, 2), (-3, -1)),
        ("x**2", (-3, 2), (0, 9)),
        ("x**3", (-3, 2), (-27, 8)),
        ("x**0", (-1, 1), (1, 1)),
        ("sign(x)", (0, 2), (0, 1)),
        ("sign(x)", (0, 0), (0, 0)),
        ("where(x > 0, x, -x)", (1, 2), (1, 2)),
        ("where(x > 0, x, -x)", (-1, 2), (-2, 2)),
        ("where(x < oo, 1, log(x))", (-1, 2), (1, 1)),
        ("sqrt(abs(x))", (-4, 1), (0, 2)),
        ("(x**2)**(1/2)", (-4, 1), (0, 4)),
        ("sigmoid(x)", (-(10**30), 10**30), (0, 1)),
    ],
)
def test_hulls_are_exact(text, x, right):
    low, high = evaluate_interval(core(text), {"x": (arb(x[0]), arb(x[1]))}, 64)
    if text == "sigmoid(x)":
        assert (low, high) == (arb(0), arb(1))
    else:
        assert (to_fraction(low), to_fraction(high)) == right


@pytest.mark.parametrize(
    ("text", "x"),
    [("1/x", 0), ("log(x)", 0), ("log(x)", -1), ("sqrt(x)", -1), ("x**(-1)", 0), ("(-1)**x", 1 / 2),
     ("x**(1/3)", -1), ("asin(x)", 2), ("acosh(x)", 0), ("atanh(x)", 1), ("0*log(x)", -1)],
)  # fmt: skip
def test_undefined_at_a_point(text, x):
    with pytest.raises(Undefined):
        evaluate(core(text), {"x": arb(x)}, 64)


@pytest.mark.parametrize("text", ["1/x", "log(x)", "sqrt(x)", "x**(-1)", "x**(1/3)", "atanh(x)", "tan(2*x)"])
def test_perhaps_undefined_on_a_box(text):
    with pytest.raises(MaybeUndefined):
        evaluate(core(text), {"x": arb(0, 1)}, 64)


def test_infinity_is_no_value():
    with pytest.raises(NotReal):
        evaluate(core("oo + x"), {"x": arb(1)}, 64)


@pytest.mark.parametrize(
    ("text", "x", "truth"),
    [("x < 1", arb(0), True), ("x < 1", arb(1), False), ("x < 1", arb(1, 1), None),
     ("0 <= x <= 1", arb(0.5, 0.25), True), ("x == 1 or x < 5", arb(2), True),
     ("not x > 0", arb(1), False), ("x < oo", arb(7), True)],
)  # fmt: skip
def test_conditions_are_three_valued(text, x, truth):
    assert decide(parse_claim(f"for x in R: {text}").body, {"x": x}, 64) is truth


def test_gelu_keeps_its_left_tail():
    value = evaluate(core("gelu(x)"), {"x": arb(-14)}, 128)
    assert value.overlaps(arb("-1.091095154686992035610355e-43 +/- 1e-66"))
    assert value.rel_accuracy_bits() > 100
