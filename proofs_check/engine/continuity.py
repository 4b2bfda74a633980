"""Continuity and differentiability of core expressions in one variable, by construction.

All core functions but sign and where are continuous where defined, and all but abs, sign,
max, min, where and sqrt at 0 are differentiable inside their domain. So only the kinks
remain: there the one-sided values (and one-sided derivatives) must agree.
"""

from __future__ import annotations

from gateproof.proofs_check.engine.outcome import PROVED, Outcome, undecided
from gateproof.proofs_check.engine.space import Space
from gateproof.theory.exact.critical import equal_constants
from gateproof.theory.exact.derivative import derivative, kinks
from gateproof.theory.exact.domain import Assumptions
from gateproof.theory.exact.piecewise import cut_points, smooth_pieces
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Expr, Node, Where
from gateproof.theory.formula.printer import to_text


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
        if any(isinstance(n, App) and n.head in ("sqrt", "asin", "acos", "acosh") for n in body.walk()):
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
        for order in range(derivatives + 1):
            values = [substitute(p, {variable: point}) for p in (left, right)]
            if order == 0:
                values.append(here)
            for other in values[1:]:
                verdict = _same(values[0], other)
                if verdict is False:
                    what = "value" if order == 0 else "slope"
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
            following = [derivative(p, variable) for p in (left, right)]
            if following[0] is None or following[1] is None:
                return undecided("a piece has no derivative")
            left, right = following[0], following[1]
        steps.append(f"at {variable} = {to_text(point)} both sides agree")
    return Outcome(True, PROVED, "one-sided values at every kink", ("flint",), tuple(steps))


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
        verdict = _same(inside, here)
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


def _same(a: Expr, b: Expr) -> bool | None:
    if a == b or equal_constants(a, b) is True or prove_relation(a, "==", b, Assumptions()) is not None:
        return True
    return False if prove_relation(a, "!=", b, Assumptions()) is not None else None
