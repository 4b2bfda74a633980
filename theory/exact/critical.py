"""Exact critical points, and equality of closed constants."""

from __future__ import annotations

from gateproof.theory.exact.domain import Assumptions
from gateproof.theory.formula.nodes import Expr


def exact_extremum_candidates(expr: Expr, var: str, assumptions: Assumptions) -> tuple[Expr, ...] | None:
    """All points where an extremum can sit: zeros of the derivative, kinks, closed ends; or None."""
    del expr, var, assumptions
    return None


def equal_constants(a: Expr, b: Expr) -> bool | None:
    """Whether two closed expressions are the same number; None where not decided."""
    del a, b
    return None
