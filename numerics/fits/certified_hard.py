"""The certified error of a hard gate: between its thresholds it is a line, and each piece is looked at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from gateproof.numerics.bounds import Budget, prove_bounds
from gateproof.numerics.errors import NumericsError
from gateproof.numerics.fits.apart import apart, together
from gateproof.numerics.fits.certified_far import SAID as SIDES
from gateproof.numerics.fits.certified_far import best_of, is_irrational, outer_errors, start_of
from gateproof.numerics.fits.hard_joined import is_continuous
from gateproof.numerics.fits.result import Error
from gateproof.numerics.points import enclosure
from gateproof.numerics.results import Extremum
from gateproof.theory.exact.budget import Unsupported
from gateproof.theory.formula.nodes import App, Expr, Var
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.printer import to_text
from gateproof.theory.gate import Gate
from gateproof.theory.threshold_gate import branch

SAID = "the error is the largest of these: between its thresholds a hard gate is the line of its branch"

NEAR = "an irrational threshold, where its lines meet, both of them are"
NOTHING = (Fraction(0), Fraction(0))
Side = Fraction | None
_Part = tuple[list[Expr], Side, Side]


def is_hard(gate: Gate) -> bool:
    """Whether all sharpnesses are infinite."""
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
    """The supremum of |weight (gate - target)|; a threshold belongs to the branch on its left.

    Near an irrational threshold, where the lines have to meet, both of them are looked at.
    """
    known = [constant_value(t) for t in gate.theta]
    rational = None not in known
    if not rational and (weight is not None or not is_continuous(gate)):
        return "a threshold is not rational"
    places = [enclosure(t) if v is None else (v, v) for t, v in zip(gate.theta, known, strict=True)]
    found: list[Extremum] = []
    unsettled: list[tuple[int, list[Expr], Side, Side, Extremum]] = []
    said = SAID
    for k, left, right in _pieces(places, lo, hi):
        error = apart(branch(Var("x"), gate.slope[k], gate.intercept[k]), target, weight)
        parts: list[_Part] = [([error], left, right)]
        if weight is None and (left is None) != (right is None) and is_irrational(gate):
            parts = _by_sides(gate, target, error, left, right)
            said = f"{SAID}; {SIDES.format(start_of(target))}" if len(parts[-1][0]) > 1 else said
        for bodies, a, b in parts:
            closed = a is not None and a == lo
            try:
                one = best_of(bodies, a, b, digits, budget, lo_closed=closed)
            except NumericsError as problem:
                return str(problem) or type(problem).__name__
            if one.status == "infinite":
                return Error(Fraction(0), None, "certified", at_infinity=one.at_infinity)
            # That an error is 0 throughout a checker may not see in its balls: below the largest is enough.
            seen = one.status == "ok" and one.value not in (None, NOTHING) and one.certificate is not None
            if seen:
                found.append(one)
            else:
                unsettled.append((k, bodies, a, b, one))
    most = max((one.value[1] for one in found if one.value is not None), default=Fraction(0))
    for k, bodies, left, right, one in unsettled:
        # What is tiny against the largest piece, as e**-5000, is cancellation to any precision.
        trials = (
            prove_bounds(body, {"x": (left, right)}, lower=-most, upper=most, text=to_text(body))
            for body in bodies
        )
        below = next((b for b in trials if b.certificate is not None), None) if most else None
        if below is None and one.value == NOTHING:
            found.append(one)
            continue
        if below is None:
            return f"branch {k + 1}: {one.reason or one.status}"
        found.append(Extremum("ok", (Fraction(0), most), certificate=below.certificate))
    whole = together(found, said if rational else f"{said}; near {NEAR}")
    return whole if rational else replace(whole, lo=max(whole.lo - _overlap(gate, places), Fraction(0)))


def _overlap(gate: Gate, places: list[tuple[Fraction, Fraction]]) -> Fraction:
    """How far two lines are apart, at most, where each one is looked at beside its irrational threshold."""
    found = Fraction(0)
    for k, (a, b) in enumerate(places):
        turn = enclosure(App("add", (gate.slope[k + 1], App("neg", (gate.slope[k],)))))
        found = max(found, (b - a) * max(map(abs, turn)))
    return found


def _pieces(places: list[tuple[Fraction, Fraction]], lo: Side, hi: Side) -> Iterator[tuple[int, Side, Side]]:
    """Branches with the parts of the domain on which they hold; thresholds are between two numbers."""
    for k in range(len(places) + 1):
        left = places[k - 1][0] if k else lo
        right = places[k][1] if k < len(places) else hi
        left = left if lo is None or left is None else max(left, lo)
        right = right if hi is None or right is None else min(right, hi)
        if left is None or right is None or left < right:
            yield k, left, right


def _by_sides(gate: Gate, target: Expr, error: Expr, left: Side, right: Side) -> list[_Part]:
    """An outer piece with irrational numbers, what is far out in other forms as well."""
    end = left if left is not None else Fraction(0) if right is None else -right
    start = max(start_of(target), end)
    try:
        others = outer_errors(gate, target, "-" if left is None else "+", start)
    except Unsupported:
        return [([error], left, right)]
    a, b = (-start, right) if left is None else (left, start)
    inner: list[_Part] = [([error], a, b)] if a != b else []
    return [*inner, ([*others, error], None, -start) if left is None else ([*others, error], start, None)]
