"""A maximum over one interval, and what is known of it so far."""

from __future__ import annotations

from fractions import Fraction

from gateproof.numerics import interval as iv
from gateproof.numerics.bounds import Budget
from gateproof.numerics.ends import End, EndExpr
from gateproof.numerics.far import Far
from gateproof.numerics.forms import Line
from gateproof.numerics.smooth import Turns
from gateproof.numerics.special import special_points
from gateproof.theory.formula.nodes import Expr


class Problem:
    """Maximise f, or |f| where ``folded``, over one interval."""

    def __init__(
        self, body: Expr, var: str, folded: bool, lo: EndExpr, hi: EndExpr,
        lo_closed: bool, hi_closed: bool, digits: int, budget: Budget, *, apart: bool = False,
    ) -> None:  # fmt: skip
        self.body, self.var, self.folded = body, var, folded
        self.given = (lo, lo_closed), (hi, hi_closed)
        self.digits, self.budget, self.apart = digits, budget, apart
        self.line = Line(body, var)
        self.kinks = special_points(body, var)
        self.tails: list[Far] = []
        self.ends: tuple[End, End] = (End(None, None), End(None, None))
        self.turns: Turns | None = None
        self.witness: Fraction | None = None

    def score(self, value: iv.Interval) -> iv.Interval:
        """What is to be largest."""
        return iv.absolute(value) if self.folded else value

    def given_at(self, point: End) -> EndExpr:
        """The end of the domain as it was given; None where the point is none, or a rational one."""
        if point.inner == point.outer:
            return None
        return next(
            (e for (e, _), at in zip(self.given, self.ends, strict=True) if at == point),
            None,
        )
