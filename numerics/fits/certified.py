"""The certified error of a gate with exact numbers against a formula."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from gateproof.numerics.bounds import Budget
from gateproof.numerics.errors import NumericsError
from gateproof.numerics.fits.apart import apart, is_close, largest
from gateproof.numerics.fits.certified_ends import error_beside_ends, has_breaks
from gateproof.numerics.fits.certified_far import error_by_sides, has_arc, is_irrational
from gateproof.numerics.fits.certified_hard import error_by_pieces, is_hard
from gateproof.numerics.fits.result import Error
from gateproof.numerics.results import Extremum
from gateproof.theory.formula import substitute
from gateproof.theory.formula.nodes import App, Expr, Var, num
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.gate import Gate

DIGITS = 10
#: The tau |theta| from which on a gate is looked at near its threshold.
ZERO, FAR = Fraction(0), 100
#: From here on a checker finds exp(tau theta) too large.
TOO_FAR = 1000
EXACT = Error(Fraction(0), Fraction(0), "proved")


def certified_error(
    gate: Gate,
    target: Expr,
    lo: Fraction | None,
    hi: Fraction | None,
    *,
    weight: Expr | None = None,
    digits: int = DIGITS,
    budget: Budget | None = None,
    left_out: tuple[bool, bool] = (False, False),
) -> Error | str:
    """The supremum of |weight (gate - target)| on [lo, hi] (None: infinite), or why it is not known.

    ``left_out``: ends that do not belong to the domain.
    """
    found = _error(gate, target, lo, hi, weight, digits, budget)
    if not isinstance(found, str) or (lo is None and hi is None and not has_breaks(target)):
        return found
    again = error_beside_ends(gate, target, lo, hi, weight, digits, budget, left_out=left_out)
    return found if isinstance(again, str) else again


def _error(
    gate: Gate,
    target: Expr,
    lo: Fraction | None,
    hi: Fraction | None,
    weight: Expr | None,
    digits: int,
    budget: Budget | None,
) -> Error | str:
    """The same in one piece, or a hard gate's pieces."""
    if is_hard(gate):
        return error_by_pieces(gate, target, lo, hi, weight, digits, budget)
    centre, farther = _far_away(gate)
    ways = (ZERO, centre) if not farther else (centre, ZERO)
    error = apart(gate.expression(), target, weight)
    found = _moved(error, lo, hi, digits, budget, ways[0])
    if isinstance(found, str):
        return found
    if (found.status == "unknown" or _wide(found)) and centre:
        found = _moved(error, lo, hi, digits, budget, ways[1])
        if isinstance(found, str):
            return found
    if found.status == "infinite":
        return Error(Fraction(0), None, "certified", at_infinity=found.at_infinity)
    if found.status != "ok" or found.value is None:
        if lo is None and hi is None and weight is None and (has_arc(target) or is_irrational(gate)):
            return error_by_sides(gate, target, digits, budget)
        return found.reason or found.status
    if _wide(found):
        return f"its enclosure is too wide: {found.reason}" if found.reason else "its enclosure is too wide"
    low, high = found.value
    where = () if found.tied or found.points is None else found.points
    return Error(low, high, "certified", where, found.at_infinity, found.certificate, found.reason)


def _wide(found: Extremum) -> bool:
    """Whether it was found, but too few digits are known."""
    return found.status == "ok" and found.value is not None and not is_close(*found.value)


def _moved(
    error: Expr,
    lo: Fraction | None,
    hi: Fraction | None,
    digits: int,
    budget: Budget | None,
    centre: Fraction,
) -> Extremum | str:
    """The supremum of |error|, x counted from a place near thresholds: exp(tau theta) may be too large."""
    said, ends = "", [None if e is None else e - centre for e in (lo, hi)]
    if centre:
        error = substitute(error, {"x": App("add", (Var("x"), num(centre)))})
        said = f"with x + {centre} for x: "
    try:
        found = largest(error, ends[0], ends[1], digits, budget, said=said)
    except NumericsError as problem:
        return str(problem) or type(problem).__name__
    if found.points is None:
        return found
    return replace(found, points=tuple((a + centre, b + centre) for a, b in found.points))


def _far_away(gate: Gate) -> tuple[Fraction, bool]:
    """A threshold that is many widths of its sigmoid away from 0, 0 if none is; whether a checker minds."""
    known = [(constant_value(t), constant_value(h)) for t, h in zip(gate.tau, gate.theta, strict=True)]
    far = [(t * abs(h), h) for t, h in known if t is not None and h is not None]
    size, at = max(far, default=(ZERO, ZERO))
    return (at if size > FAR else ZERO), size > TOO_FAR
