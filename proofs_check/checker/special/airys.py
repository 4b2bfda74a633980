"""Airy functions and their slopes."""
# ruff: noqa: D102 - functions.py says what they are

from __future__ import annotations

from gmpy2 import mpq

from gateproof.proofs_check.checker.interval import Interval
from gateproof.proofs_check.checker.special.part import HALF, Part, Values


class Airys(Part):
    """Airy functions and their slopes."""

    def _airy(self, x: Interval) -> tuple[Interval, Interval, Interval, Interval]:
        """The two solutions f, g of y'' = x y with f(0) = g'(0) = 1, and their slopes (DLMF 9.4)."""
        to = self.to
        cube = to.mul(to.power(x, 3), to.number(mpq(1, 9)))
        third = mpq(1, 3)
        f, g = self.series((), (2 * third,), cube), to.mul(x, self.series((), (4 * third,), cube))
        fp = to.mul(to.mul(to.power(x, 2), to.number(HALF)), self.series((), (5 * third,), cube))
        return f, g, fp, self.series((), (third,), cube)

    def _airy_of(self, x: Interval, second: bool, slope: bool) -> Interval:
        """Ai = c1 f - c2 g, Bi = sqrt(3) (c1 f + c2 g) (DLMF 9.4.1-4, 9.2.3-4)."""
        to, third = self.to, mpq(1, 3)
        c1 = to.div(to.power(to.number(3), -2 * third), self.gamma_of(2 * third))
        c2 = to.div(to.power(to.number(3), -third), self.gamma_of(third))
        f, g, fp, gp = self._airy(x)
        a, b = to.mul(c1, fp if slope else f), to.mul(c2, gp if slope else g)
        return to.mul(to.power(to.number(3), HALF), to.add(a, b)) if second else to.sub(a, b)

    def airyai(self, _: Values, x: Interval) -> Interval:
        return self._airy_of(x, False, False)

    def airyaiprime(self, _: Values, x: Interval) -> Interval:
        return self._airy_of(x, False, True)

    def airybi(self, _: Values, x: Interval) -> Interval:
        return self._airy_of(x, True, False)

    def airybiprime(self, _: Values, x: Interval) -> Interval:
        return self._airy_of(x, True, True)

    def _airy_series(self, name: str, x: Interval, order: int) -> list[Interval]:
        """By (k + 1) (k + 2) c_(k+2) = x c_k + c_(k-1)."""
        to, second = self.to, name.startswith("airybi")
        c = [self._airy_of(x, second, slope) for slope in (False, True)]
        for k in range(order):
            total = to.mul(x, c[k])
            total = to.add(total, c[k - 1]) if k else total
            c.append(to.mul(total, to.number(mpq(1, (k + 1) * (k + 2)))))
        if name.endswith("prime"):
            c = [to.mul(to.number(k), v) for k, v in enumerate(c)][1:]
        return c[: order + 1]
