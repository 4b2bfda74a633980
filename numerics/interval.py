"""Intervals with exact ends, rounded outward at the current precision.

A ball's radius has 30 bits, so a ball around [0, 0.3] reaches below 0; bounds that
are attained, and square roots of absolute values, need exact ends. An interval is a
pair of exact arbs; an end may be infinite, never nan.
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb, fmpq

from gateproof.numerics.errors import MaybeUndefined, Undefined

Interval = tuple[arb, arb]

ZERO, ONE, MINUS_ONE = arb(0), arb(1), arb(-1)
INF, NEG_INF = arb.pos_inf(), arb.neg_inf()


def down(x: arb) -> arb:
    """A lower bound of the ball; -oo where it is nan."""
    y = x.lower()
    return NEG_INF if y.is_nan() else y


def up(x: arb) -> arb:
    """An upper bound of the ball; oo where it is nan."""
    y = x.upper()
    return INF if y.is_nan() else y


def of_ball(x: arb) -> Interval:
    """The ends of a ball."""
    return down(x), up(x)


def to_ball(x: Interval) -> arb:
    """A ball that holds the interval."""
    lo, hi = x
    return lo if lo == hi else lo.union(hi)


def rational(value: Fraction) -> arb:
    """The ball of a rational at the current precision."""
    return arb(fmpq(value.numerator, value.denominator))


def to_fraction(x: arb) -> Fraction:
    """The exact value of an exact finite arb."""
    mantissa, exponent = x.man_exp()
    m, e = int(mantissa), int(exponent)
    return Fraction(m * 2**e) if e >= 0 else Fraction(m, 2**-e)


#: Smaller sizes than this are rounded outward to it: exp(-2**40) as a fraction fills the memory.
_TINY = Fraction(1, 2**8192)
#: Larger sizes than this are never made fractions.
HUGE = arb(2) ** 8192


def moderate(x: arb, largest: arb = HUGE) -> bool:
    """Whether an exact number has a fraction that is not too long to be used."""
    return bool(x == 0 or 1 / largest < abs(x) < largest)


def lower_fraction(x: arb) -> Fraction:
    """A fraction of moderate size at most x, equal to it unless x is extremely small."""
    if abs(x) < arb(2) ** -8192:
        return Fraction(0) if x >= 0 else -_TINY
    return to_fraction(x)


def upper_fraction(x: arb) -> Fraction:
    """A fraction of moderate size at least x, equal to it unless x is extremely small."""
    return -lower_fraction(-x)


def add(a: Interval, b: Interval) -> Interval:
    """Sum."""
    return down(a[0] + b[0]), up(a[1] + b[1])


def neg(a: Interval) -> Interval:
    """Negative. flint's minus rounds an end of more bits than the current precision."""
    return down(-a[1]), up(-a[0])


def mul(a: Interval, b: Interval) -> Interval:
    """Product."""
    (al, ah), (bl, bh) = a, b
    if (al == 0 and ah == 0) or (bl == 0 and bh == 0):
        # Infinite ends only mean that the numbers are unbounded.
        return ZERO, ZERO
    if al >= 0:
        low = al if bl >= 0 else ah
        high = ah if bh >= 0 else al
        return down(low * bl), up(high * bh)
    if ah <= 0:
        low = al if bh >= 0 else ah
        high = ah if bl >= 0 else al
        return down(low * bh), up(high * bl)
    if bl >= 0:
        return down(al * bh), up(ah * bh)
    if bh <= 0:
        return down(ah * bl), up(al * bl)
    lows, highs = (down(al * bh), down(ah * bl)), (up(al * bl), up(ah * bh))
    return min(lows), max(highs)


def div(a: Interval, b: Interval) -> Interval:
    """Quotient; the divisor must not hold 0."""
    bl, bh = b
    if bl > 0 or bh < 0:
        return mul(a, (down(1 / bh), up(1 / bl)))
    if bl == 0 and bh == 0:
        raise Undefined("division by 0")
    raise MaybeUndefined("division by an enclosure of 0")


def absolute(a: Interval) -> Interval:
    """Absolute value."""
    lo, hi = a
    if lo >= 0:
        return a
    low, high = neg(a)
    return (low, high) if hi <= 0 else (ZERO, max(high, hi))


def integer_power(a: Interval, n: int) -> Interval:
    """a**n for an integer n; x**0 = 1 everywhere."""
    if n == 0:
        return ONE, ONE
    if n < 0:
        return div((ONE, ONE), integer_power(a, -n))
    if n == 1:
        return a
    base = absolute(a) if n % 2 == 0 else a
    return down(base[0] ** n), up(base[1] ** n)
