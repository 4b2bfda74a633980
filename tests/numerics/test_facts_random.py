"""Facts and landmarks of random formulas against high-precision values: whatever is said must hold."""

from __future__ import annotations

from itertools import pairwise

import mpmath as mp
from hypothesis import given, settings
from hypothesis import strategies as st
from random_formulas import by_mpmath, formulas, mpf

from gateproof.numerics.landmarks import landmarks
from gateproof.numerics.points import enclosure
from gateproof.theory.asymptotes import AWAY, FASTER, Asymptote, NoAsymptote, as_expr
from gateproof.theory.facts import facts
from gateproof.theory.formula.nodes import Expr

POINTS = ("-2.3", "-1.3", "-0.11", "0.03", "0.77", "2", "5.1")


def value(closed: Expr) -> mp.mpf:
    lo, hi = enclosure(closed, 4096)
    return (mpf(lo) + mpf(hi)) / 2


@settings(max_examples=25, deadline=None)
@given(formulas())
def test_symmetry_period_and_asymptotes(expr: Expr) -> None:
    found = facts(expr)
    with mp.workdps(1300):
        points = [mp.mpf(p) for p in POINTS]
        small = mp.mpf(10) ** -1000
        if found.parity is not None:
            flip = 1 if found.parity == "even" else -1
            assert all(abs(by_mpmath(expr, -x) - flip * by_mpmath(expr, x)) < small for x in points)
        if found.period is not None:
            step, slope = value(found.period.length), mpf(found.period.slope)
            gaps = [by_mpmath(expr, x + step) - by_mpmath(expr, x) - slope * step for x in points]
            assert all(abs(g) < small for g in gaps)
        for end, x in ((found.left, -(mp.mpf(10) ** 300)), (found.right, mp.mpf(10) ** 300)):
            if isinstance(end, Asymptote):
                line = value(as_expr(end.slope)) * x + value(as_expr(end.intercept))
                assert abs(by_mpmath(expr, x) - line) < mp.mpf("0.05")
            elif isinstance(end, NoAsymptote) and end.reason == FASTER:
                assert abs(by_mpmath(expr, x) / x) > 100
            elif isinstance(end, NoAsymptote) and end.reason == AWAY and end.slope is not None:
                assert abs(by_mpmath(expr, x) - value(as_expr(end.slope)) * x) > 100


def sign(number: mp.mpf) -> int:
    return 0 if abs(number) < mp.mpf(10) ** -90 else int(mp.sign(number))


@settings(max_examples=20, deadline=None)
@given(formulas(depth=5), st.integers(1, 30))
def test_landmarks_miss_no_change_of_sign(expr: Expr, shift: int) -> None:
    """Where all extrema are said to be found, first differences change their sign nowhere else."""
    found = landmarks(expr)
    kinks = facts(expr).kinks
    if found.period is not None or kinks is None:
        return
    with mp.workdps(120):
        rough = [mpf(k.at) if not isinstance(k.at, Expr) else value(k.at) for k in kinks]
        h = mp.mpf(10) ** -20
        grid = [mp.mpf(k) / 8 + mp.mpf(shift) / 1009 for k in range(-24, 25)]
        values = [[by_mpmath(expr, x + d * h) for d in (-1, 0, 1)] for x in grid]
        for marks, signs in (
            (found.extrema, [sign(c - a) for a, _, c in values]),
            (found.inflections, [sign(a + c - 2 * b) for a, b, c in values]),
        ):
            for (lo, hi), (before, after) in zip(pairwise(grid), pairwise(signs), strict=True):
                if (
                    marks is None
                    or not before * after
                    or any(abs(k - x) < 2 * h for k in rough for x in grid)
                ):
                    continue
                count = sum(lo < mpf(m.lo) < hi for m in marks)
                if not any(lo < k < hi for k in rough):
                    assert count % 2 == (before != after)
