"""Range certificates as docs/certificates.md describes them, and what all documents share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from gateproof.theory.formula.nodes import Expr
from gateproof.theory.formula.serial import to_json, tree_hash

Tree = list[Any]


def ratio(value: Fraction) -> str:
    """``p/q``."""
    return f"{value.numerator}/{value.denominator}"


def _end(value: Fraction | None, infinite: str) -> str:
    return infinite if value is None else ratio(value)


@dataclass(frozen=True)
class Bounds:
    """What is claimed of every value."""

    lower: Fraction | None = None
    upper: Fraction | None = None
    lower_strict: bool = False
    upper_strict: bool = False


@dataclass(frozen=True)
class Witness:
    """The value at an exact point lies in [lower, upper]."""

    at: Mapping[str, Fraction]
    lower: Fraction
    upper: Fraction

    def document(self) -> dict[str, Any]:
        """The witness as JSON."""
        at = {k: ratio(v) for k, v in self.at.items()}
        return {"at": at, "lower": ratio(self.lower), "upper": ratio(self.upper)}


def head(kind: str, expr: Expr, text: str, bits: int) -> dict[str, Any]:
    """The keys with which every document about one formula begins."""
    core = to_json(expr)
    return {
        "kind": kind,
        "version": 1,
        "text": text,
        "core": core,
        "formula_hash": tree_hash(core),
        "bits": bits,
    }


def composite_document(parts: Sequence[dict[str, Any]], conclusion: str) -> dict[str, Any]:
    """Several documents, and in words what they give together."""
    return {"kind": "composite", "version": 1, "parts": list(parts), "conclusion": conclusion}


def range_certificate(
    expr: Expr,
    box: Mapping[str, tuple[Fraction | None, Fraction | None]],
    bounds: Bounds,
    tree: Tree,
    *,
    cuts: Mapping[str, tuple[Fraction | None, Fraction | None]] | None = None,
    bits: int = 106,
    text: str = "",
    witnesses: Sequence[Witness] = (),
) -> dict[str, Any]:
    """The document of a proved range."""
    cuts = cuts or {}
    tails = {}
    for name in box:
        minus, plus = cuts.get(name, (None, None))
        tails[name] = {
            "minus": None if minus is None else ratio(minus),
            "plus": None if plus is None else ratio(plus),
        }
    return {
        **head("range", expr, text, bits),
        "domain": {n: {"lo": _end(lo, "-oo"), "hi": _end(hi, "oo")} for n, (lo, hi) in box.items()},
        "conclusion": {
            "lower": None if bounds.lower is None else ratio(bounds.lower),
            "lower_strict": bounds.lower_strict,
            "upper": None if bounds.upper is None else ratio(bounds.upper),
            "upper_strict": bounds.upper_strict,
        },
        "tails": tails,
        "tree": tree,
        "witnesses": [w.document() for w in witnesses],
    }
