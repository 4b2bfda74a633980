"""The ends of an interval domain: rational, infinite, or closed expressions as enclosures."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import flint

from gateproof.numerics import interval as iv
from gateproof.numerics.ball import compiled
from gateproof.numerics.interval import Interval
from gateproof.theory.formula.nodes import App, Const, Expr, num
from gateproof.theory.formula.powers import constant_value

EndExpr = Expr | Fraction | None


@dataclass(frozen=True)
class End:
    """An end of the domain between two rationals (equal where it is rational); None is infinite."""

    inner: Fraction | None
    outer: Fraction | None
    closed: bool = True

    @property
    def infinite(self) -> bool:
        """Whether there is no end on this side."""
        return self.inner is None

    def sliver(self) -> Interval:
        """An interval that holds the end point."""
        assert self.inner is not None
        assert self.outer is not None
        low, high = min(self.inner, self.outer), max(self.inner, self.outer)
        return iv.down(iv.rational(low)), iv.up(iv.rational(high))


def end(value: EndExpr, side: int, closed: bool) -> End:
    """The end at flint's current precision; side -1 is the lower one."""
    if value is None or value == Const("oo") or value == App("neg", (Const("oo"),)):
        return End(None, None)
    known = value if isinstance(value, Fraction | int) else constant_value(value)
    if known is not None:
        return End(Fraction(known), Fraction(known), closed)
    assert isinstance(value, Expr)
    lo, hi = compiled(value)({})
    low, high = iv.to_fraction(lo), iv.to_fraction(hi)
    return End(high, low, closed) if side < 0 else End(low, high, closed)


def as_expr(value: Expr | Fraction) -> Expr:
    """A finite end as an expression."""
    return value if isinstance(value, Expr) else num(value)


def beside(e: End, width: Fraction, side: int) -> Interval:
    """A short interval from an end into the domain, the end included; side -1 is the lower one.

    At flint's current precision, and no wider than ``width``.
    """
    low, high = e.sliver()
    reach = iv.rational(min(Fraction(1), width) / 2**flint.ctx.prec)
    return (low, iv.up(high + reach)) if side < 0 else (iv.down(low - reach), high)
