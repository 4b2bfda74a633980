"""A positive parameter scaled away."""

from __future__ import annotations

from gateproof.theory.exact.domain import Assumptions, Derivation
from gateproof.theory.formula.nodes import Expr


def remove_parameter(
    lhs: Expr, op: str, rhs: Expr, assumptions: Assumptions
) -> tuple[Expr, Expr, Assumptions, Derivation] | None:
    """An equivalent relation with one name less, or None."""
    del lhs, op, rhs, assumptions
    return None
