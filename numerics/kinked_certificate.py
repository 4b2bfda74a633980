"""Certificates of integrals across kinks at points that are no known rationals, such as E abs(f(Z)).

The interval is cut into pieces. On most of them every argument u of abs, max or a condition has a strict
sign, which a range certificate proves (for linear ones the ends are rationals beside its only root, so
there is nothing to prove); there the integrand is a smooth formula, with an integral certificate of its
own. The others are small boxes around the zeros of an argument, each with the width of the box times the
range of the integrand. The integral is the sum of the parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from flint import arb

from gateproof.numerics import interval as iv
from gateproof.numerics.ball import compiled, names_in
from gateproof.numerics.bounds import Budget, prove_bounds
from gateproof.numerics.certificate import Bounds, composite_document, range_certificate
from gateproof.numerics.errors import MaybeUndefined, Undefined
from gateproof.numerics.forms import Line, outer
from gateproof.numerics.integral import Range, Stop, Work
from gateproof.numerics.integral_certificate import integral_certificate, short, tail_cut
from gateproof.numerics.jets import jet, side
from gateproof.numerics.kinks import corners, taken
from gateproof.numerics.points import rational_bounds
from gateproof.numerics.precision import precision
from gateproof.numerics.special import special_points
from gateproof.theory.exact.kernels import minus
from gateproof.theory.formula.nodes import App, Expr, Rel
from gateproof.theory.formula.powers import linear
from gateproof.theory.formula.printer import to_text

#: Boxes looked at, and pieces that one certificate may have.
BOXES, PIECES = 4_000, 60
_BITS = 96


@dataclass(frozen=True)
class _Piece:
    """``signs`` of the arguments on [lo, hi]; None where they may be 0."""

    lo: Fraction
    hi: Fraction
    signs: Mapping[Expr, int] | None


def kinked_certificate(
    on: Range, value: tuple[Fraction, Fraction], tolerance: Fraction, text: str = ""
) -> dict[str, Any] | None:
    """A composite certificate that the integral lies within the tolerance of its enclosure, or None."""
    body, var = on.body, on.var
    arguments = _arguments(body, var)
    lo = on.lo if on.lo is not None else tail_cut(on, "-", tolerance / 8)
    hi = on.hi if on.hi is not None else tail_cut(on, "+", tolerance / 8)
    if not arguments or lo is None or hi is None:
        return None
    with precision(_BITS):
        pieces = _pieces(body, var, (-lo if on.lo is None else lo, hi), arguments, tolerance / 8)
    if pieces is None or len(pieces) > PIECES:
        return None
    if any(end is None and piece.signs is None for end, piece in ((on.lo, pieces[0]), (on.hi, pieces[-1]))):
        return None
    share = tolerance / (2 * len(pieces))
    parts: list[dict[str, Any]] = []
    for k, piece in enumerate(pieces):
        ends = on.lo if k == 0 else piece.lo, on.hi if k == len(pieces) - 1 else piece.hi
        made = _loose(body, var, piece) if piece.signs is None else _smooth(on, ends, piece.signs, share)
        if made is None:
            return None
        parts += made
    low, high = total(parts)
    if low < value[0] - tolerance or high > value[1] + tolerance:
        return None
    conclusion = f"the integrals add up to {text}; the ranges tell which formula the integrand is"
    return composite_document(parts, conclusion)


def any_certificate(
    on: Range, value: tuple[Fraction, Fraction], tolerance: Fraction, text: str = ""
) -> dict[str, Any] | None:
    """A certificate in pieces where there are such kinks, else one integral; None where neither reaches."""
    return kinked_certificate(on, value, tolerance, text) or integral_certificate(on, value, tolerance, text)


def total(parts: Sequence[Mapping[str, Any]]) -> tuple[Fraction, Fraction]:
    """The sums of the bounds of all integrals among the parts."""
    ends = [part["conclusion"] for part in parts if part["kind"] == "integral"]
    return sum((Fraction(e["lower"]) for e in ends), Fraction(0)), sum(
        (Fraction(e["upper"]) for e in ends), Fraction(0)
    )


def _arguments(body: Expr, var: str) -> list[Expr]:
    """The arguments whose sign is needed: of jumps all, of kinks those that are not linear."""
    found: dict[Expr, None] = {}
    for node in body.walk():
        jumps = isinstance(node, Rel) or (isinstance(node, App) and node.head == "sign")
        for argument in corners(node):
            line = linear(argument, var)
            if var in names_in(argument) and (line is None or (jumps and line[0])):
                found[argument] = None
    return list(found)


def _pieces(
    body: Expr, var: str, ends: tuple[Fraction, Fraction], arguments: list[Expr], tolerance: Fraction
) -> list[_Piece] | None:
    """Pieces that fill the interval, ascending; None where the boxes run out."""
    straight = {u: line for u in arguments if (line := linear(u, var)) is not None}
    lines = {u: Line(u, var) for u in arguments if u not in straight}
    known = {*special_points(body, var), *(-b / a for a, b in straight.values())}
    inside = sorted(k for k in known if ends[0] < k < ends[1])
    stack = list(reversed(list(pairwise([ends[0], *inside, ends[1]]))))
    found: list[_Piece] = []
    left = BOXES
    while stack:
        a, b = stack.pop()
        left -= 1
        if left < 0:
            return None
        signs = {u: _strict(line, a, b) for u, line in lines.items()}
        for u, (slope, intercept) in straight.items():
            # Its root is none of the inner points, so it has one sign but for an end.
            at = slope * (a + b) / 2 + intercept
            signs[u] = (at > 0) - (at < 0)
        decided = all(signs.values())
        # A hundredth of it a box: some zeros leave several boxes.
        if not decided and not _small(body, var, (a, b), tolerance / 100):
            middle = (a + b) / 2
            stack += [(middle, b), (a, middle)]
            continue
        piece = _Piece(a, b, signs if decided else None)
        if found and found[-1].signs == piece.signs:
            piece = _Piece(found.pop().lo, b, piece.signs)
        found.append(piece)
    return found


def _strict(line: Line, lo: Fraction, hi: Fraction) -> int:
    """The sign of the argument on the closed box, 0 where not seen."""
    found = jet(line, lo, hi)
    if found is not None and side(found.value):
        return side(found.value)
    try:
        return side(line.natural(lo, hi))
    except (MaybeUndefined, Undefined):
        return 0


def _range(body: Expr, var: str, box: tuple[Fraction, Fraction]) -> tuple[arb, arb] | None:
    try:
        low, high = compiled(body)({var: outer(*box)})
    except (MaybeUndefined, Undefined):
        return None
    return (low, high) if low.is_finite() and high.is_finite() else None


def _small(body: Expr, var: str, box: tuple[Fraction, Fraction], tolerance: Fraction) -> bool:
    ends = _range(body, var, box)
    return ends is not None and bool(
        (ends[1] - ends[0]) * iv.rational(box[1] - box[0]) < iv.rational(tolerance)
    )


def _loose(body: Expr, var: str, piece: _Piece) -> list[dict[str, Any]] | None:
    """The range of the integrand times the width."""
    width = piece.hi - piece.lo
    with precision(_BITS):
        ends = _range(body, var, (piece.lo, piece.hi))
        if ends is None:
            return None
        low, high = (iv.to_fraction(e) * width for e in ends)
    # The checker's own enclosure of the range may be a little wider.
    spare = (high - low) / 16 or Fraction(1, 2**_BITS)
    bounds = Bounds(short(low - spare, spare, -1), short(high + spare, spare, 1))
    box = {var: (piece.lo, piece.hi)}
    document = range_certificate(body, box, bounds, ["leaf", "natural"], bits=_BITS + 32, text=to_text(body))
    return [{**document, "kind": "integral"}]


def _smooth(
    on: Range, ends: tuple[Fraction | None, Fraction | None], signs: Mapping[Expr, int], share: Fraction
) -> list[dict[str, Any]] | None:
    """The signs of the arguments, and the integral of the formula that they leave."""
    parts: list[dict[str, Any]] = []
    box = {on.var: ends}
    for argument, sign in signs.items():
        if linear(argument, on.var) is not None:
            continue
        size = argument if sign > 0 else minus(argument)
        proved = prove_bounds(
            size, box, lower=Fraction(0), lower_strict=True, budget=Budget(2_000, 256), text=to_text(size)
        )
        if proved.certificate is None:
            return None
        parts.append(proved.certificate)
    smooth = Range(taken(on.body, signs), on.var, *ends)
    try:
        value = rational_bounds(Work(smooth).value(share / 4))
    except Stop:
        return None
    document = integral_certificate(smooth, value, share, to_text(smooth.body))
    return None if document is None else [*parts, document]
