"""Nodes that only backends know: a formula patched near a point."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from gateproof.theory.formula.nodes import App, Expr, Node, Num, Where, rebuild


@dataclass(frozen=True, eq=False)
class Patch(Where):
    """Two forms of one smooth function: ``then`` where the condition holds, ``other`` elsewhere.

    Its condition is no kink: both forms have the same derivatives where they meet.
    """


def polynomial(u: Expr, coefficients: list[Fraction]) -> App:
    """c_0 + c_1 u + c_2 u**2 + ..., to be evaluated by Horner's rule."""
    return App("poly", (u, *(Num(c) for c in coefficients)))


def coefficients_of(node: App) -> list[Fraction]:
    """The coefficients of a ``poly`` node."""
    return [a.value for a in node.args[1:] if isinstance(a, Num)]


def unpatched(node: Expr) -> Expr:
    """The expression without its patches."""

    def visit(n: Node) -> Node:
        if isinstance(n, Patch):
            return visit(n.other)
        found = rebuild(n, visit)
        assert isinstance(found, Node)
        return found

    found = visit(node)
    assert isinstance(found, Expr)
    return found
