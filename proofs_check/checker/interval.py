"""Closed intervals of MPFR numbers, rounded outward.

An infinite end bounds nothing. MPFR rounds each of its functions correctly, so an end is computed
once, rounded down or up; gmpy2's global context is neither read nor changed.

Primitives
    exact:      negation, abs, max, min, sign, comparison
    MPFR:       + * 1/x, whole powers, pi, exp, log, log1p, sqrt, sin, cos, tan, asin, acos, atan,
                sinh, cosh, tanh, asinh, acosh, atanh, erf, erfc
    composed:   e = exp(1);  a/b = a (1/b);  x^(n/2) = sqrt(x^n);  x^q = exp(q log x);
                sech = 1/cosh;  sigmoid = 1/(1 + exp(-x));
                softplus = max(x, 0) + log1p(exp(-abs x))
"""
# ruff: noqa: D102 - algebra.py says what the operations are

from __future__ import annotations

from typing import Any, NamedTuple

import gmpy2

from gateproof.proofs_check.checker.algebra import Algebra, Rejected

INF, ZERO, ONE, MINUS_ONE = gmpy2.mpfr("inf"), gmpy2.mpfr(0), gmpy2.mpfr(1), gmpy2.mpfr(-1)
MAX_EXPONENT = 10**6  # of a whole power
FAR = 2**100  # sin and cos of more are only known to lie in [-1, 1]

FALLING, POLES = frozenset(["acos", "erfc"]), frozenset(["log", "atanh"])
RISING = frozenset(["exp", "log", "sqrt", "asin", "atan", "sinh", "tanh", "asinh", "acosh", "atanh", "erf"])
PRIMITIVES = RISING | FALLING | {"sin", "cos", "tan", "cosh", "sech", "sigmoid", "softplus"}


class Interval(NamedTuple):
    """All reals between two MPFR numbers, both ends in."""

    lo: Any
    hi: Any


UNIT = Interval(ONE, ONE)


def interval(lo: Any, hi: Any) -> Interval:
    """The interval; Rejected for NaN, reversed ends, or no finite number in it."""
    if not lo <= hi or lo == INF or hi == -INF:
        raise Rejected("an enclosure is empty or not a number")
    return Interval(lo, hi)


