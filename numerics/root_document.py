"""Root certificates as docs/certificates.md describes them, written down."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from gateproof.numerics.certificate import Tree, head, ratio
from gateproof.numerics.results import Enclosure
from gateproof.theory.formula.nodes import Expr

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
    lo, hi = domain
    minus, plus = (None if c is None else ratio(c) for c in cuts)
    return {
        **head("root", expr, text, bits),
        "domain": {var: {"lo": "-oo" if lo is None else ratio(lo), "hi": "oo" if hi is None else ratio(hi)}},
        "conclusion": {"roots": [{"lo": ratio(a), "hi": ratio(b)} for a, b in roots], "complete": complete},
        "tails": {var: {"minus": minus, "plus": plus}} if complete else {},
        "tree": tree,
    }
