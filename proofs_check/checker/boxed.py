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
from gateproof.proofs_check.checker.quotients import Quotients
from gateproof.proofs_check.checker.rounded import exponent, power_of_two
from gateproof.proofs_check.checker.roundoff import ANY, Number, Roundoff, least, most
from gateproof.proofs_check.checker.sums import Ends, Sum, Table


def two_adic(q: Any) -> int:
    """The largest g such that a dyadic number is a multiple of 2^g."""
    return int(gmpy2.bit_scan1(q.numerator)) - int(q.denominator.bit_length()) + 1 if q else ANY


class Computed(Quotients):
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
            size = self.table.size(value, ends)
            self.names[name] = self.round.keep(Number(value, ends, grid, value, mpq(0), 0, {}, size))

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
        error, size = sums.of(abs(value - q)), sums.of(abs(q))
        fixed = (value, value)
        return self.round.keep(
            Number(sums.of(value), fixed, two_adic(value), sums.of(q), off, 0, error, size)
        )

    def turned(self, a: Number) -> Number:
        """-a."""
        ends = (-a.ends[1], -a.ends[0])
        value, real = sums.add({}, a.sum, -1), sums.add({}, a.real, -1)
        return self.round.keep(a._replace(sum=value, ends=ends, real=real))

    def size(self, a: Number) -> Number:
        """abs(a)."""
        if a.ends[0] < 0 < a.ends[1]:
            value = self.table.one(("abs", sums.same(a.sum)), (mpq(0), most(a.ends)))
            return self.round.keep(Number(value, (mpq(0), most(a.ends)), a.grid, value))
        done = a if a.ends[0] >= 0 else self.turned(a)
        sure = a.off is not None and a.off < 1 and not a.tiny
        return done if sure else done.bare(done.sum)

    def either(self, a: Number, b: Number) -> Number:
        """One of the two."""
        if sums.same(a.sum) == sums.same(b.sum):
            return a.bare(a.sum)
        ends = min(a.ends[0], b.ends[0]), max(a.ends[1], b.ends[1])
        value = self.table.new(ends)
        return self.round.keep(Number(value, ends, min(a.grid, b.grid), value))

    def extreme(self, head: str, a: Number, b: Number) -> Number:
        """max(a, b) or min(a, b)."""
        low, high = self.table.range(sums.add(a.sum, b.sum, -1))
        if low >= 0 or high <= 0 or a.ends[0] >= b.ends[1] or b.ends[0] >= a.ends[1]:
            larger = low >= 0 or a.ends[0] >= b.ends[1]
            chosen = a if larger == (head == "max") else b
            return chosen if self.plain(a, b) and a.off == b.off == 0 else chosen.bare(chosen.sum)
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
        error = None
        if not (a.error is None or b.error is None or a.size is None or b.size is None):
            error = sums.add(a.error, b.error), sums.add(a.size, b.size)
        return self.round.round(value, ends, min(a.grid, b.grid), real, off, error, normal=True)

    @staticmethod
    def error_of_product(a: Number, b: Number) -> tuple[Sum, Sum] | None:
        """How far a b is off the exact one at most, and the size of that."""
        if a.error is None or b.error is None or a.size is None or b.size is None:
            return None
        if len(a.error) * len(b.size) + len(b.error) * len(a.size) > 200:
            return None
        error = sums.add(sums.mul(a.error, b.size), sums.mul(b.error, a.size))
        return sums.add(error, sums.mul(a.error, b.error)), sums.mul(a.size, b.size)

    def times(self, a: Number, b: Number) -> Number:
        """a b."""
        off = (1 + a.off) * (1 + b.off) - 1 if self.plain(a, b) else None
        square = sums.same(a.sum) == sums.same(b.sum)
        ends = sums.power(a.ends, 2) if square else sums.product(a.ends, b.ends)
        value, real = sums.mul(a.sum, b.sum), sums.mul(a.real, b.real)
        shift = self.shifts(a) or self.shifts(b)
        error, grid = self.error_of_product(a, b), min(a.grid + b.grid, ANY)
        return self.round.round(value, ends, grid, real, off, error, shift=shift)

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
        grid, error = min(a.grid + b.grid, c.grid, ANY), self.error_of_product(a, b)
        if error is not None and c.error is not None and c.size is not None:
            error = sums.add(error[0], c.error), sums.add(error[1], c.size)
        else:
            error = None
        return self.round.round(value, (low + c.ends[0], high + c.ends[1]), grid, real, off, error)

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
        error = None
        if b.off == 0 and b.ends[0] == b.ends[1] and a.error is not None and a.size is not None:
            error = sums.add({}, a.error, 1 / abs(b.ends[0])), sums.add({}, a.size, 1 / abs(b.ends[0]))
        return self.round.round(value, ends, grid, real, off, error, shift=shift)

    def root(self, a: Number) -> Number:
        """sqrt(a), which never underflows; sqrt(1 + t) is off 1 by at most t/(2 - t)."""
        value, off, real = self.square_root(a.sum, a.ends), None, sums.of(0)
        if self.plain(a):
            off = a.off / (2 - a.off)
            around = sums.product(a.ends, (1 / (1 + a.off), 1 / (1 - a.off)))
            real = self.square_root(a.real, around)
        return self.round.round(value, self.roots(a.ends), None, real, off, normal=True)
