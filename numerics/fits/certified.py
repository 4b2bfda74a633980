"""The certified error of a gate with exact numbers against a formula."""

from __future__ import annotations

from fractions import Fraction

from gateproof.numerics.bounds import Budget
from gateproof.numerics.errors import NumericsError
from gateproof.numerics.extrema import extremum
from gateproof.numerics.fits.certified_far import error_by_sides, has_arc
from gateproof.numerics.fits.certified_hard import error_by_pieces, is_hard
from gateproof.numerics.fits.result import Error
from gateproof.theory.formula.nodes import App, Expr, num
from gateproof.theory.formula.printer import to_text
from gateproof.theory.gate import Gate

DIGITS = 10
EXACT = Error(Fraction(0), Fraction(0), "proved")


def difference(gate: Gate, target: Expr, weight: Expr | None = None) -> Expr:
    """|gate - target|, times |weight| where there is one, as a core expression in x."""
    apart: Expr = App("add", (gate.expression(), App("neg", (target,))))
    if weight is not None:
        apart = App("mul", (weight, apart))
    return App("abs", (apart,))


def certified_error(
    gate: Gate,
    target: Expr,
    lo: Fraction | None,
    hi: Fraction | None,
    *,
    weight: Expr | None = None,
    digits: int = DIGITS,
    budget: Budget | None = None,
) -> Error | str:
    """The supremum of |weight (gate - target)| on [lo, hi] (None: infinite), or why it is not known."""
    if is_hard(gate):
        return error_by_pieces(gate, target, lo, hi, weight, digits, budget)
    body = difference(gate, target, weight)
    try:
        found = extremum(
            body, "x", *(None if e is None else num(e) for e in (lo, hi)), "sup", digits, budget,
            text=to_text(body),
        )  # fmt: skip
    except NumericsError as error:
        return str(error) or type(error).__name__
    if found.status == "infinite":
        return Error(Fraction(0), None, "certified", at_infinity=found.at_infinity)
    if found.status != "ok" or found.value is None:
        if lo is None and hi is None and weight is None and has_arc(target):
            return error_by_sides(gate, target, digits, budget)
        return found.reason or found.status
    low, high = found.value
    where = () if found.tied or found.points is None else found.points
    return Error(low, high, "certified", where, found.at_infinity, found.certificate, found.reason)
