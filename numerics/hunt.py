"""Branch and bound for the places where an expression may be largest on a compact interval."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import count, pairwise

from flint import arb

from gateproof.numerics import interval as iv
from gateproof.numerics.errors import MaybeUndefined, Undefined
from gateproof.numerics.forms import outer
from gateproof.numerics.interval import Interval
from gateproof.numerics.local import Local, local
from gateproof.numerics.newton import Root, caught, isolate
from gateproof.numerics.smooth import Piece

#: Boxes that are split although their bound agrees with the best value to all bits.
MAX_FLAT = 300
#: Parts of the interval to start with, where they are not narrower than 1.
_PARTS = 16


@dataclass(frozen=True)
class Spot:
    """A box that may hold the maximum.

    ``upper`` bounds the scores on it. ``root``: the critical point in it, if it is simple (or may have
    left the box, not ``unique``); else the box is tiny, or the formula constant on it.
    """

    piece: Piece
    lo: arb
    hi: arb
    upper: arb
    root: Root | None = None


class OutOfBoxes(ArithmeticError):
    """The budget ended."""


class Loose(ArithmeticError):
    """At this precision a box is neither discarded nor shown to hold one simple critical point."""


class Hunt:
    """Maximise f, or |f| where ``folded``, over pieces; flint's precision is the caller's.

    Discards boxes below the best value seen, and boxes in which f has no interior
    maximum: f' without zero, or f'' > 0. So the ends of the pieces are not covered: the
    caller looks at them. Raises Undefined (a whole box without values), OutOfBoxes, and
    where ``isolating`` Loose instead of giving tiny boxes.
    """

    def __init__(self, folded: bool, best: arb, bits: int, limit: int, isolating: bool) -> None:
        self.folded, self.best = folded, best
        self.bits, self.limit, self.isolating = bits, limit, isolating
        self.boxes = 0
        self.spots: list[Spot] = []
        self.doubtful: str = ""
        self.flat = 0

    def score(self, value: Interval) -> Interval:
        """What is to be largest."""
        return iv.absolute(value) if self.folded else value

    def run(self, pieces: list[Piece]) -> list[Spot]:
        """The spots whose upper bound is not below the best value."""
        # Floats only order the queue: the box with the highest bound comes first.
        order = count()
        heap: list[tuple[float, int, arb, Piece, arb, arb]] = []
        for piece in pieces:
            lo, hi = outer(piece.lo, piece.hi)
            if piece.constant or piece.narrow:
                self._whole(piece, lo, hi)
                continue
            for a, b in _parts(lo, hi):
                heap.append((-float("inf"), next(order), iv.INF, piece, a, b))
        while heap:
            _, _, upper, piece, a, b = heapq.heappop(heap)
            if upper < self.best:
                continue
            found = self._look(piece, a, b)
            if found is None:
                continue
            middle = ((a + b) / 2).mid()
            for part in ((a, middle), (middle, b)):
                heapq.heappush(heap, (-_float(found), next(order), found, piece, *part))
        return [spot for spot in self.spots if not spot.upper < self.best]

    def _whole(self, piece: Piece, lo: arb, hi: arb) -> None:
        """A piece that is one candidate."""
        try:
            value = self.score(piece.line.natural_run({piece.line.var: (lo, hi)}))
        except MaybeUndefined as error:
            self.doubtful = error.where
            value = (iv.NEG_INF, iv.INF)
        self.best = max(self.best, value[0])
        self.spots.append(Spot(piece, lo, hi, value[1]))

    def _look(self, piece: Piece, a: arb, b: arb) -> arb | None:
        """An upper bound if the box is to be split, else None."""
        if self.boxes >= self.limit:
            raise OutOfBoxes
        self.boxes += 1
        line = piece.line
        found = local(line, a, b)
        if found is not None:
            rough = found.rough()
            if self._holds(piece, found.at):
                self._reached(iv.of_ball(found.c[0]))
            if self._above(rough) < self.best:
                return None
            slope = found.slope()
            # Where f is monotone |f| has no maximum inside either.
            if slope > 0 or slope < 0:
                return None
            value = self.score(found.value())
            if value[1] < self.best:
                return None
            sign = 1 if not self.folded or rough > 0 else (-1 if rough < 0 else 0)
            if sign:
                curve = found.curve() * sign
                if curve > 0:
                    return None
                if curve < 0:
                    self._simple(piece, a, b, found, value[1])
                    return None
        else:
            try:
                value = self.score(line.natural_run({line.var: (a, b)}))
            except MaybeUndefined as error:
                self.doubtful = error.where
                value = (iv.NEG_INF, iv.INF)
            if value[1] < self.best:
                return None
            for x in (((a + b) / 2).mid(), a, b):
                self._try(piece, x)
        return self._tiny(piece, a, b, value)

    def _above(self, ball: arb) -> arb:
        return ball.abs_upper() if self.folded else iv.up(ball)

    def _reached(self, value: Interval) -> None:
        low = self.score(value)[0]
        if low > self.best:
            self.best = low

    def _simple(self, piece: Piece, a: arb, b: arb, near: Local, upper: arb) -> None:
        """A box with at most one critical point, looked at closely: its value prunes the others."""
        # The formula of a piece may have its critical point beyond the piece: gather.py sees to that.
        ball = caught(piece.line, near.at - near.c[1] / (2 * near.c[2]), a, b)
        root = Root(ball, True) if ball is not None else isolate(piece.line, a, b, 1, (iv.NEG_INF, iv.INF))
        if root is not None:
            if self.isolating and not root.unique:
                raise Loose
            self._try(piece, root.ball.mid())
            self.spots.append(Spot(piece, a, b, upper, root))

    def _tiny(self, piece: Piece, a: arb, b: arb, value: Interval) -> arb | None:
        if self.isolating:
            near = value[1] - self.best <= abs(value[1]) * arb(2) ** (12 - self.bits)
            if near or b - a <= max(abs(a), abs(b), iv.ONE) / 2 ** (self.bits // 2):
                raise Loose
            return value[1]
        close = value[1] - self.best <= (abs(value[1]) + arb(2) ** -self.bits) * arb(2) ** -self.bits
        if close and self.flat < MAX_FLAT:
            # A flat stretch has no end of such boxes; a kink or a fourth-order maximum soon has one.
            self.flat += 1
            close = False
        if close or b - a <= max(abs(a), abs(b), iv.ONE) / 2 ** (self.bits - 8):
            self.spots.append(Spot(piece, a, b, value[1]))
            return None
        return value[1]

    def _holds(self, piece: Piece, x: arb) -> bool:
        """Whether the exact number lies in the piece, whose box is rounded outward, and no jump at an end."""
        lo, hi = iv.rational(piece.lo), iv.rational(piece.hi)
        return bool(lo < x < hi if piece.jumps else lo <= x <= hi)

    def _try(self, piece: Piece, x: arb) -> None:
        """Raise the best value by the one at a point."""
        if not self._holds(piece, x):
            return
        try:
            self._reached(piece.line.natural_run({piece.line.var: (x, x)}))
        except (Undefined, MaybeUndefined):
            return


def _parts(lo: arb, hi: arb) -> list[tuple[arb, arb]]:
    """The interval in a few parts of equal width."""
    width = hi - lo
    n = max(1, min(_PARTS, int(float(width)))) if width < 2**40 else _PARTS
    cuts = [lo, *((lo + width * k / n).mid() for k in range(1, n)), hi]
    return list(pairwise(cuts))


def _float(x: arb) -> float:
    return float(x) if x.is_finite() else float("inf")
