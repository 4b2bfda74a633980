"""Where arguments of abs, max and min change their sign, at points that are not rational."""

from __future__ import annotations

from fractions import Fraction

from gateproof.numerics.bounds import Budget
from gateproof.numerics.results import Enclosure
from gateproof.numerics.roots import zeros
from gateproof.numerics.smooth import Turns
from gateproof.theory.formula.nodes import Expr

#: Boxes for the zeros of one argument; where they are not found, boxes close in on the kink.
_BOXES = 300


def turns_of(var: str, digits: int) -> Turns:
    """The zeros of arguments to so many digits, each looked for once."""
    known: dict[tuple[Expr, Fraction, Fraction], tuple[Enclosure, ...] | None] = {}

    def of(argument: Expr, lo: Fraction, hi: Fraction) -> tuple[Enclosure, ...] | None:
        key = argument, lo, hi
        if key not in known:
            found = zeros(argument, var, lo, hi, digits, Budget(_BOXES))
            known[key] = found.points if found.status == "ok" else None
        return known[key]

    return of
