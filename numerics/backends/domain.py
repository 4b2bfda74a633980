"""Where a formula has a real value, as a condition in the language."""

from __future__ import annotations

from fractions import Fraction

from gateproof.theory.exact.defined import NOT_NEGATIVE, NOT_ZERO, POSITIVE, conditions, prove_defined
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula import free_names, to_text
from gateproof.theory.formula.nodes import And, App, Expr, Implies, Node, Not, Num, Or, Rel, Stmt, Where, num
from gateproof.theory.formula.powers import constant_value, linear
from gateproof.theory.special import find
from gateproof.theory.special.symbolic import off_poles

_OPS = {NOT_ZERO: "!=", POSITIVE: ">", NOT_NEGATIVE: ">="}
_MIRROR = {">": "<", ">=": "<=", "!=": "!="}


def domain_text(expr: Expr) -> str:
    """``R`` where the core expression has a value for all numbers, else what its names must satisfy.

    Each part states its own condition; those proved to hold everywhere are left out.
    """
    everywhere = Assumptions({n: Domain() for n in free_names(expr)})
    if prove_defined(expr, everywhere) is not None:
        return "R"
    found: dict[str, None] = {}
    for stmt in _needed(expr, ()):
        found[stmt] = None
    return " and ".join(found) or "R"


def _needed(node: Node, given: tuple[Stmt, ...]) -> list[str]:
    if isinstance(node, Where):
        inner = _needed(node.cond, given)
        inner += _needed(node.then, (*given, node.cond))
        return inner + _needed(node.other, (*given, Not(node.cond)))
    found = [text for child in node.children() for text in _needed(child, given)]
    if isinstance(node, App):
        special = find(node.head)
        if special is not None and special.span.poles:
            found += _off_poles(node, given)
        for expr, allowed in _own(node):
            op = _OPS[allowed]
            assumptions = Assumptions({n: Domain() for n in _names(expr, given)}, given)
            if prove_relation(expr, op, num(0), assumptions) is None:
                found.append(_text(node, expr, op, given))
    return found


def _off_poles(node: App, given: tuple[Stmt, ...]) -> list[str]:
    """Off 0, -1, -2, ..., unless the argument is proved to be positive."""
    ways = off_poles(node.args[0])
    for expr, allowed in ways:
        assumptions = Assumptions({n: Domain() for n in _names(expr, given)}, given)
        if prove_relation(expr, _OPS[allowed], num(0), assumptions) is not None:
            return []
    parts = tuple(_solved(expr, _OPS[allowed]) for expr, allowed in ways)
    stmt: Stmt = Or(parts)
    if given:
        stmt = Implies(_positive(given[0] if len(given) == 1 else And(given)), stmt)
    return [f"({to_text(stmt)})"]


def _names(expr: Expr, given: tuple[Stmt, ...]) -> set[str]:
    return free_names(expr).union(*(free_names(g) for g in given))


def _own(node: App) -> list[tuple[Expr, frozenset[int]]]:
    """What the node itself needs, given its arguments."""
    if node.head != "pow":
        return conditions(node) or []
    base, exponent = node.args
    value = constant_value(exponent)
    if value is None:
        return [(base, POSITIVE)]
    if value.denominator == 1:
        return [] if value > 0 else [(base, NOT_ZERO)]
    return [(base, NOT_NEGATIVE if value > 0 else POSITIVE)]


def _text(node: App, expr: Expr, op: str, given: tuple[Stmt, ...]) -> str:
    u = node.args[0]
    if node.head in ("asin", "acos", "atanh"):
        weak = "<" if node.head == "atanh" else "<="
        stmt: Stmt = Rel((weak, weak), (num(-1), u, num(1)))
    elif node.head == "acosh":
        stmt = Rel((">=",), (u, num(1)))
    else:
        stmt = _solved(expr, op)
    if not given:
        return to_text(stmt)
    cond = given[0] if len(given) == 1 else And(given)
    return f"({to_text(Implies(_positive(cond), stmt))})"


_NEGATED = {"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def _positive(stmt: Stmt) -> Stmt:
    """Without a ``not`` in front of a single comparison."""
    if isinstance(stmt, Not) and isinstance(stmt.part, Rel) and len(stmt.part.ops) == 1:
        return Rel((_NEGATED[stmt.part.ops[0]],), stmt.part.terms)
    if isinstance(stmt, And | Or):
        return type(stmt)(tuple(_positive(p) for p in stmt.parts))
    return stmt


def _solved(expr: Expr, op: str) -> Stmt:
    """``a*x + b > 0`` as ``x > -b/a``."""
    names = sorted(free_names(expr))
    if len(names) == 1:
        line = linear(expr, names[0])
        if line is not None and line[0] != 0:
            from gateproof.theory.formula.nodes import Var

            at = Num(Fraction(-line[1] / line[0]))
            return Rel((op if line[0] > 0 else _MIRROR[op],), (Var(names[0]), at))
    return Rel((op,), (expr, num(0)))
