"""Bessel functions of rational orders."""
# ruff: noqa: D102 - functions.py says what they are

from __future__ import annotations

from typing import Any

import gmpy2
from gmpy2 import mpq

from gateproof.proofs_check.checker.algebra import Rejected
from gateproof.proofs_check.checker.interval import ONE, ZERO, Interval, interval
from gateproof.proofs_check.checker.special.part import HALF, MAX_ORDER, MAX_TERMS, Part, Values, meet


class Bessels(Part):
    """Bessel functions of rational orders."""

    def besselj(self, p: Values, x: Interval) -> Interval:
        found = self._power_series(p[0], x, -1)
        if p[0] < 0 and p[0].denominator > 1:
            return found
        # |J_n| <= 1 for n >= 0 (DLMF 10.14.1), so |J_n'| <= 1 for whole n.
        found = meet(found, Interval(-ONE, ONE))
        if x.lo == x.hi or p[0].denominator > 1:
            return found
        to, left = self.to, Interval(x.lo, x.lo)
        unit = Interval(-ONE, ONE)
        return meet(found, to.add(self.besselj(p, left), to.mul(unit, to.sub(x, left))))

    def besseli(self, p: Values, x: Interval) -> Interval:
        return self._power_series(p[0], x, 1)

    def _power_series(self, n: Any, x: Interval, sign: int) -> Interval:
        """(x/2)^n/gamma(n + 1) 0F1(; n + 1; sign x^2/4) (DLMF 10.2.2, 10.25.2)."""
        to = self.to
        if n.denominator == 1 and n < 0:
            value = self._power_series(-n, x, sign)
            return to.neg(value) if sign < 0 and n % 2 else value
        if abs(n) > MAX_ORDER or (n.denominator > 1 and (x.lo < 0 or (x.lo == 0 and n < 0))):
            raise Rejected("a Bessel function outside its domain, or of an order over 100")
        half = to.mul(x, to.number(HALF))
        square = to.power(half, 2)
        inner = self.series((), (n + 1,), square if sign > 0 else to.neg(square))
        return to.mul(to.div(to.power(half, n), self.gamma_of(n + 1)), inner)

    def sphericalj(self, p: Values, x: Interval) -> Interval:
        """x^n/(2n + 1)!! 0F1(; n + 3/2; -x^2/4) (DLMF 10.53.1); |j_n| <= 1 (10.54.1)."""
        (n,), to = p, self.to
        if n.denominator > 1 or not 0 <= n <= MAX_ORDER:
            raise Rejected("sphericalj of an order that is not a whole number up to 100")
        inner = self.series((), (n + mpq(3, 2),), to.neg(to.power(to.mul(x, to.number(HALF)), 2)))
        product = mpq(1)
        for k in range(int(n) + 1):
            product *= 2 * k + 1
        return meet(to.mul(to.mul(to.power(x, n), to.number(1 / product)), inner), Interval(-ONE, ONE))

    def _spherical_series(self, n: Any, x: Interval, order: int) -> list[Interval]:
        """j_n' = (n j_(n-1) - (n + 1) j_(n+1))/(2n + 1) (DLMF 10.51.2), k times."""
        to, now, found = self.to, {n: mpq(1)}, []
        for k in range(order + 1):
            total = to.number(0)
            for m, c in now.items():
                total = to.add(total, to.mul(to.number(c / gmpy2.fac(k)), self.sphericalj((m,), x)))
            found.append(total)
            after: dict[Any, Any] = {}
            for m, c in now.items():
                for other, weight in ((m - 1, m), (m + 1, -m - 1)):
                    if weight:
                        after[other] = after.get(other, 0) + c * weight / (2 * m + 1)
            now = after
        return found

    def bessely(self, p: Values, x: Interval) -> Interval:
        """Of whole orders MPFR's at points, and its bounds; others by J (DLMF 10.2.3)."""
        (n,), to = p, self.to
        if not x.lo > 0:
            raise Rejected("bessely outside x > 0")
        if n.denominator == 1:
            if x.lo < x.hi:
                return self._y_over(n, x)
            order = int(n)
            return interval(to.down.yn(order, x.lo), to.up.yn(order, x.lo))
        turn = to.mul(to.constant("pi"), to.number(n))
        top = to.sub(to.mul(self.besselj(p, x), to.function(turn, "cos")), self.besselj((-n,), x))
        return to.div(top, to.function(turn, "sin"))

    def besselk(self, p: Values, x: Interval) -> Interval:
        """DLMF 10.27.4; of whole orders 10.31.1, where the digammas less than double from k = 2 on."""
        n, to = abs(p[0]), self.to
        if not x.lo > 0 or n > MAX_ORDER:
            raise Rejected("besselk outside x > 0, or of an order over 100")
        if n.denominator > 1:
            turn = to.function(to.mul(to.constant("pi"), to.number(n)), "sin")
            gap = to.sub(self._power_series(-n, x, 1), self._power_series(n, x, 1))
            return to.mul(to.mul(to.constant("pi"), to.number(HALF)), to.div(gap, turn))
        order = int(n)
        half = to.mul(x, to.number(HALF))
        square = to.power(half, 2)
        total = to.number(0)
        for k in range(order):
            c = mpq((-1) ** k * gmpy2.fac(order - k - 1), 2 * gmpy2.fac(k))
            total = to.add(total, to.mul(to.number(c), to.power(half, 2 * k - order)))
        sign = (-1) ** (order + 1)
        logs = to.mul(to.function(half, "log"), self._power_series(n, x, 1))
        total = to.add(total, to.mul(to.number(sign), logs))
        euler = Interval(to.down.const_euler(), to.up.const_euler())
        term, numbers = to.mul(to.power(half, order), to.number(mpq(1, gmpy2.fac(order)))), mpq(0)
        for j in range(1, order + 1):
            numbers += mpq(1, j)
        part, small = to.number(0), gmpy2.exp2(-to.bits)
        for k in range(MAX_TERMS):
            weighted = to.mul(term, to.sub(to.number(numbers), to.mul(to.number(2), euler)))
            ratio = to.up.mul(square.hi, to.number(mpq(2, (k + 1) * (order + k + 1))).hi)
            if k >= 2 and ratio < 1:
                rest = to.up.div(weighted.hi, to.down.sub(ONE, ratio))
                if rest <= small:
                    part = to.add(part, Interval(ZERO, rest))
                    return to.add(total, to.mul(to.number(mpq(-sign, 2)), part))
            part = to.add(part, weighted)
            term = to.mul(to.mul(term, square), to.number(mpq(1, (k + 1) * (order + k + 1))))
            numbers += mpq(1, k + 1) + mpq(1, order + k + 1)
        raise Rejected("a series of besselk that needs too many terms")

    def _bessel_series(self, name: str, n: Any, x: Interval, order: int) -> list[Interval]:
        """f_n' = c/2 (f_(n-1) + s f_(n+1)) (DLMF 10.6.1, 10.29.1), k times."""
        to = self.to
        s, c = {"besselj": (-1, 1), "bessely": (-1, 1), "besseli": (1, 1), "besselk": (1, -1)}[name]
        known: dict[Any, Interval] = {}
        found = []
        for k in range(order + 1):
            total = to.number(0)
            for j in range(k + 1):
                m = n - k + 2 * j
                if m not in known:
                    known[m] = self.plain(name, (m,), x)
                total = to.add(total, to.mul(to.number(s**j * gmpy2.comb(k, j)), known[m]))
            found.append(to.mul(total, to.number(mpq(c**k, 2**k * gmpy2.fac(k)))))
        return found

    def _y_over(self, m: Any, x: Interval) -> Interval:
        """J^2 + Y^2 falls on x > 0 (DLMF 10.9.30): that bounds Y_m, and its slope (Y_(m-1) - Y_(m+1))/2."""
        to, left = self.to, Interval(x.lo, x.lo)

        def bound(n: Any) -> Any:
            parts = [to.power(self.at(head, (abs(n),), left), 2) for head in ("besselj", "bessely")]
            return to.function(to.add(*parts), "sqrt").hi

        slope, top = to.up.div(to.up.add(bound(m - 1), bound(m + 1)), 2), bound(m)
        middle = to.mul(to.add(left, Interval(x.hi, x.hi)), to.number(HALF)).lo
        step = to.sub(x, Interval(middle, middle))
        around = to.mul(Interval(to.down.minus(slope), slope), step)
        around = to.add(self.at("bessely", (m,), Interval(middle, middle)), around)
        return meet(around, Interval(to.down.minus(top), top))
