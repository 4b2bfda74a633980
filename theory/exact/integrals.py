"""Integrals by the fundamental theorem."""

from __future__ import annotations

from gateproof.theory.exact.domain import Assumptions, Derivation
from gateproof.theory.formula.nodes import Expr, Integral


def prove_integral(integral: Integral, value: Expr, assumptions: Assumptions) -> Derivation | None:
    """A proof that the integral converges and equals ``value``, or None."""
    del integral, value, assumptions
    return None
