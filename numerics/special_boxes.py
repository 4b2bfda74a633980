"""Special functions over intervals with exact ends, over power series, and over complex balls.

Over an interval the enclosure is the meet of: the ends where the function is declared monotone or its
slope keeps its sign, the mean value form, the ball function itself and declared bounds; where none is
narrow the interval is halved a few times.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import floor

import flint
from flint import arb

from gateproof.numerics import interval as iv
from gateproof.numerics.errors import MaybeUndefined, NotImplementedOperator, Undefined
from gateproof.numerics.interval import INF, NEG_INF, Interval
from gateproof.numerics.precision import precision
from gateproof.theory.special.family import Function
from gateproof.theory.special.registry import FAMILIES, find, split
from gateproof.theory.special.symbolic import formula

#: Larger arguments are answered by bounds and monotony alone.
FAR = arb(2) ** 40
#: Intervals wider than this are not halved; how often others are.
_WIDE, _HALVINGS = 64, 3
#: A relative width from which halving is not worth its while.
_NARROW = arb(2) ** -4
_MAX_BITS = 2**14


@lru_cache(maxsize=512)
def on_interval(head: str) -> Callable[[Interval], Interval] | None:
    """The interval form, at flint's current precision. Raises Undefined and MaybeUndefined."""
    found = find(head)
    if found is None:
        if split(head)[0] in FAMILIES:
            raise NotImplementedOperator(f"{head} whose order or parameters are no rational numbers")
        return None
    return lambda a: _enclosed(found, a)


def _enclosed(f: Function, a: Interval) -> Interval:
    check(f, a)
    return _on(f, a, _HALVINGS)


# --- domain -------------------------------------------------------------------


def check(f: Function, a: Interval) -> None:
    """Raise Undefined where no point of the interval has a value, MaybeUndefined where one may have none."""
    span, name, (lo, hi) = f.span, f.family.name, a
    if span.lo is not None:
        first, last = _against(lo, span.lo), _against(hi, span.lo)
        if last < 0 or (last == 0 and not span.lo_closed):
            raise Undefined(f"{name} outside its domain")
        if first < 0 or (first == 0 and not span.lo_closed):
            raise MaybeUndefined(f"{name} of an enclosure that leaves its domain")
    if span.hi is not None:
        first, last = _against(lo, span.hi), _against(hi, span.hi)
        if first > 0 or (first == 0 and not span.hi_closed):
            raise Undefined(f"{name} outside its domain")
        if last > 0 or (last == 0 and not span.hi_closed):
            raise MaybeUndefined(f"{name} of an enclosure that leaves its domain")
    holes = [iv.rational(h) for h in span.holes]
    if any(lo == h == hi for h in holes):
        raise Undefined(f"{name} at a point where it has no value")
    if any(not (h < lo or h > hi) for h in holes):
        raise MaybeUndefined(f"{name} of an enclosure that holds a point without a value")
    if span.poles and lo <= 0:
        if lo == hi and lo.is_integer():
            raise Undefined(f"{name} at a pole")
        if not lo.is_finite() or hi >= 0 or not lo > -FAR or floor(_whole(lo)) != floor(_whole(hi)):
            raise MaybeUndefined(f"{name} of an enclosure that may hold a pole")
        if lo.is_integer():
            raise MaybeUndefined(f"{name} of an enclosure that may hold a pole")


def _whole(x: arb) -> Fraction:
    return iv.to_fraction(x)


def _against(x: arb, end: str) -> int:
    """The order of an exact number and a closed formula."""
    from gateproof.numerics.ball import compiled

    if not x.is_finite():
        return 1 if x > 0 else -1
    expr, bits = formula(end), max(64, flint.ctx.prec)
    while bits <= _MAX_BITS:
        with precision(bits):
            lo, hi = compiled(expr)({})
        if x < lo or x > hi:
            return -1 if x < lo else 1
        if lo == x == hi:
            return 0
        bits *= 2
    raise MaybeUndefined("an argument that cannot be told from an end of the domain")


