"""One variable: a gap bounded piece by piece, and at the points where pieces meet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from gateproof.numerics.points import compare, truth_at
from gateproof.proofs_check.engine.closed import decide_constants
from gateproof.proofs_check.engine.outcome import Outcome, undecided
from gateproof.proofs_check.engine.space import Space
from gateproof.theory.exact.piecewise import cut_points, smooth_pieces
from gateproof.theory.formula.library import substitute, substitute_node
from gateproof.theory.formula.nodes import Expr, Stmt, num
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names


def by_pieces(
    space: Space, name: str, gap: Expr, op: str, bound: Callable[[Space, Expr], Outcome]
) -> list[Outcome] | None:
    """Outcomes that together show ``gap op 0`` on the space; None where it has a single piece.

    Ends at the first that is not true.
    """
    pieces = smooth_pieces(gap, name, space.domains[name], space.assumptions())
    if pieces is None or (len(pieces) == 1 and pieces[0].expr == gap):
        return None
    outcomes: list[Outcome] = []
    domain = space.domains[name]
    ends = [e for e, closed in ((domain.lo, domain.lo_closed), (domain.hi, domain.hi_closed)) if e and closed]
    for point in [*cut_points(pieces), *ends]:
        inside = holds_point(space, name, point)
        if inside is False:
            continue
        found = decide_constants(op, substitute(gap, {name: point}), num(0))
        if found.truth is False:
            if inside is None:
                found = undecided(f"whether {name} = {to_text(point)} is in scope was not decided")
            else:
                found = replace(found, witness={name: to_text(point), **(found.witness or {})})
        outcomes.append(found)
        if found.truth is not True:
            return outcomes
    for piece in pieces:
        outcomes.append(bound(space.with_domain(name, piece.domain), piece.expr))
        if outcomes[-1].truth is not True:
            return outcomes
    return outcomes


def holds_point(space: Space, name: str, point: Expr) -> bool | None:
    """Whether a point between the ends belongs to the space: integers, holes and conditions looked at."""
    domain = space.domains[name]
    value = constant_value(point)
    if domain.integer and value is not None and value.denominator != 1:
        return False
    if domain.integer and value is None:
        return None
    for hole in domain.without:
        order = compare(hole, point)
        if order in (0, None):
            return False if order == 0 else None
    certain = True
    for fact in space.facts:
        at = substitute_node(fact, {name: point})
        if not isinstance(at, Stmt) or free_names(at):
            return None
        truth = truth_at(at, {}, 256)
        if truth is False:
            return False
        certain = certain and truth is True
    return True if certain else None
