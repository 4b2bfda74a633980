"""The error of a curve against a target as an expression, and its supremum with what is proved of it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from gateproof.numerics.bounds import Budget
from gateproof.numerics.extrema import extremum
from gateproof.numerics.results import Extremum
from gateproof.theory.formula.nodes import App, Expr, num
from gateproof.theory.formula.printer import to_text


def apart(curve: Expr, target: Expr, weight: Expr | None = None) -> Expr:
    """Curve - target, times the weight where there is one, as a core expression in x."""
    found: Expr = App("add", (curve, App("neg", (target,))))
    return found if weight is None else App("mul", (weight, found))


def largest(
    error: Expr,
    lo: Fraction | None,
    hi: Fraction | None,
    digits: int,
    budget: Budget | None,
    *,
    said: str = "",
    lo_closed: bool = True,
) -> Extremum:
    """The supremum of |error| over x in [lo, hi] (None: infinite); never below what its certificate proves.

    ``said`` stands before the formula in the certificate's text. Raises NumericsError.
    """
    whole = App("abs", (error,))
    ends = [None if e is None else num(e) for e in (lo, hi)]
    text = said + to_text(whole)
    found = extremum(whole, "x", ends[0], ends[1], "sup", digits, budget, text=text, lo_closed=lo_closed)
    if found.value is None or found.certificate is None:
        return found
    # The bound of a certificate has the digits asked for; an enclosure may be one number, as sup = 1.
    known = found.certificate["conclusion"]
    sides = [sign * Fraction(known[side]) for side, sign in (("upper", 1), ("lower", -1)) if known[side]]
    return replace(found, value=(found.value[0], max(found.value[1], *sides)))
