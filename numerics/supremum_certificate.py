"""The certificate of a supremum: an upper bound on the whole domain, and a witness below it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from gateproof.numerics import interval as iv
from gateproof.numerics.certificate import Bounds, Witness, range_certificate
from gateproof.numerics.cover import Cover
from gateproof.numerics.decimals import magnitude
from gateproof.numerics.ends import End
from gateproof.numerics.errors import NumericsError
from gateproof.numerics.precision import precision
from gateproof.numerics.problem import Problem
from gateproof.numerics.tailcut import find_cut
from gateproof.theory.exact.tails import grows_slowly
from gateproof.theory.formula.nodes import App

MAX_BOXES = 4_000
#: A checker refuses more than 2200.
MAX_BITS = 2_100


def certificate_of(
    problem: Problem, value: tuple[Fraction, Fraction], flipped: bool, digits: int, text: str
) -> dict[str, Any] | None:
    """A range certificate with the bound rounded up at as many digits as succeed; else None.

    ``flipped``: the problem is sup(-f) for an infimum of f, and the certificate is about f.
    """
    for places in dict.fromkeys((digits, min(digits, 15), min(digits, 8), 4)):
        bound = loose_bound(value[1], places)
        for limit in dict.fromkeys((_exact_limit(problem, value), bound)):
            if limit is not None:
                found = _attempt(problem, limit, flipped, text)
                if found is not None:
                    return found
    return None


def _exact_limit(problem: Problem, value: tuple[Fraction, Fraction]) -> Fraction | None:
    """The supremum itself, where it is a rational limit that is not reached."""
    exact = value[0] == value[1] and any(t.kind == "limit" for t in problem.tails)
    return value[1] if exact else None


def loose_bound(high: Fraction, digits: int) -> Fraction:
    """A decimal above ``high`` by at least half a unit of its last digit."""
    if high == 0:
        return Fraction(1, 10**digits)
    unit = Fraction(10) ** (magnitude(high) - digits + 1)
    return (-((-high) // unit) + 1) * unit


def _attempt(problem: Problem, bound: Fraction, flipped: bool, text: str) -> dict[str, Any] | None:
    body = problem.body
    bounds = Bounds(-bound if problem.folded else None, bound)
    if flipped:
        # sup(-f) <= b is f >= -b; the problem's body is neg(f), or f is neg(body).
        body = body.args[0] if isinstance(body, App) and body.head == "neg" else App("neg", (body,))
        bounds = Bounds(-bound, None)
    box = tuple(_outer(e) for e in problem.ends)
    beyond = max([Fraction(1), *map(abs, problem.kinks), *(abs(e) for e in box if e is not None)])
    cuts: list[Fraction | None] = [None, None]
    for i, side in enumerate("-+"):
        if box[i] is None:
            cut = find_cut(body, problem.var, side, bounds, beyond)
            if isinstance(cut, str) or grows_slowly(body, problem.var, side, max(beyond, cut)):
                return None
            cuts[i] = -cut if side == "-" else cut
    lo, hi = (b if b is not None else c for b, c in zip(box, cuts, strict=True))
    assert lo is not None
    assert hi is not None
    size = max(bound.numerator.bit_length(), bound.denominator.bit_length())
    bits = max(96, size + 48)
    if bits > MAX_BITS:
        return None
    cover = Cover(body, {problem.var: (lo, hi)}, bounds, bits, MAX_BOXES)
    with precision(bits):
        tree = cover.run()
        witness = _witness(problem, flipped)
    if tree is None:
        return None
    return range_certificate(
        body, {problem.var: (box[0], box[1])}, bounds, tree,
        cuts={problem.var: (cuts[0], cuts[1])}, bits=bits + 10, text=text,
        witnesses=[] if witness is None else [witness],
    )  # fmt: skip


def _outer(e: End) -> Fraction | None:
    return e.outer


def _witness(problem: Problem, flipped: bool) -> Witness | None:
    """The value of the certificate's formula at a short rational near the maximum."""
    if problem.witness is None:
        return None
    places = Fraction(10) ** (problem.digits + 2)
    x = Fraction(round(problem.witness * places), int(places))
    box = [_outer(e) for e in problem.ends]
    if (box[0] is not None and x < box[0]) or (box[1] is not None and x > box[1]):
        x = problem.witness
    try:
        low, high = problem.line.value(x)
    except NumericsError:
        return None
    if flipped:
        low, high = -high, -low
    if not (low.is_finite() and high.is_finite() and iv.moderate(low) and iv.moderate(high)):
        return None
    # Room for another program's rounding.
    slack = abs(iv.to_fraction(high)) / 2**70
    return Witness({problem.var: x}, iv.to_fraction(low) - slack, iv.to_fraction(high) + slack)
