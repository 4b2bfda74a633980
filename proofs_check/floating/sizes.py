"""How near a point comes to failing a bound: the left side of ``a <= b`` as a part of the right one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gateproof.proofs_check.engine.logic import links_of
from gateproof.proofs_check.floating.program import Program, UndefinedError
from gateproof.theory.formula.nodes import And, Expr, Implies, Or, Rel, Stmt


def bounds_in(stmt: Stmt) -> list[tuple[Expr, Expr]]:
    """The pairs a, b of all a <= b, a < b, b >= a and b > a that are claimed."""
    if isinstance(stmt, Rel):
        found = []
        for link in links_of(stmt):
            (op,), (a, b) = link.ops, link.terms
            if op in ("<", "<="):
                found.append((a, b))
            elif op in (">", ">="):
                found.append((b, a))
        return found
    if isinstance(stmt, And | Or):
        return [pair for part in stmt.parts for pair in bounds_in(part)]
    if isinstance(stmt, Implies):
        return bounds_in(stmt.right)
    return []


class Sizes:
    """The largest quotient a/b of the bounds of a claim at a point; 0 where there is none."""

    def __init__(self, program: Program, claim: Stmt) -> None:
        self.pairs: list[tuple[Callable[[Sequence[Any]], Any], Callable[[Sequence[Any]], Any]]] = [
            (program.rough(a), program.rough(b)) for a, b in bounds_in(claim)
        ]

    def at(self, point: Sequence[Any]) -> float:
        """The quotient."""
        largest = 0.0
        for left, right in self.pairs:
            try:
                a, b = left(point), right(point)
            except UndefinedError:
                continue
            if a is not None and b is not None and b > 0 and a > 0:
                largest = max(largest, float(a / b))
        return largest
