"""Where an expression may have a kink, a jump or a hole, as far as that is a rational point."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from gateproof.theory.formula.nodes import App, Expr, Node, Rel
from gateproof.theory.formula.powers import linear

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
