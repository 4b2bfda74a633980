"""Hypergeometric series with a bound of the rest, and integrals that are such series."""
# ruff: noqa: D102 - functions.py says what they are

from __future__ import annotations

import gmpy2
from gmpy2 import mpq

from gateproof.proofs_check.checker.algebra import Rejected
from gateproof.proofs_check.checker.interval import ONE, Interval
from gateproof.proofs_check.checker.special.part import HALF, MAX_TERMS, Part, Values


class Sums(Part):
    """Hypergeometric series with a bound of the rest, and integrals that are such series."""

    def series(self, above: Values, below: Values, x: Interval) -> Interval:
        """sum_k prod (a)_k / prod (b)_k x^k/k!.

        From k on |t_(j+1)/t_j| is at most r = |x| prod (1 + |a - b|/(b + k)) / prod (b' + k) over pairs of a
        and b (1 counts among the b, for k!), b' the b without a partner: for r < 1 the rest is at most
        |t_k|/(1 - r).
        """
        to, lower = self.to, [*below, mpq(1)]
        if any(b.denominator == 1 and b <= 0 for b in below):
            raise Rejected("a lower parameter that is 0 or a negative whole number")
        size = self.size(x)
        total, term = to.number(0), to.number(1)
        small = gmpy2.exp2(-to.bits)
        for k in range(MAX_TERMS):
            if all(b + k > 0 for b in lower):
                bound = mpq(1)
                for i, b in enumerate(lower):
                    bound *= 1 + abs(above[i] - b) / (b + k) if i < len(above) else 1 / (b + k)
                ratio = to.up.mul(size, to.number(bound).hi)
                if ratio < 1:
                    top = self.size(term)
                    rest = to.up.div(top, to.down.sub(ONE, ratio))
                    if rest <= small or top == 0:
                        return to.add(total, Interval(to.down.minus(rest), rest))
            total = to.add(total, term)
            factor = mpq(1)
            for a in above:
                factor *= a + k
            for b in lower:
                factor /= b + k
            term = to.mul(to.mul(term, to.number(factor)), x)
        raise Rejected("a series that needs too many terms")

    def hyp1f1(self, p: Values, x: Interval) -> Interval:
        """Below 0 by Kummer's transformation (DLMF 13.2.39), whose terms do not alternate for b > a."""
        a, b = p
        if x.hi <= 0:
            return self.to.mul(self.to.function(x, "exp"), self.series((b - a,), (b,), self.to.neg(x)))
        return self.series((a,), (b,), x)

    def hyp2f1(self, p: Values, x: Interval) -> Interval:
        """Below 0 by Pfaff's transformation to x/(x - 1) in (0, 1) (DLMF 15.8.1); slow near 1."""
        a, b, c = p
        to = self.to
        poles = any(v.denominator == 1 and v <= 0 for v in (c, c - a, c - b))
        if x.hi == 1 == x.lo and c > a + b and not poles:
            top = to.mul(self.gamma_of(c), self.gamma_of(c - a - b))
            return to.div(top, to.mul(self.gamma_of(c - a), self.gamma_of(c - b)))
        if not x.hi < 1:
            raise Rejected("hyp2f1 outside x < 1")
        if x.hi <= 0:
            other = to.line(1, -1, x)
            moved = to.sub(to.number(1), to.div(to.number(1), other))
            return to.mul(to.power(other, -a), self.series((a, c - b), (c,), moved))
        if x.lo < 0 and x.lo <= -1:
            raise Rejected("hyp2f1 of an interval that reaches below -1 and above 0")
        return self.series((a, b), (c,), x)

    def _hypergeometric_series(self, name: str, p: Values, x: Interval, order: int) -> list[Interval]:
        found, factor, upper = [], mpq(1), 1 if name == "hyp1f1" else 2
        for k in range(order + 1):
            moved = tuple(v + k for v in p)
            value = self.plain(name, moved, x) if factor else self.to.number(0)
            found.append(self.to.mul(self.to.number(factor), value) if factor else self.to.number(0))
            for i, v in enumerate(p):
                factor = factor * (v + k) if i < upper else factor / (v + k)
            factor /= k + 1
        return found

    def si(self, _: Values, x: Interval) -> Interval:
        """x 1F2(1/2; 3/2, 3/2; -x^2/4) (DLMF 6.11.1 with 6.6.5)."""
        quarter = self.to.neg(self.to.power(self.to.mul(x, self.to.number(HALF)), 2))
        return self.to.mul(x, self.series((HALF,), (mpq(3, 2), mpq(3, 2)), quarter))

    def ci(self, _: Values, x: Interval) -> Interval:
        """euler + log x - x^2/4 2F3(1, 1; 2, 2, 3/2; -x^2/4) (DLMF 6.6.6)."""
        to = self.to
        if not x.lo > 0:
            raise Rejected("ci outside x > 0")
        square = to.power(to.mul(x, to.number(HALF)), 2)
        one, two = mpq(1), mpq(2)
        rest = to.mul(square, self.series((one, one), (two, two, mpq(3, 2)), to.neg(square)))
        found: Interval = to.sub(to.add(self.euler(), to.function(x, "log")), rest)
        return found

    def ei(self, _: Values, x: Interval) -> Interval:
        """euler + log|x| + x 2F2(1, 1; 2, 2; x) (DLMF 6.6.2)."""
        to = self.to
        if x.lo <= 0 <= x.hi:
            raise Rejected("ei of an interval that holds 0")
        one, two = mpq(1), mpq(2)
        rest = to.mul(x, self.series((one, one), (two, two), x))
        return to.add(to.add(self.euler(), to.function(to.abs(x), "log")), rest)

    def euler(self) -> Interval:
        return Interval(self.to.down.const_euler(), self.to.up.const_euler())

    def _wave_series(self, name: str, x: Interval, order: int) -> list[Interval]:
        to = self.to
        heads = {"ei": ("exp",), "si": ("sin", "cos"), "ci": ("cos", "sin")}[name]
        found = []
        for k in range(order):
            value = to.function(x, heads[k % len(heads)])
            negative = {"ei": False, "si": k % 4 > 1, "ci": k % 4 in (1, 2)}[name]
            found.append(to.mul(to.number(mpq(-1 if negative else 1, gmpy2.fac(k))), value))
        return found
