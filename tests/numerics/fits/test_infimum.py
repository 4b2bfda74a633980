"""Infima that no gate attains, and those that one does."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from gateproof.numerics.backends.formula import formula
from gateproof.numerics.fits.driver import fits
from gateproof.numerics.fits.gates import Gates
from gateproof.numerics.fits.infimum import BOUND, judge
from gateproof.numerics.fits.infimum_far import far_limit
from gateproof.numerics.fits.infimum_gates import Products, to_differences, to_products
from gateproof.numerics.fits.infimum_pair import Paired, pair_taken_apart
from gateproof.numerics.fits.normal import normal
from gateproof.numerics.fits.search import Effort
from gateproof.numerics.fits.setting import Setting
from gateproof.numerics.fits.target import of_formula
from gateproof.theory.formula import expand, parse_expr

LITTLE = Effort(starts=32, disturbed=16, levelled=3, idle=1)


def target(text, lo=None, hi=None):
    ends = (None if e is None else Fraction(e) for e in (lo, hi))
    return of_formula(formula(text), expand(parse_expr(text)), *ends)


def judged(text, setting):
    found = normal(target(text))
    return found, judge(found, fits(found, setting, effort=LITTLE)[-1])


@pytest.mark.parametrize(("text", "right"), [("mish(x)", 3.5756e-3), ("elu(x)", 1.932e-2)])
def test_merging_thresholds(text, right):
    found, known = judged(text, Setting(3))
    assert known.attained is False
    assert known.value == pytest.approx(right, rel=5e-4)
    assert "merge" in known.why
    # What is handed out is above the infimum, close to it, and its lines are bounded.
    error = known.found.error * found.height
    assert known.value < error <= 1.0005 * right
    _, _, slope, intercept = known.found.gates.parts(known.found.full)
    assert max(np.abs(slope).max(), np.abs(intercept).max()) <= BOUND * (1 + 1e-12)
    # Stick gates contain the limit.
    assert fits(found, Setting(3, algebra="stick"), effort=LITTLE)[-1].error * found.height == pytest.approx(
        known.value, rel=1e-5
    )


def spelt(tau, theta, slope, intercept, x):
    """A difference gate of K = 3 with one sharpness, in numpy alone."""
    lines = np.multiply.outer(slope, x) + np.reshape(intercept, (3, 1))
    low, high = (0.5 + 0.5 * np.tanh(tau * (x - t) / 2) for t in theta)
    return (1 - low) * lines[0] + (low - high) * lines[1] + high * lines[2]


def test_a_merged_pair_far_out():
    """The best of abs(x)+exp(-x**2) has a blunt pair at 1.74, where the function is its right line."""
    x = np.linspace(-40, 40, 80001)
    lines = [-1, 3.172337665, 1], [0, 34.166248236, 0]
    near = spelt(0.739267356, [1.617878614, 1.876458615], *lines, x)
    right = np.abs(near - np.abs(x) - np.exp(-(x**2))).max()
    assert right == pytest.approx(0.1044467, abs=1e-7)
    found, known = judged("abs(x)+exp(-x**2)", Setting(3))
    assert known.attained is False
    assert 0.1044 < known.value < known.found.error * found.height < right
    sticks = fits(found, Setting(3, algebra="stick"), effort=LITTLE)[-1]
    assert sticks.error * found.height == pytest.approx(known.value, rel=1e-6)


@pytest.mark.parametrize("text", ["abs(x)+x*exp(-x**2)", "abs(x)+exp(-x**2)/5"])
def test_a_search_with_long_lines_is_no_proof_that_a_gate_is_best(text):
    """Gates whose thresholds are apart by d leave the limit's error and a multiple of d**2 more."""
    found = normal(target(text))
    one = fits(found, Setting(3), effort=LITTLE)[-1]
    known = judge(found, one)
    assert known.attained is False
    tau, theta, slope, intercept = found.inverse(known.found.gates, known.found.full)
    assert theta[0] < theta[1]
    above = known.found.error * found.height - known.value
    assert 0 < above < 1e-3 * known.value
    # Lines of up to 1000 come nearer to it, but above it they stay.
    assert -1e-9 < one.error * found.height - known.value < above / 10
    # The place that is named is that of the gate handed out, not its mirror image.
    place = float(known.why.split(" at ")[1].split(")")[0])
    assert theta[0] - 0.1 < place < theta[1] + 0.1
    x = np.linspace(-40, 40, 80001)
    error = np.abs(spelt(tau[0], theta, slope, intercept, x) - formula(text).numpy(x)).max()
    assert error == pytest.approx(known.found.error * found.height, rel=1e-6)


def test_a_limit_that_is_the_target():
    """sech(x)**2 = 4 S(2x) (1 - S(2x)), a multiple of the derivative of S(2x)."""
    _, known = judged("sech(x)**2", Setting(3))
    assert (known.attained, known.value) == (False, 0)
    assert "2 at 0)" in known.why


