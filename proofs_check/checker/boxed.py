"""Computed values on a box of numbers of a format, as sums of exact parts and errors."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Any

import gmpy2
from gmpy2 import mpq

from gateproof.proofs_check.checker import sums
from gateproof.proofs_check.checker.algebra import Rejected
from gateproof.proofs_check.checker.evaluate import rational
from gateproof.proofs_check.checker.points import Points
from gateproof.proofs_check.checker.rounded import exponent, power_of_two
from gateproof.proofs_check.checker.roundoff import ANY, Number, Roundoff, least, most
from gateproof.proofs_check.checker.sums import Ends, Sum, Table


def two_adic(q: Any) -> int:
    """The largest g such that a dyadic number is a multiple of 2^g."""
    return int(gmpy2.bit_scan1(q.numerator)) - int(q.denominator.bit_length()) + 1 if q else ANY


class Computed:
    """A box, and what is known of the numbers that are computed on it."""

    def truth(self, tree: Any, *, computed: bool) -> bool | None:
        """The truth all over the box of a statement with exact or computed sides; None if it is not seen."""
        raise NotImplementedError

    def __init__(self, points: Points, box: Mapping[str, Ends]) -> None:
        self.points, self.table = points, Table()
        self.round = Roundoff(points.bits, points.highest, self.table)
        self.seen: dict[str, Any] = {}
        self.names: dict[str, Number] = {}
        for name, ends in box.items():
            fixed = ends[0] == ends[1]
            value = sums.of(ends[0]) if fixed else self.table.new(ends)
            grid = two_adic(ends[0]) if fixed else self.round.grid(least(ends))
            self.names[name] = self.round.keep(Number(value, ends, grid, value, mpq(0)))

    # --- computed -------------------------------------------------------------

    def computed(self, tree: Any) -> Number:
        """What the format gives."""
        text = f"fl {tree!r}"
        if text not in self.seen:
            self.seen[text] = self.compute(tree)
        found: Number = self.seen[text]
        return found

    def compute(self, tree: Any) -> Number:
        """The same, not looked up."""
        match tree:
            case ["num", text]:
                return self.number(rational(text))
            case ["var", str(name)] if name in self.names:
                return self.names[name]
            case ["fl", inner]:
                return self.computed(inner)
            case ["where", p, a, b]:
                truth = self.truth(p, computed=True)
                return (
                    self.computed(b if truth is False else a)
                    if truth is not None
                    else self.either(self.computed(a), self.computed(b))
                )
            case ["app", "pow", base, ["num", "2/1"]] if self.points.number(base) is None:
                return self.times(*[self.computed(base)] * 2)
            case ["app", "pow", base, power]:
                return self.number(self.points.power(base, power))
            case ["app", "add" | "mul" as head, first, *rest]:
                step = self.plus if head == "add" else self.times
                return reduce(step, map(self.computed, (first, *rest)))
            case ["app", "max" | "min" as head, first, *rest]:
                return reduce(lambda a, b: self.extreme(head, a, b), map(self.computed, (first, *rest)))
            case ["app", "div", a, b]:
                return self.over(self.computed(a), self.computed(b))
            case ["app", "sqrt", a]:
                return self.root(self.computed(a))
            case ["app", "fma", a, b, c]:
                return self.fused(*map(self.computed, (a, b, c)))
            case ["app", "neg", a]:
                return self.turned(self.computed(a))
            case ["app", "abs", a]:
                return self.size(self.computed(a))
        raise Rejected(f"no bounds for {tree!r:.60}")

    def number(self, q: Any) -> Number:
        """A constant, rounded once."""
        value = self.round.nearest(q)
        off = abs(value / q - 1) if q else mpq(0)
        return self.round.keep(Number(sums.of(value), (value, value), two_adic(value), sums.of(q), off))

    def turned(self, a: Number) -> Number:
        """-a."""
        ends = (-a.ends[1], -a.ends[0])
        return self.round.keep(
            Number(sums.add({}, a.sum, -1), ends, a.grid, sums.add({}, a.real, -1), a.off, a.tiny)
        )

    def size(self, a: Number) -> Number:
        """abs(a)."""
        if a.ends[0] < 0 < a.ends[1]:
            value = self.table.one(("abs", sums.same(a.sum)), (mpq(0), most(a.ends)))
            return self.round.keep(Number(value, (mpq(0), most(a.ends)), a.grid, value))
        done = a if a.ends[0] >= 0 else self.turned(a)
        sure = a.off is not None and a.off < 1 and not a.tiny
        return done if sure else done._replace(off=None, tiny=0)

    def either(self, a: Number, b: Number) -> Number:
        """One of the two."""
        if sums.same(a.sum) == sums.same(b.sum):
            return a._replace(off=None, tiny=0)
        ends = min(a.ends[0], b.ends[0]), max(a.ends[1], b.ends[1])
        value = self.table.new(ends)
        return self.round.keep(Number(value, ends, min(a.grid, b.grid), value))

    def extreme(self, head: str, a: Number, b: Number) -> Number:
        """max(a, b) or min(a, b)."""
        low, high = self.table.range(sums.add(a.sum, b.sum, -1))
        if low >= 0 or high <= 0 or a.ends[0] >= b.ends[1] or b.ends[0] >= a.ends[1]:
            larger = low >= 0 or a.ends[0] >= b.ends[1]
            chosen = a if larger == (head == "max") else b
            return chosen if self.plain(a, b) and a.off == b.off == 0 else chosen._replace(off=None, tiny=0)
        choose = max if head == "max" else min
        ends = choose(a.ends[0], b.ends[0]), choose(a.ends[1], b.ends[1])
        value = self.table.new(ends)
        return self.round.keep(Number(value, ends, min(a.grid, b.grid), value))

    @staticmethod
    def plain(*numbers: Number) -> bool:
        """Whether all are exact values up to a relative error below 1."""
        return all(a.off is not None and a.off < 1 and not a.tiny for a in numbers)

    def plus(self, a: Number, b: Number) -> Number:
        """a + b, which never underflows."""
        off = None
        if self.plain(a, b):
            alike = (a.ends[0] >= 0 and b.ends[0] >= 0) or (a.ends[1] <= 0 and b.ends[1] <= 0)
            off = max(a.off, b.off) if alike or a.off == b.off == 0 else None
        ends = a.ends[0] + b.ends[0], a.ends[1] + b.ends[1]
        value, real = sums.add(a.sum, b.sum), sums.add(a.real, b.real)
        return self.round.round(value, ends, min(a.grid, b.grid), real, off, normal=True)

    def times(self, a: Number, b: Number) -> Number:
        """a b."""
        off = (1 + a.off) * (1 + b.off) - 1 if self.plain(a, b) else None
        square = sums.same(a.sum) == sums.same(b.sum)
        ends = sums.power(a.ends, 2) if square else sums.product(a.ends, b.ends)
        value, real = sums.mul(a.sum, b.sum), sums.mul(a.real, b.real)
        shift = self.shifts(a) or self.shifts(b)
        return self.round.round(value, ends, min(a.grid + b.grid, ANY), real, off, shift=shift)

    @staticmethod
    def shifts(a: Number) -> bool:
        """Whether it is one power of 2, up to its sign."""
        return bool(a.ends[0] == a.ends[1] != 0 and abs(a.ends[0]) == power_of_two(exponent(a.ends[0])))

    def fused(self, a: Number, b: Number, c: Number) -> Number:
        """a b + c, rounded once."""
        low, high = sums.product(a.ends, b.ends)
        value = sums.add(sums.mul(a.sum, b.sum), c.sum)
        real = sums.add(sums.mul(a.real, b.real), c.real)
        off = mpq(0) if self.plain(a, b, c) and a.off == b.off == c.off == 0 else None
        grid = min(a.grid + b.grid, c.grid, ANY)
        return self.round.round(value, (low + c.ends[0], high + c.ends[1]), grid, real, off)

    def over(self, a: Number, b: Number) -> Number:
        """a/b."""
        value = sums.mul(a.sum, self.inverse(b.sum, b.ends))
        ends = sums.product(a.ends, sums.power(b.ends, -1))
        off, real = None, sums.of(0)
        if self.plain(a, b):
            off = (1 + a.off) / (1 - b.off) - 1
            around = sums.product(b.ends, (1 / (1 + b.off), 1 / (1 - b.off)))
            real = sums.mul(a.real, self.inverse(b.real, around))
        shift = self.shifts(b)
        grid = a.grid - exponent(b.ends[0]) if shift else None
        return self.round.round(value, ends, grid, real, off, shift=shift)

    def inverse(self, b: Sum, ends: Ends) -> Sum:
        """1/b as a sum: of one product its powers turned, and 1/(r + e) = 1/r - e (1/r) (1/(r + e))."""
        if len(b) == 1:
            ((p, q),) = b.items()
            if all(self.table.ends[s][0] > 0 or self.table.ends[s][1] < 0 for s, _ in p):
                return {tuple((s, -n) for s, n in p): 1 / q}
        whole = self.table.one(("1/", sums.same(b)), sums.power(self.table.within(b, ends), -1))
        main, rest = self.table.errors(b)
        if not main or not rest:
            return whole
        first = self.inverse(main, self.table.range(main))
        return sums.add(first, sums.mul(rest, sums.mul(first, whole)), -1)

    def root(self, a: Number) -> Number:
        """sqrt(a), which never underflows; sqrt(1 + t) is off 1 by at most t/(2 - t)."""
        value, off, real = self.square_root(a.sum, a.ends), None, sums.of(0)
        if self.plain(a):
            off = a.off / (2 - a.off)
            around = sums.product(a.ends, (1 / (1 + a.off), 1 / (1 - a.off)))
            real = self.square_root(a.real, around)
        return self.round.round(value, self.roots(a.ends), None, real, off, normal=True)

    @staticmethod
    def roots(ends: Ends) -> Ends:
        """Rationals around the roots of two."""
        if ends[0] < 0:
            raise Rejected("a root of what may be negative")
        found = []
        for q, up in zip(ends, (0, 1), strict=True):
            k = 2 * max(100 - (exponent(q) if q else 0), 0)
            over = q * power_of_two(k)
            whole = gmpy2.isqrt(over.numerator // over.denominator)
            found.append((whole + (up and whole * whole != over)) / power_of_two(k // 2))
        return found[0], found[1]

    def square_root(self, a: Sum, ends: Ends) -> Sum:
        """sqrt(a) as a sum: sqrt(r + e) = sqrt(r) + e/(sqrt(r) + sqrt(r + e)); squares have exact roots."""
        if len(a) == 1:
            ((p, q),) = a.items()
            square = q > 0 and gmpy2.is_square(q.numerator) and gmpy2.is_square(q.denominator)
            if square and all(n % 2 == 0 for _, n in p):
                factor = mpq(gmpy2.isqrt(q.numerator), gmpy2.isqrt(q.denominator))
                half = {tuple((s, n // 2) for s, n in p): factor}
                low, high = self.table.range(half)
                if low >= 0 or high <= 0:
                    return half if low >= 0 else sums.add({}, half, -1)
        ends = self.table.within(a, ends)
        main, rest = self.table.errors(a)
        if not main or not rest or ends[0] == 0:
            return self.table.one(("sqrt", sums.same(a)), self.roots(ends))
        around = self.table.range(main)
        if around[0] <= 0:
            raise Rejected("a root is not seen to be above 0")
        first, (low, high), (c, d) = self.square_root(main, around), self.roots(around), self.roots(ends)
        step = self.table.one(("root step", sums.same(a)), sums.power((low + c, high + d), -1))
        return sums.add(first, sums.mul(rest, step))
