"""A point where f over several names is nearly largest, by local search: what a proof starts from.

At given other names the derivatives say to which end each parameter goes; at those ends the one name x
is put to the nearest maximum by Newton's method; the two in turn, from every start worth it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import islice

import flint
from flint import arb

from gateproof.numerics import interval as iv
from gateproof.numerics.decided import bends
from gateproof.numerics.errors import MaybeUndefined, NotSmooth, Undefined
from gateproof.numerics.joint_rules import Rules
from gateproof.numerics.search import climb, line_points
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import Num

Point = dict[str, Fraction]
Limits = Mapping[str, tuple[Fraction | None, Fraction | None]]
#: Starts looked at, starts refined, and rounds of each.
STARTS, REFINED, ROUNDS = 150, 8, 6


def top_points(rules: Rules, limits: Limits, sign: int, line: str) -> list[tuple[arb, Point]]:
    """Local maxima of sign * f with their values from below, largest first.

    ``line`` is the name that is searched along; it alone may have an infinite range.
    """
    rough = []
    for start in _starts(rules, limits, line):
        point = corner(rules, start, limits, sign, line)
        value = _value(rules, point, sign)
        if value is not None:
            rough.append((value, point))
    rough.sort(key=lambda e: -float(e[0]))
    found: list[tuple[arb, Point]] = []
    for _, point in _apart(rough, line):
        best = refined(rules, point, limits, sign, line)
        value = _value(rules, best, sign)
        if value is not None and all(best != p for _, p in found):
            found.append((value, best))
    found.sort(key=lambda e: -float(e[0]))
    return found


def refined(rules: Rules, point: Point, limits: Limits, sign: int, line: str) -> Point:
    """A local maximum near a point, its numbers short rationals."""
    best = point
    for _ in range(ROUNDS):
        new = newton(rules, best, limits, sign, line)
        new = corner(rules, new, limits, sign, line)
        if new == best:
            break
        better = _value(rules, new, sign), _value(rules, best, sign)
        if better[0] is None or (better[1] is not None and not better[0] > better[1]):
            break
        best = new
    inside = [n for n in limits if n != line and best[n] not in limits[n]]
    if inside or not _flat(rules, best, line):
        best = _climbed(rules, best, limits, sign)
        best = newton(rules, corner(rules, best, limits, sign, line), limits, sign, line)
    return best


def corner(rules: Rules, point: Point, limits: Limits, sign: int, line: str) -> Point:
    """Every parameter at the end to which its derivative points, one after the other."""
    best = dict(point)
    for name, (lo, hi) in limits.items():
        if name == line or lo is None or hi is None or lo == hi:
            continue
        ends = [_value(rules, {**best, name: e}, sign) for e in (lo, hi)]
        here = _value(rules, best, sign)
        scored = [(v, e) for v, e in zip((*ends, here), (lo, hi, best[name]), strict=True) if v is not None]
        if scored:
            best[name] = max(scored, key=lambda s: float(s[0]))[1]
    return best


def newton(rules: Rules, point: Point, limits: Limits, sign: int, line: str) -> Point:
    """The name ``line`` put to the maximum nearby, as far as Newton's method finds one above."""
    lo, hi = limits[line]
    env = {n: iv.of_ball(iv.rational(v)) for n, v in point.items()}
    x = point[line]
    places, sixteenth = 2 ** (flint.ctx.prec // 2), arb(1) / 16
    for _ in range(40):
        try:
            c = rules.series({**env, line: iv.of_ball(iv.rational(x))}, line, 2)
        except (NotSmooth, MaybeUndefined, Undefined):
            break
        slope, curve = sign * c[1].mid(), sign * 2 * c[2].mid()
        if not (slope.is_finite() and curve.is_finite()) or slope == 0:
            break
        step = arb((-slope / curve).mid()) if curve < 0 else (sixteenth if slope > 0 else -sixteenth)
        most = 8 * sixteenth + abs(iv.rational(x)) / 4
        step = arb(max(-most, min(most, step)).mid())
        if abs(step) * places < 1:
            break
        new = x + Fraction(round(iv.to_fraction(step) * places), places)
        new = new if lo is None else max(lo, new)
        new = new if hi is None else min(hi, new)
        if new == x:
            break
        x = new
    return _better(rules, point, {**point, line: x}, sign)


def _better(rules: Rules, old: Point, new: Point, sign: int) -> Point:
    a, b = _value(rules, old, sign), _value(rules, new, sign)
    if b is None or (a is not None and not float(b) >= float(a)):
        return old
    return new


def _climbed(rules: Rules, point: Point, limits: Limits, sign: int) -> Point:
    def score(p: Point) -> float | None:
        value = _value(rules, p, sign)
        return None if value is None else float(value)

    return climb(score, point, limits, 60)


def _flat(rules: Rules, point: Point, line: str) -> bool:
    env = {n: iv.of_ball(iv.rational(v)) for n, v in point.items()}
    slope = rules.partial(env, line)
    return slope is not None and max(abs(slope[0]), abs(slope[1])) < arb(2) ** -20


def _starts(rules: Rules, limits: Limits, line: str) -> Iterator[Point]:
    lo, hi = limits[line]
    places = list(corners({n: e for n, e in limits.items() if n != line}))
    # Beside a jump, whose place may depend on a parameter, a supremum is approached and not reached.
    near = Fraction(1, 2 ** (flint.ctx.prec - 16))
    for place in places:
        at = substitute(rules.expr, {n: Num(v) for n, v in place.items()})
        for kink in bends(at, line)[:20]:
            for x in (kink, kink - near, kink + near):
                if (lo is None or lo <= x) and (hi is None or x <= hi):
                    yield {**place, line: x}
    points = tuple(islice(dict.fromkeys(line_points(lo, hi, bends(rules.expr, line))), STARTS))
    for place in places[:3] if len(limits) == 2 else places[:1]:
        for x in points:
            yield {**place, line: x}


def corners(limits: Limits) -> Iterator[Point]:
    """The middle, then one name at a time at each of its ends."""
    middle = {n: (lo + hi) / 2 for n, (lo, hi) in limits.items() if lo is not None and hi is not None}
    yield middle
    for name, ends in limits.items():
        for end in ends:
            if end is not None:
                yield {**middle, name: end}


def _apart(rough: list[tuple[arb, Point]], line: str) -> list[tuple[arb, Point]]:
    kept: list[tuple[arb, Point]] = []
    for value, point in rough:
        others = [p for _, p in kept if all(p[n] == v for n, v in point.items() if n != line)]
        if all(abs(point[line] - p[line]) > Fraction(1, 3) for p in others):
            kept.append((value, point))
        if len(kept) >= REFINED:
            break
    return kept


def _value(rules: Rules, point: Mapping[str, Fraction], sign: int) -> arb | None:
    try:
        low, high = rules.value(point)
    except (MaybeUndefined, Undefined):
        return None
    value = low if sign > 0 else iv.down(-high)
    return value if value.is_finite() else None
