"""Certificates of the sign of a closed value, or of a value at an exact point: a range on one point."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from gateproof.numerics.certificate import Bounds, range_certificate
from gateproof.proofs_check.engine.boxes import accept
from gateproof.theory.formula.nodes import App, Expr, Rel
from gateproof.theory.formula.printer import to_text

_BITS = (80, 160, 320, 640, 1280)
_ZERO = Fraction(0)
_BOUNDS = {
    1: Bounds(lower=_ZERO, lower_strict=True),
    0: Bounds(lower=_ZERO, upper=_ZERO),
    -1: Bounds(upper=_ZERO, upper_strict=True),
}


def sign_certificate(
    gap: Expr, point: Mapping[str, Fraction], sign: int, text: str = ""
) -> Mapping[str, Any] | None:
    """An accepted certificate that the expression has that sign at the point, or None."""
    box = {name: (value, value) for name, value in point.items()}
    return point_certificate(gap, box, _BOUNDS[sign], text)


def order_certificate(relation: Rel, point: Mapping[str, Fraction], sign: int) -> Mapping[str, Any] | None:
    """An accepted certificate of the sign of left side minus right side at the point, or None."""
    left, right = relation.terms
    return sign_certificate(App("add", (left, App("neg", (right,)))), point, sign)


def value_certificate(
    expr: Expr, lower: Fraction, upper: Fraction, text: str = ""
) -> Mapping[str, Any] | None:
    """An accepted certificate that a closed value lies in [lower, upper], or None."""
    return point_certificate(expr, {}, Bounds(lower, upper), text)


def point_certificate(
    expr: Expr, box: Mapping[str, tuple[Fraction, Fraction]], bounds: Bounds, text: str = ""
) -> Mapping[str, Any] | None:
    """An accepted certificate of the bounds at one point, given as ranges of no width; or None."""
    text = text or to_text(expr)
    for bits in _BITS:
        document = range_certificate(expr, box, bounds, ["leaf", "natural"], bits=bits, text=text)
        if accept(document) is None:
            return document
    return None
