"""A formula between two neighbouring kinks, ready for enclosures: without them, up to both ends."""

from __future__ import annotations

from fractions import Fraction

from gateproof.numerics.forms import Line
from gateproof.numerics.special import special_points
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.piecewise import resolve
from gateproof.theory.formula.nodes import Expr, Num


class PieceLines:
    """The formula itself as ``whole``, and as it is between its rational kinks.

    On [0, 1] abs(x) is x, so that the slope from one side can be told at the kink itself.
    """

    def __init__(self, expr: Expr, var: str) -> None:
        self.expr, self.var = expr, var
        self.whole, self.kinks = Line(expr, var), special_points(expr, var)
        self._known: dict[int, Line] = {}

    def beside(self, lo: Fraction) -> Line:
        """For boxes that begin at ``lo`` and hold no kink in their inside."""
        if not self.kinks:
            return self.whole
        piece = sum(k <= lo for k in self.kinks)
        if piece not in self._known:
            ends = [None, *(Num(k) for k in self.kinks), None][piece : piece + 2]
            domain = Domain(ends[0], ends[1], ends[0] is not None, ends[1] is not None)
            found = resolve(self.expr, Assumptions({self.var: domain}))
            self._known[piece] = Line(found, self.var) if isinstance(found, Expr) else self.whole
        return self._known[piece]
