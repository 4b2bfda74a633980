"""Hard gates through data, against every choice of breaks; and least squares."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from gateproof.numerics.backends.formula import formula
from gateproof.numerics.fits.hard import hard_fit
from gateproof.numerics.fits.target import Points, Target, of_formula
from gateproof.theory.formula import expand, parse_expr


def data(x, y):
    x, y = np.asarray(x, float), np.asarray(y, float)

    def function(at):
        return np.interp(at, x, y)

    ends = Fraction(float(x[0])), Fraction(float(x[-1]))
    return Target("data", function, None, *ends, kind="data", points=Points(x, y))


def line_error(x, y):
    """The least sup error of one line, as a linear programme."""
    one = np.ones_like(x)
    rows = np.vstack([np.column_stack([x, one, -one]), np.column_stack([-x, -one, -one])])
    found = linprog([0, 0, 1], rows, np.concatenate([y, -y]), bounds=[(None, None)] * 3)
    return float(found.x[2])


def by_all_breaks(x, y, k):
    cuts = combinations(range(1, len(x)), k - 1)
    return min(max(line_error(x[a:b], y[a:b]) for a, b in pairwise((0, *cut, len(x)))) for cut in cuts)


def continuous_by_all_breaks(x, y, k):
    """Every choice of gaps for the crossings, and of which line is above to the left of each."""
    best = np.inf
    n = len(x)
    for cut in combinations(range(1, n), k - 1):
        bounds = (0, *cut, n)
        for signs in product((1, -1), repeat=k - 1):
            rows, right = [], []
            for piece, (a, b) in enumerate(pairwise(bounds)):
                for i in range(a, b):
                    row = np.zeros(2 * k + 1)
                    row[2 * piece : 2 * piece + 2] = x[i], 1
                    for s in (1, -1):
                        rows.append(s * row - np.eye(2 * k + 1)[-1])
                        right.append(s * y[i])
            for piece, (c, s) in enumerate(zip(cut, signs, strict=True)):
                for place, side in ((x[c - 1], -s), (x[c], s)):
                    row = np.zeros(2 * k + 1)
                    row[2 * piece : 2 * piece + 4] = place, 1, -place, -1
                    rows.append(side * row)
                    right.append(0.0)
            goal = np.eye(2 * k + 1)[-1]
            found = linprog(goal, np.array(rows), np.array(right), bounds=[(None, None)] * (2 * k + 1))
            if found.x is not None:
                best = min(best, float(found.x[-1]))
    return best


curves = st.lists(st.integers(-20, 20), min_size=5, max_size=9)


@settings(max_examples=12, deadline=None)
@given(y=curves, k=st.integers(1, 3))
def test_the_best_of_all_breaks(y, k):
    x = np.cumsum(1.0 + np.arange(len(y)) % 3)
    found = hard_fit(data(x, y), k)
    assert found.error == pytest.approx(by_all_breaks(x, np.array(y, float), k), abs=1e-8)
    assert np.abs(found.pieces.at(x) - y).max() <= found.error + 1e-9


@settings(max_examples=12, deadline=None)
@given(y=curves, k=st.integers(2, 3))
def test_the_best_continuous_one_of_all_breaks(y, k):
    x = np.cumsum(1.0 + np.arange(len(y)) % 3)
    found = hard_fit(data(x, y), k, continuous=True)
    assert found.below == pytest.approx(continuous_by_all_breaks(x, np.array(y, float), k), abs=1e-7)
    assert np.abs(found.pieces.at(x) - y).max() <= found.error + 1e-8
    for t, (one, two) in zip(found.pieces.theta, pairwise(found.pieces.lines), strict=True):
        assert one.height(t) == pytest.approx(two.height(t), abs=1e-7)


@settings(max_examples=15, deadline=None)
@given(y=curves, k=st.integers(1, 3))
def test_least_squares_of_all_breaks(y, k):
    x, y = np.cumsum(1.0 + np.arange(len(y)) % 3), np.array(y, float)

    def squares(a, b):
        rest = np.polyfit(x[a:b], y[a:b], 1, full=True)[1] if b - a > 2 else []
        return float(rest[0]) if len(rest) else 0.0

    right = min(
        sum(squares(a, b) for a, b in pairwise((0, *cut, len(x))))
        for cut in combinations(range(1, len(x)), k - 1)
    )
    found = hard_fit(data(x, y), k, norm="rms")
    assert found.error == pytest.approx(np.sqrt(right / len(x)), abs=1e-6)


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("continuous", [False, True])
def test_fewer_points_than_pieces(count, continuous):
    found = hard_fit(data(range(count), [k**2 for k in range(count)]), 4, continuous=continuous)
    assert found.error == 0
    assert found.gate.branches == (count + 1) // 2
    assert "redundant" in found.why


@pytest.mark.parametrize("continuous", [False, True])
def test_a_long_noisy_curve(continuous):
    # Held against some points first; the optimum is that of all.
    rng = np.random.default_rng(3)
    x = np.sort(rng.uniform(-4, 4, 20000))
    y = np.tanh(x) + 0.05 * rng.normal(size=20000)
    found = hard_fit(data(x, y), 4, continuous=continuous)
    assert np.abs(found.pieces.at(x) - y).max() == pytest.approx(found.error, rel=1e-12)
    assert found.below == pytest.approx(found.error, rel=1e-10)


def test_constant_data_is_one_line():
    found = hard_fit(data([0, 1, 2, 3], [5, 5, 5, 5]), 3)
    assert (found.error, found.gate.branches, float(found.gate.intercept[0].value)) == (0, 1, 5)


def parabola(lo, hi):
    return of_formula(formula("x**2"), expand(parse_expr("x**2")), Fraction(lo), Fraction(hi))


@pytest.mark.parametrize("k", [1, 2, 4])
def test_least_squares_of_a_parabola(k):
    # A piece of length h has a square error of h^5/180; uniform on [0, 1].
    found = hard_fit(parabola(0, 1), k, norm="rms")
    assert found.error == pytest.approx(np.sqrt(1 / 180) / k**2, rel=2e-5)


def test_least_squares_of_a_continuous_one():
    # With jumps the lines of a parabola meet at breaks of equal length by themselves: both are h^2/6 above.
    both = [hard_fit(parabola(0, 1), 3, norm="rms", continuous=c) for c in (False, True)]
    assert both[1].error == pytest.approx(both[0].error, rel=2e-5)
    gelu = of_formula(formula("gelu(x)"), expand(parse_expr("gelu(x)")), Fraction(-4), Fraction(4))
    apart = [hard_fit(gelu, 4, norm="rms", continuous=c) for c in (False, True)]
    assert apart[0].error <= apart[1].error * (1 + 1e-5)
    for t, (one, two) in zip(apart[1].pieces.theta, pairwise(apart[1].pieces.lines), strict=True):
        assert one.height(t) == pytest.approx(two.height(t), abs=1e-9)
