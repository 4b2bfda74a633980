"""Boxes of parameters with sides that may be infinite, and the points that a search starts from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product
from math import inf

from flint import arb

from gateproof.numerics import interval as iv
from gateproof.numerics.interval import Interval
from gateproof.numerics.ranges import Range, holds_point, hull
from gateproof.numerics.search import line_points
from gateproof.numerics.special import special_points
from gateproof.theory.formula.nodes import Expr

#: A half-line is split at ends up to 2**FAR, then no further.
FAR = 30

Box = tuple[tuple[str, arb, arb], ...]
Point = dict[str, Fraction]


def first_witnesses(body: Expr, inner: Mapping[str, Range], most_in_all: int) -> Iterator[Point]:
    """First witnesses: kinks, ends, a grid, far out."""
    columns = []
    for name, within in inner.items():
        lo, hi = hull(within)
        points = dict.fromkeys(line_points(lo, hi, special_points(body, name)))
        columns.append([p for p in points if holds_point(within, p)])
    if len(columns) > 1:
        most = max(3, int(most_in_all ** (1 / len(columns))))
        columns = [c[:: max(1, len(c) // most)] for c in columns]
    for values in product(*columns):
        yield dict(zip(inner, values, strict=True))


def exact(point: Mapping[str, Fraction]) -> dict[str, Interval]:
    """A point as a box."""
    return {n: iv.of_ball(iv.rational(v)) for n, v in point.items()}


def negative(x: float | None) -> float | None:
    """Minus a number, where there is one."""
    return None if x is None else -x


def middle(lo: arb, hi: arb) -> Fraction:
    """A number inside of a side, whose ends may be infinite."""
    if not lo.is_finite() and not hi.is_finite():
        return Fraction(0)
    if not hi.is_finite():
        return 2 * max(iv.to_fraction(lo), Fraction(1))
    if not lo.is_finite():
        return 2 * min(iv.to_fraction(hi), Fraction(-1))
    return iv.to_fraction(arb(((lo + hi) / 2).mid()))


def halves(box: Box, scale: Mapping[str, Fraction]) -> tuple[Box, Box] | None:
    """The box split across its relatively widest side; None where all sides are tiny or far out."""
    widest, where, size = -1.0, None, 0.0
    for k, (name, lo, hi) in enumerate(box):
        size = _width(lo, hi, scale[name])
        if size > widest:
            widest, where = size, k
    if where is None or widest <= 2.0**-60:
        return None
    name, lo, hi = box[where]
    at = _cut(lo, hi)
    low, high = (name, lo, at), (name, at, hi)
    return (*box[:where], low, *box[where + 1 :]), (*box[:where], high, *box[where + 1 :])


def _width(lo: arb, hi: arb, scale: Fraction) -> float:
    """A side's width in its own unit; of a half-line the reciprocal of its start."""
    if lo.is_finite() and hi.is_finite():
        return float(hi - lo) / (float(scale) + min(abs(float(lo)), abs(float(hi))))
    start = abs(float(lo if lo.is_finite() else hi)) if lo.is_finite() or hi.is_finite() else 0.0
    return 0.0 if start >= 2.0**FAR else 8.0 / (1.0 + start)


def _cut(lo: arb, hi: arb) -> arb:
    if lo.is_finite() and hi.is_finite():
        return arb(((lo + hi) / 2).mid())
    if not lo.is_finite() and not hi.is_finite():
        return arb(0)
    if lo.is_finite():
        return arb(1) if lo < arb(1) / 2 and lo > -1 else arb((2 * abs(lo) if lo > 0 else lo / 2 + 1).mid())
    return -_cut(-hi, iv.INF)


def as_float(x: arb) -> float:
    """For the order of the queue only."""
    return float(x) if x.is_finite() else (inf if x > 0 else -inf)
