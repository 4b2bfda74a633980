"""Whether a statement holds at every point of a box, by bounds."""

from __future__ import annotations

from typing import Any

from gmpy2 import mpq

from gateproof.proofs_check.checker import sums
from gateproof.proofs_check.checker.algebra import Rejected
from gateproof.proofs_check.checker.boxed_values import Boxed
from gateproof.proofs_check.checker.rounded import power_of_two
from gateproof.proofs_check.checker.sums import Sum

OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


class Bounded(Boxed):
    """Statements on a box. Rejected where a part that counts may have no value."""

    def truth(self, tree: Any, *, computed: bool) -> bool | None:
        """The truth all over the box, None where it is not seen."""
        if self.holds(tree, wanted=True, computed=computed):
            return True
        return False if self.holds(tree, wanted=False, computed=computed) else None

    def holds(self, tree: Any, *, wanted: bool, computed: bool = False) -> bool:
        """Whether the statement is seen to be as wanted everywhere; all its parts have values."""
        match tree:
            case ["rel", relations, *terms]:
                sides = [["fl", term] if computed else term for term in terms]
                for side in sides:
                    self.exact(side)
                names = relations if wanted else [OPPOSITE[name] for name in relations]
                parts = [self.link(*link) for link in zip(names, sides, sides[1:], strict=False)]
                return all(parts) if wanted else any(parts)
            case ["and" | "or" as word, *rest]:
                found = [self.holds(part, wanted=wanted, computed=computed) for part in rest]
                return all(found) if (word == "and") == wanted else any(found)
            case ["not", part]:
                return self.holds(part, wanted=not wanted, computed=computed)
            case ["implies", a, b]:
                if not wanted:
                    return self.holds(a, wanted=True) and self.holds(b, wanted=False)
                return self.holds(a, wanted=False) or self.holds(b, wanted=True)
            case ["whole", a]:
                self.exact(a)
                return False
        raise Rejected(f"no bounds for the statement {tree!r:.60}")

    def link(self, relation: str, a: Any, b: Any) -> bool:
        """Whether a relation of two values is seen to hold."""
        if relation in (">", ">="):
            return self.at_most(b, a, strict=relation == ">")
        if relation in ("<", "<="):
            return self.at_most(a, b, strict=relation == "<")
        if relation == "!=":
            return self.at_most(a, b, strict=True) or self.at_most(b, a, strict=True)
        (u, ends), (v, other) = self.exact(a), self.exact(b)
        gap = self.table.settled(sums.add(u, v, -1))
        return bool(ends[0] == ends[1] == other[0] == other[1]) or self.table.range(gap) == (0, 0)

    def at_most(self, a: Any, b: Any, *, strict: bool) -> bool:
        """Whether a <= b, or a < b."""
        match a:
            case ["app", "abs", inner]:
                if self.by_relative_error(inner, b, strict=strict):
                    return True
                both = (inner, ["app", "neg", inner])
                return all(self.at_most(part, b, strict=strict) for part in both)
            case ["app", "max" | "min" as head, *parts]:
                found = [self.at_most(part, b, strict=strict) for part in parts]
                if all(found) if head == "max" else any(found):
                    return True
        match b:
            case ["app", "max" | "min" as head, *parts]:
                found = [self.at_most(a, part, strict=strict) for part in parts]
                if all(found) if head == "min" else any(found):
                    return True
        (u, ends), (v, other) = self.exact(a), self.exact(b)
        if self.below(ends[1] - other[0], strict=strict):
            return True
        gap = self.table.settled(sums.add(u, v, -1))
        return self.below(self.table.range(gap)[1], strict=strict) or self.by_units(gap, strict=strict)

    @staticmethod
    def below(q: Any, *, strict: bool) -> bool:
        """q < 0 or q <= 0."""
        return bool(q < 0 or (q == 0 and not strict))

    def by_units(self, gap: Sum, *, strict: bool) -> bool:
        """Whether a sum with ulp(v) is at most 0: the error in a value v is at most ulp(v)/2."""
        units = set()
        for s, value in self.table.rounding.items():
            unit = self.table.named.get(("ulp", sums.same(value)))
            if unit is not None and any(s == t for p in gap for t, _ in p):
                part = sums.mul({((unit, 1),): mpq(1)}, self.table.new((mpq(-1, 2), mpq(1, 2))))
                try:
                    gap = self.table.put(gap, s, part)
                except Rejected:
                    return False
                units.add(unit)
        for unit in units:
            try:
                inside, outside = self.table.parted(gap, unit)
            except Rejected:
                continue
            top = sums.product(self.table.range(inside), self.table.ends[unit])[1]
            if self.below(top + self.table.range(outside)[1], strict=strict):
                return True
        return False

    def by_relative_error(self, inner: Any, bound: Any, *, strict: bool) -> bool:
        """abs(fl(e) - F) <= bound where F is what e is exactly, by e's relative error."""
        match inner:
            case ["app", "add", ["fl", e], ["app", "neg", exact]] if exact[0] != "fl":
                pass
            case ["app", "add", exact, ["app", "neg", ["fl", e]]] if exact[0] != "fl":
                pass
            case _:
                return False
        number, (value, ends), (limit, _) = self.computed(e), self.exact(exact), self.exact(bound)
        known = number.off is not None or number.error is not None
        if not known or sums.same(self.table.settled(number.real)) != sums.same(value):
            return False
        if number.error is not None:
            spare = self.table.range(sums.add(limit, number.error, -1))[0]
            if self.below(-spare, strict=strict):
                return True
        if number.off is None:
            return False
        unit = self.table.named.get(("ulp", sums.same(value)))
        if unit is not None and [*limit] == [((unit, 1),)] and not number.tiny:
            # abs(F) < 2^p ulp(F)
            factor = limit[((unit, 1),)]
            return bool(number.off <= factor * power_of_two(-self.points.bits) and (factor > 0 or not strict))
        size = self.table.named.get(("abs", sums.same(value)))
        if ends[0] >= 0 or ends[1] <= 0:
            sizes = sums.add({}, value, 1 if ends[0] >= 0 else -1)
        elif size is not None:
            sizes = {((size, 1),): mpq(1)}
        else:
            return False
        spare = self.table.range(sums.add(limit, sizes, -number.off))[0] - number.tiny
        return self.below(-spare, strict=strict)
