"""Values of an activation and its derivatives at points, as balls at a working precision, kept."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor, log, log2, pi, sqrt

from flint import arb

from gateproof.numerics import interval as iv
from gateproof.numerics.backends.filled import limit_at
from gateproof.numerics.backends.point_balls import value_at
from gateproof.numerics.ball import compiled, evaluate
from gateproof.numerics.errors import NumericsError, Undefined
from gateproof.numerics.meanfield.activation import Phi, X
from gateproof.numerics.points import enclosure
from gateproof.numerics.precision import precision
from gateproof.theory.formula.nodes import Expr

_LOST = 24
_MAX_TIMES = 16


#: Parts of a step, in 1024ths, by which grids are moved: no simple ratio to it or to each other.
SHIFT, SHIFT_ACROSS = 391, 242


@dataclass(frozen=True)
class Grid:
    """The points (index + shift/1024) 2**level."""

    level: int
    shift: int

    def point(self, index: int) -> arb:
        """An exact ball."""
        if not self.shift:
            return arb((index, self.level))
        return arb((1024 * index + self.shift, self.level - 10))


def half_width(digits: int) -> float:
    """Where the normal density is below the digits, in deviations, with room for what grows."""
    return sqrt(2 * digits * log(10)) + 2


def level_of(deviation: float, digits: int) -> int:
    """The step 2**level that the normal density alone needs for the digits."""
    return floor(log2(deviation * pi * sqrt(2 / (digits * log(10)))))


class Values:
    """phi, phi', phi'', phi''' (``order`` 0 to 3) at points of R that are no kinks, with ``bits`` bits."""

    def __init__(self, phi: Phi, bits: int) -> None:
        self.phi = phi
        self.bits = bits
        self.forms = [(b.expr, b.slope, b.curvature, b.third) for b in phi.branches]
        with precision(bits + 64):
            self.cuts = [_middle(b.hi, bits) for b in phi.branches[:-1] if b.hi is not None]
        self._runs = [[compiled(form) for form in forms] for forms in self.forms]
        self._fine = arb((1, _LOST - bits))
        self._grid: dict[tuple[int, Grid], dict[int, arb]] = {}

    def branch(self, x: arb) -> int:
        """The number of the smooth formula that holds at a point."""
        return bisect_right(self.cuts, x.mid()) if self.cuts else 0

    def at(self, order: int, x: arb, branch: int | None = None) -> arb:
        """The derivative of an order at an exact point, by the formula of a branch."""
        number = self.branch(x) if branch is None else branch
        try:
            with precision(self.bits + 8):
                value = iv.to_ball(self._runs[number][order]({X: (x, x)}))
            if value.rad() <= self._fine:
                return value
        except NumericsError:
            pass
        return point_value(self.forms[number][order], x, self.bits)

    def on_grid(self, order: int, grid: Grid, indices: Sequence[int]) -> list[arb]:
        """The derivative at points of a grid; each is worked out once."""
        known = self._grid.setdefault((order, grid), {})
        coarser = {} if grid.shift else self._grid.get((order, Grid(grid.level + 1, 0)), {})
        found: list[arb] = []
        for i in indices:
            value = known.get(i)
            if value is None:
                value = coarser.get(i >> 1) if not i & 1 else None
                if value is None:
                    value = self.at(order, grid.point(i))
                known[i] = value
            found.append(value)
        return found


def _middle(expr: Expr, bits: int) -> arb:
    lo, hi = enclosure(expr, bits + 64)
    mid = (lo + hi) / 2
    return (arb(mid.numerator) / arb(mid.denominator)).mid()


def point_value(form: Expr, x: arb, bits: int) -> arb:
    """The value of a formula in x at an exact point, to ``bits`` bits against 1 or its own size.

    Raises Undefined where it has no value and no limit, MaybeUndefined where no digit was found.
    """
    run = compiled(form)
    working = bits + 8
    while working <= _MAX_TIMES * bits:
        try:
            with precision(working):
                value = iv.to_ball(run({X: (x, x)}))
        except NumericsError:
            break
        if value.is_finite() and value.rad() <= max(arb(1), abs(value.mid())) * arb((1, _LOST - bits)):
            return value
        working *= 2
    return _careful(form, _rational(x), bits)


def _careful(form: Expr, x: Fraction, bits: int) -> arb:
    try:
        return value_at(form, {X: x}, bits)
    except Undefined:
        limit = limit_at(form, X, x)
        if limit is None:
            raise
        return evaluate(limit, {}, bits)


def _rational(x: arb) -> Fraction:
    mantissa, exponent = x.mid().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
