"""Gates in floating formats: rounding, the evaluation on arrays, and what shifts and scales do to it."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from gates_to_export import OO, Exact, drawn, gate, named, number, points, wrong
from hypothesis import given, settings
from hypothesis import strategies as st

from gateproof.numerics.fits.exports.about import one_line
from gateproof.numerics.fits.exports.arrays import Evaluated
from gateproof.numerics.fits.exports.form import form_of
from gateproof.numerics.fits.exports.formats import DOUBLE, SINGLE, RefusedExport, nearest, rounded
from gateproof.theory.formula.nodes import Expr, Num
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.gate import Gate

SIZES = st.floats(allow_nan=False, allow_infinity=False)
FRACTIONS = st.builds(lambda n, d, e: Fraction(n, d) * Fraction(2) ** e,
    st.integers(-(10**20), 10**20), st.integers(1, 10**20), st.integers(-200, 60))  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(FRACTIONS)
def test_rounding_to_double_is_pythons(value):
    assert rounded(value, DOUBLE) == float(value)


@settings(max_examples=200, deadline=None)
@given(SIZES)
def test_rounding_a_double_to_single_is_numpys(value):
    with np.errstate(over="ignore"):
        want = np.float32(value)
    if np.isinf(want):
        with pytest.raises(RefusedExport):
            rounded(Fraction(value), SINGLE)
    else:
        assert rounded(Fraction(value), SINGLE) == float(want)


@settings(max_examples=200, deadline=None)
@given(FRACTIONS, st.sampled_from([DOUBLE, SINGLE]))
def test_rounding_down_is_the_largest_not_above(value, form):
    found = rounded(value, form, down=True)
    kind = np.float64 if form is DOUBLE else np.float32
    above = float(np.nextafter(kind(found), kind(np.inf)))
    assert Fraction(found) <= value < Fraction(above)


def test_irrational_numbers_are_rounded_once():
    assert nearest(number("pi"), DOUBLE) == math.pi
    assert nearest(number("pi"), SINGLE) == float(np.float32(math.pi))
    assert nearest(number("-sqrt(2)"), DOUBLE) == -math.sqrt(2)


@st.composite
def gates(draw):
    """Any gate with decimals of a few digits; thresholds may coincide or be out of order."""
    n = draw(st.integers(1, 6))
    decimals = st.decimals(-9, 9, places=3).map(Fraction)
    sharp = st.decimals("0.01", 99, places=2).map(lambda d: Num(Fraction(d)))
    algebra = draw(st.sampled_from(["difference", "stick", "softmax"]))
    one = draw(st.none() | sharp)
    tau = [one or draw(sharp if algebra == "softmax" else sharp | st.just(OO)) for _ in range(n - 1)]
    theta, slope, intercept = (tuple(Num(draw(decimals)) for _ in range(m)) for m in (n - 1, n, n))
    return Gate(tuple(tau), theta, slope, intercept, algebra)


@settings(max_examples=60, deadline=None)
@given(gates(), st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=8))
def test_the_evaluation_on_arrays_is_within_the_stated_rounding(one, xs):
    evaluated, exact = Evaluated.of(one), Exact(one)
    x = np.array([*xs, *points(one, most=8), np.inf, -np.inf, np.nan])
    # Softmax gates of thresholds that are out of order add arguments that cancel.
    ordered = all(a.value <= b.value for a, b in zip(one.theta, one.theta[1:], strict=False))
    slack = 1 if ordered or one.algebra != "softmax" else 1000
    said = [
        wrong(exact, evaluated.form, a, b, slack)
        for a, b in zip(x.tolist(), evaluated(x).tolist(), strict=True)
    ]
    assert [s for s in said if s] == []


@pytest.mark.parametrize("seed", range(12))
def test_gates_sum_to_one(seed):
    one = drawn(seed)
    found = Evaluated.of(one).gates(np.array([x for x in points(one) if np.isfinite(x)]))
    assert found.shape[0] == one.branches
    assert np.allclose(found.sum(axis=0), 1.0, rtol=0, atol=1e-13)


def shifted(one: Gate, by: Fraction) -> Gate:
    """y(x - by)."""
    old, slope, lines = ([rational(v) for v in part] for part in (one.theta, one.slope, one.intercept))
    theta = tuple(Num(t + by) for t in old)
    intercept = tuple(Num(c - s * by) for s, c in zip(slope, lines, strict=True))
    return Gate(one.tau, theta, one.slope, intercept, one.algebra)


def rational(node: Expr) -> Fraction:
    found = constant_value(node)
    assert found is not None
    return found


@pytest.mark.parametrize("name", ["free", "crossing", "stick", "softmax", "mixed", "hard_tanh", "relu"])
@pytest.mark.parametrize("by", [2**20, -(2**20), 2**40])
def test_a_shift_far_away_costs_no_digit(name, by):
    near, far = named()[name], shifted(named()[name], Fraction(by))
    x = np.arange(-6, 6, 2.0**-9)
    a, b = Evaluated.of(near)(x), Evaluated.of(far)(x + by)
    assert form_of(near, DOUBLE).centre == 0
    assert np.abs(a - b).max() <= 1e-13


def test_changed_parameters():
    one = Evaluated.of(gate([2, 2], [-1, 1], [0, "0.5", 1], [0, "0.25", 0]))
    x = np.linspace(-3, 3, 13)
    for key, k, by, other in (
        ("tau", 0, 1.0, gate([3, 2], [-1, 1], [0, "0.5", 1], [0, "0.25", 0])),
        ("theta", 1, 0.5, gate([2, 2], [-1, "1.5"], [0, "0.5", 1], [0, "0.25", 0])),
        ("slope", 2, -0.5, gate([2, 2], [-1, 1], [0, "0.5", "0.5"], [0, "0.25", 0])),
        ("intercept", 1, 0.75, gate([2, 2], [-1, 1], [0, "0.5", 1], [0, 1, 0])),
    ):
        assert np.allclose(one.changed(key, [k], by)(x), Evaluated.of(other)(x), rtol=0, atol=1e-15)
    both = Evaluated.of(gate([3, 3], [-1, 1], [0, "0.5", 1], [0, "0.25", 0]))
    assert np.allclose(one.changed("tau", range(2), 1.0)(x), both(x), rtol=0, atol=1e-15)


def test_comments_are_one_line_of_ascii():
    r = random.Random(0)
    letters = [
        "*/",
        "/*",
        '"""',
        "'''",
        "\\",
        "\n",
        "\r",
        "\u2028",
        "é",
        "??/",
        "<!--",
        "-->",
        "a",
        " ",
        "\x00",
    ]
    for _ in range(500):
        text = one_line("".join(r.choice(letters) for _ in range(r.randrange(40))))
        assert text.isascii()
        assert text.isprintable()
        assert not any(two in text for two in ("*/", "/*", '"""', "'''", "??", "-->"))
        assert not text.endswith("\\")
        assert len(text) <= 240
