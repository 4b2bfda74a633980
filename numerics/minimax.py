"""Nested extrema: the least over parameters of a supremum, inf over p of sup over x of g(x, p).

From below: on a box B of parameters the supremum over x is at least the least value of
g(x_i, .) on B for any single x_i, which one interval evaluation bounds, infinite ends of B
included; branch and bound over B, with x_i chosen among witnesses that gather where g is
largest. From above: the supremum itself at one rational point of the parameters.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import count, islice
from math import inf
from typing import Any

from flint import arb

from gateproof.numerics import interval as iv
from gateproof.numerics.ball import compiled
from gateproof.numerics.bounds import Budget
from gateproof.numerics.charts import Chart, charts
from gateproof.numerics.errors import MaybeUndefined, NotReal, Undefined
from gateproof.numerics.extrema import extremum
from gateproof.numerics.interval import Interval
from gateproof.numerics.minimax_certificate import Cover
from gateproof.numerics.parameter_boxes import (
    Box,
    Point,
    as_float,
    exact,
    first_witnesses,
    halves,
    middle,
    negative,
)
from gateproof.numerics.points import at_point, rational_bounds
from gateproof.numerics.precision import precision
from gateproof.numerics.ranges import Range, holds_point, hull
from gateproof.numerics.search import climb
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import Expr, Num
from gateproof.theory.formula.printer import to_text

#: Bits of one evaluation; witnesses kept in all, and those that a box hands to its halves.
BITS, MAX_WITNESSES, HANDED = 80, 240, 8
#: A box costs some 20 evaluations, so a nested extremum may look at fewer of them.
MAX_BOXES, MAX_EVALUATIONS = 12_000, 400_000
#: In more dimensions than three, halving every side is out of reach, so the search ends early.
MANY, FEW_EVALUATIONS = 4, 10_000


@dataclass(frozen=True)
class Minimax:
    """``lower`` <= inf sup <= ``upper``, the supremum at ``point``.

    ``status`` is 'ok', 'infinite' (the supremum at every point tried is) or 'unknown' (``reason``);
    a bound may be None. ``certificate`` is of the supremum at ``point``, ``below`` are those of ``lower``,
    one for each chart where all ranges are finite.
    """

    status: str
    lower: Fraction | None = None
    upper: Fraction | None = None
    point: Mapping[str, Fraction] | None = None
    witnesses: tuple[Mapping[str, Fraction], ...] = ()
    boxes: int = 0
    certificate: dict[str, Any] | None = None
    below: tuple[dict[str, Any], ...] = ()
    reason: str = ""


@lru_cache(maxsize=256)
def minimax(
    body: Expr,
    inner: tuple[tuple[str, Range], ...],
    outer: tuple[tuple[str, Range], ...],
    digits: int,
    budget: Budget,
) -> Minimax:
    """inf over ``outer`` of sup over ``inner`` of a core expression, to some ``digits``.

    Without inner names it is the infimum over several names.

    The body must be defined for all values of the names: the caller proves that.
    """
    try:
        with precision(BITS):
            search = _Search(body, dict(inner), dict(outer), digits, min(budget.boxes, MAX_BOXES))
            lower = search.run()
    except Undefined as error:
        return Minimax("unknown", reason=error.where)
    except NotReal as error:
        return Minimax("unknown", reason=str(error))
    seen = tuple(dict(w) for w in search.witnesses)
    below = (
        ()
        if lower is None
        else search.cover.documents(search.charts, search.witnesses, tuple(dict(inner)), lower)
    )
    found = Minimax("ok", lower, witnesses=seen, boxes=search.boxes, below=below, reason=search.reason)
    return _from_above(found, search, body, inner, budget)


def _from_above(
    found: Minimax, search: _Search, body: Expr, inner: tuple[tuple[str, Range], ...], budget: Budget
) -> Minimax:
    """The certified supremum at the best point of the parameters."""
    if search.point is None:
        return replace(found, reason=found.reason or "no point of the parameters was found")
    if not inner:
        top_at = rational_bounds(at_point(body, search.point, 4 * BITS))[1]
        return replace(found, upper=top_at, point=search.point)
    if len(inner) != 1:
        return replace(found, reason=found.reason or "the supremum over several names was not bounded")
    above = from_above(body, inner, search.point, budget)
    return replace(
        found,
        status=above.status if above.status == "infinite" else found.status,
        upper=above.upper,
        point=above.point,
        certificate=above.certificate,
        reason=found.reason or above.reason,
    )


def from_above(
    body: Expr, inner: tuple[tuple[str, Range], ...], point: Mapping[str, Fraction], budget: Budget
) -> Minimax:
    """The certified supremum over the one inner name at a point of the parameters, as ``upper``."""
    found = Minimax("ok")
    ((name, within),) = inner
    at = substitute(body, {n: Num(v) for n, v in point.items()})
    top = extremum(
        at,
        name,
        within.lo,
        within.hi,
        "sup",
        15,
        budget,
        text=to_text(at),
        lo_closed=within.lo_closed,
        hi_closed=within.hi_closed,
    )
    if top.status == "infinite":
        return replace(found, status="infinite", point=point)
    if top.status != "ok" or top.value is None:
        return replace(found, reason=f"the supremum at {point}: {top.reason}")
    return replace(found, upper=top.value[1], point=point, certificate=top.certificate)


class _Search:
    """Best first: the box with the least lower bound is split, until it agrees with the best point."""

    def __init__(
        self, body: Expr, inner: Mapping[str, Range], outer: Mapping[str, Range], digits: int, limit: int
    ) -> None:
        self.body, self.inner, self.outer, self.limit = body, inner, outer, limit
        self.run_body = compiled(body)
        self.tolerance = 10.0**-digits
        self.most = MAX_EVALUATIONS if len(outer) < MANY else FEW_EVALUATIONS
        self.charts: list[Chart] = charts(body, outer)
        self.runs = [compiled(c.body) for c in self.charts]
        self.limits = {n: hull(r) for n, r in inner.items()}
        self.hulls = {n: hull(r) for n, r in outer.items()}
        self.witnesses: list[Point] = list(
            islice(first_witnesses(body, inner, MAX_WITNESSES // 2), MAX_WITNESSES // 2)
        )
        self.balls = [exact(w) for w in self.witnesses]
        self.cover = Cover()
        self.point: Point | None = None
        self.best = inf
        self.boxes = self.evaluations = 0
        self.reason = ""

    def run(self) -> Fraction | None:
        """The lower bound reached; None where there is not even one."""
        order = count()
        heap: list[tuple[float, int, int, Box, tuple[int, ...], int]] = []
        everyone = tuple(range(len(self.witnesses)))
        floor: arb = iv.INF
        bounds: dict[int, arb] = {}
        for k, chart in enumerate(self.charts):
            bound, kept = self._bound(k, chart.box, everyone)
            place = next(order)
            self.cover.root(k, place, chart.box, kept)
            bounds[place] = bound
            heapq.heappush(heap, (as_float(bound), place, k, chart.box, kept, 0))
        while heap:
            lowest = heap[0]
            if self.best < inf and self.best - lowest[0] <= self.tolerance * abs(self.best):
                break
            if self.boxes >= self.limit or self.evaluations >= self.most:
                self.reason = "boxes"
                break
            _, number, k, box, kept, depth = heapq.heappop(heap)
            parent = bounds.pop(number)
            self.boxes += 1
            fresh = self._centre(k, box)
            parts = halves(box, self.charts[k].scale)
            if parts is None:
                floor = min(floor, parent)
                self.reason = "a box too small to be split"
                if as_float(floor) < self.best * (1 - self.tolerance):
                    break
                continue
            tried = everyone if depth % 4 == 0 else kept
            tried = tuple(dict.fromkeys((*tried, *fresh)))
            for part in parts:
                bound, good = self._bound(k, part, tried)
                if not bound > parent and len(tried) < len(everyone):
                    bound, good = self._bound(k, part, everyone)
                place = next(order)
                self.cover.child(number, place, part, good if bound > parent else ())
                bound = max(bound, parent)
                bounds[place] = bound
                heapq.heappush(heap, (as_float(bound), place, k, part, good, depth + 1))
            everyone = tuple(range(len(self.witnesses)))
        least = min([floor, *bounds.values()]) if bounds else floor
        return iv.lower_fraction(iv.down(least)) if least.is_finite() else None

    def _bound(self, k: int, box: Box, tried: tuple[int, ...]) -> tuple[arb, tuple[int, ...]]:
        """The best lower bound that one witness gives on the box, and which did best."""
        env: dict[str, Interval] = {n: (lo, hi) for n, lo, hi in box}
        run = self.runs[k]
        scored: list[tuple[float, int, arb]] = []
        self.evaluations += len(tried)
        for i in tried:
            try:
                low = run({**env, **self.balls[i]})[0]
            except (MaybeUndefined, Undefined):
                continue
            scored.append((as_float(low), i, low))
        if not scored:
            return iv.NEG_INF, tried
        scored.sort(key=lambda s: -s[0])
        return max(s[2] for s in scored[:2]), tuple(s[1] for s in scored[:HANDED])

    def _centre(self, k: int, box: Box) -> tuple[int, ...]:
        """The supremum near the box's centre: a better point, and new witnesses where it is reached."""
        chart = self.charts[k]
        point = chart.back({n: middle(lo, hi) for n, lo, hi in box})
        if point is None or not all(holds_point(self.outer[n], v) for n, v in point.items()):
            return ()
        env = exact(point)
        scores = [(self._value(env, ball), i) for i, ball in enumerate(self.balls)]
        known = [(s, i) for s, i in scores if s is not None]
        if not known:
            return ()
        # The three best that are apart: an equioscillating error has several peaks.
        known.sort(key=lambda e: -e[0])
        top = known[0][0]
        fresh: list[int] = []
        for old, i in self._apart(known)[:4]:
            if len(self.witnesses) >= MAX_WITNESSES or old < top - abs(top) / 2:
                break
            new = climb(lambda w: self._value(env, exact(w)), self.witnesses[i], self.limits, 30)
            value = self._value(env, exact(new))
            if value is None or not self._within(new):
                continue
            top = max(top, value)
            if value > old + max(self.tolerance, 1e-4 * self.tolerance**0.5) * abs(value) / 4:
                fresh.append(len(self.witnesses))
                self.witnesses.append(new)
                self.balls.append(exact(new))
        if not self.inner and (self.boxes <= 40 or self.boxes % 50 == 0):
            # Only one function: its best point nearby.
            point = climb(lambda p: negative(self._value(exact(p), {})), point, self.hulls, 30)
            if not all(holds_point(self.outer[n], v) for n, v in point.items()):
                return ()
            top = self._value(exact(point), {}) or top
        if top < self.best:
            self.best, self.point = top, point
        return tuple(fresh)

    def _apart(self, known: list[tuple[float, int]]) -> list[tuple[float, int]]:
        kept: list[tuple[float, int]] = []
        for score, i in known:
            here = self.witnesses[i]
            if all(any(abs(here[n] - self.witnesses[j][n]) > Fraction(1, 3) for n in here) for _, j in kept):
                kept.append((score, i))
            if len(kept) >= 6:
                break
        return kept

    def _within(self, point: Mapping[str, Fraction]) -> bool:
        return all(holds_point(self.inner[n], v) for n, v in point.items())

    def _value(self, env: Mapping[str, Interval], witness: Mapping[str, Interval]) -> float | None:
        self.evaluations += 1
        try:
            value = self.run_body({**env, **witness})
        except (Undefined, MaybeUndefined):
            return None
        return float(value[0]) if value[0].is_finite() else None
