"""Whether a condition holds, from known signs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateproof.theory.exact.atoms import NeedSign
from gateproof.theory.exact.budget import Unsupported
from gateproof.theory.formula.nodes import And, Implies, Not, Or, Rel, Stmt

if TYPE_CHECKING:
    from gateproof.theory.exact.normal import Workspace

#: Signs of left - right for which the relation is true.
ALLOWED: dict[str, frozenset[int]] = {
    "==": frozenset({0}),
    "!=": frozenset({-1, 1}),
    "<": frozenset({-1}),
    "<=": frozenset({-1, 0}),
    ">": frozenset({1}),
    ">=": frozenset({0, 1}),
}


def holds(ws: Workspace, cond: Stmt) -> bool:
    """Whether the condition is true; raises NeedSign where a sign is not known.

    Every part is looked at, so a part without a value makes the whole unsupported.
    """
    if isinstance(cond, Rel):
        results = [_compare(ws, cond, i) for i in range(len(cond.ops))]
        return all(results)
    if isinstance(cond, And):
        parts = [holds(ws, p) for p in cond.parts]
        return all(parts)
    if isinstance(cond, Or):
        parts = [holds(ws, p) for p in cond.parts]
        return any(parts)
    if isinstance(cond, Not):
        return not holds(ws, cond.part)
    if isinstance(cond, Implies):
        left, right = holds(ws, cond.left), holds(ws, cond.right)
        return right or not left
    raise Unsupported(type(cond).__name__)


def _compare(ws: Workspace, cond: Rel, i: int) -> bool:
    u = ws.sub(ws.form(cond.terms[i]), ws.form(cond.terms[i + 1]))
    possible = ws.signs.of_frac(u)
    allowed = ALLOWED[cond.ops[i]]
    if possible <= allowed:
        return True
    if not possible & allowed:
        return False
    raise NeedSign(ws.signs.question(u))
