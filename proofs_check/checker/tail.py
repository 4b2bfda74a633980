"""Expansions at infinity: what a formula is for all x >= M, where M >= 1.

A value is a sum of terms c(x) x^k exp(-a x): k whole, a rational, and c(x) between two rationals
[lo, hi] for all x >= M (lo = hi: a constant, with which exact cancellation works). Facts used:

    x^k exp(-a x) is largest at M or at k/a;  exp(b x) >= 1 + b x
    exp(-u) <= exp(-q_0 - q_1 (x-M))  if u >= q and q(M+t) = q_0 + q_1 t + (no negative terms)
    erfc(u) <= exp(-u^2) for u >= 0;  atan(u) = pi/2 - atan(1/u) for u > 0
    sigmoid, tanh, sech, softplus, cosh, sinh of a growing u as formulas in exp(-abs u)
    F(p + r) = F(p) + F'(xi) r  where u = p + r stays near a constant p (mean value theorem)
    u^q = (c x^k exp(-a x))^q w^q  and  log u likewise, where w = u/(c x^k exp(-a x)) stays near 1
"""
# ruff: noqa: D102 - algebra.py says what the operations are

from __future__ import annotations

from collections.abc import Iterable
from math import comb
from typing import Any

from gmpy2 import mpfr, mpq

from gateproof.proofs_check.checker.algebra import Algebra, Rejected
from gateproof.proofs_check.checker.interval import MAX_EXPONENT, Interval, Intervals
from gateproof.proofs_check.checker.jet import HALF, Jets

Tail = dict[tuple[int, Any], tuple[Any, Any]]  # (k, a) -> (lo, hi)
ZERO = mpq(0)
MAX_POWER, MAX_BITS, MAX_WORK = 60, 20_000, 100_000  # the last in products of terms
TINY, HUGE = mpfr("0x1p-4000"), mpfr("0x1p4000")  # of floating point numbers that become rational


def _growth(key: tuple[int, Any]) -> tuple[Any, int]:
    return -key[1], key[0]


