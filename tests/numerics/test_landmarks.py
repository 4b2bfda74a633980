"""Extrema and inflections against calculus, and against high-precision sampling of mpmath's values."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from known_zoo import ZOO, Known
from random_formulas import by_mpmath, core

from gateproof.numerics.landmarks import Landmark, landmarks
from gateproof.numerics.points import enclosure
from gateproof.theory.formula import expand, parse_expr
from gateproof.theory.periods import Period
from gateproof.theory.zeros import order

#: Formula; extrema and inflections as 'place kind' by hand or from tables.
BY_HAND = [
    ("x**3", [], [("0", "convex")]),
    ("x**4", [("0", "min")], []),
    ("x**5 - x**3", [("-sqrt(3/5)", "max"), ("sqrt(3/5)", "min")],
     [("-sqrt(3/10)", "convex"), ("0", "concave"), ("sqrt(3/10)", "convex")]),
    ("abs(x)", [("0", "min")], []),
    ("x*log(x)", [("exp(-1)", "min")], []),
    ("1/x", [], []),
    ("relu(x)", [], []),
    ("hardswish(x)", [("-3/2", "min")], []),
    ("gaussian(x)", [("0", "max")], [("-1/sqrt(2)", "concave"), ("1/sqrt(2)", "convex")]),
    ("memglu(x)", [("-asinh(1)", "min"), ("asinh(1)", "max")],
     [("-asinh(sqrt(5))", "convex"), ("0", "concave"), ("asinh(sqrt(5))", "convex")]),
    ("tanh(x)", [], [("0", "concave")]),
    ("softplus(x)", [], []),
    ("squareplus(x)", [], []),
    ("sech(x)", [("0", "max")], [("-asinh(1)", "concave"), ("asinh(1)", "convex")]),
    ("silu_hard_removal(x)", [("-1.27846454276107", "min"), ("asinh(1)", "max")],
     [("-2.39935728051547", "convex")]),
    ("sin(x)", [("pi/2", "max"), ("3*pi/2", "min")], [("0", "concave"), ("pi", "convex")]),
    ("snake(x)", [],
     [("pi/4", "concave"), ("3*pi/4", "convex"), ("5*pi/4", "concave"), ("7*pi/4", "convex")]),
    # A jump up to the value, and one away from it on both sides.
    ("where(x < 1, x, 3 - x)", [("1", "max")], []),
    ("where(x == 2, 1, 0)*1", [("2", "max")], []),
    ("step(x)", [], []),
]  # fmt: skip


def matches(found: tuple[Landmark, ...] | None, known: list[tuple[str, str]]) -> bool:
    if found is None or [m.kind for m in found] != [kind for _, kind in known]:
        return False
    for mark, (text, _) in zip(found, known, strict=True):
        place = expand(parse_expr(text))
        if mark.exact is not None:
            assert order(mark.exact, place) == 0
        lo, hi = enclosure(place)
        room = Fraction(1, 10**13)
        assert mark.lo - room <= lo
        assert hi <= mark.hi + room
        assert mark.hi - mark.lo < room
    return True


@pytest.mark.parametrize(("text", "extrema", "inflections"), BY_HAND, ids=[row[0] for row in BY_HAND])
def test_by_hand(text: str, extrema: list[tuple[str, str]], inflections: list[tuple[str, str]]) -> None:
    found = landmarks(expand(parse_expr(text)))
    assert found.reason == ""
    assert matches(found.extrema, extrema)
    assert matches(found.inflections, inflections)


#: Formula, ends, and what lies inside, by hand.
INSIDE = [
    ("gelu(x)", "0", None, [], [("sqrt(2)", "concave")]),
    ("gelu(x)", None, "-1", [], [("-sqrt(2)", "convex")]),
    ("x**3 - 3*x", "-1", "2", [("1", "min")], [("0", "convex")]),
    ("sin(x)", "0", "7", [("pi/2", "max"), ("3*pi/2", "min")], [("pi", "convex"), ("2*pi", "concave")]),
    ("sin(x)", "0", "2*pi", [("pi/2", "max"), ("3*pi/2", "min")], [("pi", "convex")]),
    ("x + 1/x", "-5", "5", [("-1", "max"), ("1", "min")], []),
    ("x + 1/x", "1", "5", [], []),
    ("abs(x)", "0", None, [], []),
    ("abs(x)", "-1", None, [("0", "min")], []),
    ("x*log(x)", "-1", "1", [("exp(-1)", "min")], []),
    ("log(x)", "-3", "-2", [], []),
    ("exp(-x**2)", None, "0", [], [("-1/sqrt(2)", "concave")]),
]


@pytest.mark.parametrize(("text", "lo", "hi", "extrema", "inflections"), INSIDE)
def test_inside_an_interval(text, lo, hi, extrema, inflections) -> None:
    ends = [None if e is None else expand(parse_expr(e)) for e in (lo, hi)]
    found = landmarks(expand(parse_expr(text)), "x", 20, *ends)
    assert found.reason == ""
    assert found.period is None
    assert matches(found.extrema, extrema)
    assert matches(found.inflections, inflections)


@pytest.mark.parametrize("text", ["sin(x)", "cos(2*x)", "snake(x)"])
def test_infinitely_many_are_said_to_be(text: str) -> None:
    assert landmarks(expand(parse_expr(text))).period is not None


@pytest.mark.parametrize("text", ["sin(x**2)", "abs(sin(x))", "tan(x)"])
def test_what_is_not_found_is_not_an_empty_list(text: str) -> None:
    found = landmarks(expand(parse_expr(text)))
    assert found.extrema is None
    assert found.inflections is None
    assert found.reason


STEP, REACH = mp.mpf(1) / 4, 7


def sign(value: mp.mpf) -> int:
    return 0 if abs(value) < mp.mpf(10) ** -75 else int(mp.sign(value))


@pytest.mark.parametrize("known", ZOO.values(), ids=ZOO)
def test_no_more_and_no_fewer_than_sampling_sees(known: Known) -> None:
    kinks = [float(enclosure(expand(parse_expr(at)))[0]) for at, _ in known.kink_list()]
    compare_with_samples(known.text, known.value, kinks)


@pytest.mark.parametrize(
    "text",
    [
        # Odd ones have an inflection at 0, which no enclosure has digits of.
        "tg(x, tau=3, theta=[-1, 1], slope=[0, 1, 0], intercept=[-1, 0, 1])",
        "tg(x, tau=3, theta=[-1, 1], slope=[1, 0, 1], intercept=[1, 0, -1])",
        "tg(x, tau=[2, 5], theta=[-1, 1], slope=[0, 1/2, 1], intercept=[0, 1, 0])",
        "x/10 + tanh(x - 1)*sech(x)",
        "erf(x)*x - sigmoid(x)",
        "x*sigmoid(x)*sech(x)",
        "exp(-x**2)*x**3",
        "sin(2*x) + cos(3*x)",
    ],
)
def test_nor_on_other_formulas(text: str) -> None:
    expr = core(text)
    compare_with_samples(text, lambda x: by_mpmath(expr, x), [])


def compare_with_samples(text: str, value: Callable[[Any], Any], kinks: list[float]) -> None:
    """Signs of first and second differences of values by mpmath, on a grid off all kinks."""
    found = landmarks(expand(parse_expr(text)))
    assert found.extrema is not None
    assert found.inflections is not None
    with mp.workdps(90):
        h = mp.mpf(10) ** -13
        grid = [-REACH + mp.mpf(1) / 37 + STEP * k for k in range(int(2 * REACH / STEP))]
        values = [[value(x + d * h) for d in (-1, 0, 1)] for x in grid]
        for marks, signs in (
            (found.extrema, [sign(c - a) for a, _, c in values]),
            (found.inflections, [sign(a + c - 2 * b) for a, b, c in values]),
        ):
            places = _places(marks, found.period)
            for (lo, hi), (before, after) in zip(pairwise(grid), pairwise(signs), strict=True):
                inside = [p for p in places if lo < p < hi]
                if any(lo < k < hi for k in kinks) or not before * after:
                    continue
                assert len(inside) == (before != after), (text, lo, inside)


def _places(marks: tuple[Landmark, ...], period: Period | None) -> list[mp.mpf]:
    once = [mp.mpf(m.lo.numerator) / m.lo.denominator for m in marks]
    if period is None:
        return once
    length = enclosure(period.length)[0]
    step = mp.mpf(length.numerator) / length.denominator
    return [p + step * k for p in once for k in range(-9, 10)]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(-4, 4), min_size=1, max_size=4, unique=True), st.sampled_from([1, -1]))
def test_a_polynomial_has_the_extrema_and_inflections_it_was_made_of(roots: list[int], lead: int) -> None:
    """f' = +-prod (x - r) with simple roots: an extremum at each, one inflection between two neighbours."""
    slope = [Fraction(lead)]
    for r in roots:
        slope = [a - r * b for a, b in zip([*slope, 0], [0, *slope], strict=True)]
    terms = [f"({c / (n + 1)})*x**{n + 1}" for n, c in enumerate(reversed(slope))]
    found = landmarks(expand(parse_expr(" + ".join(terms))))
    assert found.extrema is not None
    assert [(m.lo, m.hi) for m in found.extrema] == [(r, r) for r in sorted(roots)]
    last = "min" if lead > 0 else "max"
    assert found.extrema[-1].kind == last
    assert all(a.kind != b.kind for a, b in pairwise(found.extrema))
    assert found.inflections is not None
    between = [m for m in found.inflections if min(roots) < m.lo < max(roots)]
    assert len(between) == len(roots) - 1 == len(found.inflections)
