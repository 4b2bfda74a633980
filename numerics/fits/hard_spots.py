"""Places of a block of points: numbers, and both sides of a jump, where a limit stands for the value.

A branch that holds at p holds on the left of p as well, so it approaches the limit from the left; one that
holds beyond p, as near as one likes, approaches the limit from the right.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.limits import limit
from gateproof.theory.formula import substitute
from gateproof.theory.formula.nodes import Expr, Num

SIGNS = {-1: "-", 0: "", 1: "+"}


@dataclass(frozen=True, order=True)
class Spot:
    """The place x (side 0), or the limit at x from the left (-1) or the right (1); in order."""

    x: Fraction
    side: int = 0

    @property
    def text(self) -> str:
        """As in '1/2', '1/2-', '1/2+'."""
        return f"{self.x}{SIGNS[self.side]}"

    @property
    def cut(self) -> tuple[Fraction, bool]:
        """The least threshold that has this spot on its left: x itself, or any above x."""
        return self.x, self.side > 0

    def inside(self, lo: Fraction | None, hi: Fraction | None) -> bool:
        """Whether the target has values there, in [lo, hi]."""
        below = lo is not None and (self.x < lo or (self.x == lo and self.side < 0))
        return not below and not (hi is not None and (self.x > hi or (self.x == hi and self.side > 0)))


def spot_of(text: str) -> Spot:
    """The spot that a text names. ValueError."""
    side = {"-": -1, "+": 1}.get(text[-1:], 0)
    return Spot(Fraction(text[:-1] if side else text), side)


@lru_cache(maxsize=1024)
def at_spot(expr: Expr, spot: Spot) -> Expr | None:
    """A core expression in x there, closed; None where the limit is not found."""
    if not spot.side:
        return substitute(expr, {"x": Num(spot.x)})
    found = limit(expr, "x", Num(spot.x), SIGNS[spot.side], Assumptions({"x": Domain()}))
    return found[0] if isinstance(found, tuple) else None
