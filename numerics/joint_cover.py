"""A tree of boxes in several variables on which bounds are proved, refined as the bounds come closer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from flint import arb

from gateproof.numerics import interval as iv
from gateproof.numerics.certificate import Tree, ratio
from gateproof.numerics.cover import split_point
from gateproof.numerics.decided import bends
from gateproof.numerics.errors import NumericsError
from gateproof.numerics.joint_rules import Attempt, Box, Ends, Rules


@dataclass
class Leaf:
    """A proved box: its node in the tree, and what is proved there for sign * f."""

    box: Box
    node: Tree
    tops: dict[int, arb]
    rules: dict[int, Any]


class JointCover:
    """sign * f <= bounds[sign] on a box for the signs given, by branch and bound.

    ``reach`` may be called with falling bounds; boxes that are good enough stay. After a call that
    returned False: ``reason``, and ``suspect``, a point (sign, place) where the bound seems broken.
    """

    def __init__(self, rules: Rules, box: Box, signs: tuple[int, ...]) -> None:
        self.rules, self.signs = rules, signs
        self.root: Tree = []
        self.leaves: list[Leaf] = []
        self.todo: list[Leaf] = [Leaf(box, self.root, dict.fromkeys(signs, iv.INF), {})]
        self.boxes = 0
        self.reason = ""
        self.suspect: tuple[int, dict[str, Fraction]] | None = None
        self.centres: list[dict[str, Fraction]] = []
        self.kinks = {n: bends(rules.expr, n) for n in box}
        self.scale = {n: hi - lo or Fraction(1) for n, (lo, hi) in box.items()}

    def reach(self, bounds: Mapping[int, arb], limit: int) -> bool:
        """Prove the bounds on every box; the tree is whole only if that succeeds."""
        self.suspect = None

        def good(leaf: Leaf) -> bool:
            return all(top < bounds[sign] for sign, top in leaf.tops.items())

        self.todo += [leaf for leaf in self.leaves if not good(leaf)]
        self.leaves = [leaf for leaf in self.leaves if good(leaf)]
        while self.todo:
            if self.boxes >= limit:
                self.reason = "boxes"
                return False
            leaf = self.todo.pop()
            self.boxes += 1
            stuck = self._try(leaf, bounds)
            if stuck is None:
                self.leaves.append(leaf)
                continue
            sign, attempt = stuck
            if attempt.point and self._broken(attempt.point, sign, bounds[sign]):
                self.suspect = sign, attempt.point
                self.todo.append(leaf)
                self.reason = "a larger value"
                return False
            parts = self._split(leaf, attempt)
            if parts is None:
                self.todo.append(leaf)
                self.reason = "a box too small to be split"
                return False
            self.todo += reversed(parts)
        return True

    def _try(self, leaf: Leaf, bounds: Mapping[int, arb]) -> tuple[int, Attempt] | None:
        """Prove what is not proved yet; None when all is."""
        for sign in self.signs:
            if leaf.tops[sign] < bounds[sign]:
                continue
            attempt = self.rules.attempt(leaf.box, sign, bounds[sign])
            if attempt.rule is None:
                return sign, attempt
            leaf.tops[sign], leaf.rules[sign] = attempt.top, attempt.rule
        leaf.node[:] = ["leaf", joined(leaf.rules)]
        return None

    def _broken(self, point: Mapping[str, Fraction], sign: int, bound: arb) -> bool:
        try:
            low, high = self.rules.value(point)
        except NumericsError:
            return False
        return bool((low if sign > 0 else iv.down(-high)) > bound)

    def _split(self, leaf: Leaf, attempt: Attempt) -> list[Leaf] | None:
        name, cuts = self._cuts(leaf.box, attempt)
        if name is None:
            return None
        lo, hi = leaf.box[name]
        ends = [lo, *cuts, hi]
        parts = []
        for a, b in pairwise(ends):
            node: Tree = []
            # What interval evaluation proves of a box it proves of its parts.
            plain = {s: r for s, r in leaf.rules.items() if r == "natural"}
            tops = {s: leaf.tops[s] if s in plain else iv.INF for s in self.signs}
            parts.append(Leaf({**leaf.box, name: (a, b)}, node, tops, plain))
        tree = parts[-1].node
        for part, cut in zip(reversed(parts[:-1]), reversed(cuts), strict=True):
            tree = ["split", name, ratio(cut), part.node, tree]
        leaf.node[:] = tree
        return parts

    def _cuts(self, box: Box, attempt: Attempt) -> tuple[str | None, list[Fraction]]:
        """The name to split and where: a kink, round the top of a Taylor form, or the widest in effect."""
        for name, (lo, hi) in box.items():
            for kink in self.kinks[name]:
                if lo < kink < hi:
                    return name, [kink]
        if attempt.vertex is not None:
            (name,) = attempt.open
            lo, hi = box[name]
            near = [c[name] for c in self.centres if lo < c[name] < hi]
            v = min(near, key=lambda c: abs(c - attempt.vertex), default=attempt.vertex)  # type: ignore[operator]
            r = min(v - lo, hi - v)
            if r > (hi - lo) / 8 and v != (lo + hi) / 2:
                return name, [c for c in (v - r, v + r) if lo < c < hi]
        names = attempt.open or tuple(n for n, e in box.items() if e[0] < e[1])
        if not names:
            return None, []
        name = max(names, key=lambda n: self._effect(n, box[n], attempt))
        lo, hi = box[name]
        if hi - lo <= self.scale[name] / 2**80:
            return None, []
        return name, [self._away(name, lo, hi)]

    def _effect(self, name: str, ends: Ends, attempt: Attempt) -> float:
        slope = attempt.slopes.get(name)
        wide = float(ends[1] - ends[0])
        if slope is None or not slope.is_finite():
            return 1e6 * wide
        return float(slope) * wide

    def _away(self, name: str, lo: Fraction, hi: Fraction) -> Fraction:
        """A cut that keeps clear of the known maxima."""
        inside = [c[name] for c in self.centres if lo <= c[name] <= hi]
        middle = split_point(lo, hi)
        if not inside:
            return middle
        options = (middle, split_point(lo, middle), split_point(middle, hi))
        clear = [min(abs(o - c) for c in inside) for o in options]
        return middle if clear[0] > (hi - lo) / 8 else options[clear.index(max(clear))]


def joined(rules: Mapping[int, Any]) -> Any:
    """One rule for the bounds claimed; 1 is the upper one, -1 the lower."""
    found = list(rules.values())
    return found[0] if all(r == found[0] for r in found) else ["bounds", rules[-1], rules[1]]
