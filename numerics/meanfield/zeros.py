"""All zeros of a smooth function of the variance on an interval, isolated and narrowed in balls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

from flint import arb

from gateproof.numerics import interval as iv
from gateproof.numerics.precision import precision

#: A function with its first two derivatives, on a ball.
Jet = tuple[arb, arb, arb]
Curve = Callable[[arb, int], Jet]
Box = tuple[arb, arb]
#: Digits at which zeros are isolated, first and then, boxes looked at, and the least relative width of one.
COARSE, FINE, BOXES, LEAST = 14, 32, 5_000, 2.0**-44
#: The first boxes' ends have this ratio: none that zeros are likely to share.
RATIO = 1.4871
#: By this part of its size a box is widened to prove a zero on its border.
WIDER = 2.0**-20


@dataclass
class Zeros:
    """The zeros, ascending, each simple and the only one in its ball; ``open`` are boxes left undecided."""

    found: list[arb] = field(default_factory=list)
    open: list[arb] = field(default_factory=list)

    def add(self, zero: arb) -> None:
        """One more, unless it is there: two boxes may share a zero on their border."""
        if not any(zero.overlaps(other) for other in self.found):
            self.found = sorted([*self.found, zero], key=lambda q: float(q.mid()))


def zeros(curve: Curve, lo: arb, hi: arb, digits: int) -> Zeros:
    """All zeros in [lo, hi], 0 < lo <= hi, exact ends; ``curve(q, digits)`` computes to about those digits.

    Each is narrowed to a relative error below 10^-digits. What few digits leave undecided is looked at again
    with more.
    """
    done = Zeros()
    with precision(int(max(digits, FINE) * 3.33) + 64):
        boxes = _first(lo, hi)
        for accuracy, least in ((COARSE, 2.0**-20), (FINE, LEAST)):
            found, boxes = _sweep(curve, boxes, accuracy, least, digits)
            for zero in found:
                done.add(zero)
            if not boxes:
                break
        done.open = [a.union(b) for a, b in reversed(boxes)]
    return done


def _sweep(
    curve: Curve, stack: list[Box], accuracy: int, least: float, digits: int
) -> tuple[list[arb], list[Box]]:
    """The zeros in some boxes, and boxes left undecided; the boxes' last is looked at first."""
    found: list[arb] = []
    left: list[Box] = []
    for _ in range(BOXES):
        if not stack:
            break
        a, b = stack.pop()
        value, slope = enclosed(curve, a.union(b), accuracy)
        if value > 0 or value < 0:
            continue
        if slope > 0 or slope < 0:
            changes, box = _with_change(curve, a, b, digits)
            if changes is not None:
                if changes:
                    found.append(_narrowed(curve, box, digits))
                continue
        if (b - a) < least * b:
            # Neighbours are joined again: with more digits one box may do.
            if left and left[-1][1] == a:
                a = left.pop()[0]
            left.append((a, b))
            continue
        middle = arb((a * b).sqrt().mid())
        stack += [(middle, b), (a, middle)]
    return found, [*stack, *reversed(left)]


def _first(lo: arb, hi: arb) -> list[Box]:
    """Boxes, the first to be looked at last."""
    ends = [lo]
    while ends[-1] * RATIO < hi:
        ends.append(arb((ends[-1] * RATIO).mid()))
    if len(ends) > 1 and hi < ends[-1] * 1.1:
        ends.pop()
    ends.append(hi)
    return list(pairwise(ends))[::-1]


def enclosed(curve: Curve, box: arb, digits: int = COARSE) -> tuple[arb, arb]:
    """The function and its slope over a ball, by expansion about the middle of it."""
    middle = arb(box.mid())
    at, over = curve(middle, digits), curve(box, digits)
    step = box - middle
    slope = _common(over[1], at[1] + over[2] * step)
    square = (step * step).union(arb(0)) / 2
    value = _common(_common(over[0], at[0] + slope * step), at[0] + at[1] * step + over[2] * square)
    return value, slope


def _common(x: arb, y: arb) -> arb:
    """What two enclosures of the same numbers share."""
    if not x.is_finite():
        return y
    if not y.is_finite():
        return x
    lo, hi = max(iv.down(x), iv.down(y)), min(iv.up(x), iv.up(y))
    # Ends of balls are rounded; where they only just miss each other either enclosure serves.
    return lo.union(hi) if lo <= hi else x


def _sign(curve: Curve, q: arb, digits: int) -> int:
    for accuracy in (COARSE, digits + 10):
        value = curve(q, accuracy)[0]
        if value > 0 or value < 0:
            return 1 if value > 0 else -1
    return 0


def _with_change(curve: Curve, a: arb, b: arb, digits: int) -> tuple[bool | None, arb]:
    """Whether the sign changes in a monotone box (None: not told), and the box.

    For a zero on its border that is a wider box.
    """
    signs = _sign(curve, a, digits), _sign(curve, b, digits)
    if 0 in signs:
        a, b = arb((a * (1 - WIDER)).mid()), arb((b * (1 + WIDER)).mid())
        _, slope = enclosed(curve, a.union(b))
        signs = _sign(curve, a, digits), _sign(curve, b, digits)
        if 0 in signs or not (slope > 0 or slope < 0):
            return None, a.union(b)
    return signs[0] != signs[1], a.union(b)


def _narrowed(curve: Curve, box: arb, digits: int) -> arb:
    """Newton's steps from a ball on which the slope has no zero; the zero is known to lie inside."""
    goal = arb(10) ** -digits
    for _ in range(80):
        _, slope = enclosed(curve, box)
        middle = arb(box.mid())
        wide = box.rad() > arb(10) ** (3 - COARSE) * middle
        value = curve(middle, COARSE if wide else digits + 8)[0]
        image = middle - value / slope if (slope > 0 or slope < 0) else box
        closer = _common(box, image)
        if not closer.rad() < 0.9 * box.rad() and not wide:
            return closer
        if not closer.rad() < 0.9 * box.rad():
            closer = _half(curve, closer, digits)
        box = closer
        if box.rad() < goal * box.mid() / 2:
            return box
    return box


def _half(curve: Curve, box: arb, digits: int) -> arb:
    """The half of the ball in which the sign changes; the ball itself where that is not told."""
    ends = arb(box.lower()), arb(box.mid()), arb(box.upper())
    signs = [_sign(curve, q, digits) for q in ends]
    if 0 in signs:
        return box
    return ends[0].union(ends[1]) if signs[0] != signs[1] else ends[1].union(ends[2])