# --- values -------------------------------------------------------------------


def _on(f: Function, a: Interval, halvings: int) -> Interval:
    lo, hi = a
    bound = _bounds(f)
    if lo == hi:
        if not lo.is_finite() or abs(lo) > FAR:
            return _met(bound, _monotone(f, a) or (NEG_INF, INF))
        return _met(bound, iv.of_ball(f.ball(lo)))
    known = _monotone(f, a)
    if known is not None:
        return _met(bound, known)
    if not (lo > -FAR and hi < FAR):
        return bound
    found = _met(bound, _by_slope(f, a))
    width = found[1] - found[0]
    if halvings and hi - lo < _WIDE and not width < _NARROW * max(abs(found[0]), abs(found[1])):
        middle = ((lo + hi) / 2).mid()
        if lo < middle < hi:
            left, right = _on(f, (lo, middle), halvings - 1), _on(f, (middle, hi), halvings - 1)
            found = _met(found, (min(left[0], right[0]), max(left[1], right[1])))
    return found


def _by_slope(f: Function, a: Interval) -> Interval:
    """By the ends where the slope over the interval keeps its sign, else the mean value form."""
    lo, hi = a
    ball = iv.to_ball(a)
    found = iv.of_ball(f.ball(ball))
    slope = f.series(ball, 1)[1]
    if not slope.is_finite():
        return found
    if slope >= 0 or slope <= 0:
        return _met(found, _ends(f, a, 1 if slope >= 0 else -1))
    middle = ball.mid()
    around = f.ball(middle) + slope * (iv.to_ball((iv.down(lo - middle), iv.up(hi - middle))))
    return _met(found, iv.of_ball(around))


def _ends(f: Function, a: Interval, direction: int) -> Interval:
    first, last = a if direction > 0 else (a[1], a[0])
    return _at(f, first)[0], _at(f, last)[1]


def _at(f: Function, x: arb) -> Interval:
    if not x.is_finite() or abs(x) > FAR:
        return NEG_INF, INF
    return iv.of_ball(f.ball(x))


def _monotone(f: Function, a: Interval) -> Interval | None:
    """By the ends, where the interval lies in a run."""
    lo, hi = a
    for run in f.family.runs(f.params):
        if run.lo is not None and not lo >= iv.up(iv.rational(run.lo)):
            continue
        if run.hi is not None and not hi <= iv.down(iv.rational(run.hi)):
            continue
        if abs(lo) > FAR or abs(hi) > FAR:
            return _far_ends(f, a, run.direction)
        return _ends(f, a, run.direction)
    return None


def _far_ends(f: Function, a: Interval, direction: int) -> Interval:
    """Monotone with an end beyond FAR: the value at FAR takes its place where that is a bound."""
    lo, hi = a
    # The lowest value stands at one end, the highest at the other.
    first, last = (lo, hi) if direction > 0 else (hi, lo)
    low = _bound_at(f, first, direction)
    high = _bound_at(f, last, -direction)
    return (NEG_INF if low is None else iv.down(low)), (INF if high is None else iv.up(high))


def _bound_at(f: Function, x: arb, below: int) -> arb | None:
    """A value between which and that at x lies nothing of the interval.

    ``below`` = 1: points less than x are on the side of the bound, -1: those greater are.
    """
    if abs(x) <= FAR:
        return f.ball(x)
    if below > 0 and x > FAR:
        return f.ball(FAR)
    return f.ball(-FAR) if below < 0 and x < -FAR else None


@lru_cache(maxsize=512)
def _bounds(f: Function) -> Interval:
    low, high = f.family.bounds(f.params)
    return (
        NEG_INF if low is None else iv.down(iv.rational(low)),
        INF if high is None else iv.up(iv.rational(high)),
    )


def _met(a: Interval, b: Interval) -> Interval:
    low, high = max(a[0], b[0]), min(a[1], b[1])
    # Two enclosures of one value always meet; rounding at a shared end is outward.
    assert low <= high
    return low, high
