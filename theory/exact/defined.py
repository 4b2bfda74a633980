"""Where an expression has a value."""

from __future__ import annotations

from gateproof.theory.exact.domain import Assumptions, Derivation
from gateproof.theory.formula.nodes import Expr


def prove_defined(expr: Expr, assumptions: Assumptions) -> Derivation | None:
    """A proof that the expression has a real value on the whole domain, or None."""
    del expr, assumptions
    return None


def undefined_point(expr: Expr, assumptions: Assumptions) -> dict[str, Expr] | None:
    """An exact point of the domain where the expression has no value, or None."""
    del expr, assumptions
    return None
