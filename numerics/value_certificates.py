"""Certificates of the values that ``certify`` prints: closed ones, and those with integrals in them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from gateproof.numerics import interval as iv
from gateproof.numerics.ball import evaluate_interval
from gateproof.numerics.certificate import Bounds, composite_document, range_certificate
from gateproof.numerics.errors import NumericsError
from gateproof.numerics.means import certificate_of
from gateproof.theory.exact.means import Mean, holds_mean
from gateproof.theory.formula.nodes import Expr, Extremum
from gateproof.theory.formula.printer import to_text

#: Most bits that a certificate may ask the checker for, and those of its numbers.
_MOST_BITS, _LARGEST = 4_000, 10_000


def with_certificate(node: Expr, found: dict[str, Any], digits: int) -> dict[str, Any]:
    """The answer with a certificate; with fewer digits than asked for, and for extrema, without."""
    extrema = any(isinstance(n, Extremum) for n in node.walk())
    if found["kind"] != "value" or found["digits"] < digits or extrema:
        return found
    return _with_integrals(node, found, digits) if holds_mean(node) else _with_value(node, found, digits)


def _with_value(node: Expr, found: dict[str, Any], digits: int) -> dict[str, Any]:
    """A closed value lies in what is shown, made a tenth of the last digit wider."""
    low, high = (Fraction(found["value"][k]) for k in ("lo", "hi"))
    spare = (max(abs(low), abs(high)) or Fraction(1)) / 10 ** (digits + 1)
    bits = int(3.33 * digits) + 64
    if any(max(e.numerator, e.denominator, key=abs).bit_length() > _LARGEST for e in (low, high, spare)):
        return found
    while bits <= _MOST_BITS:
        try:
            ends = evaluate_interval(node, {}, bits)
        except NumericsError:
            return found
        if all(e.is_finite() for e in ends) and iv.to_fraction(ends[1]) - iv.to_fraction(ends[0]) < spare / 2:
            bounds, leaf = Bounds(low - spare, high + spare), ["leaf", "natural"]
            document = range_certificate(node, {}, bounds, leaf, bits=bits + 32, text=to_text(node))
            return {**found, "certificate": document}
        bits *= 2
    return found


def _with_integrals(node: Expr, found: dict[str, Any], digits: int) -> dict[str, Any]:
    """The certificates of all integrals, which may state fewer digits."""
    documents: list[dict[str, Any]] = []
    stated = digits
    for mean in dict.fromkeys(n for n in node.walk() if isinstance(n, Mean)):
        known = None if any(holds_mean(child) for child in mean.children()) else certificate_of(mean, digits)
        if known is None:
            return found
        documents.append(known[0])
        stated = min(stated, known[1])
    told = {} if stated >= digits else {"reason": f"the certificate states {stated} of the digits"}
    if isinstance(node, Mean):
        return {**told, **found, "certificate": documents[0]}
    parts = [part for document in documents for part in document.get("parts", [document])]
    conclusion = f"{to_text(node)}: the sums of the integrals, put together"
    whole = composite_document(parts, conclusion)
    return {**told, **found, "certificate": whole}
