"""Where a name ranges, for searches over several names."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from gateproof.numerics.points import compare, enclosure
from gateproof.theory.formula.nodes import Expr, Num


@dataclass(frozen=True)
class Range:
    """An interval of the reals with closed core expressions as ends; None is infinite."""

    lo: Expr | None = None
    hi: Expr | None = None
    lo_closed: bool = False
    hi_closed: bool = False


def hull(within: Range) -> tuple[Fraction | None, Fraction | None]:
    """Rational ends of an interval that holds the range."""
    lo = None if within.lo is None else enclosure(within.lo)[0]
    hi = None if within.hi is None else enclosure(within.hi)[1]
    return lo, hi


def holds_point(within: Range, value: Fraction) -> bool:
    """Whether a rational number certainly lies in the range."""
    point = Num(value)
    if within.lo is not None and compare(within.lo, point) not in ((-1, 0) if within.lo_closed else (-1,)):
        return False
    return within.hi is None or compare(point, within.hi) in ((-1, 0) if within.hi_closed else (-1,))
