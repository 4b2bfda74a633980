"""Proving bounds on a box: branch and bound with certificates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from gateproof.numerics.ball import compiled
from gateproof.numerics.certificate import Bounds, range_certificate
from gateproof.numerics.cover import Cover
from gateproof.numerics.errors import MaybeUndefined, NotReal, Undefined
from gateproof.numerics.forms import at_point
from gateproof.numerics.interval import Interval
from gateproof.numerics.joint_bounds import joint_bounds
from gateproof.numerics.line_cover import LineCover
from gateproof.numerics.precision import precision
from gateproof.numerics.search import Found, box_points, breaks, climb, exactly, examine, line_points
from gateproof.numerics.special import special_points
from gateproof.numerics.tailcut import find_cut
from gateproof.theory.formula.nodes import Expr

DEFAULT_BITS = 2_048
#: Closed ranges of names; None is infinite.
Box = Mapping[str, tuple[Fraction | None, Fraction | None]]


@dataclass(frozen=True)
class Budget:
    """How much work may be done: boxes looked at, and bits of precision.

    ``max_bits`` is None where it follows the digits: see :meth:`cap`.
    """

    boxes: int = 20_000
    max_bits: int | None = None

    def cap(self, digits: int = 15) -> int:
        """The most bits for a result of so many digits."""
        if self.max_bits is not None:
            return max(self.max_bits, 64)
        return max(DEFAULT_BITS, 2 * (int(digits * 3.33) + 48))


@dataclass(frozen=True)
class Outcome:
    """What became of a bound.

    ``status`` is 'proved' (with ``certificate``), 'violated' (``point`` is an exact
    point of the box, ``value`` rational bounds of the expression there, which break
    the bound), 'undefined' (``point``: no real value there) or 'unknown' (``reason``).
    """

    status: str
    certificate: dict[str, Any] | None = None
    point: Mapping[str, Fraction] | None = None
    value: tuple[Fraction, Fraction] | None = None
    reason: str = ""
    boxes: int = 0


def prove_bounds(
    expr: Expr,
    box: Box,
    *,
    lower: Fraction | None = None,
    upper: Fraction | None = None,
    lower_strict: bool = False,
    upper_strict: bool = False,
    budget: Budget | None = None,
    text: str = "",
    open_ends: frozenset[tuple[str, str]] = frozenset(),
    seed: int = 0,
) -> Outcome:
    """Decide lower <= expr <= upper on the box (core expression, at most 4 names).

    ``open_ends`` lists ends not in the domain as (name, 'lo'|'hi'); the bounds are
    proved on the closed box, and 'open end' is the reason where that fails at such an
    end. Infinite sides are for one name only. Without any bound, 'proved' means that
    the expression is defined everywhere. Raises nothing for what it cannot decide.
    """
    budget = budget or Budget()
    bounds = Bounds(lower, upper, lower_strict, upper_strict)
    for name, (lo, hi) in box.items():
        if lo is not None and hi is not None and lo > hi:
            raise ValueError(f"the range of {name} is empty")
    try:
        found = _search(expr, box, bounds, open_ends, budget, seed)
    except NotReal:
        return Outcome("unknown", reason="oo is used as a value")
    if found is not None:
        return Outcome(found.status, point=found.point, value=found.value)
    if len(box) > 4:
        return Outcome("unknown", reason="more than 4 variables")
    cuts: dict[str, tuple[Fraction | None, Fraction | None]] = {}
    middle: dict[str, tuple[Fraction, Fraction]] = {}
    for name, (lo, hi) in box.items():
        if (lo is None or hi is None) and len(box) > 1:
            return _joint(expr, box, bounds, text, "an infinite range among several variables")
        ends = _cut(expr, name, (lo, hi), bounds)
        if isinstance(ends, str):
            return Outcome("unknown", reason=f"tail: {ends}")
        cuts[name], middle[name] = ends
    done = _cover(expr, box, middle, cuts, bounds, open_ends, budget, text)
    if len(box) > 1 and done.status == "unknown" and done.reason == "boxes":
        return replace(_joint(expr, box, bounds, text, done.reason), boxes=done.boxes)
    return done


def _joint(expr: Expr, box: Box, bounds: Bounds, text: str, reason: str) -> Outcome:
    """Boxes whose monotone names go to an end; ``reason`` where that fails as well."""
    found = joint_bounds(expr, box, bounds, text)
    return Outcome("unknown", reason=reason) if isinstance(found, str) else Outcome("proved", found)


def _cut(
    expr: Expr, name: str, ends: tuple[Fraction | None, Fraction | None], bounds: Bounds
) -> tuple[tuple[Fraction | None, Fraction | None], tuple[Fraction, Fraction]] | str:
    """The cuts of the infinite sides, and the compact part between them."""
    lo, hi = ends
    kinks = [abs(k) for k in special_points(expr, name)]
    beyond = max([Fraction(1), *kinks, *(abs(e) for e in ends if e is not None)])
    minus = plus = None
    if hi is None:
        cut = find_cut(expr, name, "+", bounds, beyond)
        if isinstance(cut, str):
            return cut
        plus = cut
    if lo is None:
        cut = find_cut(expr, name, "-", bounds, beyond)
        if isinstance(cut, str):
            return cut
        minus = -cut
    low, high = (lo if lo is not None else minus), (hi if hi is not None else plus)
    assert low is not None
    assert high is not None
    return (minus, plus), (low, high)


def _cover(
    expr: Expr,
    box: Box,
    middle: Mapping[str, tuple[Fraction, Fraction]],
    cuts: Mapping[str, tuple[Fraction | None, Fraction | None]],
    bounds: Bounds,
    open_ends: frozenset[tuple[str, str]],
    budget: Budget,
    text: str,
) -> Outcome:
    """Branch and bound with rising precision."""
    left = budget.boxes
    used = 0
    reason = "boxes"
    for bits in (96, 256, 768):
        if bits > max(96, budget.cap()):
            break
        cover = _covering(expr, middle, bounds, bits, left)
        with precision(bits):
            tree = cover.run()
        used += cover.boxes
        left -= cover.boxes
        if cover.suspect is not None:
            found = examine(expr, cover.suspect, bounds, budget.cap())
            if found is not None and not _at_open_end(found.point, box, open_ends):
                return Outcome(found.status, point=found.point, value=found.value, boxes=used)
        if tree is not None:
            certificate = range_certificate(expr, box, bounds, tree, cuts=cuts, bits=bits + 10, text=text)
            return Outcome("proved", certificate=certificate, boxes=used)
        reason = cover.reason
        if cover.stuck is not None and _near_open_end(cover.stuck, box, open_ends):
            return Outcome("unknown", reason="open end", boxes=used)
        if left <= 0 or reason == "boxes":
            break
    return Outcome("unknown", reason=reason, boxes=used)


def _covering(
    expr: Expr, middle: Mapping[str, tuple[Fraction, Fraction]], bounds: Bounds, bits: int, boxes: int
) -> Cover | LineCover:
    if len(middle) == 1:
        ((name, ends),) = middle.items()
        return LineCover(expr, name, ends, bounds, bits, boxes)
    return Cover(expr, middle, bounds, bits, boxes)


def _at_open_end(point: Mapping[str, Fraction], box: Box, open_ends: frozenset[tuple[str, str]]) -> bool:
    return any(point[n] == box[n][0 if side == "lo" else 1] for n, side in open_ends)


def _near_open_end(
    stuck: Mapping[str, tuple[Fraction, Fraction]], box: Box, open_ends: frozenset[tuple[str, str]]
) -> bool:
    return any(
        stuck[n][0 if side == "lo" else 1] == box[n][0 if side == "lo" else 1] for n, side in open_ends
    )


def _search(
    expr: Expr,
    box: Box,
    bounds: Bounds,
    open_ends: frozenset[tuple[str, str]],
    budget: Budget,
    seed: int,
) -> Found | None:
    """A counterexample, if sampling and climbing find one."""
    kinks = {name: special_points(expr, name) for name in box}
    if len(box) == 1:
        ((name, (lo, hi)),) = box.items()
        points = [{name: x} for x in dict.fromkeys(line_points(lo, hi, kinks[name]))]
    else:
        points = list(box_points(box, kinks, seed))
    points = [p for p in points if not _at_open_end(p, box, open_ends)]
    best: dict[str, tuple[float, dict[str, Fraction]]] = {}
    for point in points:
        with precision(64):
            scores = _scores(expr, point)
        if scores is None:
            # No value: decided by more bits, or truly undefined.
            found = examine(expr, point, bounds, budget.cap())
            if found is not None:
                return found
            continue
        low, high, surely = scores[0], scores[1], breaks(scores[2], bounds)
        if surely is None:
            exact = exactly(expr, point, bounds)
            if not isinstance(exact, bool):
                return exact
        if surely:
            found = examine(expr, point, bounds, budget.cap())
            if found is not None:
                return found
        if "high" not in best or high > best["high"][0]:
            best["high"] = (high, point)
        if "low" not in best or low < best["low"][0]:
            best["low"] = (low, point)
    for key, sign, wanted in (("high", 1, bounds.upper), ("low", -1, bounds.lower)):
        if wanted is None or key not in best:
            continue
        with precision(96):
            top = climb(lambda p, s=sign: _score(expr, p, s), best[key][1], box)  # type: ignore[misc]
        found = examine(expr, top, bounds, min(budget.cap(), 400))
        if found is not None and not _at_open_end(found.point, box, open_ends):
            return found
    return None


def _scores(expr: Expr, point: Mapping[str, Fraction]) -> tuple[float, float, Interval] | None:
    try:
        value = at_point(compiled(expr), point)
    except (Undefined, MaybeUndefined):
        return None
    if not (value[0].is_finite() and value[1].is_finite()):
        return None
    return float(value[0]), float(value[1]), value


def _score(expr: Expr, point: dict[str, Fraction], sign: int) -> float | None:
    scores = _scores(expr, point)
    return None if scores is None else sign * (scores[1] if sign > 0 else scores[0])
