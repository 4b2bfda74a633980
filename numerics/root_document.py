"""Root certificates as docs/certificates.md describes them, written down."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from gateproof.numerics.certificate import Tree, ratio
from gateproof.numerics.results import Enclosure
from gateproof.theory.formula.nodes import Expr
from gateproof.theory.formula.serial import to_json, tree_hash

Ends = tuple[Fraction | None, Fraction | None]


def root_document(
    expr: Expr,
    var: str,
    domain: Ends,
    roots: Sequence[Enclosure],
    tree: Tree | None,
    *,
    complete: bool,
    bits: int,
    text: str,
    cuts: Ends = (None, None),
) -> dict[str, Any]:
    """The document that each of ``roots`` holds a zero, and that these are all of them where ``complete``."""
    core = to_json(expr)
    lo, hi = domain
    minus, plus = (None if c is None else ratio(c) for c in cuts)
    return {
        "kind": "root",
        "version": 1,
        "text": text,
        "core": core,
        "formula_hash": tree_hash(core),
        "bits": bits,
        "domain": {var: {"lo": "-oo" if lo is None else ratio(lo), "hi": "oo" if hi is None else ratio(hi)}},
        "conclusion": {"roots": [{"lo": ratio(a), "hi": ratio(b)} for a, b in roots], "complete": complete},
        "tails": {var: {"minus": minus, "plus": plus}} if complete else {},
        "tree": tree,
    }


def composite_document(parts: list[dict[str, Any]], conclusion: str) -> dict[str, Any]:
    """Several documents, and in words what they give together."""
    return {"kind": "composite", "version": 1, "parts": parts, "conclusion": conclusion}
