"""Extrema and inflections of a function of one variable, all of them, in certified enclosures.

On each smooth piece the zeros of f' (or f'') are found by exact algebra or isolated in balls;
between two neighbours the sign is constant and taken at one rational point. A zero counts
where the sign changes, so x**3 has no extremum and x**4 no inflection at 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from gateproof.numerics.points import enclosure
from gateproof.numerics.sign_profiles import Unknown, profile
from gateproof.theory.exact.domain import Domain
from gateproof.theory.exact.piecewise import Piece
from gateproof.theory.facts import Kink, kinks_of
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import Expr, Num
from gateproof.theory.periods import Period, period_of
from gateproof.theory.pieces import pieces_of
from gateproof.theory.undefined_parts import defined_parts, undefined_parts
from gateproof.theory.zeros import order, tidy


@dataclass(frozen=True)
class Landmark:
    """A point in [lo, hi] (``exact`` where it has a closed form).

    ``kind`` is 'max' or 'min' of a strict local extremum, 'convex' or 'concave' of an
    inflection for what f is on its right. ``smooth`` is False at a kink or jump.
    """

    lo: Fraction
    hi: Fraction
    exact: Expr | None
    kind: str
    smooth: bool = True


@dataclass(frozen=True)
class Landmarks:
    """All strict local extrema and all inflections inside of where f has values, ascending.

    With a ``period`` they are those of one window of its length: there are infinitely many.
    None where they were not all found, with the reason. An inflection asks for a tangent:
    at a kink of order 0 or a jump there is none.
    """

    extrema: tuple[Landmark, ...] | None
    inflections: tuple[Landmark, ...] | None
    period: Period | None = None
    reason: str = ""


def landmarks(
    expr: Expr,
    var: str = "x",
    digits: int = 15,
    lo: Expr | Fraction | None = None,
    hi: Expr | Fraction | None = None,
) -> Landmarks:
    """The landmarks of a core expression, to ``digits`` significant digits where they are not exact.

    ``lo`` and ``hi`` (None: infinite) are ends of an interval; what lies inside of it is listed, and
    an end is never an extremum.
    """
    missing = undefined_parts(expr, var)
    if missing is None:
        return Landmarks(None, None, reason="where the function has values was not determined")
    inside = Domain(None if lo is None else tidy(_expr(lo)), None if hi is None else tidy(_expr(hi)))
    period = period_of(expr, var) if not missing and inside == Domain() else None
    results: list[tuple[Landmark, ...] | None] = []
    reasons: list[str] = []
    for which in (1, 2):
        try:
            found: list[Landmark] = []
            for whole in defined_parts(missing):
                part = _common(whole, inside)
                if part is not None:
                    found += _on_part(expr, var, part, which, digits, period)
            results.append(tuple(found))
        except Unknown as reason:
            results.append(None)
            reasons.append(str(reason))
    return Landmarks(results[0], results[1], period, "; ".join(dict.fromkeys(reasons)))


def _common(a: Domain, b: Domain) -> Domain | None:
    """What two open intervals share; None where that is nothing."""
    lo, hi = _inner(a.lo, b.lo, 1), _inner(a.hi, b.hi, -1)
    if lo is not None and hi is not None:
        found = order(lo, hi)
        if found is None:
            raise Unknown("ends of intervals were not compared")
        if found >= 0:
            return None
    return Domain(lo, hi)


def _inner(a: Expr | None, b: Expr | None, side: int) -> Expr | None:
    """The larger of two lower ends (side 1), or the smaller of two upper ones."""
    if a is None or b is None:
        return a if b is None else b
    found = order(a, b)
    if found is None:
        raise Unknown("ends of intervals were not compared")
    return a if found * side >= 0 else b


def _on_part(
    expr: Expr, var: str, part: Domain, which: int, digits: int, period: Period | None
) -> list[Landmark]:
    pieces = pieces_of(expr, var, part)
    kinks = kinks_of(expr, var, part)
    if pieces is None or kinks is None:
        raise Unknown("the kinks were not placed")
    if period is not None and len(pieces) > 1:
        raise Unknown("a periodic function with kinks")
    profiles = [profile(p, var, which, digits, period) for p in pieces]
    found: list[Landmark] = []
    for i, (piece, signed) in enumerate(zip(pieces, profiles, strict=True)):
        for zero, (before, after) in zip(signed.zeros, pairwise(signed.signs), strict=True):
            if before * after < 0:
                found.append(Landmark(zero.lo, zero.hi, zero.exact, _kind(which, after)))
        if i + 1 < len(pieces):
            ends = (piece, pieces[i + 1]), (signed.signs[-1], profiles[i + 1].signs[0])
            found += _at_cut(expr, var, ends[0], ends[1], kinks, which)
    return found


def _kind(which: int, after: int) -> str:
    if which == 1:
        return "min" if after > 0 else "max"
    return "convex" if after > 0 else "concave"


def _at_cut(
    expr: Expr,
    var: str,
    sides: tuple[Piece, Piece],
    signs: tuple[int, int],
    kinks: Sequence[Kink],
    which: int,
) -> list[Landmark]:
    """A landmark where two pieces meet."""
    at = sides[0].domain.hi
    assert at is not None
    kink = next((k for k in kinks if order(_expr(k.at), at) == 0), None)
    lo, hi = enclosure(at)
    smooth = kink is None
    if which == 2:
        if signs[0] * signs[1] < 0 and (kink is None or kink.order >= 1):
            return [Landmark(lo, hi, at, _kind(2, signs[1]), smooth)]
        return []
    here = substitute(expr, {var: at})
    left, right = (order(substitute(p.expr, {var: at}), here) for p in sides)
    if left is None or right is None:
        raise Unknown("values at a cut were not compared")
    # A value beside the point lies above (1) or below (-1) the one at it: by the jump, else by the slope.
    beside = left or -signs[0], right or signs[1]
    if beside[0] * beside[1] > 0:
        return [Landmark(lo, hi, at, "min" if beside[0] > 0 else "max", smooth)]
    return []


def _expr(at: Fraction | Expr) -> Expr:
    return at if isinstance(at, Expr) else Num(at)
