"""The certificate of a supremum: an upper bound on the whole domain, and a witness below it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import flint

from gateproof.numerics import interval as iv
from gateproof.numerics.certificate import Bounds, Witness, range_certificate
from gateproof.numerics.decimals import magnitude
from gateproof.numerics.errors import NumericsError
from gateproof.numerics.line_cover import LineCover
from gateproof.numerics.precision import precision
from gateproof.numerics.problem import Problem
from gateproof.numerics.results import Extremum
from gateproof.numerics.tailcut import find_cut
from gateproof.theory.exact.tails import grows_slowly
from gateproof.theory.formula.nodes import App, Expr

MAX_BOXES = 4_000
#: A checker refuses more than 4,500.
MAX_BITS = 4_400
#: Boxes for the bound at its exact value, where one unit more is the alternative.
_FEW = 200


def certificate_of(
    problem: Problem, found: Extremum, flipped: bool, digits: int, text: str
) -> dict[str, Any] | None:
    """A range certificate with the bound rounded up at as many digits as succeed; else None.

    ``flipped``: the problem is sup(-f) for an infimum of f, and the certificate is about f.
    """
    assert found.value is not None
    low, high = found.value
    limits = [(high, _FEW)] if low == high else []
    for places in dict.fromkeys((digits, min(digits, 15), min(digits, 8), 4)):
        bound = rounded_up(high, places)
        limits += [(bound, MAX_BOXES), (loose_bound(high, places), MAX_BOXES)]
    for limit, boxes in dict.fromkeys(limits):
        document = _attempt(problem, found, limit, flipped, text, boxes)
        if document is not None:
            return document
    return None


def rounded_up(high: Fraction, digits: int) -> Fraction:
    """The least decimal of so many significant digits that is not below."""
    unit = Fraction(10) ** (magnitude(high) - digits + 1)
    return -((-high) // unit) * unit


def loose_bound(high: Fraction, digits: int) -> Fraction:
    """A decimal above ``high`` by at least half a unit of its last digit."""
    if high == 0:
        return Fraction(1, 10**digits)
    unit = Fraction(10) ** (magnitude(high) - digits + 1)
    return (-((-high) // unit) + 1) * unit


def _attempt(
    problem: Problem, found: Extremum, bound: Fraction, flipped: bool, text: str, boxes: int
) -> dict[str, Any] | None:
    body = problem.body
    bounds = Bounds(-bound if problem.folded else None, bound)
    if flipped:
        # sup(-f) <= b is f >= -b; the problem's body is neg(f), or f is neg(body).
        body = body.args[0] if isinstance(body, App) and body.head == "neg" else App("neg", (body,))
        bounds = Bounds(-bound, None)
    size = max(bound.numerator.bit_length(), bound.denominator.bit_length())
    bits = max(96, size + 48)
    if bits > MAX_BITS:
        return None
    box = tuple(e.outer for e in problem.ends)
    cuts = _cuts(problem, body, bounds)
    if cuts is None:
        return None
    lo, hi = (b if b is not None else c for b, c in zip(box, cuts, strict=True))
    assert lo is not None
    assert hi is not None
    cover = LineCover(body, problem.var, (lo, hi), bounds, bits, boxes)
    with precision(bits):
        tree = cover.run(tuple((a + b) / 2 for a, b in found.points or ()), problem.turns)
        witness = _witness(problem, flipped)
    if tree is None:
        return None
    return range_certificate(
        body, {problem.var: (box[0], box[1])}, bounds, tree,
        cuts={problem.var: cuts}, bits=bits + 10, text=text,
        witnesses=[] if witness is None else [witness],
    )  # fmt: skip


def _cuts(problem: Problem, body: Expr, bounds: Bounds) -> tuple[Fraction | None, Fraction | None] | None:
    """Where the tails begin on the infinite sides; None where a bound is not seen to hold on a tail."""
    finite = [abs(e.outer) for e in problem.ends if e.outer is not None]
    beyond = max([Fraction(1), *map(abs, problem.kinks), *finite])
    cuts: list[Fraction | None] = [None, None]
    for i, side in enumerate("-+"):
        if not problem.ends[i].infinite:
            continue
        cut = find_cut(body, problem.var, side, bounds, beyond)
        if isinstance(cut, str) or grows_slowly(body, problem.var, side, max(beyond, cut)):
            return None
        cuts[i] = -cut if side == "-" else cut
    return cuts[0], cuts[1]


def _witness(problem: Problem, flipped: bool) -> Witness | None:
    """The value of the certificate's formula at a short rational near the maximum."""
    if problem.witness is None:
        return None
    places = Fraction(10) ** (problem.digits + 2)
    x = Fraction(round(problem.witness * places), int(places))
    box = [e.outer for e in problem.ends]
    if (box[0] is not None and x < box[0]) or (box[1] is not None and x > box[1]):
        x = problem.witness
    if (box[0] is not None and x < box[0]) or (box[1] is not None and x > box[1]):
        return None
    try:
        low, high = problem.line.value(x)
    except NumericsError:
        return None
    if not (low.is_finite() and high.is_finite() and iv.moderate(low) and iv.moderate(high)):
        return None
    bottom, top = iv.to_fraction(low), iv.to_fraction(high)
    if flipped:
        bottom, top = -top, -bottom
    # Room for another program's rounding.
    slack = 16 * (top - bottom) + abs(top) / 2 ** (flint.ctx.prec - 24)
    return Witness({problem.var: x}, bottom - slack, top + slack)
