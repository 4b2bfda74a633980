"""Conditions that no value meets."""

from __future__ import annotations

from gateproof.proofs_check.engine.logic import links_of
from gateproof.proofs_check.engine.space import Space
from gateproof.theory.exact.domain import Assumptions
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula.nodes import Rel, Stmt

_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def contradictory(space: Space) -> bool:
    """Whether one condition is proved to fail wherever the others hold, so that the space is empty."""
    if space.vectors:
        return False
    links: list[Stmt] = []
    for fact in space.facts:
        links += links_of(fact) if isinstance(fact, Rel) else [fact]
    for k in reversed(range(len(links))):
        link = links[k]
        if not isinstance(link, Rel):
            continue
        others = Assumptions(dict(space.domains), (*links[:k], *links[k + 1 :]))
        if prove_relation(link.terms[0], _OPPOSITE[link.ops[0]], link.terms[1], others) is not None:
            return True
    return False
