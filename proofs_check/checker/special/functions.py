"""Each function over an interval, and its Taylor coefficients."""

from __future__ import annotations

from collections.abc import Callable

import gmpy2
from gmpy2 import mpfr, mpq

from gateproof.proofs_check.checker.algebra import Rejected
from gateproof.proofs_check.checker.interval import Interval, Intervals, interval
from gateproof.proofs_check.checker.special.airys import Airys
from gateproof.proofs_check.checker.special.bessels import Bessels
from gateproof.proofs_check.checker.special.gammas import Gammas
from gateproof.proofs_check.checker.special.lambert import Lambert
from gateproof.proofs_check.checker.special.part import HALF, Values, hull, meet, sign
from gateproof.proofs_check.checker.special.sums import Sums

#: How often an interval up to that width is halved.
HALVINGS, WIDE = 3, 64
MAX_EXTRA = 4000


class Special(Gammas, Lambert, Bessels, Airys, Sums):
    """The functions, with some bits more for what series of large arguments lose."""

    def __init__(self, to: Intervals, name: str, a: Interval) -> None:
        self.to = to
        size = self.size(a)
        # Terms reach exp(size), those of Airy functions exp(2/3 size^1.5).
        lost = to.up.mul(size, to.up.sqrt(size)) if name.startswith("airy") else size
        self.to = Intervals(to.bits + 64 + int(min(to.up.mul(mpfr(3), lost), mpfr(MAX_EXTRA))))

    def value(self, name: str, p: Values, a: Interval) -> Interval:
        """By the ends where the function is monotone there; else directly and by its slope."""
        return self._halved(name, p, a, HALVINGS)

    def _halved(self, name: str, p: Values, a: Interval, times: int) -> Interval:
        """The halves of a wide interval, each on its own, enclose more narrowly."""
        if not a.lo < a.hi or _monotone(name, p, a):
            return self.plain(name, p, a)
        try:
            found = self._by_slope(name, p, a)
        except Rejected:
            found = self.plain(name, p, a)
        to = self.to
        width, size = to.up.sub(found.hi, found.lo), self.size(found)
        if not times or to.up.mul(width, 16) < size or to.down.sub(a.hi, a.lo) > WIDE:
            return found
        middle = to.mul(to.add(Interval(a.lo, a.lo), Interval(a.hi, a.hi)), to.number(HALF)).lo
        if not a.lo < middle < a.hi:
            return found
        parts = (interval(a.lo, middle), interval(middle, a.hi))
        return meet(found, hull(*(self._halved(name, p, part, times - 1) for part in parts)))

    def plain(self, name: str, p: Values, a: Interval) -> Interval:
        """By the ends where the function is monotone, else directly."""
        turn = _monotone(name, p, a) if a.lo < a.hi else 0
        if not turn:
            return self.at(name, p, a)
        first, last = (self.at(name, p, Interval(x, x)) for x in (a if turn > 0 else (a.hi, a.lo)))
        return interval(first.lo, last.hi)

    def _by_slope(self, name: str, p: Values, a: Interval) -> Interval:
        to = self.to
        slope = self.taylor(name, p, a, 1)[1]
        middle = to.mul(to.add(Interval(a.lo, a.lo), Interval(a.hi, a.hi)), to.number(HALF))
        step = to.sub(a, Interval(middle.lo, middle.lo))
        around = to.add(self.at(name, p, Interval(middle.lo, middle.lo)), to.mul(slope, step))
        if slope.lo >= 0 or slope.hi <= 0:
            first, last = (self.at(name, p, Interval(x, x)) for x in (a if slope.lo >= 0 else (a.hi, a.lo)))
            return meet(around, interval(first.lo, last.hi))
        try:
            return meet(around, self.at(name, p, a))
        except Rejected:
            return around

    def at(self, name: str, p: Values, a: Interval) -> Interval:
        """Directly: the formula of the function in interval arithmetic."""
        rule: Callable[[Values, Interval], Interval] = getattr(self, name)
        return rule(p, a)

    def taylor(self, name: str, p: Values, a: Interval, order: int) -> list[Interval]:
        """Coefficients of the powers of h in f(a + h); the first by the direct formula."""
        to = self.to
        if name == "sphericalj":
            return self._spherical_series(p[0], a, order)
        if name.startswith("bessel"):
            return self._bessel_series(name, p[0], a, order)
        if name in ("hyp1f1", "hyp2f1"):
            return self._hypergeometric_series(name, p, a, order)
        if name.startswith("airy"):
            return self._airy_series(name, a, order)
        if name in ("digamma", "polygamma"):
            n = int(p[0]) if p else 0
            return [to.mul(self._psi(n + k, a), to.number(mpq(1, gmpy2.fac(k)))) for k in range(order + 1)]
        found = [self.at(name, p, a)]
        if order and name == "zeta":
            raise Rejected("derivatives of zeta are not known to this checker")
        if name == "loggamma":
            psi = self.taylor("digamma", (), a, order - 1) if order else []
            return [*found, *(to.mul(c, to.number(mpq(1, k + 1))) for k, c in enumerate(psi))]
        if name == "gamma":
            # g' = g psi.
            psi = self.taylor("digamma", (), a, order - 1) if order else []
            for k in range(1, order + 1):
                total = to.number(0)
                for j in range(k):
                    total = to.add(total, to.mul(found[j], psi[k - 1 - j]))
                found.append(to.mul(total, to.number(mpq(1, k))))
            return found
        if name == "lambertw":
            return self._lambert_series(found[0], order)
        # x f' = exp(x), sin(x), cos(x): f'(x) as a quotient of series.
        wave = self._wave_series(name, a, order)
        slopes: list[Interval] = []
        for k in range(order):
            rest = to.sub(wave[k], slopes[k - 1]) if k else wave[0]
            slopes.append(to.div(rest, a))
        return [*found, *(to.mul(c, to.number(mpq(1, k + 1))) for k, c in enumerate(slopes))]


def _monotone(name: str, p: Values, a: Interval) -> int:
    """1 or -1 where the function is known to rise or fall on the interval, inside its domain; else 0."""
    positive = a.lo > 0
    if name == "gamma" or name == "loggamma":
        return 0 if not positive else 1 if a.lo >= mpq(147, 100) else -1 if a.hi <= mpq(146, 100) else 0
    if name == "besselk":
        return -1 if positive else 0
    if name == "besseli":
        return 1 if a.lo >= 0 and p[0] >= 0 else 0
    if name == "lambertw":
        return 1
    if name == "ei":
        return 1 if positive else -1 if a.hi < 0 else 0
    if name == "airyai":
        return -1 if a.lo >= 0 else 0
    if name == "airybi":
        return 1 if a.lo >= 0 else 0
    if name == "hyp1f1":
        # a/b 1F1(a + 1; b + 1; x) has a positive integral for b > a > -1 (DLMF 13.4.1).
        u, b = p
        return sign(u / b) if b > u > -1 else 0
    if name == "hyp2f1" and a.hi < 1:
        u, v, c = p
        return sign(u * v / c) if c > v > -1 or c > u > -1 else 0
    return 0
