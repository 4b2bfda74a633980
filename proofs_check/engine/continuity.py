"""Continuity and differentiability of core expressions in one variable, by construction.

All core functions but sign and where are continuous where defined, and all but abs, sign,
max, min, where and sqrt at 0 are differentiable inside their domain. So only the kinks
remain: there the one-sided values (and one-sided derivatives) must agree.
"""

from __future__ import annotations

from gateproof.proofs_check.engine.outcome import PROVED, Outcome, undecided
from gateproof.proofs_check.engine.space import Space
from gateproof.theory.exact import infinity
from gateproof.theory.exact.critical import equal_constants
from gateproof.theory.exact.derivative import derivative, kinks
from gateproof.theory.exact.domain import Assumptions
from gateproof.theory.exact.limits import limit
from gateproof.theory.exact.piecewise import cut_points, smooth_pieces
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Expr, Node, Where, num
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names


def _jumps(body: Node) -> bool:
    return any(isinstance(n, Where) or (isinstance(n, App) and n.head == "sign") for n in body.walk())


def continuous(body: Expr, variable: str, space: Space) -> Outcome:
    """Continuity of a body that has a value everywhere on the set."""
    if not _jumps(body):
        step = f"{to_text(body)} is built from functions that are continuous where they have a value"
        return Outcome(True, PROVED, "continuity by construction", ("flint",), (step,))
    return _at_kinks(body, variable, space, derivatives=0)


def differentiable(body: Expr, variable: str, space: Space) -> Outcome:
    """Differentiability on the set (one-sided at closed ends)."""
    if not kinks(body, variable):
        edged = ("sqrt", "asin", "acos", "acosh")
        if any(isinstance(n, App) and n.head in edged and variable in free_names(n) for n in body.walk()):
            return undecided("differentiability at the edge of a function's domain is not implemented")
        step = f"{to_text(body)} is built from functions that are differentiable where they have a value"
        return Outcome(True, PROVED, "differentiability by construction", ("flint",), (step,))
    return _at_kinks(body, variable, space, derivatives=1)


def _at_kinks(body: Expr, variable: str, space: Space, *, derivatives: int) -> Outcome:
    parts = smooth_pieces(body, variable, space.domains[variable], space.assumptions())
    if parts is None:
        return undecided(f"the kinks of {to_text(body)} were not located")
    at, pieces = cut_points(parts), [p.expr for p in parts]
    ends = _at_ends(body, variable, space, pieces)
    if ends is not None:
        return ends
    steps: list[str] = []
    for point, left, right in zip(at, pieces, pieces[1:], strict=False):
        here = substitute(body, {variable: point})
        values = [substitute(p, {variable: point}) for p in (left, right)]
        found = _compared([*values, here], "value", variable, point, space)
        if found is not None:
            return found
        if derivatives:
            slopes = [one_sided_slope(p, variable, point, s, space) for p, s in ((left, "-"), (right, "+"))]
            if slopes[0] is None or slopes[1] is None:
                return undecided(f"one-sided slopes at {variable} = {to_text(point)} were not found")
            infinite = next((s for s in slopes if s is not None and infinity.side(s)), None)
            if infinite is not None:
                return _noone_sided_slope(variable, point, infinite)
            found = _compared([s for s in slopes if s is not None], "slope", variable, point, space)
            if found is not None:
                return found
        steps.append(f"at {variable} = {to_text(point)} both sides agree")
    if derivatives:
        ends = _slopes_at_ends(variable, space, pieces)
        if ends is not None:
            return ends
    return Outcome(True, PROVED, "one-sided values at every kink", ("flint",), tuple(steps))


def _compared(values: list[Expr], what: str, variable: str, point: Expr, space: Space) -> Outcome | None:
    """What speaks against the values being one number; None where nothing does."""
    given = space.without(variable).assumptions()
    for other in values[1:]:
        verdict = _same(values[0], other, given)
        if verdict is False:
            where = f"at {variable} = {to_text(point)}"
            step = f"{where} the {what} jumps from {to_text(values[0])} to {to_text(other)}"
            return Outcome(
                False,
                method="one-sided values",
                trust=("flint",),
                steps=(step,),
                witness={variable: to_text(point)},
            )
        if verdict is None:
            return undecided(f"one-sided values at {variable} = {to_text(point)} were not compared")
    return None


def one_sided_slope(piece: Expr, variable: str, point: Expr, side: str, space: Space) -> Expr | None:
    """The one-sided slope of a continuous piece: by its formula, or by that formula's limit."""
    slope = derivative(piece, variable)
    if slope is None:
        return None
    given = space.without(variable).assumptions()
    arguments = (substitute(u, {variable: point}) for u in kinks(piece, variable))
    if all(prove_relation(u, "!=", num(0), given) is not None for u in arguments):
        return substitute(slope, {variable: point})
    # By the mean value theorem the limit of the slope is the one-sided derivative.
    found = limit(slope, variable, point, side, given)
    return found[0] if isinstance(found, tuple) else None


def _slopes_at_ends(variable: str, space: Space, pieces: list[Expr]) -> Outcome | None:
    """What speaks against a one-sided derivative at a closed end of the set."""
    domain = space.domains[variable]
    for end, closed, piece, side in (
        (domain.lo, domain.lo_closed, pieces[0], "+"),
        (domain.hi, domain.hi_closed, pieces[-1], "-"),
    ):
        if end is None or not closed:
            continue
        slope = one_sided_slope(piece, variable, end, side, space)
        if slope is None:
            return undecided(f"the one-sided slope at {variable} = {to_text(end)} was not found")
        if infinity.side(slope):
            return _noone_sided_slope(variable, end, slope)
    return None


def _noone_sided_slope(variable: str, point: Expr, slope: Expr) -> Outcome:
    where = f"at {variable} = {to_text(point)}"
    step = f"{where} the function is continuous and its slope tends to {to_text(slope)}: no derivative"
    return Outcome(
        False,
        method="limit of the slope",
        trust=("flint",),
        steps=(step,),
        witness={variable: to_text(point)},
    )


def _at_ends(body: Expr, variable: str, space: Space, pieces: list[Expr]) -> Outcome | None:
    """What speaks against continuity at a closed end of the set: the value there against its piece."""
    domain = space.domains[variable]
    for end, closed, piece in (
        (domain.lo, domain.lo_closed, pieces[0]),
        (domain.hi, domain.hi_closed, pieces[-1]),
    ):
        if end is None or not closed:
            continue
        inside, here = (substitute(e, {variable: end}) for e in (piece, body))
        verdict = _same(inside, here, space.without(variable).assumptions())
        where = f"at {variable} = {to_text(end)}"
        if verdict is False:
            step = f"{where} the value {to_text(here)} is not the limit {to_text(inside)} from inside"
            return Outcome(
                False,
                method="one-sided values",
                trust=("flint",),
                steps=(step,),
                witness={variable: to_text(end)},
            )
        if verdict is None:
            return undecided(f"{where} the value and its limit were not compared")
    return None


def _same(a: Expr, b: Expr, given: Assumptions) -> bool | None:
    if a == b or equal_constants(a, b) is True or prove_relation(a, "==", b, given) is not None:
        return True
    return False if prove_relation(a, "!=", b, given) is not None else None
