"""``for all x: A or B``: assume A fails, prove B."""

from __future__ import annotations

from gateproof.numerics.errors import MaybeUndefined, Undefined
from gateproof.numerics.points import truth_at
from gateproof.proofs_check.engine.conditions import absorbed
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.logic import negate
from gateproof.proofs_check.engine.numbers import rational_text
from gateproof.proofs_check.engine.outcome import Outcome, undecided
from gateproof.proofs_check.engine.sample import points
from gateproof.proofs_check.engine.space import Space
from gateproof.theory.formula.nodes import And, Or, Rel, Stmt
from gateproof.theory.formula.printer import to_text


def decide_disjunction(space: Space, stmt: Or, context: Context) -> Outcome:
    """Each part in turn is proved where all the others fail."""
    from gateproof.proofs_check.engine.statements import forall

    for point in points(space, (stmt,), context.settings.seed, 400):
        try:
            if truth_at(stmt, point, 256) is False:
                at = {n: rational_text(v) for n, v in point.items()}
                where = ", ".join(f"{n} = {v}" for n, v in at.items())
                return Outcome(
                    False,
                    method="exact witness",
                    trust=("arb",),
                    steps=(f"no part holds at {where}",),
                    witness=at,
                )
        except (Undefined, MaybeUndefined):
            continue
    reason = ""
    for part in stmt.parts:
        others = [negate(p) for p in stmt.parts if p is not part]
        facts: list[Stmt] = []
        for other in others:
            facts += other.parts if isinstance(other, And) else (other,)
        if not all(isinstance(f, Rel) for f in facts):
            continue
        found = forall(absorbed(space.given(*facts)), part, context.deeper())
        if found.truth is True:
            return found
        reason = found.reason or reason
    return undecided(
        f"no part of {to_text(stmt)} was proved where the others fail{': ' + reason if reason else ''}"
    )
