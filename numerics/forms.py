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
        """(range on the box, value at its midpoint), or None where the rule fails.

        The polynomial is bounded term by term: an even power of h in [-r, r] lies in
        [0, r**j], an odd one in [-r**j, r**j].
        """
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
    """constant + sum higher[j-1] h**j for |h| <= radius, term by term."""
    low, high = constant
    step = radius
    for j, c in enumerate(higher, 1):
        if j % 2:
            term = iv.up(c.abs_upper() * step)
            low, high = iv.down(low - term), iv.up(high + term)
        else:
            if c.upper() > 0:
                high = iv.up(high + iv.up(c.upper() * step))
            if c.lower() < 0:
                low = iv.down(low + iv.down(c.lower() * step))
        step = iv.up(step * radius)
    return low, high
