"""The error of a curve against a target as an expression, and its supremum with what is proved of it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from gateproof.numerics.bounds import Budget, prove_bounds
from gateproof.numerics.certificate import composite_document
from gateproof.numerics.decimals import agreed_digits
from gateproof.numerics.extrema import extremum
from gateproof.numerics.fits.result import Error
from gateproof.numerics.results import Extremum
from gateproof.theory.formula.nodes import App, Expr, num
from gateproof.theory.formula.printer import to_text

#: Digits that an enclosure must fix.
SURE = 3


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
    low, high = found.value
    inside = any((lo is None or lo < a) and (hi is None or b < hi) for a, b in found.points or ())
    if low == high > 0 and inside and found.reason != "the formula is constant":
        # Where a parabola touches its bound a checker with other terms than ours may not see that it holds.
        above = high * (1 + Fraction(1, 10**digits))
        below = prove_bounds(error, {"x": (lo, hi)}, lower=-above, upper=above, text=text)
        if below.certificate is not None:
            return replace(found, value=(low, above), certificate=below.certificate)
    # The bound of a certificate has the digits asked for; an enclosure may be one number, as sup = 1.
    known = found.certificate["conclusion"]
    sides = [sign * Fraction(known[side]) for side, sign in (("upper", 1), ("lower", -1)) if known[side]]
    return replace(found, value=(found.value[0], max(found.value[1], *sides)))


def is_close(low: Fraction, high: Fraction) -> bool:
    """Whether an enclosure says enough."""
    return agreed_digits(low, high) >= SURE


def together(found: list[Extremum], said: str) -> Error:
    """The largest of several suprema, with their certificates as one."""
    values = [p.value for p in found if p.value is not None]
    lo, hi = max(v[0] for v in values), max(v[1] for v in values)
    where = {p for one in found if one.value and one.value[1] >= lo for p in one.points or ()}
    sides = tuple(
        dict.fromkeys(s for one in found if one.value and one.value[1] >= lo for s in one.at_infinity)
    )
    documents = [p.certificate for p in found if p.certificate is not None]
    whole = composite_document(documents, said) if len(documents) == len(found) else None
    return Error(lo, hi, "certified", tuple(sorted(where)), sides, documents[0] if len(found) == 1 else whole)