@pytest.mark.parametrize(
    ("text", "lo", "hi"),
    [
        ("exp(-x)", 0, None),
        ("x + exp(-x)", 1, None),
        ("exp(x)*(1 - x)", None, 0),
        ("2 - 3*exp(5*x)", None, -1),
    ],
)
def test_limits_on_a_half_line(text, lo, hi):
    """C sigmoid(-(x + t)) with C = exp(t) tends to exp(-x) as t grows."""
    found = normal(target(text, lo, hi))
    known = judge(found, fits(found, Setting(2), effort=LITTLE)[-1])
    assert (known.attained, known.value) == (False, 0)
    assert known.found.error > 1e-6
    assert "leave the half line" in known.why


def test_a_half_line_with_a_best_gate():
    """Of sigmoid(-x) on [1, oo) it is that one; of a bell's side one with its threshold inside."""
    for text, lo in (("sigmoid(-x)", 1), ("exp(-x**2)", 0)):
        found = normal(target(text, lo))
        assert judge(found, fits(found, Setting(2), effort=LITTLE)[-1]).attained is True


@pytest.mark.parametrize("text", ["gelu(x)", "erf(x)", "exp(-x**2)"])
def test_attained(text):
    found, known = judged(text, Setting(3))
    assert known.attained is True
    assert not known.why
    assert known.value == pytest.approx(known.found.error * found.height)


def test_the_limit_of_a_merged_pair_as_a_target():
    """sigmoid + x sigmoid' is no gate of K = 3, but gates come as near as they like to it."""
    text = "x*sigmoid(x) + (2 - x)*sigmoid(x)*sigmoid(-x)"
    found, known = judged(text, Setting(3))
    assert known.attained is False
    assert known.value < 1e-7
    assert known.found.error * found.height > 10 * known.value


def test_a_pair_of_unequal_sharpness():
    """z sigmoid'(z) is the derivative of sigmoid by log tau: a limit of gates of free sharpness only."""
    text = "x*sigmoid(2*x) + 3*(2*x + 1)*sigmoid(2*x)*sigmoid(-2*x)"
    _, known = judged(text, Setting(3, "free"))
    assert known.attained is False
    assert known.value < 1e-6


@pytest.mark.parametrize(
    ("text", "lo", "hi"), [("exp(x)", 0, 1), ("x**2", -1, 1), ("1 - x + x**3", -1, 2), ("x*exp(-x)", 0, 4)]
)
def test_limits_on_an_interval_of_far_thresholds_and_flat_gates(text, lo, hi):
    """Lines times exponentials, and cubics, are limits of gates of K = 2 and no gates."""
    found = normal(target(text, lo, hi))
    known = judge(found, fits(found, Setting(2, ends="free"), effort=LITTLE)[-1])
    assert known.attained is False
    assert known.value < 1e-7
    assert known.found.error * found.height > 1e-6


def test_the_limit_on_an_interval_is_a_minimax_cubic_or_better():
    """Of x**4 on [-1, 1] cubics leave Chebyshev's 1/8; exponentials do no better, by symmetry."""
    found = normal(target("x**4", -1, 1))
    assert far_limit(found) * found.height == pytest.approx(1 / 8, rel=1e-3)


@pytest.mark.parametrize(
    ("text", "setting", "word"),
    [
        ("relu(x)", Setting(2), "--sharpness hard"),
        ("max(x/10, x)", Setting(2), "--sharpness hard"),
        ("relu(x) + x*sigmoid(x - 1)", Setting(3, "free"), "these thresholds hard"),
    ],
)
def test_sharpness_to_infinity(text, setting, word):
    _, known = judged(text, setting)
    assert known.attained is False
    assert known.value == 0
    assert word in known.why


@pytest.mark.parametrize("branches", [2, 3, 5])
def test_both_bases_are_the_same_functions(branches):
    rng = np.random.default_rng(branches)
    gates, products = Gates(branches), Products(branches)
    full = rng.normal(size=gates.size)
    full[: branches - 1] = full[0]
    full[branches - 1 : 2 * branches - 2].sort()
    x = np.linspace(-9, 9, 181)
    there = to_products(gates, full)
    assert products.values(there, x) == pytest.approx(gates.values(full, x), abs=1e-12)
    assert to_differences(products, there) == pytest.approx(full, abs=1e-10)


def test_equal_thresholds_have_no_difference_gate():
    full = np.array([0.0, 0.0, 1.0, 1.0, 0.0, 2.0, 1.0, 0.0, 1.0, 0.0])
    with pytest.raises(ZeroDivisionError):
        to_differences(Products(3), full)


@pytest.mark.parametrize("gates", [Products(4), Paired(4)])
def test_derivatives_of_the_limits(gates):
    rng = np.random.default_rng(5)
    full, x, step = rng.normal(size=gates.size), np.linspace(-4, 4, 41), 1e-6
    for i, row in enumerate(gates.jacobian(full, x)):
        move = step * (np.arange(gates.size) == i)
        quotient = (gates.values(full + move, x) - gates.values(full - move, x)) / (2 * step)
        assert row == pytest.approx(quotient, abs=1e-7)


def test_a_pair_taken_apart_tends_to_the_limit():
    gates = Paired(4)
    full, x = np.random.default_rng(6).normal(size=gates.size), np.linspace(-4, 4, 41)
    apart = [
        np.abs(Gates(4).values(pair_taken_apart(gates, full, h), x) - gates.values(full, x)).max()
        for h in (0.04, 0.02)
    ]
    # Central differences: the square of the distance.
    assert apart[1] == pytest.approx(apart[0] / 4, rel=0.1)
