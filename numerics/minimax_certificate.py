"""The certificate of a lower bound on a nested extremum: the boxes of the search, each with its witness.

``docs/certificates.md`` has the format ('parameter-lower-bound' with ``family`` null), for finite boxes. A
chart has its own formula and coordinates, so there is one document for each; that together they hold all
parameters is an argument in words (:mod:`gateproof.numerics.charts`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from flint import arb

from gateproof.numerics import interval as iv
from gateproof.numerics.certificate import head, ratio
from gateproof.numerics.charts import Chart
from gateproof.numerics.parameter_boxes import Box
from gateproof.theory.formula.printer import to_text

#: Bits for the checker; leaves beyond which no document is made.
BITS, MAX_LEAVES = 106, 4_000


class Cover:
    """The boxes looked at, by number: the best witness of each, or of the box that it comes from."""

    def __init__(self) -> None:
        self.roots: dict[int, int] = {}
        self.boxes: dict[int, tuple[Box, int | None]] = {}
        self.parts: dict[int, list[int]] = {}

    def root(self, chart: int, number: int, box: Box, best: Sequence[int]) -> None:
        """The whole of a chart."""
        self.roots[chart] = number
        self.boxes[number] = box, next(iter(best), None)

    def child(self, parent: int, number: int, box: Box, best: Sequence[int]) -> None:
        """A half of a box; without a better witness it has that of the whole."""
        self.parts.setdefault(parent, []).append(number)
        self.boxes[number] = box, next(iter(best), self.boxes[parent][1])

    def documents(
        self,
        charts: Sequence[Chart],
        witnesses: Sequence[Mapping[str, Fraction]],
        inner: tuple[str, ...],
        bound: Fraction,
    ) -> tuple[dict[str, Any], ...]:
        """One for each chart; none where a side is infinite, boxes are many, or one has no witness."""
        if not all(lo.is_finite() and hi.is_finite() for chart in charts for _, lo, hi in chart.box):
            return ()
        found = []
        for k, chart in enumerate(charts):
            tree = self._tree(self.roots[k], witnesses)
            if tree is None or len(self.boxes) > 2 * MAX_LEAVES:
                return ()
            found.append(
                {
                    **head("parameter-lower-bound", chart.body, to_text(chart.body), BITS),
                    "family": None,
                    "inner": list(inner),
                    "domain": {n: {"lo": _ratio(lo), "hi": _ratio(hi)} for n, lo, hi in chart.box},
                    "bound": ratio(bound),
                    "strict": False,
                    "tree": tree,
                }
            )
        return tuple(found)

    def _tree(self, number: int, witnesses: Sequence[Mapping[str, Fraction]]) -> list[Any] | None:
        """Without recursion: a search may go deep on one side."""
        made: dict[int, list[Any]] = {}
        todo = [number]
        while todo:
            here = todo[-1]
            halves = self.parts.get(here, [])
            if len(halves) == 1:
                return None
            waiting = [h for h in halves if h not in made]
            if waiting:
                todo += waiting
                continue
            todo.pop()
            box, best = self.boxes[here]
            if halves:
                below = self.boxes[halves[0]][0]
                name, cut = next(
                    (n, hi) for (n, _, hi), (_, _, old) in zip(below, box, strict=True) if hi != old
                )
                made[here] = ["split", name, _ratio(cut), *(made[h] for h in halves)]
            elif best is None:
                return None
            else:
                at = {n: ratio(v) for n, v in witnesses[best].items()}
                made[here] = ["leaf", ["at", at, "natural"]]
        return made[number]


def _ratio(x: arb) -> str:
    return ratio(iv.to_fraction(x))
