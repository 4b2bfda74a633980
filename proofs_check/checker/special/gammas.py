"""Gamma, its logarithm and derivatives of that, and zeta."""
# ruff: noqa: D102 - functions.py says what they are

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gmpy2
from gmpy2 import mpq

from gateproof.proofs_check.checker.algebra import Rejected
from gateproof.proofs_check.checker.interval import ZERO, Interval, interval
from gateproof.proofs_check.checker.special.part import HALF, MAX_ORDER, Part, Values, hull

MAX_SHIFT = 200


class Gammas(Part):
    """Gamma, its logarithm and derivatives of that, and zeta."""

    def gamma(self, _: Values, a: Interval) -> Interval:
        """On x > 0 it falls to 1.4616.. and rises after it (DLMF 5.4.19)."""
        if a.lo > 0:
            return self._valley("gamma", a, mpq(8856, 10000))
        return self._raised(a, lambda moved: self.gamma((), moved), self.to.div)

    def loggamma(self, _: Values, a: Interval) -> Interval:
        if not a.lo > 0:
            raise Rejected("log gamma outside x > 0")
        return self._valley("lngamma", a, mpq(-122, 1000))

    def _valley(self, head: str, a: Interval, least: Any) -> Interval:
        """Between 1.46 and 1.47 stands the minimum, which is more than ``least``."""
        ends = [(getattr(self.to.down, head)(x), getattr(self.to.up, head)(x)) for x in a]
        low, high = min(e[0] for e in ends), max(e[1] for e in ends)
        if a.lo < mpq(147, 100) and a.hi > mpq(146, 100) and a.lo < a.hi:
            low = min(low, self.to.number(least).lo)
        return interval(low, high)

    def _raised(self, a: Interval, f: Callable[[Interval], Interval],
                step: Callable[[Interval, Interval], Interval]) -> Interval:  # fmt: skip
        """By f(x) from f(x + 1), until the argument is positive."""
        count = 1 - int(gmpy2.floor(a.lo))
        if count > MAX_SHIFT:
            raise Rejected("an argument too far below 0")
        points = [self.to.line(j, 1, a) for j in range(count)]
        value = f(self.to.line(count, 1, a))
        for x in reversed(points):
            value = step(value, x)
        return value

    def digamma(self, _: Values, a: Interval) -> Interval:
        return self._psi(0, a)

    def polygamma(self, p: Values, a: Interval) -> Interval:
        if p[0].denominator > 1 or not 0 <= p[0] <= MAX_ORDER:
            raise Rejected("an order of polygamma that is not a whole number up to 100")
        return self._psi(int(p[0]), a)

    def _psi(self, n: int, a: Interval) -> Interval:
        """The n-th derivative of digamma; on x > 0 it is monotone (DLMF 5.15.1)."""
        to = self.to
        sign = 1 if n % 2 else -1
        if not a.lo > 0:
            # psi_n(x) = psi_n(x + 1) - (-1)^n n!/x^(n+1).
            c = to.number(sign * gmpy2.fac(n))

            def lower(value: Interval, x: Interval) -> Interval:
                return to.add(value, to.div(c, to.power(x, n + 1)))

            return self._raised(a, lambda moved: self._psi(n, moved), lower)
        if n == 0:
            return interval(to.down.digamma(a.lo), to.up.digamma(a.hi))
        low, high = (self._hurwitz(n + 1, Interval(x, x)) for x in (a.hi, a.lo))
        # zeta(n + 1, x) falls.
        return to.mul(to.number(sign * gmpy2.fac(n)), interval(low.lo, high.hi))

    def _hurwitz(self, s: int, x: Interval) -> Interval:
        """sum (x + k)^-s for x > 0 by Euler and Maclaurin (DLMF 2.10.1).

        The error is less than the first term left out, and of its sign, as all derivatives of t^-s alternate.
        """
        to, count = self.to, 8 + self.to.bits // 6
        total = to.number(0)
        for k in range(count):
            total = to.add(total, to.power(to.line(k, 1, x), -s))
        y = to.line(count, 1, x)
        total = to.add(total, to.mul(to.power(y, 1 - s), to.number(mpq(1, s - 1))))
        total = to.add(total, to.mul(to.power(y, -s), to.number(HALF)))
        numbers = _bernoulli(count // 2)
        term = to.number(0)
        for j in range(1, len(numbers)):
            rising = mpq(1)
            for i in range(2 * j - 1):
                rising *= s + i
            c = to.number(numbers[j] * rising / gmpy2.fac(2 * j))
            term = to.mul(c, to.power(y, 1 - s - 2 * j))
            if j < len(numbers) - 1:
                total = to.add(total, term)
        return to.add(total, hull(term, Interval(ZERO, ZERO)))

    def zeta(self, _: Values, a: Interval) -> Interval:
        """It falls on x > 1 and between -2 and 1; below 0 by the functional equation (DLMF 25.4.1)."""
        if a.lo > 1 or (a.lo >= -2 and a.hi < 1):
            return interval(self.to.down.zeta(a.hi), self.to.up.zeta(a.lo))
        if not a.hi < 0:
            raise Rejected("zeta of an interval that may hold 1")
        to, pi = self.to, self.to.constant("pi")
        other = to.line(1, -1, a)
        turn = to.function(to.mul(pi, to.mul(a, to.number(HALF))), "sin")
        two = to.function(to.mul(a, to.function(to.number(2), "log")), "exp")
        power = to.function(to.mul(to.neg(other), to.function(pi, "log")), "exp")
        parts = to.mul(to.mul(two, power), to.mul(turn, self.gamma((), other)))
        return to.mul(parts, self.zeta((), other))


_BERNOULLI = [mpq(1)]


def _bernoulli(count: int) -> list[Any]:
    """B_0, B_2, .. B_(2 count)."""
    while len(_BERNOULLI) <= 2 * count:
        m = len(_BERNOULLI)
        total = sum((gmpy2.comb(m + 1, k) * _BERNOULLI[k] for k in range(m)), mpq(0))
        _BERNOULLI.append(-total / (m + 1))
    return [_BERNOULLI[2 * j] for j in range(count + 1)]
