"""Enclosures on boxes by the two rules that certificates know: natural and Taylor."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

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

        Odd and even powers are both bounded by |c_j| r**j, so that any way of
        evaluating the polynomial in intervals gives no more than this.
        """
        middle, radius = (lo + hi) / 2, (hi - lo) / 2
        n = self.order
        try:
            over = self.series({self.var: outer(lo, hi)}, n)[n]
            c = self.series({self.var: iv.of_ball(iv.rational(middle))}, n - 1)
        except (NotSmooth, MaybeUndefined):
            return None
        if not over.is_finite():
            return None
        r = iv.up(iv.rational(radius))
        spread = over.abs_upper()
        for j in range(n - 1, 0, -1):
            spread = c[j].abs_upper() + iv.up(spread * r)
        spread = iv.up(iv.up(spread * r))
        value = iv.of_ball(c[0])
        return (iv.down(value[0] - spread), iv.up(value[1] + spread)), value
