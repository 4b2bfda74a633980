"""Proofs that no threshold gate of a family comes closer to a function than a bound.

``lower_bound(target, var, branches)`` bounds from below the infimum over sharpness t > 0, thresholds,
slopes and intercepts of sup over R of |gate - f|, for gates of two or three branches with one
sharpness, and with it the error of the hard gate. The mathematics stands in
:mod:`gateproof.numerics.lower_bound_family`: for fixed t all other parameters are linear, so branch
and bound runs over t in [0, oo) alone, and a leaf is an interval of t with witnesses and weights.

The certificate (``kind`` 'parameter-lower-bound') is JSON with exact rationals as "p/q":

    kind, version    'parameter-lower-bound', 1
    text             the target as it was written, for people; 'with w*x + c for x: ...' where the core is
                     that of f(w x + c): a family of gates is the same for both, up to its names
    core             the target as a core expression (theory.formula.serial)
    formula_hash     of ``core``
    variable         its variable
    family           {"branches": 2 | 3, "sharpness": "shared", "theta": "p/q" | null (free),
                      "left": {"slope", "intercept", "free": bool}, "right": {the same}}:
                     ``slope`` and ``intercept`` of the target's asymptote at each end; ``free`` if
                     the gate's intercept there is free. Where it is not, ``intercept`` is the
                     gate's. The slopes are those of every gate with a finite error.
    bits             of the balls that it was checked with
    bound            "p/q": every such gate has sup error > bound
    tree             ["split", "p/q", TREE, TREE]: t below and above; or
                     ["leaf", [["x", "v"], ...]]: witnesses and weights for the whole interval.
                     The root is [0, oo); at most 60 deep.

To check it: that the target has the asymptotes at both ends; then at each leaf, with three
branches that sum v = sum v x = 0; and the rows of :mod:`gateproof.numerics.lower_bound_family`, each
by the chord rule or, on the last interval, by the dominant term.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from gateproof.numerics.certificate import head, ratio
from gateproof.numerics.errors import NumericsError
from gateproof.numerics.lower_bound_family import End, Family
from gateproof.numerics.lower_bound_optimum import optimum
from gateproof.numerics.lower_bound_points import Target
from gateproof.numerics.lower_bound_search import Search, Tree
from gateproof.numerics.lower_bound_units import Units, units_of
from gateproof.numerics.precision import precision
from gateproof.theory.asymptotes import Asymptote, asymptote
from gateproof.theory.formula.nodes import Expr
from gateproof.theory.formula.printer import to_text

#: Bits of the balls; boxes looked at by default.
BITS, MAX_BOXES = 128, 4_000
#: Errors below it are not looked into.
SMALLEST = 1e-9
#: Relative distances from the optimum, as powers of ten, that are proved one after the other.
_LADDER = (1, 3, 6, 9, 12)


@dataclass(frozen=True)
class LowerBound:
    """``value`` < sup error of every gate of the family; None where nothing was proved (``reason``).

    ``optimum`` is the least error found, near ``sharpness``: a float estimate, proved by nothing.
    ``leaves`` and ``evaluations`` (exponentials in balls) are those of the certificate; ``boxes`` and
    ``pivots`` those of the whole search. ``status`` is 'ok' (all digits asked for), 'budget' or 'unknown'.
    """

    status: str
    value: Fraction | None = None
    optimum: float | None = None
    sharpness: float | None = None
    leaves: int = 0
    evaluations: int = 0
    boxes: int = 0
    pivots: int = 0
    tree: Tree | None = None
    certificate: dict[str, Any] | None = None
    reason: str = ""


def family_of(
    target: Expr,
    var: str,
    branches: int,
    *,
    left: Fraction | None = None,
    right: Fraction | None = None,
    theta: Fraction | None = None,
) -> Family | str:
    """The family of gates for a core expression, or why there is none.

    ``left`` and ``right`` are the intercepts of the outer branches where they are given, ``theta`` the
    threshold of two branches. The outer slopes are the target's: others have an infinite error.
    """
    ends = []
    for side, given in (("-", left), ("+", right)):
        line, units = asymptote(target, var, side), Units()
        if not isinstance(line, Asymptote):
            units = units_of(target, var)
            line = asymptote(units.inner(target, var), var, side)
        if not isinstance(line, Asymptote):
            return f"no asymptote of the function is known at {side}oo"
        if not isinstance(line.slope, Fraction) or not isinstance(line.intercept, Fraction):
            return f"the asymptote at {side}oo has irrational coefficients"
        slope, intercept = units.line(line.slope, line.intercept)
        ends.append(End(slope, intercept if given is None else given, given is None))
    return Family(branches, ends[0], ends[1], theta)


@lru_cache(maxsize=64)
def lower_bound(
    target: Expr,
    var: str,
    branches: int,
    *,
    digits: int = 4,
    left: Fraction | None = None,
    right: Fraction | None = None,
    theta: Fraction | None = None,
    boxes: int = MAX_BOXES,
) -> LowerBound:
    """A lower bound within a relative 10**-digits of the optimum, or as close as ``boxes`` allows.

    The target is a core expression in ``var``, continuous on R (the caller sees to that where the
    hard gate matters). More boxes never give a smaller bound.
    """
    family = family_of(target, var, branches, left=left, right=right, theta=theta)
    if isinstance(family, str):
        return LowerBound("unknown", reason=family)
    return _in_units(target, var, family, lambda points, inner, _: _climb(points, inner, digits, boxes))


def prove(target: Expr, var: str, family: Family, bound: Fraction, boxes: int = MAX_BOXES) -> LowerBound:
    """Whether every gate of the family has a sup error above ``bound``; status 'unknown' where not proved."""

    def searched(points: Target, inner: Family, height: Fraction) -> LowerBound:
        search = Search(points, inner, bound / height, boxes)
        return _record(search, search.run())

    return _in_units(target, var, family, searched)


def _in_units(
    target: Expr, var: str, family: Family, work: Callable[[Target, Family, Fraction], LowerBound]
) -> LowerBound:
    """What ``work`` finds of the target as it stands, or in its own units where that gives less."""
    best, own = LowerBound("unknown"), units_of(target, var)
    for units in dict.fromkeys((Units(), own) if own.near else (own,)):
        found = _with_document(target, var, family, units, work)
        if best.value is None or (found.value is not None and found.value > best.value):
            best = found
        if best.status == "ok":
            break
    return best


def _with_document(
    target: Expr,
    var: str,
    family: Family,
    units: Units,
    work: Callable[[Target, Family, Fraction], LowerBound],
) -> LowerBound:
    inner = units.into(family)
    with precision(BITS):
        try:
            found = work(Target(units.inner(target, var), var), inner, units.height)
        except NumericsError as error:
            return LowerBound("unknown", reason=str(error) or type(error).__name__)
    if found.optimum is not None and found.sharpness is not None:
        least, sharpness = found.optimum * float(units.height), found.sharpness / float(units.width)
        found = replace(found, optimum=least, sharpness=sharpness)
    if found.value is None or found.tree is None:
        return found
    value, tree = found.value * units.height, units.tree(found.tree)
    about, text = units.placed(target, var), units.text(to_text(target), var)
    document = _document(units.out_of(inner), value, tree, about, var, text)
    return replace(found, value=value, tree=tree, certificate=document)


def _climb(points: Target, family: Family, digits: int, boxes: int) -> LowerBound:
    """Ever closer bounds until the digits or the boxes are used up."""
    found = optimum(points, family, digits)
    if found is None:
        return LowerBound("unknown", reason="no gate was found to start from")
    least, sharpness, pivots = found
    best = LowerBound("unknown", None, least, sharpness, reason="boxes")
    if least < SMALLEST:
        return replace(best, reason=f"a gate was found within {SMALLEST:g}, which floats do not tell from 0")
    used = 0
    for step in (*(k for k in _LADDER if k < digits), digits):
        bound = _short(Fraction(least) * (1 - Fraction(1, 10**step)))
        search = Search(points, family, bound, boxes - used)
        tree = search.run()
        used, pivots = used + search.boxes, pivots + search.pivots
        status = "ok" if step == digits else "budget"
        if tree is None:
            return replace(best, boxes=used, pivots=pivots, reason=search.reason)
        best = replace(
            _record(search, tree),
            status=status,
            optimum=least,
            sharpness=sharpness,
            boxes=used,
            pivots=pivots,
        )
    return best


def _record(search: Search, tree: Tree | None) -> LowerBound:
    if tree is None:
        return LowerBound("unknown", boxes=search.boxes, pivots=search.pivots, reason=search.reason)
    return LowerBound(
        "ok",
        search.bound,
        leaves=search.leaves,
        evaluations=search.evaluations,
        boxes=search.boxes,
        pivots=search.pivots,
        tree=tree,
    )


def _short(value: Fraction) -> Fraction:
    """A decimal of 17 digits or so just below the value."""
    scale = 10**17
    while value * scale < 10**16:
        scale *= 10
    return Fraction(value * scale // 1, scale)


def _document(
    family: Family, bound: Fraction, tree: Tree, target: Expr, var: str, text: str
) -> dict[str, Any]:
    def end(e: End) -> dict[str, Any]:
        return {"slope": ratio(e.slope), "intercept": ratio(e.intercept), "free": e.free}

    return {
        **head("parameter-lower-bound", target, text, BITS),
        "variable": var,
        "family": {
            "branches": family.branches,
            "sharpness": "shared",
            "theta": None if family.theta is None else ratio(family.theta),
            "left": end(family.left),
            "right": end(family.right),
        },
        "bound": ratio(bound),
        "tree": tree,
    }
