"""The zeros of a function with kinks or jumps: of its smooth pieces, and where these meet.

Where a formula is exactly 0 at an end of its piece, boxes do not separate that end: a slope of
one sign beside it shows that there is no other zero near.
"""

from __future__ import annotations

from fractions import Fraction

from gateproof.numerics.points import compare, enclosure
from gateproof.numerics.results import Zeros
from gateproof.numerics.roots import zeros
from gateproof.proofs_check.engine.boxes import bounded_below
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.space import Space
from gateproof.proofs_check.engine.touching import is_zero
from gateproof.theory.exact.critical import sign_of
from gateproof.theory.exact.derivative import derivative
from gateproof.theory.exact.domain import Domain
from gateproof.theory.exact.piecewise import cut_points, smooth_pieces
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Expr, Num

#: How far beside an end a slope of one sign is looked for.
RADII = (Fraction(1, 2), Fraction(1, 8), Fraction(1, 64))


def zeros_of_pieces(body: Expr, name: str, domain: Domain, digits: int, context: Context) -> Zeros | None:
    """All zeros of a body that has a value on the whole set; None where they are not isolated."""
    pieces = smooth_pieces(body, name, domain)
    if pieces is None or len(pieces) < 2:
        return None
    found: list[tuple[Fraction, Fraction]] = []
    for cut in cut_points(pieces):
        value = substitute(body, {name: cut})
        if is_zero(value):
            found.append(enclosure(cut))
        elif sign_of(value) not in (1, -1):
            return None
    for piece in pieces:
        moved = _past_zero_ends(piece.expr, name, piece.domain, domain, context)
        if moved is None:
            return None
        lo, hi = moved
        part = zeros(
            piece.expr,
            name,
            lo,
            hi,
            digits,
            context.budget(),
            lo_closed=lo != piece.domain.lo or (lo == domain.lo and domain.lo_closed),
            hi_closed=hi != piece.domain.hi or (hi == domain.hi and domain.hi_closed),
        )
        if part.status != "ok":
            return None
        found += part.points
    return Zeros("ok", tuple(sorted(found)), digits)


def _past_zero_ends(
    expr: Expr, name: str, part: Domain, whole: Domain, context: Context
) -> tuple[Expr | None, Expr | None] | None:
    """The ends of a piece, moved inward past those where its formula is 0 and monotone beside it."""
    ends = [part.lo, part.hi]
    for k, (end, outer) in enumerate(((part.lo, whole.lo), (part.hi, whole.hi))):
        if end is None or end == outer or not is_zero(substitute(expr, {name: end})):
            continue
        inner = _past(expr, name, end, part, 1 if k == 0 else -1, context)
        if inner is None:
            return None
        ends[k] = inner
    return ends[0], ends[1]


def _past(expr: Expr, name: str, end: Expr, part: Domain, inward: int, context: Context) -> Expr | None:
    slope = derivative(expr, name)
    sign = None if slope is None else sign_of(substitute(slope, {name: end}))
    if slope is None or sign not in (1, -1):
        return None
    other = part.hi if inward > 0 else part.lo
    for radius in RADII:
        at = enclosure(end)[inward > 0]
        inner = Num(Fraction(round(at * 2**20), 2**20) + inward * radius)
        beyond = other is not None and compare(inner, other) != -inward
        if beyond:
            continue
        lo, hi = (end, inner) if inward > 0 else (inner, end)
        beside = Space({name: Domain(lo, hi, True, True)})
        signed = slope if sign == 1 else App("neg", (slope,))
        if bounded_below(beside, signed, strict=True, context=context).truth is True:
            return inner
    return None
