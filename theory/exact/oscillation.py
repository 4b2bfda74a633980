"""Expressions without a limit at oo: periodic ones that are not constant, and what holds one."""

from __future__ import annotations

from fractions import Fraction

from gateproof.theory.exact.composition import Composition
from gateproof.theory.exact.defined import prove_defined
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.monotone import in_workspace
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Expr, Node, Var, num
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names

_WAVES = ("sin", "cos", "tan")
_POINTS = tuple(num(Fraction(v)) for v in ("0", "1", "2", "3", "1/2", "5"))


def oscillates(expr: Expr, name: str, rest: Assumptions) -> str | None:
    """Why the expression has no limit as the name goes to +oo; None where that is not shown.

    A function with a period that takes two values takes both arbitrarily far out.
    """
    if not _periodic(expr, name):
        return None
    if prove_defined(expr, Assumptions({**rest.domains, name: Domain()}, rest.facts)) is None:
        return None
    values = [substitute(expr, {name: p}) for p in _POINTS]
    for k, first in enumerate(values):
        for other in values[k + 1 :]:
            if prove_relation(first, "!=", other, rest) is not None:
                return f"{to_text(expr)} is periodic and takes different values"
    return None


def no_limit(expr: Expr, way: Composition) -> str | None:
    """Why a sum or product has no limit as the name goes to +oo; None where that is not shown.

    Terms and factors with finite limits (of factors: not 0) change nothing about that. A factor
    that grows without bound times a wave with a positive value and one that is not positive has
    none either: far out it comes above every bound, and back to 0 or below.
    """
    reason = oscillates(expr, way.name, way.rest)
    if reason is not None or not isinstance(expr, App) or expr.head not in ("add", "mul", "div"):
        return reason
    parts = list(expr.args)
    if expr.head == "div":
        parts = [parts[0], App("div", (num(1), parts[1]))]
    rest: list[Expr] = []
    infinite = 0
    for part in parts:
        found = None if oscillates(part, way.name, way.rest) else way.of(part)
        if found is None or found.value is None:
            rest.append(part)
        elif found.side:
            infinite += 1
        elif expr.head != "add" and prove_relation(found.value, "!=", num(0), way.rest) is None:
            return None
    if not rest or (expr.head == "add" and infinite) or infinite > 1:
        return None
    head = "add" if expr.head == "add" else "mul"
    wave = rest[0] if len(rest) == 1 else App(head, tuple(rest))
    reason = oscillates(wave, way.name, way.rest)
    if reason is None or not infinite:
        return reason
    values = [substitute(wave, {way.name: p}) for p in _POINTS]
    positive = any(prove_relation(v, ">", num(0), way.rest) for v in values)
    other = any(prove_relation(v, "<=", num(0), way.rest) for v in values)
    return f"{reason}, of both signs, beside a factor that grows" if positive and other else None


def _periodic(expr: Expr, name: str) -> bool:
    """Whether the name occurs only in waves, with slopes whose ratios are rational."""
    slopes: list[Expr] = []
    if not _collect(expr, name, slopes) or not slopes:
        return False
    return all(_rational_ratio(s, slopes[0]) for s in slopes)


def _collect(node: Node, name: str, slopes: list[Expr]) -> bool:
    if isinstance(node, Var):
        return node.name != name
    if isinstance(node, App) and node.head in _WAVES and name in free_names(node):
        slope = _slope(node.args[0], name)
        if slope is None:
            return False
        slopes.append(slope)
        return True
    return all(_collect(c, name, slopes) for c in node.children())


def _slope(inner: Expr, name: str) -> Expr | None:
    """a where the expression is a*name + b, with a closed a that is not 0."""
    zero, one = (substitute(inner, {name: num(k)}) for k in (0, 1))
    slope = App("add", (one, App("neg", (zero,))))
    line = App("add", (App("mul", (slope, Var(name))), zero))
    names = {n: Domain() for n in free_names(inner)}
    if prove_relation(inner, "==", line, Assumptions(names)) is None:
        return None
    if prove_relation(slope, "!=", num(0), Assumptions(names)) is None:
        return None
    return slope


def _rational_ratio(a: Expr, b: Expr) -> bool:
    if free_names(a) | free_names(b):
        return a == b
    ratio = in_workspace(Assumptions(), lambda ws: ws.div(ws.form(a), ws.form(b)).rational())
    return ratio is not None
