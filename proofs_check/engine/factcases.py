"""Conditions with absolute values: the space split where their arguments change sign."""

from __future__ import annotations

from collections.abc import Callable

from gateproof.proofs_check.engine.conditions import absorbed
from gateproof.proofs_check.engine.outcome import Outcome, conjunction
from gateproof.proofs_check.engine.space import Space
from gateproof.theory.exact.piecewise import resolve
from gateproof.theory.formula.nodes import App, Expr, Rel, Stmt, num

MAX_ARGUMENTS = 2


def by_fact_cases(space: Space, relation: Rel, decide: Callable[[Space, Rel], Outcome]) -> Outcome | None:
    """The relation decided where each argument of an abs in a fact is >= 0, and < 0; None without one."""
    arguments: dict[Expr, None] = {}
    for fact in space.facts:
        for node in fact.walk():
            if isinstance(node, App) and node.head == "abs":
                arguments[node.args[0]] = None
    if not arguments or len(arguments) > MAX_ARGUMENTS:
        return None
    parts = [space]
    for argument in arguments:
        parts = [p.given(Rel((op,), (argument, num(0)))) for p in parts for op in (">=", "<")]
    outcomes: list[Outcome] = []
    for part in parts:
        # The sign alone decides the abs; a fact may not be used to rewrite itself.
        signs = Space(part.domains, part.facts[len(space.facts) :]).assumptions()
        facts = tuple(_stmt(resolve(f, signs)) for f in space.facts)
        smaller = Space(part.domains, facts + part.facts[len(space.facts) :])
        resolved = resolve(relation, smaller.assumptions())
        assert isinstance(resolved, Rel)
        outcomes.append(decide(absorbed(smaller), resolved))
        if outcomes[-1].truth is not True:
            return outcomes[-1]
    return conjunction(outcomes)


def _stmt(node: object) -> Stmt:
    assert isinstance(node, Stmt)
    return node
