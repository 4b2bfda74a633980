"""The condition number: by hand, invariant, and a bound of what rounding the parameters does."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateproof.numerics.backends.formula import formula
from gateproof.numerics.fits.condition import UNIT, condition, condition_of
from gateproof.numerics.fits.gates import Gates
from gateproof.numerics.fits.normal import normal
from gateproof.numerics.fits.target import of_formula
from gateproof.theory.formula import expand, parse_expr
from gateproof.theory.formula.nodes import Const, Num
from gateproof.theory.gate import Gate


def target(text):
    return of_formula(formula(text), expand(parse_expr(text)), None, None)


GELU = normal(target("gelu(x)"))


def rounded(values, unit):
    """To the nearest float of that unit roundoff."""
    mantissa, exponent = np.frexp(values)
    return np.ldexp(np.round(mantissa / unit) * unit, exponent)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.floats(0.5, 4), min_size=2, max_size=2),
    st.lists(st.floats(-3, 3), min_size=2, max_size=2),
    st.lists(st.floats(-9, 9), min_size=6, max_size=6),
    st.sampled_from(["difference", "stick", "softmax"]),
    st.sampled_from(["bf16", "fp16"]),
)
def test_rounding_stays_within(tau, theta, lines, algebra, kind):
    unit = UNIT[kind]
    parts = [np.array(v) for v in (tau, theta, lines[:3], lines[3:])]
    known = condition_of(*parts, algebra, GELU)
    near = [rounded(p, unit) for p in parts]
    gates, x = Gates(3, algebra), GELU.centre + GELU.width * GELU.grid()
    before, after = (gates.values(np.concatenate([np.log(p[0]), *p[1:]]), x) for p in (parts, near))
    change = np.abs(after - before) / np.maximum(GELU.height, np.abs(before))
    # The second order: relative changes u of tau and theta move z by 2 u |z|, as far as gates are alive.
    most = 1 + 60 * unit * (1 + max(tau) * max(map(abs, theta)))
    assert change.max() <= known * unit * most


def test_by_hand():
    """For relu, exact and hard, all that counts is the slope: x dy/dslope = y."""
    relu = Gate(
        (Const("oo"),), (Num(Fraction(0)),), (Num(Fraction(0)), Num(Fraction(1))), (Num(Fraction(0)),) * 2
    )
    found = normal(target("relu(x)"))
    assert condition(relu, found) == pytest.approx(1)
    jump = Gate(relu.tau, (Num(Fraction(1)),), relu.slope, relu.intercept)
    assert condition(jump, found) == np.inf


def test_scaled_functions_have_the_same_number():
    one = (np.array([1.7]), np.array([0.3]), np.array([0.0, 1.0]), np.array([0.1, 0.2]))
    plain = condition_of(*one, "difference", GELU)
    wide = normal(target("1000*gelu(x/1000)"))
    moved = (one[0] / 1000, one[1] * 1000, one[2], one[3] * 1000)
    assert condition_of(*moved, "difference", wide) == pytest.approx(plain, rel=1e-6)
    high = normal(target("gelu(x)/1000"))
    assert condition_of(one[0], one[1], one[2] / 1000, one[3] / 1000, "difference", high) == pytest.approx(
        plain
    )


def test_cancelling_lines_are_ill_conditioned():
    def of(size):
        d = 1 / size
        parts = np.array([1.0, 1.0]), np.array([1 - d, 1 + d]), np.array([0, size, 1.0]), np.zeros(3)
        return condition_of(*parts, "difference", GELU)

    # Lines of size s at thresholds 1/s apart: a relative error of a threshold counts s times.
    assert of(1000) / of(100) == pytest.approx(10, rel=0.1)
