"""Limits by exact comparison of growth."""

from __future__ import annotations

from dataclasses import dataclass

from gateproof.theory.exact.domain import Assumptions, Derivation
from gateproof.theory.formula.nodes import Expr


@dataclass(frozen=True)
class NoLimit:
    """Proved: there is no limit, for the reason given."""

    reason: str


def limit(
    expr: Expr, var: str, point: Expr, side: str, assumptions: Assumptions
) -> tuple[Expr, Derivation] | NoLimit | None:
    """The limit with its derivation; ``oo`` and ``-oo`` count as values."""
    del expr, var, point, side, assumptions
    return None
