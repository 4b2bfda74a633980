"""Interval Newton on f or f': isolated roots to any number of bits."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from gateproof.numerics import interval as iv
from gateproof.numerics.errors import MaybeUndefined, NotSmooth
from gateproof.numerics.forms import Line, outer
from gateproof.numerics.jets import jet
from gateproof.numerics.precision import precision


@dataclass(frozen=True)
class Root:
    """A ball; ``unique``: exactly one root lies in it and it is simple, else there may be none."""

    ball: arb
    unique: bool


def refine(
    line: Line, lo: Fraction, hi: Fraction, order: int, bits: int, inside: tuple[Fraction, Fraction]
) -> Root | None:
    """The root of f^(order), order 0 or 1, in [lo, hi], where f^(order+1) has no zero; None: there is none.

    ``inside`` is where f may be evaluated: the box is widened a little to prove a root
    on its border. Works at growing precision up to ``bits``.
    """
    with precision(96):
        found = _shrink(line, lo, hi, order, inside)
    if found is None or not found.unique:
        return found
    work, x = 96, found.ball
    while work < bits + 32:
        work = min(2 * work, bits + 32)
        with precision(work):
            for _ in range(3):
                x = _polish(line, x, order)
    return Root(x, True)


def _step(line: Line, lo: arb, hi: arb, order: int) -> arb | None:
    """The Newton image of the interval, or None where the derivative may vanish."""
    try:
        slope = (order + 1) * line.series({line.var: (lo, hi)}, order + 1)[order + 1]
        if not (slope > 0 or slope < 0):
            wide = jet(line, iv.to_fraction(lo), iv.to_fraction(hi))
            if wide is None:
                return None
            # The form about the midpoint is the narrower one on wide boxes.
            slope = iv.to_ball(wide.curve if order else wide.slope)
            if not (slope > 0 or slope < 0):
                return None
        m = ((lo + hi) / 2).mid()
        value = line.series({line.var: (arb(m), arb(m))}, order)[order]
    except (NotSmooth, MaybeUndefined):
        return None
    image = arb(m) - value / slope
    return image if image.is_finite() else None


def _shrink(
    line: Line, lo: Fraction, hi: Fraction, order: int, inside: tuple[Fraction, Fraction]
) -> Root | None:
    a, b = outer(lo, hi)
    for _ in range(120):
        image = _step(line, a, b, order)
        if image is None:
            return Root(a.union(b), False)
        low, high = iv.of_ball(image)
        if low > b or high < a:
            return None
        if low > a and high < b:
            return Root(_polish(line, image, order), True)
        width = b - a
        a, b = max(a, low), min(b, high)
        if not (b - a < width * 0.75):
            break
    # The root may lie on the border: look at a wider interval.
    grown = (b - a) / 2 + arb(2) ** -60 * (1 + abs(a))
    left, right = iv.down(a - grown), iv.up(b + grown)
    allowed = outer(*inside)
    if left < allowed[0] or right > allowed[1]:
        return Root(a.union(b), False)
    image = _step(line, left, right, order)
    if image is None:
        return Root(a.union(b), False)
    low, high = iv.of_ball(image)
    if low > left and high < right:
        return Root(_polish(line, image, order), True)
    return Root(a.union(b), False)


def _polish(line: Line, x: arb, order: int) -> arb:
    """One more Newton step from a ball that is known to hold the root."""
    image = _step(line, *iv.of_ball(x), order)
    if image is None:
        return x
    low, high = iv.of_ball(image)
    a, b = iv.of_ball(x)
    a, b = max(a, low), min(b, high)
    return a.union(b) if a <= b else x
