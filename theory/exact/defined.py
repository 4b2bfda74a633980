"""Where an expression has a value."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from gateproof.theory.exact.atoms import Frac
from gateproof.theory.exact.budget import bounded
from gateproof.theory.exact.cases import by_cases, settle_signs
from gateproof.theory.exact.conditions import holds
from gateproof.theory.exact.domain import Assumptions, Derivation
from gateproof.theory.exact.normal import Workspace
from gateproof.theory.exact.rational_identity import prove_defined_ratio
from gateproof.theory.formula.nodes import App, Const, Expr, Num, Rel, Stmt, Var, Where, num
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.undropped import EVERYWHERE, is_everywhere
from gateproof.theory.special import find, symbolic

NOT_ZERO = frozenset({-1, 1})
POSITIVE = frozenset({1})
NOT_NEGATIVE = frozenset({0, 1})
_WORDS = {NOT_ZERO: "!= 0", POSITIVE: "> 0", NOT_NEGATIVE: ">= 0"}


@bounded
def prove_defined(expr: Expr, assumptions: Assumptions) -> Derivation | None:
    """A proof that the expression has a real value on the whole domain, or None."""
    if is_everywhere(expr):
        return Derivation((), ("flint",))
    ratio = prove_defined_ratio(expr, assumptions)
    if ratio is not None:
        return ratio

    def goal(ws: Workspace, exprs: tuple[Expr, ...]) -> list[str] | None:
        steps: list[str] = []
        return steps if has_value(ws, exprs[0], steps) else None

    outcome = by_cases(goal, (expr,), assumptions)
    if outcome is None:
        return None
    # Cases in which nothing had to be shown are not worth a line.
    shown = outcome.steps if any(" so it " in s for s in outcome.steps) else []
    return Derivation(tuple(shown), outcome.trust())


def conditions(node: App) -> list[tuple[Expr, frozenset[int]]] | None:
    """Expressions and the signs they must have for the node to have a value, given its arguments.

    None for a head that is not known. Powers: 0**0 is left out, and a base of a power that is
    neither whole nor half-whole must be positive.
    """
    head, args = node.head, node.args
    if head in EVERYWHERE:
        return []
    u = args[0]
    square = App("add", (num(1), App("neg", (App("pow", (u, num(2))),))))
    table: dict[str, tuple[Expr, frozenset[int]]] = {
        "log": (u, POSITIVE),
        "sqrt": (u, NOT_NEGATIVE),
        "tan": (App("cos", (u,)), NOT_ZERO),
        "asin": (square, NOT_NEGATIVE),
        "acos": (square, NOT_NEGATIVE),
        "atanh": (square, POSITIVE),
        "acosh": (App("add", (u, num(-1))), NOT_NEGATIVE),
    }
    if head in table:
        return [table[head]]
    if head == "div":
        return [(args[1], NOT_ZERO)]
    special = find(head)
    return None if special is None or special.span.poles else symbolic.conditions(special, u)


def power_condition(ws: Workspace, node: App) -> list[tuple[Expr, frozenset[int]]]:
    """The same for a power."""
    base = node.args[0]
    value: Fraction | None = ws.form(node.args[1]).rational()
    if value is None:
        return [(base, POSITIVE)]
    if value.denominator == 1:
        return [] if value > 0 else [(base, NOT_ZERO)]
    return [(base, NOT_NEGATIVE if value > 0 else POSITIVE)]


#: Whether a quotient's sign is among those allowed.
Decide = Callable[[Workspace, Frac, frozenset[int]], bool]


def has_value(ws: Workspace, node: Expr, steps: list[str], decide: Decide = settle_signs) -> bool:
    """Whether the node has a value under the workspace's facts; what had to be shown as steps."""
    if isinstance(node, Num | Var):
        return True
    if isinstance(node, Const):
        return node.name != "oo"
    if isinstance(node, Where):
        if not _defined_statement(ws, node.cond, steps, decide):
            return False
        return has_value(ws, node.then if holds(ws, node.cond) else node.other, steps, decide)
    if not isinstance(node, App):
        return False
    if not all(has_value(ws, a, steps, decide) for a in node.args):
        return False
    needed = power_condition(ws, node) if node.head == "pow" else conditions(node)
    special = find(node.head)
    if special is not None and special.span.poles:
        ways = symbolic.off_poles(node.args[0])
        needed = next(([way] for way in ways if decide(ws, ws.form(way[0]), way[1])), None)
    if needed is None:
        return False
    for expr, allowed in needed:
        value: Frac = ws.form(expr)
        if not decide(ws, value, allowed):
            return False
        line = f"{to_text(expr)} {_WORDS[allowed]}, so it is defined: {to_text(node)}"
        if value.rational() is None and line not in steps:
            steps.append(line.replace("so it is defined:", "so it has a value:"))
    return True


def _defined_statement(ws: Workspace, cond: Stmt, steps: list[str], decide: Decide) -> bool:
    return all(
        has_value(ws, term, steps, decide)
        for part in cond.walk()
        if isinstance(part, Rel)
        for term in part.terms
    )


@bounded
def undefined_point(expr: Expr, assumptions: Assumptions) -> dict[str, Expr] | None:
    """An exact point of the domain where the expression has no value, or None."""
    from gateproof.theory.exact import undefined

    return undefined.undefined_point(expr, assumptions)
