"""Rational enclosures of exp, log, square roots and pi, in fractions alone.

Every function returns (lower, upper). Sizes are kept near BITS significant bits.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import isqrt

BITS = 128
#: Beyond it exp(x) is bounded by exp(+-FAR), so that numbers stay short.
FAR = Fraction(4000)
Pair = tuple[Fraction, Fraction]


def round_up(x: Fraction, bits: int = BITS) -> Fraction:
    """A fraction >= x with at most ``bits`` significant bits over a power of 2."""
    return -round_down(-x, bits)


def round_down(x: Fraction, bits: int = BITS) -> Fraction:
    """A fraction <= x with at most ``bits`` significant bits over a power of 2."""
    if x.numerator.bit_length() <= bits and x.denominator.bit_length() <= bits:
        return x
    shift = bits - (x.numerator.bit_length() - x.denominator.bit_length())
    if shift >= 0:
        return Fraction((x.numerator << shift) // x.denominator, 1 << shift)
    return Fraction((x.numerator // (x.denominator << -shift)) << -shift)


@lru_cache(maxsize=4096)
def exp(x: Fraction) -> Pair:
    """Bounds of exp(x), relatively within 2**-100 for |x| <= FAR; 0 below for x < -FAR.

    Raises OverflowError for x > FAR.
    """
    if x > FAR:
        raise OverflowError("exp of a number above 4000")
    if x < -FAR:
        return Fraction(0), exp(-FAR)[1]
    if x == 0:
        return Fraction(1), Fraction(1)
    if x < 0:
        lo, hi = exp(-x)
        return round_down(1 / hi), round_up(1 / lo)
    halvings = max(0, x.numerator.bit_length() - x.denominator.bit_length() + 4)
    work = BITS + halvings + 8
    t = x / 2**halvings
    low, high = round_down(t, work), round_up(t, work)
    lo, hi = _exp_series(low, work)[0], _exp_series(high, work)[1]
    for _ in range(halvings):
        lo, hi = round_down(lo * lo, work), round_up(hi * hi, work)
    return round_down(lo), round_up(hi)


def _exp_series(t: Fraction, work: int) -> Pair:
    """Bounds for 0 <= t <= 1/8: the remainder after t**n/n! is at most 2 t**(n+1)/(n+1)!."""
    lo = hi = Fraction(1)
    low_term = high_term = Fraction(1)
    n = 0
    while high_term > Fraction(1, 2**work):
        n += 1
        low_term, high_term = round_down(low_term * t / n, work), round_up(high_term * t / n, work)
        lo, hi = lo + low_term, hi + high_term
    return round_down(lo, work), round_up(hi + 2 * high_term, work)


@lru_cache(maxsize=256)
def log(x: Fraction) -> Pair:
    """Bounds of log(x), x > 0: x = 2**n m with m near 1, log m = 2 atanh((m-1)/(m+1))."""
    n = x.numerator.bit_length() - x.denominator.bit_length()
    m = x / Fraction(2) ** n
    if m > Fraction(4, 3):
        n, m = n + 1, m / 2
    two = _log_near_one(Fraction(4, 3))
    half = _log_near_one(Fraction(2, 3))
    ln2 = (two[0] - half[1], two[1] - half[0])
    near = _log_near_one(m)
    ends = (n * ln2[0], n * ln2[1])
    return round_down(min(ends) + near[0]), round_up(max(ends) + near[1])


def _log_near_one(m: Fraction) -> Pair:
    y = (m - 1) / (m + 1)
    s, power, k = Fraction(0), y, 0
    square = y * y
    # |y| <= 1/3, so that the rest of the series is at most the next term.
    while power and abs(power) > Fraction(1, 2 ** (BITS + 16)):
        s += power / (2 * k + 1)
        k += 1
        power = round_up(power * square, BITS + 64)
    slack = Fraction(k + 2, 2 ** (BITS + 10)) if power else Fraction(0)
    return round_down(2 * s - slack), round_up(2 * s + slack)


def sqrt(x: Fraction) -> Pair:
    """Bounds of the square root of x >= 0; exact for squares of rationals."""
    p, q = x.numerator, x.denominator
    root_p, root_q = isqrt(p), isqrt(q)
    if root_p * root_p == p and root_q * root_q == q:
        return Fraction(root_p, root_q), Fraction(root_p, root_q)
    shift = max(0, 2 * BITS - p.bit_length() + q.bit_length() + 2)
    shift += shift % 2
    scaled = isqrt((p << shift) // q)
    unit = Fraction(1, 1 << (shift // 2))
    return scaled * unit, (scaled + 1) * unit


#: pi = 16 atan(1/5) - 4 atan(1/239), alternating series.
@lru_cache(maxsize=1)
def pi() -> Pair:
    """Bounds of pi."""
    a, b = _atan_inverse(5), _atan_inverse(239)
    return round_down(16 * a[0] - 4 * b[1], 200), round_up(16 * a[1] - 4 * b[0], 200)


def _atan_inverse(n: int) -> Pair:
    s, k = Fraction(0), 0
    while True:
        term = Fraction(1, (2 * k + 1) * n ** (2 * k + 1))
        if term < Fraction(1, 2**220):
            return s - term, s + term
        s += term if k % 2 == 0 else -term
        k += 1
