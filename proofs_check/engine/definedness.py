"""Whether every part of a statement has a value everywhere in scope."""

from __future__ import annotations

from gateproof.numerics.bounds import prove_bounds
from gateproof.numerics.errors import MaybeUndefined, Undefined
from gateproof.numerics.points import at_point
from gateproof.proofs_check.engine.boxes import box_of
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.outcome import (
    PROVED,
    IllPosedError,
    Outcome,
    UndecidedError,
    ill_posed,
    undecided,
)
from gateproof.proofs_check.engine.sample import points
from gateproof.proofs_check.engine.space import Space, infinite_sign
from gateproof.proofs_check.engine.undefined_between import undefined_between
from gateproof.proofs_check.engine.witness import no_value
from gateproof.theory.exact.defined import prove_defined, undefined_point
from gateproof.theory.formula.nodes import Expr, Rel, Stmt
from gateproof.theory.formula.printer import to_text


def decide_defined(space: Space, expr: Expr, context: Context) -> Outcome:
    """True where the expression has a value for all of the space, ill-posed with a point where not."""
    derivation = prove_defined(expr, space.assumptions())
    if derivation is not None:
        return Outcome(True, PROVED, "definedness", derivation.trust, derivation.steps)
    for point in points(space, (expr,), context.settings.seed, 300):
        try:
            at_point(expr, point, 128)
        except Undefined as error:
            return no_value(point, f"{to_text(expr)}: {error}")
        except MaybeUndefined:
            continue
    exact = undefined_point(expr, space.assumptions())
    if exact is not None:
        at = {name: to_text(value) for name, value in exact.items()}
        where = ", ".join(f"{n} = {v}" for n, v in at.items())
        return ill_posed(f"undefined at {where}: {to_text(expr)}", at)
    between = undefined_between(space, expr, context)
    if between is not None:
        return between
    box = box_of(space)
    if box is not None:
        found = prove_bounds(expr, box, budget=context.budget())
        if found.status == "proved":
            return Outcome(True, method="definedness by balls", trust=("arb",))
    return undecided(f"it could not be shown that {to_text(expr)} has a value everywhere in scope")


def defined_everywhere(space: Space, stmt: Stmt, context: Context) -> None:
    """Raise IllPosedError or UndecidedError unless every term of the statement has a value in scope."""
    for node in stmt.walk():
        if not isinstance(node, Rel):
            continue
        for term in node.terms:
            if infinite_sign(term):
                continue
            found = decide_defined(space, term, context)
            if found.ill_posed:
                raise IllPosedError(found.reason)
            if found.truth is not True:
                raise UndecidedError(found.reason)
