"""The supremum of a formula over several names, one of which may range over an infinite interval.

Parameters as balls: sup over x and over all parameters of a box. A local search gives a point and with
it a bound from below; from above, a tree of boxes on each of which the value is proved to stay under
that bound plus half a unit of the last digit, and the tails of x with the parameters as constants known
to lie in their intervals. The tree is the certificate.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from flint import arb

from gateproof.numerics import interval as iv
from gateproof.numerics.ball import names_in
from gateproof.numerics.bounds import Budget
from gateproof.numerics.certificate import Bounds, Witness, range_certificate
from gateproof.numerics.decided import bends
from gateproof.numerics.decimals import agreed_digits
from gateproof.numerics.errors import NumericsError, Undefined
from gateproof.numerics.exact_point import exact_value
from gateproof.numerics.joint_cover import JointCover
from gateproof.numerics.joint_rules import Rules
from gateproof.numerics.joint_tails import STARTS, bounded, cut, limit_far
from gateproof.numerics.joint_witness import Point, corners, refined, top_points
from gateproof.numerics.precision import precision
from gateproof.numerics.supremum_certificate import loose_bound
from gateproof.theory.exact.piecewise import may_jump
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Expr, Num

Limits = Mapping[str, tuple[Fraction | None, Fraction | None]]
#: Boxes looked at, fewer where each has many derivatives; larger values met before a proof is given up.
MAX_BOXES, MAX_DERIVATIVES, SURPRISES = 12_000, 50_000, 12
#: First bounds, by so much of the value above it: boxes stay from one bound to the next.
COARSE = (Fraction(3), Fraction(1), Fraction(1, 4))
#: Where it is looked whether f keeps below its supremum far out.
FAR = (Fraction(16), Fraction(64))


@dataclass(frozen=True)
class WorstCase:
    """``value`` = (from below, from above); at ``point`` it is reached up to the width of that.

    ``status``: 'ok', 'infinite' (for the parameters of ``point``, on that ``side`` of the infinite range) or
    'unknown' with a ``reason``. ``sign`` is -1 where the supremum of abs(g) is that of -g.
    """

    status: str
    value: tuple[Fraction, Fraction] | None = None
    point: Mapping[str, Fraction] = field(default_factory=dict)
    sign: int = 1
    side: str = ""
    attained: bool | None = None
    digits: int = 0
    certificate: dict[str, Any] | None = None
    boxes: int = 0
    reason: str = ""


def worst_case(
    expr: Expr,
    limits: Limits,
    digits: int = 15,
    budget: Budget | None = None,
    *,
    which: str = "sup",
    inner: Limits | None = None,
    text: str = "",
) -> WorstCase:
    """sup or inf of a core expression over closed ranges (None: infinite, for one name at most).

    ``sup abs(g)`` is found on g itself, and its certificate bounds g from both sides. ``inner`` are the
    ranges for the witness, where those of ``limits`` are a little too wide.
    """
    budget = budget or Budget()
    infinite = [n for n, ends in limits.items() if None in ends]
    if len(infinite) > 1:
        return WorstCase("unknown", reason="more than one infinite range")
    folded = which == "sup" and isinstance(expr, App) and expr.head == "abs"
    body = expr.args[0] if folded and isinstance(expr, App) else expr
    used = {n: e for n, e in limits.items() if n in names_in(body)}
    dropped = {n: _inside(*e) for n, e in (inner or limits).items() if n not in used}
    signs = (1, -1) if folded else (1,) if which == "sup" else (-1,)
    search = _Search(body, used, signs, digits, budget, text)
    search.inner = {n: (inner or limits)[n] for n in used}
    if infinite and infinite[0] in used:
        search.line = infinite[0]
    try:
        found = search.endless() or search.run()
    except NumericsError as error:
        return WorstCase("unknown", reason=str(error))
    if which == "inf" and found.value is not None:
        found = replace(found, value=(-found.value[1], -found.value[0]), sign=1)
    return replace(found, point={**dropped, **found.point})


def _inside(lo: Fraction | None, hi: Fraction | None) -> Fraction:
    known = [e for e in (lo, hi) if e is not None]
    return known[0] if known else Fraction(0)


class _Search:
    """One supremum: its witness, its tails, its tree."""

    def __init__(
        self, body: Expr, limits: Limits, signs: tuple[int, ...], digits: int, budget: Budget, text: str
    ) -> None:
        self.body, self.limits, self.signs, self.digits = body, limits, signs, digits
        self.inner = limits
        self.limit = min(budget.boxes, MAX_BOXES, MAX_DERIVATIVES // (1 + len(limits)))
        self.text = text
        self.line = next(iter(limits), "")
        self.reason = ""
        # Two digits more, since the last one is rounded up, and room for another program.
        self.bits = max(96, int((digits + 2) * 3.33) + 64)

    def endless(self) -> WorstCase | None:
        """Parameters for which the value is unbounded far out, if there are any at the corners tried."""
        others = {n: e for n, e in self.inner.items() if n != self.line}
        if None not in self.limits.get(self.line, ()):
            return None
        open_sides = [s for s, e in zip("-+", self.limits[self.line], strict=True) if e is None]
        if all(bounded(self.body, self.line, s, self._fixed(), self.signs) for s in open_sides):
            return None
        for corner in corners(others):
            at = substitute(self.body, {n: Num(v) for n, v in corner.items()})
            for side in open_sides:
                start = max([Fraction(64), *(2 * abs(k) for k in bends(at, self.line))])
                found = limit_far(at, self.line, side, start)
                if found in [("oo" if s > 0 else "-oo") for s in self.signs]:
                    return WorstCase("infinite", point=corner, side=side)
        return None

    def run(self) -> WorstCase:
        """The enclosure to as many digits as succeed."""
        if not self.limits:
            return self._constant()
        with precision(self.bits):
            self.rules = Rules(self.body, (*(n for n in self.limits if n != self.line), self.line))
            tops = [
                (value, point, sign)
                for sign in self.signs
                for value, point in top_points(self.rules, self.inner, sign, self.line)
            ]
            if not tops:
                return WorstCase("unknown", reason="no finite value was found")
            return self._proved(tops)

    def _constant(self) -> WorstCase:
        with precision(self.bits):
            low, high = Rules(self.body, ()).value({})
            both = iv.absolute((low, high)) if len(self.signs) == 2 else (low, high)
            both = both if 1 in self.signs else iv.neg(both)
            value = iv.lower_fraction(both[0]), iv.upper_fraction(both[1])
        return WorstCase("ok", value, digits=agreed_digits(*value), reason="the formula is constant")

    def _proved(self, tops: list[tuple[arb, Point, int]]) -> WorstCase:
        best, point, sign = _largest(tops, self.digits)
        cover, cuts, safe = None, None, Fraction(0)
        found: WorstCase | None = None
        surprises, used = 0, 0
        steps = self._steps()
        step = 0
        while True:
            exact = self._exact(point, sign)
            low = iv.lower_fraction(best) if exact is None else exact
            bound = steps[step](low)
            if cover is None or cuts is None or bound < safe:
                # One cut for all bounds to come, where there is one.
                least = loose_bound(low, self.digits + 2)
                cuts, safe = self._cuts(least), least
                if cuts is None:
                    cuts, safe = self._cuts(bound), bound
                if cuts is None:
                    return _short(found, f"tail: {self.reason}")
                cover = JointCover(self.rules, self._middle(cuts), self.signs)
                cover.boxes = used
            cover.centres = [p for v, p, _ in tops if float(v) > float(best) - abs(float(best)) / 1000]
            done = cover.reach(dict.fromkeys(self.signs, iv.rational(bound)), self.limit)
            used = cover.boxes
            if cover.suspect is not None and surprises < SURPRISES:
                surprises += 1
                best, point, sign = self._better(*cover.suspect)
                tops.append((best, point, sign))
                continue
            if not done:
                return _short(found, cover.reason, used)
            value = low, bound
            found = WorstCase(
                "ok", value, point, sign, digits=agreed_digits(*value), boxes=used,
                certificate=self._document(bound, cuts, json.loads(json.dumps(cover.root)), point),
            )  # fmt: skip
            if step + 1 == len(steps):
                return replace(found, attained=self._attained(low))
            step += 1

    def _exact(self, point: Point, sign: int) -> Fraction | None:
        """The value at a point, where rational arithmetic gives it."""
        try:
            value = exact_value(self.body, point)
        except Undefined:
            return None
        return None if value is None else sign * value

    def _better(self, sign: int, place: Point) -> tuple[arb, Point, int]:
        """A local maximum near a place where the bound is broken."""
        found = []
        for point in (place, refined(self.rules, place, self.inner, sign, self.line)):
            low, high = self.rules.value(point)
            found.append((low if sign > 0 else iv.down(-high), point, sign))
        return _largest(found, self.digits)

    def _steps(self) -> list[Callable[[Fraction], Fraction]]:
        """The bounds to be proved one after the other, from a value reached."""
        places = [2]
        while places[-1] < self.digits + 2:
            places.append(min(2 * places[-1] + 1, self.digits + 2))

        def above(part: Fraction) -> Callable[[Fraction], Fraction]:
            return lambda low: loose_bound(low + abs(low) * part, 3)

        def to(digits: int) -> Callable[[Fraction], Fraction]:
            return lambda low: loose_bound(low, digits)

        return [*map(above, COARSE), *map(to, places)]

    def _middle(self, cuts: tuple[Fraction | None, Fraction | None]) -> dict[str, tuple[Fraction, Fraction]]:
        box: dict[str, tuple[Fraction, Fraction]] = {}
        for name, (lo, hi) in self.limits.items():
            left, right = cuts[0] if lo is None else lo, cuts[1] if hi is None else hi
            assert left is not None
            assert right is not None
            box[name] = left, right
        return box

    def _bounds(self, bound: Fraction, strict: bool = False) -> Bounds:
        lower, upper = (bound if s in self.signs else None for s in (-1, 1))
        return Bounds(None if lower is None else -lower, upper, strict, strict)

    def _attained(self, low: Fraction) -> bool | None:
        """True if f is continuous and nothing far out comes near the value."""
        if may_jump(self.body) or (None in self.limits[self.line] and self._cuts(low, strict=True) is None):
            return None
        return True

    def _fixed(self) -> dict[str, tuple[Fraction, Fraction]]:
        """The ranges of the names beside the one that the tails are of."""
        return {
            n: (a, b)
            for n, (a, b) in self.limits.items()
            if a is not None and b is not None and n != self.line
        }

    def _cuts(self, bound: Fraction, strict: bool = False) -> tuple[Fraction | None, Fraction | None] | None:
        """Where the tails start on which the bound holds; None with a reason where there are none."""
        bounds = self._bounds(bound, strict)
        kinks = [abs(k) for k in bends(self.body, self.line)]
        beyond = max([Fraction(1), *kinks, *(abs(e) for e in self.limits[self.line] if e is not None)])
        cuts: list[Fraction | None] = []
        for side, end in zip("-+", self.limits[self.line], strict=True):
            if end is not None:
                cuts.append(None)
                continue
            start = cut(self.body, self.line, side, self._fixed(), bounds, beyond, FAR if strict else STARTS)
            if isinstance(start, str):
                self.reason = start
                return None
            cuts.append(start if side == "+" else -start)
        return cuts[0], cuts[1]

    def _document(
        self, bound: Fraction, cuts: tuple[Fraction | None, Fraction | None], tree: Any, point: Point
    ) -> dict[str, Any]:
        low, high = self.rules.value(point)
        slack = abs(iv.upper_fraction(high)) / 2**70
        witness = Witness(point, iv.lower_fraction(low) - slack, iv.upper_fraction(high) + slack)
        return range_certificate(
            self.body, dict(self.limits), self._bounds(bound), tree, cuts={self.line: cuts},
            bits=self.bits + 10, text=self.text, witnesses=[witness],
        )  # fmt: skip


def _largest(tops: list[tuple[arb, Point, int]], digits: int) -> tuple[arb, Point, int]:
    """The first point whose value is the largest, to more digits than any bound has."""
    best, unit = tops[0], arb(10) ** -(digits + 4)
    for top in tops[1:]:
        if top[0] > best[0] + abs(best[0]) * unit:
            best = top
    return best


def _short(found: WorstCase | None, reason: str, boxes: int = 0) -> WorstCase:
    """What was proved before the budget ended, or nothing."""
    if found is None:
        return WorstCase("unknown", reason=reason, boxes=boxes)
    return replace(found, reason=f"{found.digits} digits within the budget", boxes=boxes)
