"""One variable: a gap bounded piece by piece, and at the points where pieces meet."""

from __future__ import annotations

from collections.abc import Callable

from gateproof.proofs_check.engine.closed import decide_constants
from gateproof.proofs_check.engine.outcome import Outcome
from gateproof.proofs_check.engine.space import Space
from gateproof.theory.exact.piecewise import cut_points, smooth_pieces
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import Expr, num


def by_pieces(
    space: Space, name: str, gap: Expr, op: str, bound: Callable[[Space, Expr], Outcome]
) -> list[Outcome] | None:
    """Outcomes that together show ``gap op 0`` on the space; None where it has a single piece.

    Ends at the first that is not true.
    """
    pieces = smooth_pieces(gap, name, space.domains[name], space.assumptions())
    if pieces is None or len(pieces) < 2:
        return None
    outcomes: list[Outcome] = []
    for point in cut_points(pieces):
        outcomes.append(decide_constants(op, substitute(gap, {name: point}), num(0)))
        if outcomes[-1].truth is not True:
            return outcomes
    for piece in pieces:
        outcomes.append(bound(space.with_domain(name, piece.domain), piece.expr))
        if outcomes[-1].truth is not True:
            return outcomes
    return outcomes
