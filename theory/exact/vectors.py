"""Statements on vectors of any length: softmax, log sum exp, sums."""

from __future__ import annotations

from collections.abc import Mapping

from gateproof.theory.exact.domain import Assumptions, Derivation, Domain
from gateproof.theory.formula.nodes import Expr, Node, Scope


def prove_vector_relation(
    lhs: Expr, op: str, rhs: Expr, scope: Scope, extra: Assumptions | None = None
) -> Derivation | None:
    """A proof for all n, all vectors and all places of the scope, or None."""
    del lhs, op, rhs, scope, extra
    return None


def expand_vectors(
    node: Node, lengths: Mapping[str, int], values: Mapping[str, int] | None = None
) -> tuple[Node, dict[str, Domain]]:
    """The node for vectors of fixed length, over names ``z_1 ...``, with their domains."""
    del lengths, values
    return node, {}
