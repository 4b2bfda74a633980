"""Relations with normal means that depend on names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.numbers import rational_text
from gateproof.proofs_check.engine.outcome import Outcome, undecided
from gateproof.proofs_check.engine.sample import points
from gateproof.proofs_check.engine.space import Space
from gateproof.theory.formula.library import substitute_node
from gateproof.theory.formula.nodes import Expr, Num, Rel

#: Points of the scope at which a failure is looked for.
POINTS = 8
Decide = Callable[[Space, Rel], Outcome]


def decide_over_names(space: Space, relation: Rel, context: Context, decide: Decide) -> Outcome:
    """Look for a point of failure, then for an argument that covers the whole scope."""
    failure = _failure(space, relation, context, decide)
    if failure is not None:
        return failure
    return undecided("no method covers this mean for all values of the names")


def _failure(space: Space, relation: Rel, context: Context, decide: Decide) -> Outcome | None:
    for point in points(space, (relation,), context.settings.seed, POINTS):
        values: dict[str, Expr] = {k: Num(v) for k, v in point.items()}
        at = substitute_node(relation, values)
        assert isinstance(at, Rel)
        found = decide(Space(), at)
        if found.ill_posed:
            return found
        if found.truth is False:
            where = {k: rational_text(v) for k, v in point.items()}
            return replace(found, witness=where)
    return None
