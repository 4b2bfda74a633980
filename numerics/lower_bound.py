"""Proofs that no threshold gate of a family comes closer to a function than a bound.

``lower_bound(target, var, branches)`` bounds from below the infimum over sharpness t > 0, thresholds,
slopes and intercepts of sup over R of |gate - f|, for gates of two or three branches with one
sharpness, and with it the error of the hard gate. The mathematics stands in
:mod:`gateproof.numerics.lower_bound_family`: for fixed t all other parameters are linear, so branch
and bound runs over t in [0, oo) alone, and a leaf is an interval of t with witnesses and weights.

The certificate (``kind`` 'parameter-lower-bound') is JSON with exact rationals as "p/q":

    kind, version    'parameter-lower-bound', 1
    text             the target as it was written, for people
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
                     The root is [0, oo); at most MAX_DEPTH deep.

To check it: that the target has the asymptotes at both ends; then at each leaf, with three
branches that sum v = sum v x = 0; and the rows of :mod:`gateproof.numerics.lower_bound_family`, each
by the chord rule or, on the last interval, by the dominant term.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from gateproof.numerics.certificate import head, ratio
from gateproof.numerics.errors import NumericsError
from gateproof.numerics.lower_bound_family import End, Family, excludes
from gateproof.numerics.lower_bound_far import far_weights
from gateproof.numerics.lower_bound_optimum import optimum
from gateproof.numerics.lower_bound_points import Target, exact_weights
from gateproof.numerics.lower_bound_weights import Programme
from gateproof.numerics.precision import precision
from gateproof.theory.asymptotes import Asymptote, asymptote
from gateproof.theory.formula.nodes import Expr
from gateproof.theory.formula.printer import to_text

#: Bits of the balls; halvings of a box; boxes looked at by default.
BITS, MAX_DEPTH, MAX_BOXES = 128, 60, 4_000
#: Errors below it are not looked into.
SMALLEST = 1e-9
#: Relative distances from the optimum, as powers of ten, that are proved one after the other.
_LADDER = (1, 3, 6, 9, 12)

Tree = list[Any]
Points = tuple[float, ...]


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
        line = asymptote(target, var, side)
        if not isinstance(line, Asymptote):
            return f"no asymptote of the function is known at {side}oo"
        if not isinstance(line.slope, Fraction) or not isinstance(line.intercept, Fraction):
            return f"the asymptote at {side}oo has irrational coefficients"
        ends.append(End(line.slope, line.intercept if given is None else given, given is None))
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
    with precision(BITS):
        try:
            return _climb(Target(target, var), family, digits, boxes, (target, var))
        except NumericsError as error:
            return LowerBound("unknown", reason=str(error) or type(error).__name__)


def prove(target: Expr, var: str, family: Family, bound: Fraction, boxes: int = MAX_BOXES) -> LowerBound:
    """Whether every gate of the family has a sup error above ``bound``; status 'unknown' where not proved."""
    with precision(BITS):
        try:
            search = _Search(Target(target, var), family, bound, boxes)
            return _record(search, search.run(), (target, var))
        except NumericsError as error:
            return LowerBound("unknown", reason=str(error) or type(error).__name__)


def _climb(points: Target, family: Family, digits: int, boxes: int, target: tuple[Expr, str]) -> LowerBound:
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
        search = _Search(points, family, bound, boxes - used)
        tree = search.run()
        used, pivots = used + search.boxes, pivots + search.pivots
        status = "ok" if step == digits else "budget"
        if tree is None:
            return replace(best, boxes=used, pivots=pivots, reason=search.reason)
        best = replace(
            _record(search, tree, target),
            status=status,
            optimum=least,
            sharpness=sharpness,
            boxes=used,
            pivots=pivots,
        )
    return best


def _record(search: _Search, tree: Tree | None, target: tuple[Expr, str]) -> LowerBound:
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
        certificate=_document(search.family, search.bound, tree, *target),
    )


def _short(value: Fraction) -> Fraction:
    """A decimal of 17 digits or so just below the value."""
    scale = 10**17
    while value * scale < 10**16:
        scale *= 10
    return Fraction(value * scale // 1, scale)


class _Search:
    """Depth first from t = 0 up, for one bound."""

    def __init__(self, target: Target, family: Family, bound: Fraction, boxes: int) -> None:
        self.target, self.family, self.bound, self.limit = target, family, bound, boxes
        self.boxes = self.leaves = self.evaluations = self.pivots = 0
        self.reason = ""

    def run(self) -> Tree | None:
        """The tree of the whole half-line; None with a reason where a box resists."""
        return self._prove(Fraction(0), None, (), 0)

    def _prove(self, low: Fraction, high: Fraction | None, extra: Points, depth: int) -> Tree | None:
        if high is None and low == 0:
            return self._split(low, high, extra, depth)
        self.boxes += 1
        if self.boxes > self.limit:
            self.reason = "boxes"
            return None
        leaf, active, hopeless = self._leaf(low, high, extra)
        if leaf is not None:
            return leaf
        if depth >= MAX_DEPTH:
            self.reason = "a box too small to be split"
            return None
        if hopeless and high is not None and self._reached((low + high) / 2, active):
            self.reason = f"a gate of sharpness {float((low + high) / 2):.6g} seems to be as close"
            return None
        return self._split(low, high, active, depth)

    def _split(self, low: Fraction, high: Fraction | None, extra: Points, depth: int) -> Tree | None:
        at = 2 * low + (low == 0) if high is None else (low + high) / 2
        below = self._prove(low, at, extra, depth + 1)
        if below is None:
            return None
        above = self._prove(at, high, extra, depth + 1)
        return None if above is None else ["split", ratio(at), below, above]

    def _leaf(self, low: Fraction, high: Fraction | None, extra: Points) -> tuple[Tree | None, Points, bool]:
        """The leaf if the box is one, witnesses for its halves, and whether a gate stands against it."""
        known = self._checked(low, high, self.target.crossing(self.family))
        if known is None and high is None:
            known = self._far(low)
        if known is not None:
            return known, (), False
        # Weights that work at the start of the half-line work further out: the outermost witnesses take over.
        ends = (float(low),) if high is None else (float(low), float(high))
        found = Programme(self.family, self.target, ends, extra).solve(float(self.bound))
        if found is None:
            return None, extra, False
        self.pivots += found.pivots
        if found.game.value > 0:
            leaf = self._checked(low, high, found.weights)
            if leaf is not None:
                return leaf, (), False
        return None, found.active, found.hopeless

    def _far(self, low: Fraction) -> Tree | None:
        """The leaf of a half-line by weights made for it."""
        for proposed in far_weights(self.family, self.target, float(low), float(self.bound)):
            leaf = self._checked(low, None, proposed)
            if leaf is not None:
                return leaf
        return None

    def _checked(
        self, low: Fraction, high: Fraction | None, found: Sequence[tuple[float, float]]
    ) -> Tree | None:
        """The leaf of weights that exclude the box."""
        weights = exact_weights(self.family, self.target, found)
        self.evaluations += 2 * len(weights) * len(self.family.modes)
        if not excludes(self.family, self.bound, low, high, weights):
            return None
        self.leaves += 1
        return ["leaf", [[ratio(w.x), ratio(w.weight)] for w in weights]]

    def _reached(self, at: Fraction, extra: Points) -> bool:
        """Whether by floats some gate of one sharpness is within the bound: no box around it is provable."""
        found = Programme(self.family, self.target, (float(at),), extra).solve(float(self.bound))
        if found is None:
            return False
        self.pivots += found.pivots
        return found.hopeless


def _document(family: Family, bound: Fraction, tree: Tree, target: Expr, var: str) -> dict[str, Any]:
    def end(e: End) -> dict[str, Any]:
        return {"slope": ratio(e.slope), "intercept": ratio(e.intercept), "free": e.free}

    return {
        **head("parameter-lower-bound", target, to_text(target), BITS),
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
