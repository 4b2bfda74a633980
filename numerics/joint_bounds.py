"""Bounds over several names, one of which may have an infinite range, by the rules of joint_rules.py."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from gateproof.numerics import interval as iv
from gateproof.numerics.certificate import Bounds, range_certificate
from gateproof.numerics.decided import bends
from gateproof.numerics.errors import NumericsError
from gateproof.numerics.joint_cover import JointCover
from gateproof.numerics.joint_rules import Rules
from gateproof.numerics.joint_tails import cut
from gateproof.numerics.precision import precision
from gateproof.theory.formula.nodes import Expr

Limits = Mapping[str, tuple[Fraction | None, Fraction | None]]
BITS, MAX_BOXES = 128, 3_000


def joint_bounds(expr: Expr, limits: Limits, bounds: Bounds, text: str = "") -> dict[str, Any] | str:
    """A certificate that the bounds hold on the closed box, or why none was found.

    Bounds that are reached are not found: every box needs a little room.
    """
    infinite = [n for n, ends in limits.items() if None in ends]
    if len(infinite) > 1:
        return "more than one infinite range"
    claimed = {s: b for s, b in ((1, bounds.upper), (-1, bounds.lower)) if b is not None}
    if not claimed:
        return "no bound"
    line = infinite[0] if infinite else next(iter(limits))
    try:
        with precision(BITS):
            cuts = _cuts(expr, limits, line, bounds)
            if isinstance(cuts, str):
                return f"tail: {cuts}"
            box: dict[str, tuple[Fraction, Fraction]] = {}
            for name, (lo, hi) in limits.items():
                left, right = cuts[0] if lo is None else lo, cuts[1] if hi is None else hi
                assert left is not None
                assert right is not None
                box[name] = left, right
            rules = Rules(expr, (*(n for n in limits if n != line), line))
            cover = JointCover(rules, box, tuple(claimed))
            if not cover.reach({s: iv.rational(s * b) for s, b in claimed.items()}, MAX_BOXES):
                return cover.reason
    except NumericsError as error:
        return str(error)
    return range_certificate(expr, limits, bounds, cover.root, cuts={line: cuts}, bits=BITS + 10, text=text)


def _cuts(
    expr: Expr, limits: Limits, line: str, bounds: Bounds
) -> tuple[Fraction | None, Fraction | None] | str:
    """Where the tails start on which the bounds hold; the reason where there are none."""
    fixed = {n: (a, b) for n, (a, b) in limits.items() if a is not None and b is not None and n != line}
    kinks = [abs(k) for k in bends(expr, line)]
    beyond = max([Fraction(1), *kinks, *(abs(e) for e in limits[line] if e is not None)])
    found: list[Fraction | None] = []
    for side, end in zip("-+", limits[line], strict=True):
        start = None if end is not None else cut(expr, line, side, fixed, bounds, beyond)
        if isinstance(start, str):
            return start
        found.append(-start if start is not None and side == "-" else start)
    return found[0], found[1]
