"""Branch and bound over several names: boxes on each of which interval evaluation proves the bounds."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from gateproof.numerics.ball import compiled
from gateproof.numerics.certificate import Bounds, Tree, ratio
from gateproof.numerics.errors import MaybeUndefined, Undefined
from gateproof.numerics.forms import outer
from gateproof.numerics.search import breaks
from gateproof.numerics.special import special_points
from gateproof.theory.formula.nodes import Expr

Ends = tuple[Fraction, Fraction]
#: More splits of one box than this mean that the bound is touched, or nearly so.
LEVELS = 400


class Cover:
    """One attempt at one precision (flint's current one when ``run`` is called).

    After ``run``: ``boxes`` looked at; ``suspect``, a point that seems to break the
    bounds or to have no value; ``stuck``, the box that could not be decided; ``reason``.
    """

    def __init__(self, expr: Expr, box: Mapping[str, Ends], bounds: Bounds, bits: int, boxes: int) -> None:
        self.expr, self.box, self.bounds, self.bits = expr, dict(box), bounds, bits
        self.natural_run = compiled(expr)
        self.limit = boxes
        self.boxes = 0
        self.suspect: dict[str, Fraction] | None = None
        self.stuck: dict[str, Ends] | None = None
        self.reason = ""
        self.kinks = {n: special_points(expr, n) for n in box}
        self.scale = {n: max(abs(lo), abs(hi), hi - lo) for n, (lo, hi) in box.items()}

    def run(self) -> Tree | None:
        """The finished tree, or None."""
        root: Tree = []
        # Depth first, so that what cannot be decided is met after few boxes.
        stack: list[tuple[dict[str, Ends], Tree, int]] = [(self.box, root, 0)]
        while stack:
            box, node, depth = stack.pop()
            if self.boxes >= self.limit:
                self.reason = "boxes"
                return None
            self.boxes += 1
            rule = self._rule(box)
            if self.suspect is not None:
                self.reason = f"near {self._place(box)}"
                return None
            if rule is not None:
                node[:] = ["leaf", rule]
                continue
            where = self._split(box)
            if where is None or depth > LEVELS:
                self.stuck = box
                self.reason = self._why(box)
                return None
            name, at = where
            lo, hi = box[name]
            left: Tree = []
            right: Tree = []
            node[:] = ["split", name, ratio(at), left, right]
            stack.append(({**box, name: (at, hi)}, right, depth + 1))
            stack.append(({**box, name: (lo, at)}, left, depth + 1))
        return root

    def _rule(self, box: dict[str, Ends]) -> str | None:
        """The rule that proves the bounds on the box."""
        try:
            value = self.natural_run({n: outer(*e) for n, e in box.items()})
        except Undefined:
            self.suspect = {n: (lo + hi) / 2 for n, (lo, hi) in box.items()}
            return None
        except MaybeUndefined:
            return None
        if not (value[0].is_finite() or value[1].is_finite()):
            return None
        kept = breaks(value, self.bounds)
        if kept:
            self.suspect = {n: (lo + hi) / 2 for n, (lo, hi) in box.items()}
        return "natural" if kept is False else None

    def _split(self, box: dict[str, Ends]) -> tuple[str, Fraction] | None:
        """A kink inside the box, else the middle of its relatively widest side; None if it is tiny."""
        for name, (lo, hi) in box.items():
            for kink in self.kinks[name]:
                if lo < kink < hi:
                    return name, kink
        name = max(box, key=lambda n: (box[n][1] - box[n][0]) / (self.scale[n] or 1))
        lo, hi = box[name]
        if hi - lo <= self.scale[name] / 2 ** (self.bits * 3 // 4):
            return None
        return name, split_point(lo, hi)

    def _why(self, box: dict[str, Ends]) -> str:
        try:
            self.natural_run({n: outer(*e) for n, e in box.items()})
        except (Undefined, MaybeUndefined) as error:
            return f"may be undefined ({error.where}) near {self._place(box)}"
        return f"touches the bound near {self._place(box)}"

    def _place(self, box: dict[str, Ends]) -> str:
        return ", ".join(f"{n}={float((lo + hi) / 2):.12g}" for n, (lo, hi) in box.items())


def split_point(lo: Fraction, hi: Fraction) -> Fraction:
    """A dyadic number with few bits in the middle third of the interval."""
    width = hi - lo
    exponent = width.numerator.bit_length() - width.denominator.bit_length() - 3
    unit = Fraction(2) ** exponent
    return round((lo + hi) / 2 / unit) * unit
