"""Where an expression may have a kink, a jump or a hole, as far as that is a rational point."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from gateproof.theory.formula.nodes import App, Expr, Node, Num, Rel, Var

Linear = tuple[Fraction, Fraction]  # slope, intercept


@lru_cache(maxsize=1024)
def special_points(expr: Node, var: str) -> tuple[Fraction, ...]:
    """Rational roots of the linear arguments of abs, sign, max, min, div, log, sqrt, pow and conditions."""
    found: set[Fraction] = set()
    for node in expr.walk():
        for line in _switches(node, var):
            if line is not None and line[0] != 0:
                found.add(-line[1] / line[0])
    return tuple(sorted(found))


def _switches(node: Node, var: str) -> list[Linear | None]:
    if isinstance(node, App):
        if node.head in ("abs", "sign", "log", "sqrt"):
            return [linear(node.args[0], var)]
        if node.head == "div":
            return [linear(node.args[1], var)]
        if node.head == "pow":
            return [linear(node.args[0], var)]
        if node.head in ("max", "min"):
            return _differences(node.args, var)
    if isinstance(node, Rel):
        return _differences(node.terms, var)
    return []


def _differences(items: tuple[Expr, ...], var: str) -> list[Linear | None]:
    lines = [linear(i, var) for i in items]
    return [
        (a[0] - b[0], a[1] - b[1])
        for i, a in enumerate(lines)
        for b in lines[i + 1 :]
        if a is not None and b is not None
    ]


def linear(expr: Expr, var: str) -> Linear | None:
    """(slope, intercept) where the expression is linear in ``var`` with rational coefficients."""
    if isinstance(expr, Num):
        return Fraction(0), expr.value
    if isinstance(expr, Var):
        return (Fraction(1), Fraction(0)) if expr.name == var else None
    if not isinstance(expr, App) or expr.head not in ("add", "neg", "mul", "div"):
        return None
    parts = []
    for arg in expr.args:
        line = linear(arg, var)
        if line is None:
            return None
        parts.append(line)
    if expr.head == "add":
        return sum((p[0] for p in parts), Fraction(0)), sum((p[1] for p in parts), Fraction(0))
    if expr.head == "neg":
        return -parts[0][0], -parts[0][1]
    if expr.head == "div":
        (a, b), (c, d) = parts
        return (a / d, b / d) if c == 0 and d != 0 else None
    slope, intercept = parts[0]
    for c, d in parts[1:]:
        if slope and c:
            return None
        slope, intercept = slope * d + intercept * c, intercept * d
    return slope, intercept
