"""A tree of boxes over one variable on each of which a rule proves the bounds.

Near a maximum that the bound nearly touches, one box does: ["taylor", 2] about a rational p near its place
leaves f <= f(p) + f'(p)**2/(-4 C), C < 0 the largest f''/2 on the box, so that p needs half the digits of the
bound and the number of boxes does not depend on them. Boxes elsewhere keep a distance from the bound, and are
looked at with few bits.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import flint
from flint import arb

from gateproof.numerics import interval as iv
from gateproof.numerics.ball import compiled
from gateproof.numerics.certificate import Bounds, Tree
from gateproof.numerics.cover import LEVELS
from gateproof.numerics.errors import MaybeUndefined, NotSmooth, Undefined
from gateproof.numerics.forms import Line, outer, polynomial_range
from gateproof.numerics.interval import Interval
from gateproof.numerics.kinks import corners
from gateproof.numerics.line_boxes import Box, Rule, halves, parts, tree
from gateproof.numerics.newton import LOW
from gateproof.numerics.precision import precision
from gateproof.numerics.search import breaks
from gateproof.numerics.smooth import Piece, Turns, pieces
from gateproof.theory.exact.piecewise import may_jump
from gateproof.theory.formula.nodes import Expr

#: Another program's enclosures over a box may be wider than these by this factor.
_SPARE = 4
_HALF = arb(0.5)


class LineCover:
    """One attempt at one precision (flint's current one when ``run`` is called).

    After ``run``: ``boxes`` looked at; ``suspect``, a point that seems to break the
    bounds or to have no value; ``stuck``, the box that could not be decided; ``reason``.
    """

    def __init__(
        self, expr: Expr, var: str, ends: tuple[Fraction, Fraction], bounds: Bounds, bits: int, boxes: int
    ) -> None:
        self.line, self.var, self.ends, self.bounds = Line(expr, var), var, ends, bounds
        self.bits, self.low, self.limit = bits, min(LOW, bits), boxes
        self.boxes = 0
        self.suspect: dict[str, Fraction] | None = None
        self.stuck: dict[str, tuple[Fraction, Fraction]] | None = None
        self.reason = ""
        self.scale = max(abs(ends[0]), abs(ends[1]), ends[1] - ends[0])
        self.corners = tuple(dict.fromkeys(c for n in expr.walk() for c in corners(n)))
        # A sign or a condition is undecided where its argument may be 0; the others are what both sides are.
        self.strict = may_jump(expr)

    def run(self, places: tuple[Fraction, ...] | None = None, turns: Turns | None = None) -> Tree | None:
        """The finished tree, or None.

        ``places`` are near maxima or minima that the bounds nearly touch (None: they are looked for).
        """
        lo, hi = self.ends
        turns = None if self.strict else turns
        todo: list[Box] = []
        for part in pieces(self.line, lo, hi, turns) if lo < hi else ():
            todo += self._first(part, self._likely(part) if places is None else places)
        todo = todo or [Box(Piece(lo, hi, self.line, {}), lo, hi)]
        leaves: list[Box] = []
        todo.reverse()
        while todo:
            # Depth first, so that what cannot be decided is met after few boxes.
            box = todo.pop()
            if self.boxes >= self.limit:
                self.reason = "boxes"
                return None
            self.boxes += 1
            if box.rule is None:
                found = self._look(box)
                if self.suspect is not None:
                    self.reason = f"near {self._place(box)}"
                    return None
                if found is None:
                    if box.depth > LEVELS or box.hi - box.lo <= self.scale / 2 ** (self.bits * 3 // 4):
                        self.stuck = {self.var: (box.lo, box.hi)}
                        self.reason = self._why(box)
                        return None
                    todo += reversed(halves(box))
                    continue
                box = replace(box, rule=found)
            leaves.append(box)
        return tree(self.var, leaves)

    def _first(self, part: Piece, places: tuple[Fraction, ...]) -> list[Box]:
        """The boxes of a piece to begin with: those around the places, and parts of what lies between."""
        found: list[Box] = []
        at = part.lo
        for p in sorted(p for p in places if part.lo < p < part.hi):
            if p <= at:
                continue
            crest = self._crest(part, p, min(p - at, part.hi - p))
            if crest is not None:
                found += [*parts(part, at, crest.lo), crest]
                at = crest.hi
        return found + parts(part, at, part.hi)

    def _likely(self, part: Piece) -> tuple[Fraction, ...]:
        """Where the quadratic about the middle of a part of the piece has a top or bottom near a bound."""
        found: list[Fraction] = []
        with precision(self.low):
            for box in parts(part, part.lo, part.hi):
                m = (box.lo + box.hi) / 2
                try:
                    value, slope, bend = part.line.series({self.var: iv.of_ball(iv.rational(m))}, 2)
                except (NotSmooth, MaybeUndefined, Undefined):
                    continue
                step = (-slope / (2 * bend)).mid()
                if not abs(step) < iv.rational(box.hi - box.lo):
                    continue
                bound = self.bounds.upper if bend < 0 else self.bounds.lower
                top = iv.rational(bound) if bound is not None else iv.INF
                if abs(top - value - slope * step / 2) < abs(top) / 16 + arb(2) ** -20:
                    found.append(m + iv.to_fraction(step))
        return tuple(found)

    def _look(self, box: Box) -> Rule | None:
        """The rule for the box, or None where it is to be halved."""
        with precision(self.low):
            rule, near = self._rule(box)
        near = near or box.hi - box.lo < self.scale / 2**24
        if rule is None and near and self.low < self.bits and self.suspect is None:
            rule, near = self._rule(box)
        return rule

    def _rule(self, box: Box) -> tuple[Rule | None, bool]:
        """The rule that proves the bounds on the box, and whether more bits might give one."""
        lo, hi, line = box.lo, box.hi, box.piece.line
        near = False
        if lo < hi and self._decided(box):
            middle = (lo + hi) / 2
            try:
                over = line.series({self.var: outer(lo, hi)}, line.order)[line.order]
                c = line.series({self.var: iv.of_ball(iv.rational(middle))}, line.order - 1)
            except (NotSmooth, MaybeUndefined):
                over, c = iv.INF, []
            if c and over.is_finite():
                value = iv.of_ball(c[0])
                radius = iv.up(iv.rational((hi - lo) / 2))
                if self._keeps(polynomial_range(value, [*c[1:], _wider(over)], radius)):
                    return ["taylor", line.order], False
                if breaks(value, self.bounds):
                    self.suspect = {self.var: middle}
                    return None, False
                ends = self._at_ends(line, lo, hi) if _leans(c, radius) else None
                if ends is not None:
                    if self._keeps(ends) and self._is_monotone(line, lo, hi):
                        return ["face", self.var, "natural"], False
                    near = self._is_near(ends)
                near = near or self._is_near(value)
                if box.depth:
                    # Where the form about the middle has failed the natural one has, but on the widest boxes.
                    return None, near
        try:
            value = self.line.natural(lo, hi)
        except Undefined:
            self.suspect = {self.var: (lo + hi) / 2}
            return None, False
        except MaybeUndefined:
            return None, near
        if not (value[0].is_finite() or value[1].is_finite()):
            return None, near
        kept = breaks(value, self.bounds)
        if kept:
            self.suspect = {self.var: (lo + hi) / 2}
        return ("natural" if kept is False else None), near

    def _is_monotone(self, line: Line, lo: Fraction, hi: Fraction) -> bool:
        """Whether an enclosure of f' over the box has one sign."""
        slope = _wider(line.series({self.var: outer(lo, hi)}, 1)[1])
        return bool(slope > 0 or slope < 0)

    def _at_ends(self, line: Line, lo: Fraction, hi: Fraction) -> Interval | None:
        try:
            a, b = line.value(lo), line.value(hi)
        except (Undefined, MaybeUndefined):
            return None
        return min(a[0], b[0]), max(a[1], b[1])

    def _keeps(self, value: Interval) -> bool:
        return breaks(value, self.bounds) is False

    def _is_near(self, value: Interval) -> bool:
        """Whether an end of the interval is so close to a bound that rounding may matter."""
        bounds = [iv.rational(b) for b in (self.bounds.lower, self.bounds.upper) if b is not None]
        fuzz = arb(2) ** (16 - flint.ctx.prec)
        return any(abs(v - b) < (1 + abs(b)) * fuzz for v in value for b in bounds)

    def _decided(self, box: Box) -> bool:
        """Whether interval arithmetic decides all corners, where a piece has resolved some.

        The checker looks at the formula as it stands, and at corners in parts that are not taken.
        """
        if not box.piece.signs:
            return True
        for corner in self.corners:
            try:
                lo, hi = compiled(corner)({self.var: outer(box.lo, box.hi)})
            except (Undefined, MaybeUndefined):
                return False
            if not (lo > 0 or hi < 0 if self.strict else lo >= 0 or hi <= 0):
                return False
        return True

    def _crest(self, piece: Piece, place: Fraction, reach: Fraction) -> Box | None:
        """A box about a rational near the place on which ["taylor", 2] keeps the bounds."""
        p = self._closer(piece.line, place)
        if p is None or not piece.lo < p < piece.hi:
            return None
        reach = min(reach, p - piece.lo, piece.hi - p)
        # A short dyadic radius, so that only p has many digits.
        step = Fraction(2) ** (reach.numerator.bit_length() - reach.denominator.bit_length() - 1)
        radius = min(step, Fraction(1))
        for _ in range(12):
            box = Box(piece, p - radius, p + radius, 0, ["taylor", 2])
            if radius <= reach and self._bends(box, p, radius):
                return box
            radius /= 2
        return None

    def _bends(self, box: Box, p: Fraction, radius: Fraction) -> bool:
        line = box.piece.line
        try:
            with precision(self.low):
                bend = _wider(line.series({self.var: outer(box.lo, box.hi)}, 2)[2])
                if not bend.is_finite() or not self._decided(box):
                    return False
                if not (bend < 0 or bend > 0):
                    return False
            c = line.series({self.var: iv.of_ball(iv.rational(p))}, 1)
        except (NotSmooth, MaybeUndefined, Undefined):
            return False
        return self._keeps(polynomial_range(iv.of_ball(c[0]), [c[1], bend], iv.up(iv.rational(radius))))

    def _closer(self, line: Line, place: Fraction) -> Fraction | None:
        """A short rational near the critical point at a place: near enough for the bounds."""
        x = iv.rational(place).mid()
        bits = self.low
        while True:
            try:
                with precision(bits + 16):
                    x = _rounded(x)
                    value, slope, bend = line.series({self.var: (x, x)}, 2)
                    rise = slope * slope / abs(bend)
                    if self._keeps(iv.of_ball(value + arb(0, rise.abs_upper()))):
                        return iv.to_fraction(x)
                    step = (slope / (2 * bend)).mid()
                    x = (x - step).mid()
            except (NotSmooth, MaybeUndefined, Undefined):
                return None
            if bits >= self.bits or not x.is_finite():
                return None
            bits = min(2 * bits, self.bits)

    def _why(self, box: Box) -> str:
        try:
            self.line.natural(box.lo, box.hi)
        except (Undefined, MaybeUndefined) as error:
            return f"may be undefined ({error.where}) near {self._place(box)}"
        return f"touches the bound near {self._place(box)}"

    def _place(self, box: Box) -> str:
        return f"{self.var}={float((box.lo + box.hi) / 2):.12g}"


def _leans(c: list[arb], radius: arb) -> bool:
    """Whether the quadratic about the middle is monotone on the box."""
    return len(c) > 2 and bool(abs(c[1]) > abs(2 * c[2]) * radius)


def _rounded(x: arb) -> arb:
    """The dyadic number with few bits that is very near, if there is one: a bound may be attained there."""
    short = ((x * 2**10 + _HALF).floor() / 2**10).mid()
    return short if abs(x - short) < arb(2) ** -28 else x


def _wider(c: arb) -> arb:
    return arb(c.mid(), _SPARE * c.rad())
