"""Exact values on a box of numbers of a format, as sums."""

from __future__ import annotations

from functools import reduce
from typing import Any

from gmpy2 import mpq

from gateproof.proofs_check.checker import sums
from gateproof.proofs_check.checker.algebra import Rejected
from gateproof.proofs_check.checker.boxed import Computed
from gateproof.proofs_check.checker.evaluate import HEADS, is_special, rational
from gateproof.proofs_check.checker.interval import Interval, Intervals
from gateproof.proofs_check.checker.rounded import power_of_two
from gateproof.proofs_check.checker.roundoff import least, most
from gateproof.proofs_check.checker.sums import Ends, Sum

Exact = tuple[Sum, Ends]


class Boxed(Computed):
    """The box, and what is known of exact values on it too."""

    # --- exact ----------------------------------------------------------------

    def exact(self, tree: Any) -> Exact:
        """An exact value, and its ends."""
        text = repr(tree)
        if text not in self.seen:
            value, ends = self.evaluate(tree)
            value = self.table.settled(value)
            self.seen[text] = value, self.table.within(value, ends)
        found: Exact = self.seen[text]
        return found

    def evaluate(self, tree: Any) -> Exact:
        """The same, not looked up."""
        match tree:
            case ["num", text]:
                q = rational(text)
                return sums.of(q), (q, q)
            case ["var", str(name)] if name in self.names:
                return self.names[name].sum, self.names[name].ends
            case ["fl", inner]:
                number = self.computed(inner)
                return number.sum, number.ends
            case ["ulp", inner]:
                value, ends = self.exact(inner)
                steps = [power_of_two(self.round.grid(size(ends))) for size in (least, most)]
                if steps[0] == steps[1]:
                    return sums.of(steps[0]), (steps[0], steps[0])
                return self.table.one(("ulp", sums.same(value)), (steps[0], steps[1])), (steps[0], steps[1])
            case ["where", p, a, b]:
                truth = self.truth(p, computed=False)
                if truth is None:
                    (_, u), (_, v) = self.exact(a), self.exact(b)
                    return self.fresh((min(u[0], v[0]), max(u[1], v[1])))
                return self.exact(a if truth else b)
            case ["app", "add" | "mul" | "max" | "min" as head, first, *rest]:
                return reduce(lambda a, b: self.pair(head, a, b), map(self.exact, (first, *rest)))
            case ["app", "pow", base, power]:
                return self.whole_power(base, power)
            case ["app", str(head), *rest] if head in HEADS and len(rest) == HEADS[head][0]:
                return self.apply(head, *map(self.exact, rest))
            case ["app", str(head), inner] if is_special(head):
                return self.apply(head, self.exact(inner))
            case ["const", "pi" | "e" as name]:
                return self.enclosed((name,), self.points.field.constant(name))
        raise Rejected(f"no bounds for {tree!r:.60}")

    def fresh(self, ends: Ends) -> Exact:
        """Something between two numbers."""
        return self.table.new(ends), ends

    def enclosed(self, name: Any, value: Interval) -> Exact:
        """A value that is not rational."""
        ends = mpq(value.lo), mpq(value.hi)
        return self.table.one(name, ends), ends

    def pair(self, head: str, a: Exact, b: Exact) -> Exact:
        """An operation of two values."""
        (u, (low, high)), (v, (least_, most_)) = a, b
        if head == "add":
            return sums.add(u, v), (low + least_, high + most_)
        if head == "mul":
            square = sums.same(u) == sums.same(v)
            return sums.mul(u, v), sums.power(a[1], 2) if square else sums.product(a[1], b[1])
        gap = self.table.range(sums.add(u, v, -1))
        if gap[0] >= 0 or gap[1] <= 0 or low >= most_ or high <= least_:
            return a if (gap[0] >= 0 or low >= most_) == (head == "max") else b
        choose = max if head == "max" else min
        return self.fresh((choose(low, least_), choose(high, most_)))

    def whole_power(self, base: Any, power: Any) -> Exact:
        """A whole power with an exponent that is written out."""
        (value, ends), n = self.exact(base), self.points.number(power)
        if n is None or n.denominator != 1 or abs(n) > 5_000:
            raise Rejected("no bounds for that power")
        if ends[0] == ends[1] and (ends[0] or n >= 0):
            return sums.of(ends[0] ** int(n)), sums.power(ends, int(n)) if n else (mpq(1), mpq(1))
        if abs(n) > 12:
            raise Rejected("no bounds for that power")
        factor = value if n >= 0 else self.inverse(value, ends)
        total = reduce(sums.mul, [factor] * abs(int(n)), sums.of(mpq(1)))
        return total, sums.power(ends, int(n)) if n else (mpq(1), mpq(1))

    def apply(self, head: str, a: Exact, b: Exact | None = None) -> Exact:
        """A function of one value, or a quotient."""
        value, ends = a
        if head == "neg":
            return sums.add({}, value, -1), (-ends[1], -ends[0])
        if head == "abs":
            if ends[0] >= 0 or ends[1] <= 0:
                return a if ends[0] >= 0 else self.apply("neg", a)
            return self.table.size(value, ends), (mpq(0), most(ends))
        if head == "sqrt":
            return self.square_root(value, ends), self.roots(ends)
        if b is not None:
            return sums.mul(value, self.inverse(*b)), sums.product(ends, sums.power(b[1], -1))
        field: Intervals = self.points.field
        _, operation, *data = HEADS.get(head, (1, "function", head))
        found = getattr(field, operation)(field.hull(*ends), *data)
        return self.enclosed((head, sums.same(value)), found)
