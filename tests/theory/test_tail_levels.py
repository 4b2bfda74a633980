"""Signs far out of what falls faster than every exponential, against mpmath with thousands of digits."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_formulas import by_mpmath, core, formulas, mpf

from gateproof.theory.exact.tail_levels import far_sign

STARTS = [Fraction(2), Fraction(4), Fraction(8), Fraction(16)]


def sign_at(text: str, x: int) -> int:
    with mp.workdps(3000):
        return int(mp.sign(by_mpmath(core(text), mp.mpf(x))))


@pytest.mark.parametrize(
    ("text", "left", "right"),
    [
        # phi(x) (2 - x**2), written out.
        ("exp(-x**2/2) + exp(-(x/sqrt(2))**2) - x**2*exp(-x**2/2)", -1, -1),
        # Mills: x Phi(-x) tends to phi(x) from below.
        ("x*erfc(x/sqrt(2))/2 - exp(-x**2/2)/sqrt(pi)", -1, -1),
        ("2*x*erfc(x) - exp(-x**2)", -1, 1),
        ("erf(x) - 1", -1, -1),
        ("erfc(2*x) - exp(-4*x**2)", 1, -1),
        ("erfc(x) - erfc(x + 1)", 1, 1),
        ("1 - tanh(x**3)", 1, 1),
        ("sech(x**2) - 3*exp(-x**2)", -1, -1),
        ("sigmoid(x + x**3) - sigmoid(2*x + x**3)", 1, -1),
        ("softplus(x**3) - x**3 - 2*exp(-x**3)", -1, -1),
        ("tanh(exp(x)) - 1", -1, -1),
        ("exp(x**2) - exp(x**2 - x)*3", -1, 1),
        ("cosh(x**2) - sinh(x**2)", 1, 1),
        ("exp(-x**2) - exp(-2*x**2)*1000", 1, 1),
        ("1/(1 + exp(x**2)) - exp(-x**2)", -1, -1),
        ("exp(-sqrt(2)*x) - exp(-x)", 1, -1),
        ("abs(exp(-x**2)*x)", 1, 1),
    ],
)
def test_known_signs(text, left, right):
    for side, right_sign, x in (("-", left, -6), ("+", right, 6)):
        assert sign_at(text, x) == right_sign
        found = [far_sign(core(text), "x", side, s) for s in STARTS]
        assert found[-1] == right_sign, (text, side)
        assert set(found) <= {None, right_sign}


def test_the_branch_is_the_one_far_out():
    expr = core("where(x > 1, exp(-x**2), -exp(-x**2)) + exp(-x**4)")
    assert [far_sign(expr, "x", side, Fraction(4)) for side in "-+"] == [-1, 1]


@pytest.mark.parametrize(
    "text",
    ["sin(x)", "exp(-x**2)*sin(x)", "exp(-x**2)*(2 + sin(x)) - exp(-x**2)*2", "erfc(x) - exp(-x**2)*cos(x)"],
)
def test_what_oscillates_has_no_sign(text):
    assert far_sign(core(text), "x", "+", Fraction(8)) in (None, 0)


def test_what_is_identically_zero_is_zero():
    assert far_sign(core("exp(-x**2) - exp(-(x/sqrt(2))**2*2)"), "x", "+", Fraction(4)) in (0, None)


PARTS = st.sampled_from(
    ["exp(-x**2)", "exp(-x**2/2)", "exp(-(x/sqrt(2))**2)", "exp(x - x**2)", "erfc(x)", "erfc(-x/sqrt(2))",
     "sigmoid(x**3 + x)", "tanh(2*x**3)", "sech(x**2)", "erf(x)", "tanh(exp(x))", "x", "1/x", "exp(x)",
     "softplus(x**3)", "1/(1 + exp(x**2))", "1", "3", "x**2", "tanh(softplus(x))"]
)  # fmt: skip


@settings(max_examples=120, deadline=None)
@given(st.lists(st.tuples(st.integers(-3, 3), PARTS, PARTS), min_size=1, max_size=4), st.sampled_from("+-"))
def test_random_sums_of_products_have_the_sign_that_is_found(terms, side):
    text = " + ".join(f"({c})*({a})*({b})" for c, a, b in terms)
    expr = core(text)
    for start in STARTS[:3]:
        found = far_sign(expr, "x", side, start)
        if found is None:
            continue
        with mp.workdps(1500):
            for step in (0, Fraction(1, 7), 1, 5):
                x = mpf(start + step)
                value = by_mpmath(expr, x if side == "+" else -x)
                # 1 - tanh(x**3) is 0 to 1,500 digits for x above 12.
                assert value * found > 0 or abs(value) < mp.mpf(10) ** -1400
        return


@settings(max_examples=100, deadline=None)
@given(formulas(), st.sampled_from("+-"))
def test_random_formulas(expr, side):
    found = far_sign(expr, "x", side, Fraction(6))
    if not found:
        return
    with mp.workdps(600):
        for x in (6, 7, 11):
            value = by_mpmath(expr, mp.mpf(x if side == "+" else -x))
            assert value * found > -(mp.mpf(10) ** -500)
