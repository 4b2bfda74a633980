"""Inverses and square roots of sums as sums, in which what is no rounding error stands apart."""

from __future__ import annotations

import gmpy2
from gmpy2 import mpq

from gateproof.proofs_check.checker import sums
from gateproof.proofs_check.checker.algebra import Rejected
from gateproof.proofs_check.checker.rounded import exponent, power_of_two
from gateproof.proofs_check.checker.sums import Ends, Sum, Table


class Quotients:
    """Inverses and roots on a box; equal ones are one symbol."""

    table: Table

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
