"""The certified error of a hard gate: between its thresholds it is a line, and each piece is looked at."""

from __future__ import annotations

from fractions import Fraction

from gateproof.numerics.bounds import Budget, prove_bounds
from gateproof.numerics.certificate import composite_document
from gateproof.numerics.errors import NumericsError
from gateproof.numerics.fits.apart import apart, largest
from gateproof.numerics.fits.result import Error
from gateproof.numerics.results import Extremum
from gateproof.theory.formula.nodes import Expr, Var
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.printer import to_text
from gateproof.theory.gate import Gate
from gateproof.theory.threshold_gate import branch

SAID = "the error is the largest of these: between its thresholds a hard gate is the line of its branch"

Side = Fraction | None


def is_hard(gate: Gate) -> bool:
    """Whether all sharpnesses are infinite, of a gate with rational thresholds."""
    return bool(gate.tau) and all(gate.hard)


def error_by_pieces(
    gate: Gate,
    target: Expr,
    lo: Fraction | None,
    hi: Fraction | None,
    weight: Expr | None,
    digits: int,
    budget: Budget | None = None,
) -> Error | str:
    """The supremum of |weight (gate - target)|; a threshold belongs to the branch on its left."""
    known = [constant_value(t) for t in gate.theta]
    places = [t for t in known if t is not None]
    if len(places) < len(known):
        return "a threshold is not rational"
    found: list[Extremum] = []
    unsettled: list[tuple[int, Expr, Side, Side, str]] = []
    for k in range(gate.branches):
        left = places[k - 1] if k else lo
        right = places[k] if k < len(places) else hi
        left = left if lo is None or left is None else max(left, lo)
        right = right if hi is None or right is None else min(right, hi)
        if left is not None and right is not None and left >= right:
            continue
        line = branch(Var("x"), gate.slope[k], gate.intercept[k])
        error = apart(line, target, weight)
        try:
            one = largest(error, left, right, digits, budget, lo_closed=left is not None and left == lo)
        except NumericsError as problem:
            return str(problem) or type(problem).__name__
        if one.status == "infinite":
            return Error(Fraction(0), None, "certified", at_infinity=one.at_infinity)
        if one.status != "ok" or one.value is None or one.certificate is None:
            unsettled.append((k, error, left, right, one.reason or one.status))
            continue
        found.append(one)
    most = max((one.value[1] for one in found if one.value is not None), default=Fraction(0))
    for k, error, left, right, reason in unsettled:
        # What is tiny against the largest piece, as e**-5000, is cancellation to any precision.
        below = prove_bounds(error, {"x": (left, right)}, lower=-most, upper=most, text=to_text(error))
        if not most or below.certificate is None:
            return f"branch {k + 1}: {reason}"
        found.append(Extremum("ok", (Fraction(0), most), certificate=below.certificate))
    return joined(found, SAID)


def joined(found: list[Extremum], said: str) -> Error:
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
