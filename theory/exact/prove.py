"""Relations proved by exact algebra, case by case."""

from __future__ import annotations

from gateproof.theory.exact import angles, polys
from gateproof.theory.exact.atoms import Frac
from gateproof.theory.exact.budget import bounded
from gateproof.theory.exact.cases import Outcome, by_cases, settle_signs
from gateproof.theory.exact.conditions import ALLOWED
from gateproof.theory.exact.defined import prove_defined
from gateproof.theory.exact.domain import Assumptions, Derivation
from gateproof.theory.exact.normal import Workspace
from gateproof.theory.exact.rational_identity import prove_identity
from gateproof.theory.exact.show import describe, factored, factors_of, shown
from gateproof.theory.formula.nodes import Expr
from gateproof.theory.formula.scopes import free_names

_WORD = {
    "==": "is 0",
    "!=": "is not 0",
    "<": "is negative",
    "<=": "is not positive",
    ">": "is positive",
    ">=": "is not negative",
}
_SIGNS = {
    frozenset({1}): "> 0",
    frozenset({0}): "= 0",
    frozenset({-1}): "< 0",
    frozenset({0, 1}): ">= 0",
    frozenset({-1, 0}): "<= 0",
    frozenset({-1, 1}): "!= 0",
    frozenset({-1, 0, 1}): "is real",
    frozenset[int](): "cannot occur",
}


@bounded
def prove_relation(
    lhs: Expr, op: str, rhs: Expr, assumptions: Assumptions, *, defined: bool = False
) -> Derivation | None:
    """A proof that ``lhs op rhs`` holds on the whole domain, or None.

    Both sides must be provably defined there unless the caller says ``defined``.
    """
    assumptions = assumptions.about(free_names(lhs) | free_names(rhs))
    if op in ("==", "<=", ">="):
        identity = prove_identity(lhs, rhs, assumptions)
        if identity is not None:
            return identity
    steps: list[str] = []
    trust: set[str] = set()
    if not defined:
        for side in (lhs, rhs):
            shown = prove_defined(side, assumptions)
            if shown is None:
                return None
            steps.extend(s for s in shown.steps if s not in steps)
            trust |= set(shown.trust)
    outcome = _relation(lhs, op, rhs, assumptions)
    if outcome is None:
        return None
    steps.extend(outcome.steps)
    return Derivation(tuple(steps), tuple(sorted(trust | set(outcome.trust()))))


def _relation(lhs: Expr, op: str, rhs: Expr, assumptions: Assumptions) -> Outcome | None:
    allowed = ALLOWED[op]

    def goal(ws: Workspace, sides: tuple[Expr, ...]) -> list[str] | None:
        left, right = ws.form(sides[0]), ws.form(sides[1])
        difference = ws.sub(left, right)
        steps = describe(ws, sides, left, right)
        if difference.is_zero:
            if 0 not in allowed:
                return None
            return [*steps, "the difference of the two sides reduces to 0"]
        turned = angles.expanded(ws, difference) if 0 in allowed else None
        if turned is not None and turned.is_zero:
            return [*steps, "by the addition theorems the difference of the two sides reduces to 0"]
        if not settle_signs(ws, difference, allowed):
            return None
        return [*steps, *_reason(ws, difference, op)]

    return by_cases(goal, (lhs, rhs), assumptions)


def _reason(ws: Workspace, difference: Frac, op: str) -> list[str]:
    """The difference in factors, its sign, and each factor's sign with what settled it."""
    text = f"left - right = {factored(ws, difference)}, which {_WORD[op]}"
    lines = []
    for f in factors_of(difference):
        why = ws.signs.why.get(polys.key(f))
        if why and len(f) > 1:
            line = f"{shown(ws, f, difference)} {_SIGNS[ws.signs.of(f)]}: {why}"
            if line not in lines:
                lines.append(line)
    return [*lines, text]
