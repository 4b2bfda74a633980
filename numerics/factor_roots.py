"""Certificates of the zeros of products and powers, factor by factor: (x**2 - 2)**2 is 0 where x**2 - 2 is.

A double zero that is not rational has no certificate of its own: no rounded value shows that it is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gateproof.numerics.ball import compiled, names_in
from gateproof.numerics.certificate import composite_document
from gateproof.numerics.ends import EndExpr, end
from gateproof.numerics.errors import NumericsError
from gateproof.numerics.jets import side
from gateproof.numerics.precision import precision
from gateproof.numerics.results import Enclosure
from gateproof.numerics.root_certificate import root_certificate
from gateproof.numerics.roots import zeros
from gateproof.theory.formula.nodes import App, Expr
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.printer import to_text


def zeros_document(
    expr: Expr, var: str, ends: tuple[EndExpr, EndExpr], places: Sequence[Enclosure], digits: int
) -> dict[str, Any] | None:
    """The document that ``places`` are all zeros between two ends, of the formula or its factors; or None."""
    found = root_certificate(expr, var, ends, places, digits)
    if found is not None:
        return found
    factors = _factors(expr, var)
    if factors is None or factors == [expr]:
        return None
    parts: list[dict[str, Any]] = []
    own: list[Enclosure] = []
    for factor in factors:
        known = zeros(factor, var, *ends, digits)
        part = root_certificate(factor, var, ends, known.points, digits) if known.status == "ok" else None
        if part is None:
            return None
        own += known.points
        parts += part["parts"] if part["kind"] == "composite" else [part]
    if not _covers(own, places) or not _covers([*places, *_points(ends)], own):
        return None
    return composite_document(parts, f"{to_text(expr)} is 0 exactly where one of its factors is")


def _covers(some: Sequence[Enclosure], others: Sequence[Enclosure]) -> bool:
    """Whether each of the others meets one of some."""
    return all(any(a[0] <= b[1] and b[0] <= a[1] for b in some) for a in others)


def _points(ends: tuple[EndExpr, EndExpr]) -> list[Enclosure]:
    """The finite ends, at which a zero may be that the set leaves out."""
    with precision(256):
        found = [end(ends[0], -1, True), end(ends[1], 1, True)]
    return [
        (min(e.inner, e.outer), max(e.inner, e.outer))
        for e in found
        if e.inner is not None and e.outer is not None
    ]


def _factors(expr: Expr, var: str) -> list[Expr] | None:
    """Parts of which one is 0 exactly where the formula is; None where a constant may be 0."""
    if var not in names_in(expr):
        try:
            with precision(128):
                return [] if side(compiled(expr)({})) else None
        except NumericsError:
            return None
    if isinstance(expr, App):
        n = constant_value(expr.args[1]) if expr.head == "pow" else None
        if expr.head in ("mul", "neg", "abs") or (n is not None and n > 0 and n.denominator == 1):
            inner = expr.args if expr.head == "mul" else expr.args[:1]
            found = [_factors(a, var) for a in inner]
            if any(f is None for f in found):
                return None
            return list(dict.fromkeys(f for part in found for f in part or ()))
    return [expr]
