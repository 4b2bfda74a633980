"""Branch and bound over boxes of places: each box is outside of the scope, bounded, few points, or cut."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gmpy2 import mpq

from gateproof.proofs_check.floating.bounds import Box
from gateproof.proofs_check.floating.exhaustive import Judge
from gateproof.proofs_check.floating.polynomial import UnknownError
from gateproof.proofs_check.floating.program import UndefinedError
from gateproof.proofs_check.floating.space import Places, Space
from gateproof.theory.formula.nodes import In, Stmt

#: Points of a box that are tried one by one, and of all such boxes together.
FEW, MANY = 32, 1 << 17
Point = tuple[int, ...]


@dataclass(frozen=True)
class Cover:
    """The tree of boxes, None where the budget ended; or the place at which it fails or has no value."""

    tree: Any = None
    boxes: int = 0
    fails: Point | None = None
    undefined: Point | None = None
    reason: str = ""
    #: Whether no point meets the conditions for sure.
    empty: bool = False


class Branching:
    """The search for a tree that covers a space."""

    def __init__(self, space: Space, claim: Stmt, budget: int) -> None:
        self.space, self.claim, self.left, self.points = space, claim, budget, MANY
        self.judge = Judge(space, claim)
        self.boxes, self.within = 0, False
        self.found: Cover | None = None

    def run(self) -> Cover:
        """Cover the space, or say what ended it."""
        root: list[Any] = [None]
        todo: list[tuple[tuple[Places, ...], list[Any], int]] = [(self.space.box, root, 0)]
        while todo:
            box, parent, slot = todo.pop()
            if self.left <= 0 or self.points <= 0:
                return Cover(boxes=self.boxes)
            self.left -= 1
            self.boxes += 1
            rule = self.rule(box)
            if self.found is not None:
                return self.found
            if rule is not None:
                parent[slot] = ["leaf", rule]
                self.within |= rule == "bounds"
                continue
            k, cut = _cut(box)
            lo, hi = box[k]
            node = ["split", self.space.names[k], str(self.space.format.number(cut)), None, None]
            parent[slot] = node
            todo.append(((*box[:k], (cut + 1, hi), *box[k + 1 :]), node, 4))
            todo.append(((*box[:k], (lo, cut), *box[k + 1 :]), node, 3))
        return Cover(root[0], self.boxes, empty=not self.within)

    def rule(self, box: tuple[Places, ...]) -> str | None:
        """How the box is decided; None where it is to be cut."""
        form = self.space.format
        ends = [(mpq(form.number(lo)), mpq(form.number(hi))) for lo, hi in box]
        work = Box(form, self.space.names, ends)
        try:
            if self._outside(work):
                return "outside"
            if work.holds(self.claim):
                return "bounds"
        except UnknownError:
            pass
        part = self.space.within(box)
        count = part.count
        if count > FEW:
            return None
        self.points -= count
        return self._tried(part)

    def _outside(self, work: Box) -> bool:
        """Whether a condition fails all over the box, and those before it have values there."""
        for condition in self.space.conditions:
            if not isinstance(condition, In) and work.holds(condition, wanted=False):
                return True
        return False

    def _tried(self, part: Space) -> str:
        for at in part.places():
            try:
                holds = self.judge.at(at)
            except UndefinedError as error:
                self.found = Cover(boxes=self.boxes, undefined=at, reason=str(error))
                break
            self.within |= holds is not None
            if holds is False:
                self.found = Cover(boxes=self.boxes, fails=at)
        return "points"


def _cut(box: tuple[Places, ...]) -> tuple[int, int]:
    """The name of most places, and the last place of its lower part, below a round number in the middle."""
    k = max(range(len(box)), key=lambda j: box[j][1] - box[j][0])
    lo, hi = box[k]
    quarter = (hi - lo) // 4
    first, last = lo + quarter, hi - quarter
    if first <= 0 <= last:
        return (k, -1) if lo < 0 else (k, 0)
    # The place in the middle half with the most zeros at its end; powers of 2 are places of 2^(p-1) j.
    step = 1
    while last // (2 * step) * 2 * step >= max(first, lo + 1):
        step *= 2
    middle = (lo + hi) // 2
    found = min((j for j in _multiples(step, max(first, lo + 1), last)), key=lambda j: abs(j - middle))
    return k, found - 1


def _multiples(step: int, first: int, last: int) -> list[int]:
    start = -(-first // step) * step
    return list(range(start, last + 1, step))
