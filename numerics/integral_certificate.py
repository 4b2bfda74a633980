"""Certificates of integrals (docs/certificates.md): boxes with the rule that integrates each of them."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from heapq import heapify, heappush, heapreplace
from itertools import pairwise
from math import fsum, inf
from typing import Any

from flint import arb

from gateproof.numerics import interval as iv
from gateproof.numerics.ball import compiled
from gateproof.numerics.certificate import Bounds, Tree, range_certificate, ratio
from gateproof.numerics.errors import NumericsError
from gateproof.numerics.forms import outer
from gateproof.numerics.integral import CUTS, Range, rest_beyond
from gateproof.numerics.precision import precision
from gateproof.numerics.series import compiled_series
from gateproof.numerics.special import special_points

#: Boxes of one certificate: a slower checker has to go through them all.
BOXES = 800
_SMALLEST = Fraction(1, 2**160)


@dataclass
class _Box:
    """A box with its rule, the error of that, and, once it is split, its halves."""

    lo: Fraction
    hi: Fraction
    rule: Any
    error: float
    halves: tuple[_Box, _Box] | None = None

    def tree(self, var: str) -> Tree:
        """The tree below the box."""
        if self.halves is None:
            return ["leaf", self.rule]
        return ["split", var, ratio(self.halves[0].hi), *(h.tree(var) for h in self.halves)]


class _Cover:
    """The boxes of a compact part; the one with the largest error is split next."""

    def __init__(self, on: Range, order: int) -> None:
        self.on, self.order = on, order
        self.natural = compiled(on.body)
        self.series = compiled_series(on.body, on.var)

    def boxes(self, ends: list[Fraction], tolerance: Fraction) -> list[_Box] | None:
        """Boxes between the ends whose errors add up to less than the tolerance; None where they run out."""
        roots = [self._box(a, b) for a, b in pairwise(ends)]
        heap = [(-box.error, k, box) for k, box in enumerate(roots)]
        heapify(heap)
        count, goal = len(heap), float(tolerance)
        while not fsum(-error for error, _, _ in heap) <= goal:
            _, _, box = heap[0]
            if count >= BOXES or box.hi - box.lo < _SMALLEST:
                return None
            middle = (box.lo + box.hi) / 2
            box.halves = self._box(box.lo, middle), self._box(middle, box.hi)
            first, second = box.halves
            heapreplace(heap, (-first.error, count, first))
            heappush(heap, (-second.error, count + 1, second))
            count += 2
        return roots

    def _box(self, lo: Fraction, hi: Fraction) -> _Box:
        found = [
            (float((2 * part.rad()).upper()), rule) for rule, part in self._rules(lo, hi) if part.is_finite()
        ]
        error, rule = min(found, key=lambda item: item[0], default=(inf, "natural"))
        return _Box(lo, hi, rule, error)

    def _rules(self, lo: Fraction, hi: Fraction) -> Iterable[tuple[Any, arb]]:
        r = iv.rational((hi - lo) / 2)
        env = {self.on.var: outer(lo, hi)}
        with suppress(NumericsError):
            n = self.order
            over = self.series(env, n)[n]
            at = self.series({self.on.var: iv.of_ball(iv.rational((lo + hi) / 2))}, n - 1)
            terms = [2 * c * r ** (j + 1) / (j + 1) for j, c in enumerate([*at, over]) if j % 2 == 0]
            yield ["taylor", n], sum(terms, arb(0))
        with suppress(NumericsError):
            yield "natural", iv.to_ball(self.natural(env)) * 2 * r


def integral_certificate(
    on: Range, value: tuple[Fraction, Fraction], tolerance: Fraction, text: str = ""
) -> dict[str, Any] | None:
    """A certificate that the integral lies within the tolerance of its enclosure, or None."""
    cuts: dict[str, Fraction] = {}
    for name, end in (("-", on.lo), ("+", on.hi)):
        if end is None:
            cut = tail_cut(on, name, tolerance / 8)
            if cut is None:
                return None
            cuts[name] = cut
    lo = on.lo if on.lo is not None else -cuts["-"]
    hi = on.hi if on.hi is not None else cuts["+"]
    digits = max(3, len(str(tolerance.denominator // max(1, tolerance.numerator))))
    bits = 48 + 4 * digits
    ends = [lo, *(k for k in special_points(on.body, on.var) if lo < k < hi), hi]
    with precision(bits):
        boxes = _Cover(on, min(40, 8 + 2 * (digits // 2))).boxes(ends, tolerance / 4)
    if boxes is None:
        return None
    lower, upper = value[0] - tolerance, value[1] + tolerance
    return {
        **range_certificate(
            on.body,
            {on.var: (on.lo, on.hi)},
            Bounds(short(lower, tolerance, -1), short(upper, tolerance, 1)),
            _joined(on.var, ends, [box.tree(on.var) for box in boxes]),
            cuts={on.var: (-cuts["-"] if "-" in cuts else None, cuts.get("+"))},
            bits=bits + 10,
            text=text,
        ),
        "kind": "integral",
    }


def tail_cut(on: Range, name: str, tolerance: Fraction) -> Fraction | None:
    """M such that the integral of the integrand's size beyond it (side '-': below -M) is small; or None."""
    beyond = max((abs(e) for e in (on.lo, on.hi) if e is not None), default=Fraction(0))
    for start in CUTS:
        if start > beyond and start < 2**60:
            rest = rest_beyond(on.body, on.var, name, start)
            # The checker's own bound may be a little worse.
            if rest is not None and 4 * rest < tolerance:
                return start
    return None


def short(value: Fraction, tolerance: Fraction, direction: int) -> Fraction:
    """A rational with a short denominator, up to a hundredth of the tolerance further out."""
    scale = 100 * (tolerance.denominator // tolerance.numerator + 1)
    whole = value * scale
    return Fraction(-(-whole.numerator // whole.denominator) if direction > 0 else whole // 1, scale)


def _joined(var: str, ends: list[Fraction], trees: list[Tree]) -> Tree:
    """One tree for neighbouring boxes."""
    if len(trees) == 1:
        return trees[0]
    middle = len(trees) // 2
    return [
        "split",
        var,
        ratio(ends[middle]),
        _joined(var, ends[: middle + 1], trees[:middle]),
        _joined(var, ends[middle:], trees[middle:]),
    ]
