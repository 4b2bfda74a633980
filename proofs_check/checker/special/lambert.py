"""The principal branch of Lambert's W."""
# ruff: noqa: D102 - functions.py says what they are

from __future__ import annotations

from typing import Any

import gmpy2
from gmpy2 import mpq

from gateproof.proofs_check.checker.algebra import Rejected
from gateproof.proofs_check.checker.interval import INF, ONE, ZERO, Interval, interval
from gateproof.proofs_check.checker.special.part import Part, Values


class Lambert(Part):
    """The principal branch of Lambert's W."""

    def lambertw(self, _: Values, a: Interval) -> Interval:
        return interval(self._branch(a.lo).lo, self._branch(a.hi).hi)

    def _branch(self, x: Any) -> Interval:
        """w >= -1 with w exp(w) = x: a guess, moved until w exp(w) passes x on each side."""
        to = self.to
        least = to.neg(to.function(Interval(-ONE, -ONE), "exp"))
        if x < least.hi:
            raise Rejected("lambertw below -1/e")
        near = gmpy2.context(precision=to.bits)
        e1 = max(near.add(near.mul(x, near.exp(ONE)), ONE), ZERO)
        if x > 3:
            w = near.sub(near.log(x), near.log(near.log(x)))
        else:
            w = near.add(-ONE, near.sqrt(near.mul(2, e1))) if x < 0 else near.div(x, near.add(ONE, x))
        for _ in range(60):
            e = near.exp(w)
            slope = near.mul(e, near.add(w, ONE))
            if slope == 0:
                break
            moved = near.sub(w, near.div(near.sub(near.mul(w, e), x), slope))
            if not gmpy2.is_finite(moved) or moved == w:
                break
            w = moved
        for k in range(4, to.bits, 4):
            width = near.mul(near.add(abs(w), ONE), gmpy2.exp2(k - to.bits))
            low, high = max(to.down.sub(w, width), -ONE), to.up.add(w, width)
            below = to.up.mul(low, (to.up if low > 0 else to.down).exp(low)) if low > -1 else -INF
            above = to.down.mul(high, (to.down if high > 0 else to.up).exp(high))
            if below <= x <= above and high >= -1:
                return interval(low, high)
        raise Rejected("lambertw was not bracketed")

    def _lambert_series(self, w: Interval, order: int) -> list[Interval]:
        """By w' (1 + w) exp(w) = 1: with e = exp(w), e' = e w', the coefficients one by one."""
        to = self.to
        ws, es, slopes = [w], [to.function(w, "exp")], list[Interval]()
        for k in range(order):
            # (1 + w) e =: g, and slopes = 1/g.
            g = [to.number(0)] * (k + 1)
            for i in range(k + 1):
                g[i] = es[i]
                for j in range(i + 1):
                    g[i] = to.add(g[i], to.mul(ws[j], es[i - j]))
            slopes = []
            for i in range(k + 1):
                rest = to.number(1 if i == 0 else 0)
                for j in range(1, i + 1):
                    rest = to.sub(rest, to.mul(g[j], slopes[i - j]))
                slopes.append(to.div(rest, g[0]))
            ws.append(to.mul(slopes[k], to.number(mpq(1, k + 1))))
            total = to.number(0)
            for j in range(k + 1):
                total = to.add(total, to.mul(slopes[j], es[k - j]))
            es.append(to.mul(total, to.number(mpq(1, k + 1))))
        return ws
