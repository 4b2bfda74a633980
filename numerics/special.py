"""Where an expression may have a kink, a jump or a hole, as far as that is a rational point."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from gateproof.theory.formula.nodes import App, Expr, Node, Rel
from gateproof.theory.formula.powers import constant_value, linear
from gateproof.theory.special import Function, find
from gateproof.theory.special.symbolic import formula

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
        special = find(node.head)
        if special is not None:
            return _marks(special, node.args[0], var)
        if node.head in ("max", "min"):
            return _differences(node.args, var)
    if isinstance(node, Rel):
        return _differences(node.terms, var)
    return []


#: Poles 0, -1, .. that are looked for.
_POLES = 8


def _marks(special: Function, argument: Expr, var: str) -> list[Linear | None]:
    """Where the argument is at an end of the domain, a hole or a pole."""
    line = linear(argument, var)
    if line is None:
        return []
    span = special.span
    ends = [constant_value(formula(t)) for t in (span.lo, span.hi) if t is not None]
    at = [*(e for e in ends if e is not None), *span.holes]
    at += [Fraction(-k) for k in range(_POLES)] if span.poles else []
    return [(line[0], line[1] - c) for c in at]


def _differences(items: tuple[Expr, ...], var: str) -> list[Linear | None]:
    lines = [linear(i, var) for i in items]
    return [
        (a[0] - b[0], a[1] - b[1])
        for i, a in enumerate(lines)
        for b in lines[i + 1 :]
        if a is not None and b is not None
    ]
