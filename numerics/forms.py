"""Enclosures on boxes by the two rules that certificates know: natural and Taylor."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from flint import arb

from gateproof.numerics import interval as iv
from gateproof.numerics.ball import Evaluator, compiled, names_in
from gateproof.numerics.errors import MaybeUndefined, NotSmooth
from gateproof.numerics.interval import Interval
from gateproof.numerics.series import SeriesEvaluator, compiled_series
from gateproof.theory.formula.nodes import Expr

Range = tuple[Fraction, Fraction]

#: Order of Taylor forms: 4 to 6 were fastest on the gates of the papers.
ORDER = 5


def outer(lo: Fraction, hi: Fraction) -> Interval:
    """The interval of a rational range."""
    return iv.down(iv.rational(lo)), iv.up(iv.rational(hi))


def at_point(run: Evaluator, point: Mapping[str, Fraction]) -> Interval:
    """The value at an exact rational point."""
    return run({name: iv.of_ball(iv.rational(v)) for name, v in point.items()})


class Line:
    """An expression in one variable, ready for natural and Taylor enclosures."""

    def __init__(self, expr: Expr, var: str, order: int = ORDER) -> None:
        self.expr, self.var, self.order = expr, var, order
        self.natural_run: Evaluator = compiled(expr)
        self.series: SeriesEvaluator = compiled_series(expr, var)
        self.constant = var not in names_in(expr)

    def value(self, x: Fraction) -> Interval:
        """The value at a point."""
        return at_point(self.natural_run, {self.var: x})

    def natural(self, lo: Fraction, hi: Fraction) -> Interval:
        """Interval evaluation. Raises Undefined and MaybeUndefined."""
        return self.natural_run({self.var: outer(lo, hi)})

    def taylor(self, lo: Fraction, hi: Fraction) -> tuple[Interval, Interval] | None:
        """(range on the box, value at its midpoint), or None where the rule fails."""
        try:
            return self._taylor(lo, hi)
        except (NotSmooth, MaybeUndefined):
            return None

    def _taylor(self, lo: Fraction, hi: Fraction) -> tuple[Interval, Interval] | None:
        n = self.order
        over = self.series({self.var: outer(lo, hi)}, n)[n]
        if not over.is_finite():
            return None
        c = self.series({self.var: iv.of_ball(iv.rational((lo + hi) / 2))}, n - 1)
        value = iv.of_ball(c[0])
        return polynomial_range(value, [*c[1:], over], iv.up(iv.rational((hi - lo) / 2))), value


def polynomial_range(constant: Interval, higher: list[arb], radius: arb) -> Interval:
    """constant + sum higher[j-1] h**j for |h| <= radius.

    The terms up to h**2 are bounded jointly (:func:`arch`), the others one by one: an even power of h
    lies in [0, r**j], an odd one in [-r**j, r**j].
    """
    slope, bend = [*higher, iv.ZERO, iv.ZERO][:2]
    low = iv.down(constant[0] - arch(slope, -bend, radius))
    high = iv.up(constant[1] + arch(slope, bend, radius))
    step = iv.up(radius * radius)
    for j, c in enumerate(higher[2:], 3):
        step = iv.up(step * radius)
        if j % 2:
            term = iv.up(c.abs_upper() * step)
            low, high = iv.down(low - term), iv.up(high + term)
        else:
            if c.upper() > 0:
                high = iv.up(high + iv.up(c.upper() * step))
            if c.lower() < 0:
                low = iv.down(low + iv.down(c.lower() * step))
    return low, high


def arch(slope: arb, bend: arb, radius: arb) -> arb:
    """An upper bound of s h + c h**2 for |h| <= r, s in ``slope`` and c in ``bend``.

    It is at most b |h| + C h**2 with b = max |s|, C = max c: where C < 0 at most b**2/(-4C), its top at
    |h| = -b/(2C); where that is not inside, and where C >= 0, at most its value at |h| = r.
    """
    b, c = slope.abs_upper(), iv.up(bend)
    if c < 0 and not b >= -2 * c * radius:
        return iv.up(b * b / (-4 * c))
    return iv.up((b + c * radius) * radius)
