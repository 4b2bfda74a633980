"""The kind ``floating``: a claim holds at all numbers of a format in a box that meet its conditions."""

from __future__ import annotations

from collections import Counter
from itertools import product
from math import prod
from typing import Any

from gmpy2 import mpq

from gateproof.proofs_check.checker.algebra import Rejected
from gateproof.proofs_check.checker.bounded import Bounded
from gateproof.proofs_check.checker.boxes import BITS, MAX_LEAVES, MAX_WORK, Verdict, fields, need
from gateproof.proofs_check.checker.evaluate import rational
from gateproof.proofs_check.checker.points import Points
from gateproof.proofs_check.checker.rounded import exponent, power_of_two

MAX_POINTS = 1 << 21
Box = dict[str, tuple[Any, Any]]


class Floating:
    """A certificate of one claim: a tree of boxes, on each of which the claim is checked by a rule."""

    def __init__(self, document: Any, spent: Counter[str]) -> None:
        keys = "kind version text format bits domain conditions claim tree"
        _, _, text, name, bits, domain, conditions, claim, self.tree = fields(
            document, keys, "the certificate"
        )
        need(isinstance(text, str), "text is not a text")
        need(type(bits) is int and bits in BITS, f"bits is not in {BITS}")
        need(
            isinstance(domain, dict) and isinstance(conditions, list),
            "no object domain, or no list conditions",
        )
        self.spent = spent
        self.points = Points(name, domain, bits)
        self.box: Box = {}
        for variable, ends in domain.items():
            need(variable.isidentifier() and len(variable) < 60, "a name in the domain is not a name")
            lo, hi = map(rational, fields(ends, "lo hi", f"the domain of {variable}"))
            need(
                lo <= hi and self.is_number(lo) and self.is_number(hi),
                f"the ends of {variable} are not in order",
            )
            self.box[variable] = lo, hi
        self.conditions = [self.points.truth(c, self.points.exact) for c in conditions]
        # Of a name that must be whole only whole numbers count.
        self.whole = {c[1][1] for c in conditions if c[0] == "whole" and c[1][0] == "var"}
        self.trees = [*conditions, claim]
        self.claim = self.points.truth(claim, self.points.exact)

    def is_number(self, q: Any) -> bool:
        """Whether a rational is a finite number of the format."""
        return q == 0 or (exponent(q) <= self.points.highest and (q / self.unit(q)).denominator == 1)

    def unit(self, q: Any) -> Any:
        """The distance from a number of the format to the next one away from 0."""
        return self.points.unit(q)

    def next(self, q: Any) -> Any:
        """The number above one of the format."""
        if q >= 0:
            return q + self.unit(q)
        # From -2^e on numbers are denser.
        dense = -q == power_of_two(exponent(q)) and self.unit(q) > power_of_two(self.points.least)
        return q + (self.unit(q) / 2 if dense else self.unit(q))

    def check(self) -> str:
        """The tree must cover the box."""
        todo, checked = [(self.tree, self.box)], 0
        while todo:
            tree, box = todo.pop()
            match tree:
                case ["leaf", rule]:
                    self.spent["boxes"] += 1
                    need(self.spent["boxes"] <= MAX_LEAVES, f"more than {MAX_LEAVES} boxes")
                    checked += self.located(rule, box)
                case ["split", str(name), at, left, right] if name in box:
                    (lo, hi), cut = box[name], rational(at)
                    need(lo <= cut < hi and self.is_number(cut), f"a split of {name} is not inside its box")
                    todo += [(left, {**box, name: (lo, cut)}), (right, {**box, name: (self.next(cut), hi)})]
                case _:
                    raise Rejected(f"not a tree of boxes: {tree!r:.60}")
        return f"boxes, {checked} points checked"

    def located(self, rule: Any, box: Box) -> int:
        """Judge a leaf, and say where it is if it is rejected."""
        try:
            return self.leaf(rule, box)
        except Rejected as reason:
            ends = ", ".join(f"{name} in [{lo!s:.30}, {hi!s:.30}]" for name, (lo, hi) in box.items())
            raise Rejected(f"{reason} ({ends})") from None

    def leaf(self, rule: Any, box: Box) -> int:
        """The number of points at which the claim was evaluated."""
        if rule in ("bounds", "outside"):
            self.spent["work"] += 5_000 * self.points.size
            need(self.spent["work"] <= MAX_WORK, "it takes more work than the checker's budget")
            self.bound(rule, Bounded(self.points, box))
            return 0
        need(rule == "points", f"not a rule for a box: {rule!r:.60}")
        sides = [self.numbers(*ends, name in self.whole) for name, ends in box.items()]
        count = prod(map(len, sides))
        self.spent["points"] += count
        self.spent["work"] += 10 * count * self.points.size
        need(self.spent["points"] <= MAX_POINTS, f"more than {MAX_POINTS} points")
        need(self.spent["work"] <= MAX_WORK, "it takes more work than the checker's budget")
        for values in product(*sides):
            point = dict(zip(box, values, strict=True))
            if all(condition(point) for condition in self.conditions):
                need(
                    self.claim(point),
                    f"the claim fails at {', '.join(f'{n} = {q}' for n, q in point.items())}",
                )
        return count

    def bound(self, rule: str, box: Bounded) -> None:
        """The claim must be seen to hold on the box, or a condition to fail; all before it have values."""
        for tree in self.trees[:-1]:
            if box.holds(tree, wanted=False) and rule == "outside":
                return
        need(rule == "bounds" and box.holds(self.trees[-1], wanted=True), "it is not seen to hold")

    def numbers(self, lo: Any, hi: Any, whole: bool) -> list[Any]:
        """All numbers of the format from lo to hi, or all that are whole."""
        found, at = [], lo
        while at <= hi:
            # From one whole number to the next, of a format that is sparse to the next one of it.
            if not whole or at.denominator == 1:
                found.append(at)
            at = self.next(at) if not whole else self.above(at)
            need(len(found) <= MAX_POINTS, f"more than {MAX_POINTS} points")
        return found

    def above(self, q: Any) -> Any:
        """The least whole number of the format above one of it."""
        least = mpq(q.numerator // q.denominator + 1)
        return least if self.is_number(least) else self.next(q)


def check(document: Any, spent: Counter[str]) -> Verdict:
    """The verdict on a certificate of this kind; Rejected where it does not hold."""
    before = spent["boxes"]
    certificate = Floating(document, spent)
    reason = f"{certificate.check()} in {document['format']}"
    return Verdict(True, f"{spent['boxes'] - before} {reason}", "floating", spent["boxes"])
