"""Derivatives of core expressions."""

from __future__ import annotations

from gateproof.theory.formula.nodes import Expr


def derivative(expr: Expr, var: str) -> Expr | None:
    """The derivative away from kinks, or None."""
    del expr, var
    return None


def kinks(expr: Expr, var: str) -> tuple[Expr, ...]:
    """Expressions in ``var`` at whose zeros the formula of :func:`derivative` may fail."""
    del expr, var
    return ()
