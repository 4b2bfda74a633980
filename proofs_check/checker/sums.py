"""Sums of products: polynomials with rational coefficients in symbols that each lie between two rationals.

A product is a sorted tuple of (symbol, power), powers whole and not 0. What is equal cancels exactly.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from gmpy2 import mpq

from gateproof.proofs_check.checker.algebra import Rejected

Product = tuple[tuple[int, int], ...]
Sum = dict[Product, Any]
Ends = tuple[Any, Any]
MAX_PRODUCTS = 1_000


def of(value: Any) -> Sum:
    """A number."""
    return {(): value} if value else {}


def add(a: Sum, b: Sum, c: Any = 1) -> Sum:
    """a + c b."""
    total = {p: a.get(p, 0) + c * b.get(p, 0) for p in {*a, *b}}
    return {p: q for p, q in total.items() if q}


def mul(a: Sum, b: Sum) -> Sum:
    """a b."""
    total: Sum = {}
    for p, u in a.items():
        for r, v in b.items():
            powers = dict(p)
            for s, n in r:
                powers[s] = powers.get(s, 0) + n
            both = tuple(sorted((s, n) for s, n in powers.items() if n))
            total[both] = total.get(both, 0) + u * v
    if len(total) > MAX_PRODUCTS:
        raise Rejected("a sum grows too long")
    return {p: q for p, q in total.items() if q}


def same(a: Sum) -> Hashable:
    """Equal for equal sums."""
    return frozenset(a.items())


def product(a: Ends, b: Ends) -> Ends:
    """The ends of a product."""
    every = [u * v for u in a for v in b]
    return min(every), max(every)


def power(a: Ends, n: int) -> Ends:
    """The ends of a whole power."""
    if n < 0:
        if a[0] <= 0 <= a[1]:
            raise Rejected("a divisor may be 0")
        return power((1 / a[1], 1 / a[0]), -n)
    ends = sorted((a[0] ** n, a[1] ** n))
    return (mpq(0) if n % 2 == 0 and a[0] < 0 < a[1] else ends[0]), ends[1]


class Table:
    """The symbols; those of ``rounding`` are errors, and ``solved`` has some of them in terms of others."""

    def __init__(self) -> None:
        self.ends: list[Ends] = []
        self.rounding: dict[int, Sum] = {}  # of which value each is the rounding error
        self.solved: dict[int, Sum] = {}
        self.named: dict[Hashable, int] = {}

    def new(self, ends: Ends) -> Sum:
        """A symbol that lies between two numbers."""
        self.ends.append(ends)
        return {((len(self.ends) - 1, 1),): mpq(1)}

    def one(self, name: Hashable, ends: Ends) -> Sum:
        """The symbol for one value on the box, by what it is."""
        if name not in self.named:
            self.named[name] = len(self.ends)
            return self.new(ends)
        return {((self.named[name], 1),): mpq(1)}

    def range(self, a: Sum) -> Ends:
        """The sum of the ends of all products, for each end of up to three symbols in which it is affine."""
        count: dict[int, int] = {}
        for p in a:
            for s, n in p:
                count[s] = count.get(s, 0) + (1 if n == 1 else -10 * MAX_PRODUCTS)
        parts = [a]
        for s in sorted((s for s in count if count[s] > 1), key=lambda s: -count[s])[:3]:
            parts = [self.put(part, s, of(end)) for part in parts for end in self.ends[s]]
        found = [self.ends_of(part) for part in parts]
        return min(low for low, _ in found), max(high for _, high in found)

    def ends_of(self, a: Sum) -> Ends:
        """The ends of all products added up."""
        low, high = mpq(0), mpq(0)
        for p, q in a.items():
            ends: Ends = (q, q)
            for s, n in p:
                ends = product(ends, power(self.ends[s], n))
            low, high = low + ends[0], high + ends[1]
        return low, high

    def within(self, a: Sum, ends: Ends) -> Ends:
        """Both what is known of a sum and its own range."""
        low, high = self.range(a)
        found = max(low, ends[0]), min(high, ends[1])
        if found[0] > found[1]:
            raise Rejected("a range is empty")
        return found

    def settled(self, a: Sum) -> Sum:
        """The sum with the errors that were solved for put in."""
        for s in sorted(self.solved, reverse=True):
            a = self.put(a, s, self.solved[s])
        return a

    def put(self, a: Sum, s: int, by: Sum) -> Sum:
        """The sum with another one for a symbol, which has no power but 1 to 12 in it."""
        found, factor = {p: q for p, q in a.items() if all(s != t for t, _ in p)}, of(mpq(1))
        if not all(1 <= n <= 12 for p in a for t, n in p if t == s):
            raise Rejected("an inverse or a high power of an error")
        for k in range(1, max((n for p in a for t, n in p if t == s), default=0) + 1):
            factor = mul(factor, by)
            inside = {tuple(f for f in p if f[0] != s): q for p, q in a.items() if (s, k) in p}
            found = add(found, mul(inside, factor))
        return found

    def parted(self, a: Sum, s: int) -> tuple[Sum, Sum]:
        """b and c with a = s b + c."""
        inside: Sum = {}
        outside: Sum = {}
        for p, q in a.items():
            powers = dict(p)
            n = powers.pop(s, 0)
            if n not in (0, 1):
                raise Rejected("a power of an error")
            (inside if n else outside)[tuple(sorted(powers.items()))] = q
        return inside, outside

    def size(self, a: Sum, ends: Ends) -> Sum:
        """abs(a): of a product the product of the sizes of its factors, else a symbol."""
        if ends[0] >= 0 or ends[1] <= 0:
            return a if ends[0] >= 0 else add({}, a, -1)
        ((p, q),) = a.items() if len(a) == 1 else [((), mpq(1))]
        if not p or (p == ((p[0][0], 1),) and q == 1):
            return self.one(("abs", same(a)), (mpq(0), max(-ends[0], ends[1])))
        total = of(abs(q))
        for s, n in p:
            # An even power of the size is that of the symbol; a negative one is of a symbol that is never 0.
            even = n - n % 2
            total = mul(total, {((s, even),): mpq(1)}) if even else total
            if n % 2:
                total = mul(total, self.size({((s, 1),): mpq(1)}, self.ends[s]))
        return total

    def errors(self, a: Sum) -> tuple[Sum, Sum]:
        """The products without an error, and those with one."""
        held = {p: q for p, q in a.items() if any(s in self.rounding for s, _ in p)}
        return add(a, held, -1), held
