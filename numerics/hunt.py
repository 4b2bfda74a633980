"""Branch and bound for the places where an expression may be largest on a compact interval."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from fractions import Fraction
from itertools import count, pairwise

from flint import arb

from gateproof.numerics import interval as iv
from gateproof.numerics.cover import split_point
from gateproof.numerics.errors import MaybeUndefined, Undefined
from gateproof.numerics.forms import Line
from gateproof.numerics.interval import Interval
from gateproof.numerics.jets import jet, side

#: Boxes that are split although their bound agrees with the best value to all bits.
MAX_FLAT = 300


@dataclass(frozen=True)
class Spot:
    """A box that may hold the maximum: one simple critical point (sign of f there), or a tiny box (0)."""

    lo: Fraction
    hi: Fraction
    sign: int


class OutOfBoxes(ArithmeticError):
    """The budget ended."""


class Hunt:
    """Maximise f, or |f| where ``folded``, on [lo, hi]; flint's precision is the caller's.

    Discards boxes below the best value seen, and boxes in which f has no interior
    maximum: f' without zero, or f'' > 0. So the ends of the domain are not covered: the
    caller looks at them. Raises Undefined (a whole box without values), OutOfBoxes.
    """

    def __init__(self, line: Line, folded: bool, best: arb, bits: int, limit: int) -> None:
        self.line, self.folded, self.best = line, folded, best
        self.bits, self.limit = bits, limit
        self.boxes = 0
        self.spots: list[tuple[Spot, arb]] = []
        self.doubtful: str = ""
        self.flat = 0

    def score(self, value: Interval) -> Interval:
        """What is to be largest."""
        return iv.absolute(value) if self.folded else value

    def run(self, lo: Fraction, hi: Fraction, kinks: tuple[Fraction, ...]) -> list[Spot]:
        """The spots whose upper bound is not below the best value."""
        cuts = [lo, *(k for k in kinks if lo < k < hi), hi]
        # Floats only order the queue: the box with the highest bound comes first.
        order = count()
        heap: list[tuple[float, int, Fraction, Fraction]] = []
        for a, b in pairwise(cuts):
            heapq.heappush(heap, (-float("inf"), next(order), a, b))
        while heap:
            _, _, a, b = heapq.heappop(heap)
            upper = self._look(a, b)
            if upper is None:
                continue
            middle = split_point(a, b)
            for part in ((a, middle), (middle, b)):
                heapq.heappush(heap, (-_float(upper), next(order), *part))
        return [spot for spot, upper in self.spots if not upper < self.best]

    def _look(self, a: Fraction, b: Fraction) -> arb | None:
        """An upper bound if the box is to be split, else None."""
        if self.boxes >= self.limit:
            raise OutOfBoxes
        self.boxes += 1
        found = jet(self.line, a, b)
        if found is not None:
            value = self.score(found.value)
            self.best = max(self.best, self.score(found.middle)[0])
            if value[1] < self.best:
                return None
            sign = side(found.value) if self.folded else 1
            if sign:
                if side(found.slope) or side(found.curve) == sign:
                    return None
                if side(found.curve) == -sign:
                    self.spots.append((Spot(a, b, sign), value[1]))
                    return None
        else:
            try:
                value = self.score(self.line.natural(a, b))
            except MaybeUndefined as error:
                self.doubtful = error.where
                value = (iv.NEG_INF, iv.INF)
            if value[1] < self.best:
                return None
            self._try((a + b) / 2)
            self._try(a)
            self._try(b)
        return self._tiny(a, b, value)

    def _tiny(self, a: Fraction, b: Fraction, value: Interval) -> arb | None:
        close = value[1] - self.best <= (abs(value[1]) + arb(2) ** -self.bits) * arb(2) ** -self.bits
        if close and self.flat < MAX_FLAT:
            # A flat stretch has no end of such boxes; a kink or a fourth-order maximum soon has one.
            self.flat += 1
            close = False
        if close or b - a <= max(abs(a), abs(b), Fraction(1)) / 2 ** (self.bits + 8):
            self.spots.append((Spot(a, b, 0), value[1]))
            return None
        return value[1]

    def _try(self, x: Fraction) -> None:
        """Raise the best value by the one at a point."""
        try:
            value = self.score(self.line.value(x))
        except (Undefined, MaybeUndefined):
            return
        if value[0] > self.best:
            self.best = value[0]


def _float(x: arb) -> float:
    return float(x) if x.is_finite() else float("inf")
