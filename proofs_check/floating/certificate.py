"""Certificates of floating-point claims: a tree of boxes that the checker (MPFR) goes through again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gateproof.proofs_check.checker import verify
from gateproof.proofs_check.floating.space import Space
from gateproof.proofs_check.floating.written import tree
from gateproof.theory.formula import FormulaError, to_text
from gateproof.theory.formula.nodes import Stmt

#: Intervals of what is not rational, in the checker.
BITS = (256, 2_048)
POINTS = ("leaf", "points")


def document(space: Space, claim: Stmt, boxes: Any, bits: int) -> dict[str, Any]:
    """The certificate that the claim holds at all points of the space; ``boxes`` is the tree."""
    ends = [space.numbers(places) for places in zip(*space.box, strict=True)] if space.names else [(), ()]
    return {
        "kind": "floating",
        "version": 1,
        "text": to_text(claim),
        "format": space.format.name,
        "bits": bits,
        "domain": {
            name: {"lo": str(lo), "hi": str(hi)} for name, lo, hi in zip(space.names, *ends, strict=True)
        },
        "conditions": [tree(c) for c in space.conditions],
        "claim": tree(claim),
        "tree": boxes,
    }


def checked(space: Space, claim: Stmt, boxes: Any) -> Mapping[str, Any] | None:
    """The certificate if the checker accepts it, else None."""
    for bits in BITS:
        try:
            made = document(space, claim, boxes, bits)
        except FormulaError:
            return None
        if verify(made).accepted:
            return made
    return None
