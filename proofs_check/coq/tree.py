"""Core formulas back from the JSON trees of certificates."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from gateproof.proofs_check.refused import RefusedError
from gateproof.theory.formula.nodes import App, Const, Expr, Num, Var


def from_json(tree: Any) -> Expr:
    """The formula; RefusedError for a condition, which has no term in Coq here."""
    kind = tree[0]
    if kind == "num":
        return Num(Fraction(tree[1]))
    if kind == "const":
        return Const(tree[1])
    if kind == "var":
        return Var(tree[1])
    if kind == "app":
        return App(tree[1], tuple(map(from_json, tree[2:])))
    raise RefusedError(
        f"{kind} is not among the functions that coq-interval knows: no Coq file for this formula"
    )