class Intervals(Algebra):
    """Interval arithmetic with ends of ``bits`` bits."""

    def __init__(self, bits: int) -> None:
        self.bits = bits
        self.down = gmpy2.context(precision=bits, round=gmpy2.RoundDown)
        self.up = gmpy2.context(precision=bits, round=gmpy2.RoundUp)

    def hull(self, lo: Any, hi: Any) -> Interval:
        """All between two rationals."""
        return interval(self.down.add(ZERO, gmpy2.mpq(lo)), self.up.add(ZERO, gmpy2.mpq(hi)))

    def number(self, q: Any) -> Interval:
        return self.hull(q, q)

    def constant(self, name: str) -> Interval:
        if name == "pi":
            return interval(self.down.const_pi(), self.up.const_pi())
        return self.function(UNIT, "exp")

    def add(self, a: Interval, b: Interval) -> Interval:
        return interval(self.down.add(a.lo, b.lo), self.up.add(a.hi, b.hi))

    def neg(self, a: Interval) -> Interval:
        return Interval(self.down.minus(a.hi), self.up.minus(a.lo))

    def mul(self, a: Interval, b: Interval) -> Interval:
        if a.lo > 0 < b.lo:
            return interval(self.down.mul(a.lo, b.lo), self.up.mul(a.hi, b.hi))
        # The ends are products of ends. An infinite end bounds finite numbers: 0 times it is 0.
        pairs = [(x, y) if x and y else (ZERO, ZERO) for x in a for y in b]
        low = min([self.down.mul(x, y) for x, y in pairs])
        return interval(low, max([self.up.mul(x, y) for x, y in pairs]))

    def div(self, a: Interval, b: Interval) -> Interval:
        if b.lo <= 0 <= b.hi:
            raise Rejected("division by an interval that contains 0")
        return self.mul(a, interval(self.down.div(ONE, b.hi), self.up.div(ONE, b.lo)))

    def power(self, a: Interval, q: Any) -> Interval:
        q = gmpy2.mpq(q)
        n = int(q.numerator)
        if q < 0:
            return self.div(UNIT, self.power(a, -q))
        if q.denominator == 1:
            if n > MAX_EXPONENT:
                raise Rejected(f"an exponent beyond {MAX_EXPONENT}")
            a = self.abs(a) if n % 2 == 0 else a
            return interval(self.down.pow(a.lo, n), self.up.pow(a.hi, n)) if n else UNIT
        if a.lo < 0:
            raise Rejected("a fractional power of a number that may be negative")
        if q.denominator == 2:
            return self.function(self.power(a, n), "sqrt")
        if a.lo > 0:
            return self.function(self.mul(self.number(q), self.function(a, "log")), "exp")
        return Interval(ZERO, self.power(Interval(a.hi, a.hi), q).hi if a.hi > 0 else ZERO)

    def function(self, a: Interval, head: str) -> Interval:
        if head in ("sin", "cos"):
            return self._wave(a, head)
        if head not in PRIMITIVES:
            from gateproof.proofs_check.checker.special import enclosed

            return enclosed(self, head, a)
        if head == "sech":
            return self.div(UNIT, self.function(a, "cosh"))
        if head == "sigmoid":
            return self.div(UNIT, self.add(UNIT, self.function(self.neg(a), "exp")))
        if head == "tan" and self._half_turns(a, -1) != range(0):
            raise Rejected("tan of an interval that may hold a pole")
        a = self.abs(a) if head == "cosh" else a
        first, last = (a.hi, a.lo) if head in FALLING else a
        low, high = _rounded(self.down, head, first), _rounded(self.up, head, last)
        # Outside the domain MPFR gives NaN; where it ends in a pole, an infinity.
        if not low <= high or (head in POLES and (low == -INF or a.hi < high == INF)):
            raise Rejected(f"an argument of {head} may lie outside its domain")
        return Interval(low, high)

    def signs(self, a: Interval) -> set[int]:
        held = {-1: a.lo < 0, 0: a.lo <= 0 <= a.hi, 1: a.hi > 0}
        return {sign for sign, present in held.items() if present}

    def undecided(self, head: str, *args: Interval) -> Interval:
        lows = [a.lo for a in args]
        low = ZERO if head == "abs" else max(lows) if head == "max" else min(lows)
        return Interval(low, max(a.hi for a in args))

    def _half_turns(self, a: Interval, offset: int) -> range | None:
        """All integers that x/pi + offset/2 can be, x in a; None for many or a far away."""
        if not -FAR < a.lo <= a.hi < FAR:
            return None
        turns = self.add(self.div(a, self.constant("pi")), self.number(gmpy2.mpq(offset, 2)))
        first, last = int(self.down.ceil(turns.lo)), int(self.down.floor(turns.hi))
        return range(first, last + 1) if last - first < 2 else None

    def _wave(self, a: Interval, head: str) -> Interval:
        # sin has its extrema where x/pi - 1/2 is a whole number k, cos where x/pi is:
        # a maximum for even k, a minimum for odd k; between two of them it is monotone.
        turns = self._half_turns(a, -1 if head == "sin" else 0)
        if turns is None:
            return Interval(MINUS_ONE, ONE)
        low = min(getattr(self.down, head)(a.lo), getattr(self.down, head)(a.hi))
        high = max(getattr(self.up, head)(a.lo), getattr(self.up, head)(a.hi))
        for k in turns:
            low, high = (low, ONE) if k % 2 == 0 else (MINUS_ONE, high)
        return interval(low, high)


def _rounded(context: Any, head: str, x: Any) -> Any:
    """The function at a number, rounded as the context says."""
    if head != "softplus":
        return getattr(context, head)(x)
    # Every step rises with the one before it, so that one rounding direction suits all.
    return context.add(max(x, ZERO), context.log1p(context.exp(context.minus(context.abs(x)))))
