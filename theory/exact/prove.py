"""Relations proved by exact algebra, case by case."""

from __future__ import annotations

from gateproof.theory.exact.budget import bounded
from gateproof.theory.exact.cases import Outcome, by_cases, settle_signs
from gateproof.theory.exact.conditions import ALLOWED
from gateproof.theory.exact.defined import prove_defined
from gateproof.theory.exact.domain import Assumptions, Derivation
from gateproof.theory.exact.normal import Workspace
from gateproof.theory.exact.show import describe
from gateproof.theory.formula.nodes import Expr


@bounded
def prove_relation(
    lhs: Expr, op: str, rhs: Expr, assumptions: Assumptions, *, defined: bool = False
) -> Derivation | None:
    """A proof that ``lhs op rhs`` holds on the whole domain, or None.

    Both sides must be provably defined there unless the caller says ``defined``.
    """
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
        if not settle_signs(ws, difference, allowed):
            return None
        return [*steps, *_reason(ws, difference, op)]

    return by_cases(goal, (lhs, rhs), assumptions)


def _reason(ws: Workspace, difference: object, op: str) -> list[str]:
    from gateproof.theory.exact.atoms import Frac
    from gateproof.theory.exact.show import factored

    assert isinstance(difference, Frac)
    word = {"==": "is 0", "!=": "is not 0", "<": "is negative", "<=": "is not positive"}
    word |= {">": "is positive", ">=": "is not negative"}
    return [f"left - right = {factored(ws, difference)}, which {word[op]}"]
