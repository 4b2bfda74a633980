"""Value, slope and curvature of an expression on a box, from one Taylor expansion."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from gateproof.numerics import interval as iv
from gateproof.numerics.errors import MaybeUndefined, NotSmooth, Undefined
from gateproof.numerics.forms import Line, outer, polynomial_range
from gateproof.numerics.interval import Interval

#: Of the Taylor expansion; of zeros that are looked for.
ORDER, MAX_MULTIPLICITY = 4, 8


@dataclass(frozen=True)
class Jet:
    """Enclosures over a box: f, f', f'', and f at the box's midpoint."""

    value: Interval
    slope: Interval
    curve: Interval
    middle: Interval


def jet(line: Line, lo: Fraction, hi: Fraction) -> Jet | None:
    """The jet, or None where the expression is not smooth or not seen to be defined.

    With c_j at the midpoint and C_4 over the box, f = c_0 + .. + c_3 h**3 + C_4 h**4;
    f' and f'' follow term by term, because their own remainders are 4 C_4 h**3 and
    12 C_4 h**2.
    """
    try:
        over = line.series({line.var: outer(lo, hi)}, ORDER)[ORDER]
        if not over.is_finite():
            return None
        c = line.series({line.var: iv.of_ball(iv.rational((lo + hi) / 2))}, ORDER - 1)
    except (NotSmooth, MaybeUndefined):
        return None
    radius = iv.up(iv.rational((hi - lo) / 2))
    middle = iv.of_ball(c[0])
    return Jet(
        polynomial_range(middle, [c[1], c[2], c[3], over], radius),
        polynomial_range(iv.of_ball(c[1]), [2 * c[2], 3 * c[3], 4 * over], radius),
        polynomial_range(iv.of_ball(2 * c[2]), [6 * c[3], 12 * over], radius),
        middle,
    )


def side(x: Interval) -> int:
    """The sign of an interval without 0, else 0."""
    return 1 if x[0] > 0 else (-1 if x[1] < 0 else 0)


def multiplicity(line: Line, c: Fraction) -> int:
    """How many Taylor coefficients at c are exactly 0; at a kink 1 for a value 0."""
    try:
        if line.value(c) != (iv.ZERO, iv.ZERO):
            return 0
        found = line.series({line.var: iv.of_ball(iv.rational(c))}, MAX_MULTIPLICITY)
    except NotSmooth:
        return 1
    except (Undefined, MaybeUndefined):
        return 0
    return next((k for k, a in enumerate(found) if not a.is_zero()), 0)


def value_near(line: Line, x: arb) -> Interval:
    """f over a small ball by its second-order form; the natural one where it is not smooth."""
    lo, hi = iv.of_ball(x)
    natural = line.natural_run({line.var: (lo, hi)})
    middle = arb(x.mid())
    radius = iv.up((hi - lo) / 2)
    try:
        c = line.series({line.var: (middle, middle)}, 1)
        over = line.series({line.var: (lo, hi)}, 2)[2]
    except (NotSmooth, MaybeUndefined):
        return natural
    if not over.is_finite():
        return natural
    # The ball's midpoint is off the middle of its ends by rounding only; twice the radius covers it.
    found = polynomial_range(iv.of_ball(c[0]), [c[1], over], 2 * radius)
    return max(found[0], natural[0]), min(found[1], natural[1])
