"""Branch and bound over the sharpness t in [0, oo) for one bound (:mod:`...numerics.lower_bound`)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from gateproof.numerics.certificate import ratio
from gateproof.numerics.lower_bound_family import Family, excludes
from gateproof.numerics.lower_bound_far import far_weights
from gateproof.numerics.lower_bound_points import Target, exact_weights
from gateproof.numerics.lower_bound_weights import Programme

#: Halvings of a box.
MAX_DEPTH = 60

Tree = list[Any]
Points = tuple[float, ...]


class Search:
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
