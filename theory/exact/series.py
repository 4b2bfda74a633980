"""Taylor polynomials with exact coefficients."""

from __future__ import annotations

from gateproof.theory.exact.domain import Assumptions, Derivation
from gateproof.theory.formula.nodes import Expr


def taylor(
    expr: Expr, var: str, point: Expr, order: int, assumptions: Assumptions
) -> tuple[Expr, Derivation] | None:
    """The Taylor polynomial of degree at most ``order``, or None."""
    del expr, var, point, order, assumptions
    return None