class Tails(Algebra):
    """The arithmetic of tails from the cut M on; ``side`` -1 reads the formula at -x."""

    def __init__(self, field: Intervals, cut: Any, side: int) -> None:
        self.field, self.cut, self.side, self.work = field, mpq(cut), side, 0
        self.variable = self.term(mpq(side), k=1)

    def term(self, lo: Any, hi: Any = None, k: int = 0, a: Any = 0) -> Tail:
        """c(x) x^k exp(-a x) with c(x) between two rationals."""
        return self._sum([((k, mpq(a)), (mpq(lo), mpq(lo if hi is None else hi)))])

    def _sum(self, terms: Iterable[tuple[tuple[int, Any], tuple[Any, Any]]]) -> Tail:
        """The sum, without terms that are 0, inexact ends rounded outward; Rejected if it grows too long."""
        total, found = Tail(), Tail()
        for key, (lo, hi) in terms:
            low, high = total.get(key, (ZERO, ZERO))
            total[key] = low + lo, high + hi
        self.work += len(total)
        for (k, a), (lo, hi) in total.items():
            if lo != hi:
                lo, hi = self._ends(self.field.hull(lo, hi))
            bits = max(q.bit_length() for n in (a, lo, hi) for q in (n.numerator, n.denominator))
            if bits > MAX_BITS or abs(k) > MAX_POWER or self.work > MAX_WORK:
                raise Rejected("an expansion in a tail grows too long")
            if lo or hi:
                found[k, a] = (lo, hi)
        return found

    def enclosed(self, value: Interval) -> Tail:
        """A constant in an interval."""
        return self.term(*self._ends(value))

    def _ends(self, value: Interval) -> tuple[Any, Any]:
        """The ends as rationals of moderate length, rounded outward."""
        if not -HUGE < value.lo <= value.hi < HUGE:
            raise Rejected("a number in a tail is too large")
        lo = value.lo if not -TINY < value.lo < TINY else -TINY if value.lo < 0 else ZERO
        hi = value.hi if not -TINY < value.hi < TINY else TINY if value.hi > 0 else ZERO
        return mpq(lo), mpq(hi)

    def _top(self, k: int, a: Any) -> Any:
        """At least x^k exp(-a x)."""
        if a < 0 or (a == 0 and k > 0):
            raise Rejected("a quantity in a tail is not bounded")
        at, field = max(self.cut, k / a) if a else self.cut, self.field
        decay = field.function(field.number(-a * at), "exp")
        return self._ends(field.mul(field.power(field.number(at), k), decay))[1]

    def _from_cut(self, u: Tail) -> list[Any]:
        """Coefficients in t = x - M of a polynomial that is at most u."""
        q, self.work = [ZERO] * (MAX_POWER + 2), self.work + 100
        for (k, a), (lo, _) in u.items():
            if k >= 0 and (a == 0 or (a < 0 and lo > 0)):  # exp(-a x) >= 1 - a x, equal for a = 0
                q[k] += lo
                q[k + 1] -= lo * a
            elif lo < 0:
                q[0] += lo * self._top(k, a)
        found = [ZERO] * len(q)
        for k, c in enumerate(q):
            for j in range(k + 1 if c else 0):
                found[j] += c * comb(k, j) * self.cut ** (k - j)
        return found

    def _falling(self, u: Tail) -> Tail:
        """exp(-u), from above, for u that grows."""
        start, field = self._from_cut(u), self.field
        # Any rate up to q_1 will do; this one keeps the factor below exp(1000).
        rate = self._ends(field.number(min(start[1], (start[0] + 1000) / self.cut)))[0]
        if min(start[1:]) < 0 or rate <= 0:
            raise Rejected("an exponential in a tail is not seen to fall")
        factor = field.function(field.number(rate * self.cut - start[0]), "exp")
        return self.term(0, self._ends(factor)[1], a=rate)

    def signs(self, a: Tail) -> set[int]:
        if not a:
            return {0}
        k, rate = max(a, key=_growth)
        common = self.term(1, k=-min(k, 0), a=-rate)  # positive; with it no term grows exponentially
        for sign, u in ((1, a), (-1, self.neg(a))):
            start = self._from_cut(self.mul(u, common))
            if min(start) >= 0:
                return {sign} if start[0] > 0 else {0, sign}
        return {-1, 0, 1}

    number = term

    def constant(self, name: str) -> Tail:
        return self.enclosed(self.field.constant(name))

    def add(self, a: Tail, b: Tail) -> Tail:
        return self._sum([*a.items(), *b.items()])

    def neg(self, a: Tail) -> Tail:
        return {key: (-hi, -lo) for key, (lo, hi) in a.items()}

    def mul(self, a: Tail, b: Tail) -> Tail:
        self.work += len(a) * len(b)
        pairs = [((k + m, s + t), c, d) for (k, s), c in a.items() for (m, t), d in b.items()]
        products = [(key, [x * y for x in c for y in d]) for key, c, d in pairs]
        return self._sum((key, (min(ends), max(ends))) for key, ends in products)

    def div(self, a: Tail, b: Tail) -> Tail:
        return self.mul(a, self.power(b, -1))

    def power(self, a: Tail, q: Any) -> Any:
        q = mpq(q)
        if q.denominator == 1 and 0 <= q <= MAX_EXPONENT:
            return self.whole(a, int(q))
        k, rate, c, near_one = self._split(a)
        if (k * q).denominator > 1 or abs(q) > MAX_POWER:
            raise Rejected("a power in a tail is fractional or too high")
        exact = q.denominator == 1
        scale = self.term(c ** int(q)) if exact else self.enclosed(self.field.power(self.field.number(c), q))
        factor = self.mul(scale, self._smooth(near_one, "power", q))
        return self.mul(self.term(1, k=int(k * q), a=rate * q), factor)

    def _split(self, u: Tail) -> tuple[int, Any, Any, Tail]:
        """k, a, c and w with u = c x^k exp(-a x) w."""
        k, rate = max(u, key=_growth, default=(0, ZERO))
        c, _ = u.get((k, rate), (0, 0))
        if c == 0:
            raise Rejected("a leading coefficient in a tail may be 0")
        return k, rate, c, self.mul(u, self.term(1 / c, k=-k, a=-rate))

    def undecided(self, head: str, *args: Tail) -> Tail:
        if head == "max":  # (a + b + abs(a - b)) / 2
            spread = self.undecided("abs", self.sub(*args))
            return self.mul(self.number(HALF), self.add(self.add(*args), spread))
        if head != "abs":
            raise Rejected(f"the branch of {head} is not decided in a tail")
        return self._sum((key, (ZERO, max(-lo, hi))) for key, (lo, hi) in args[0].items())

    def _smooth(self, u: Tail, operation: str, data: Any) -> Tail:
        """A function of what stays near a constant p."""
        p, field, jets = u.get((0, ZERO), (ZERO,))[0], self.field, Jets(self.field, 1)
        value = self.enclosed(getattr(field, operation)(field.number(p), data))
        off = self.sub(u, self.term(p))
        if not off:
            return value
        tops = [(min(lo, 0), max(hi, 0), self._top(*key)) for key, (lo, hi) in off.items()]
        near = field.hull(p + sum(lo * top for lo, _, top in tops), p + sum(hi * top for _, hi, top in tops))
        slope = getattr(jets, operation)(jets.variable(near), data)[1]
        return self.add(value, self.mul(self.enclosed(slope), off))

    def function(self, a: Tail, head: str) -> Any:
        slope = a.get((1, ZERO), (0, 1))  # of the exact linear part, if its ends agree
        rest = self.sub(a, self.term(slope[0], k=1)) if head == "exp" and slope[0] == slope[1] else a
        if head == "log" and max(a, key=_growth, default=(0, ZERO)) != (0, ZERO):
            k, rate, c, near_one = self._split(a)
            if k != 0:
                raise Rejected("log of a power of x in a tail")
            known = self.add(self.term(-rate, k=1), self.function(self.number(c), "log"))
            return self.add(known, self.function(near_one, "log"))
        if all(s > 0 or (s == 0 and k <= 0) for k, s in rest):
            steady = self._smooth(rest, "function", head)
            return steady if rest is a else self.mul(self.term(1, a=-slope[0]), steady)
        if head in ("sin", "cos"):
            return self.term(-1, 1)
        return self._falling(self.neg(a)) if head == "exp" else self._growing(a, head)

    def _growing(self, a: Tail, head: str) -> Any:
        """A function of an argument that goes to infinity or to minus infinity."""
        signs = self.signs(a)
        if signs not in ({1}, {-1}):
            raise Rejected(f"an argument of {head} in a tail is not seen to keep its sign")
        (side,) = signs
        v = a if side > 0 else self.neg(a)
        if head == "tanh":
            return self.line(-1, 2, self.function(self.line(0, 2, a), "sigmoid"))
        if head == "erf":
            return self.line(1, -1, self.function(a, "erfc"))
        if head == "atan":
            right = self.sub(self.line(0, HALF, self.constant("pi")), self.function(self.power(v, -1), head))
            return self.line(0, side, right)
        if head == "erfc":
            return self.line(1 - side, side, self._falling(self.mul(v, v)))
        t = self.function(self.neg(v), "exp")
        if head == "softplus":
            steady = self.function(self.line(1, 1, t), "log")
            return self.add(v, steady) if side > 0 else steady
        if head in ("cosh", "sinh"):
            both = (self.add if head == "cosh" else self.sub)(self.function(v, "exp"), t)
            return self.line(0, HALF if head == "cosh" else side * HALF, both)
        if head == "sigmoid":
            return self.div(self.number(1) if side > 0 else t, self.line(1, 1, t))
        if head == "sech":
            return self.div(self.line(0, 2, t), self.line(1, 1, self.mul(t, t)))
        raise Rejected(f"{head} of a growing argument is not covered in a tail")
