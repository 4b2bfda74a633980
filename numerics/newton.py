"""Interval Newton on f or f': isolated roots to any number of bits."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import flint
from flint import arb

from gateproof.numerics import interval as iv
from gateproof.numerics.errors import MaybeUndefined, NotSmooth
from gateproof.numerics.forms import Line, outer
from gateproof.numerics.interval import Interval
from gateproof.numerics.local import local
from gateproof.numerics.precision import precision

#: Bits at which a root is isolated.
LOW = 64
_EXACT = 10**9
#: Newton steps shorter than this are followed by one that proves the root.
_SMALL = arb(2) ** -12


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
    found: Root | None = None
    # Roots may be closer to each other than few bits tell apart.
    for low in (96, max(96, bits + 32)):
        with precision(low):
            found = isolate(line, *outer(lo, hi), order, outer(*inside))
        if found is None or found.unique:
            break
    if found is None or not found.unique:
        return found
    return Root(sharpen(line, found.ball, order, bits), True)


def isolate(line: Line, lo: arb, hi: arb, order: int, inside: Interval) -> Root | None:
    """The same for exact ends at flint's current precision: a small ball."""
    a, b = lo, hi
    for _ in range(120):
        image = _step(line, a, b, order)
        if image is None:
            return Root(a.union(b), False)
        low, high = iv.of_ball(image)
        if low > b or high < a:
            return None
        if low > a and high < b:
            return Root(_closer(line, image, order), True)
        width = b - a
        a, b = max(a, low), min(b, high)
        if not (b - a < width * 0.75):
            break
    # The root may lie on the border: look at a wider interval.
    grown = (b - a) / 2 + arb(2) ** -60 * (1 + abs(a))
    left, right = iv.down(a - grown), iv.up(b + grown)
    if left < inside[0] or right > inside[1]:
        return Root(a.union(b), False)
    image = _step(line, left, right, order)
    if image is None:
        return Root(a.union(b), False)
    low, high = iv.of_ball(image)
    if low > left and high < right:
        return Root(_closer(line, image, order), True)
    return Root(a.union(b), False)


def caught(line: Line, x: arb, lo: arb, hi: arb) -> arb | None:
    """A small ball inside [lo, hi] with exactly one zero of f', found from a guess; None where that fails."""
    x, step = x.mid(), iv.ZERO
    try:
        for _ in range(3):
            if not lo < x < hi:
                return None
            _, slope, bend = line.series({line.var: (x, x)}, 2)
            step = (slope / (2 * bend)).mid()
            x = (x - step).mid()
            if abs(step) < _SMALL * (1 + abs(x)):
                break
        reach = (2 * abs(step) + arb(2) ** (8 - flint.ctx.prec) * (1 + abs(x))).upper()
        left, right = iv.down(x - reach), iv.up(x + reach)
        if not (left > lo and right < hi):
            return None
        image = _step(line, left, right, 1)
    except (NotSmooth, MaybeUndefined):
        return None
    return image if image is not None and image > left and image < right else None


def _closer(line: Line, x: arb, order: int) -> arb:
    """The ball after more steps, to about half of flint's current bits."""
    while accuracy(x) < flint.ctx.prec // 2:
        image = _step(line, *iv.of_ball(x), order)
        found = None if image is None else _common(x, image)
        if found is None or not found.rad() < x.rad() * 0.75:
            return x
        x = found
    return x


def _step(line: Line, lo: arb, hi: arb, order: int) -> arb | None:
    """The Newton image of the interval, or None where the derivative may vanish."""
    try:
        slope = (order + 1) * line.series({line.var: (lo, hi)}, order + 1)[order + 1]
        if not (slope > 0 or slope < 0):
            wide = local(line, lo, hi)
            if wide is None:
                return None
            # The form about the midpoint is the narrower one on wide boxes.
            slope = wide.curve() if order else wide.slope()
            if not (slope > 0 or slope < 0):
                return None
        m = ((lo + hi) / 2).mid()
        value = line.series({line.var: (m, m)}, order)[order]
    except (NotSmooth, MaybeUndefined):
        return None
    image = m - value / slope
    return image if image.is_finite() else None


def accuracy(x: arb) -> int:
    """How many bits the ball fixes, of its size where it excludes 0."""
    mantissa, exponent = x.rad().man_exp()
    if mantissa == 0:
        return _EXACT
    fuzz = int(exponent) + int(mantissa).bit_length()
    if x.contains(0):
        return -fuzz
    mantissa, exponent = x.mid().man_exp()
    return int(exponent) + int(mantissa).bit_length() - fuzz


def sharpen(line: Line, x: arb, order: int, bits: int) -> arb:
    """The one simple root in a ball, to ``bits`` bits or as many as evaluation gives.

    The slope over the ball is needed to no more bits than the ball has; only the value in its
    middle is computed to twice as many.
    """
    while True:
        known = accuracy(x)
        if known >= bits:
            return x
        work = min(2 * max(known, LOW // 2), bits) + 32
        with precision(work):
            ends = iv.of_ball(x)
        try:
            with precision(max(LOW, known + 32)):
                slope = (order + 1) * line.series({line.var: ends}, order + 1)[order + 1]
            with precision(work):
                m = _point(x)
                value = line.series({line.var: (m, m)}, order)[order]
                image = m - value / slope
                found = _common(x, image) if slope > 0 or slope < 0 else None
        except (NotSmooth, MaybeUndefined):
            return x
        if found is None:
            return x
        if not found.rad() < x.rad() * 0.75:
            return found
        x = found


def _point(x: arb) -> arb:
    """An exact point of the ball: the integer in it, where a root shows as exactly 0, or its middle."""
    whole = x.unique_fmpz()
    return x.mid() if whole is None else arb(whole)


def _common(x: arb, image: arb) -> arb | None:
    """What two balls with the same root share."""
    if not image.is_finite():
        return None
    low, high = max(iv.down(x), iv.down(image)), min(iv.up(x), iv.up(image))
    return low.union(high) if low <= high else None


def summit(line: Line, x: arb, bits: int) -> tuple[arb, arb] | None:
    """Place and value of the extremum at the one simple root of f' in the ball, to about ``bits`` bits.

    From a ball of half the bits with middle m: f' = 0 at x* = m + h with h = -f'(m)/f''(xi), and there
    f = f(m) + f'(m) h + f''(xi) h**2/2; h is small, so f'' over the ball is good enough for both.
    """
    x = sharpen(line, x, 1, bits // 2 + 8)
    with precision(bits + 32):
        ends = iv.of_ball(x)
    try:
        with precision(bits // 2 + 64):
            bend = line.series({line.var: ends}, 2)[2]
        if not (bend > 0 or bend < 0):
            return None
        with precision(bits + 32):
            m = _point(x)
            value, slope = line.series({line.var: (m, m)}, 1)
            place = _common(x, m - slope / (2 * bend))
            if place is None:
                return None
            h = place - m
            return place, value + h * (slope + h * bend)
    except (NotSmooth, MaybeUndefined):
        return None
