"""Intervals with exact ends, rounded outward at the current precision.

A ball's radius has 30 bits, so a ball around [0, 0.3] reaches below 0; bounds that
are attained, and square roots of absolute values, need exact ends. An interval is a
pair of exact arbs; an end may be infinite, never nan.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from flint import arb, fmpq

from gateproof.numerics.errors import MaybeUndefined, Undefined

Interval = tuple[arb, arb]
Function = Callable[[Interval], Interval]

ZERO, ONE, MINUS_ONE = arb(0), arb(1), arb(-1)
INF, NEG_INF = arb.pos_inf(), arb.neg_inf()
#: Arguments of saturating functions are cut here: exp(2**40) still has a small exponent.
_CUT = arb(2) ** 40


def down(x: arb) -> arb:
    """A lower bound of the ball; -oo where it is nan."""
    y = x.lower()
    return y if y == y else NEG_INF  # noqa: PLR0124 - nan differs from itself


def up(x: arb) -> arb:
    """An upper bound of the ball; oo where it is nan."""
    y = x.upper()
    return y if y == y else INF  # noqa: PLR0124


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


def add(a: Interval, b: Interval) -> Interval:
    """Sum."""
    return down(a[0] + b[0]), up(a[1] + b[1])


def neg(a: Interval) -> Interval:
    """Negative."""
    return -a[1], -a[0]


def mul(a: Interval, b: Interval) -> Interval:
    """Product."""
    (al, ah), (bl, bh) = a, b
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
    """Absolute value, exact."""
    lo, hi = a
    if lo >= 0:
        return a
    if hi <= 0:
        return -hi, -lo
    return ZERO, max(-lo, hi)


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


def real_power(a: Interval, b: Interval) -> Interval:
    """a**b for a base > 0, or a base >= 0 with an exponent > 0."""
    lo, hi = a
    if hi < 0 or (hi == 0 and b[1] <= 0):
        raise Undefined("a power of a base outside its domain")
    if lo < 0 or (lo == 0 and b[0] <= 0):
        raise MaybeUndefined("a power of a base that may lie outside its domain")
    if hi == 0:
        return ZERO, ZERO
    if lo > 0:
        return exp(mul(b, (down(lo.log()), up(hi.log()))))
    top = exp(mul(b, (up(hi.log()), up(hi.log()))))[1]
    return ZERO, top


def _increasing(f: Callable[[arb], arb], lowest: arb, highest: arb) -> Function:
    """The interval form of an increasing function with values in [lowest, highest]."""

    def at_low(x: arb) -> arb:
        if x < -_CUT:
            return lowest
        y = down(f(x if x <= _CUT else _CUT))
        return y if y >= lowest else lowest

    def at_high(x: arb) -> arb:
        if x > _CUT:
            return highest
        y = up(f(x if x >= -_CUT else -_CUT))
        return y if y <= highest else highest

    return lambda a: (at_low(a[0]), at_high(a[1]))


def _sigmoid(x: arb) -> arb:
    if x >= 0:
        return 1 / (1 + (-x).exp())
    e = x.exp()
    return e / (1 + e)


def _softplus(x: arb) -> arb:
    return x + (-x).exp().log1p() if x > 0 else x.exp().log1p()


def _asinh(x: arb) -> arb:
    return x.asinh() if x >= 0 else -((-x).asinh())


exp = _increasing(arb.exp, ZERO, INF)
sinh = _increasing(arb.sinh, NEG_INF, INF)
tanh = _increasing(arb.tanh, MINUS_ONE, ONE)
sigmoid = _increasing(_sigmoid, ZERO, ONE)
erf = _increasing(arb.erf, MINUS_ONE, ONE)
_softplus_mid = _increasing(_softplus, ZERO, INF)
_erfc_mirrored = _increasing(lambda x: (-x).erfc(), ZERO, arb(2))
_cosh_right = _increasing(arb.cosh, ONE, INF)
_sech_mirrored = _increasing(arb.sech, ZERO, ONE)


def softplus(a: Interval) -> Interval:
    """log(1 + exp(a)), never below max(a, 0)."""
    lo, hi = _softplus_mid(a)
    return max(lo, a[0]), hi if a[1] <= _CUT else up(a[1] + 1)


def erfc(a: Interval) -> Interval:
    """1 - erf, without cancellation."""
    return _erfc_mirrored(neg(a))


def cosh(a: Interval) -> Interval:
    """Hyperbolic cosine."""
    return _cosh_right(absolute(a))


def sech(a: Interval) -> Interval:
    """1/cosh."""
    return _sech_mirrored(neg(absolute(a)))


def atan(a: Interval) -> Interval:
    """Arc tangent."""
    half = up(arb.pi() / 2)
    lo = down(a[0].atan()) if a[0] > -_CUT else -half
    hi = up(a[1].atan()) if a[1] < _CUT else half
    return lo, hi


def asinh(a: Interval) -> Interval:
    """Area hyperbolic sine."""
    return down(_asinh(a[0])), up(_asinh(a[1]))


def log(a: Interval) -> Interval:
    """Natural logarithm."""
    if a[1] <= 0:
        raise Undefined("log of a number <= 0")
    if a[0] <= 0:
        raise MaybeUndefined("log of an enclosure that touches 0")
    return down(a[0].log()), up(a[1].log())


def sqrt(a: Interval) -> Interval:
    """Square root."""
    if a[1] < 0:
        raise Undefined("square root of a negative number")
    if a[0] < 0:
        raise MaybeUndefined("square root of an enclosure that reaches below 0")
    return down(a[0].sqrt()), up(a[1].sqrt())


def _within(a: Interval, lo: arb, hi: arb, name: str, open_ends: bool) -> None:
    outside = (a[1] <= lo or a[0] >= hi) if open_ends else (a[1] < lo or a[0] > hi)
    if outside:
        raise Undefined(f"{name} outside its domain")
    inside = (a[0] > lo and a[1] < hi) if open_ends else (a[0] >= lo and a[1] <= hi)
    if not inside:
        raise MaybeUndefined(f"{name} of an enclosure that leaves its domain")


def asin(a: Interval) -> Interval:
    """Arc sine on [-1, 1]."""
    _within(a, MINUS_ONE, ONE, "asin", False)
    return down(a[0].asin()), up(a[1].asin())


def acos(a: Interval) -> Interval:
    """Arc cosine on [-1, 1]."""
    _within(a, MINUS_ONE, ONE, "acos", False)
    return down(a[1].acos()), up(a[0].acos())


def acosh(a: Interval) -> Interval:
    """Area hyperbolic cosine on [1, oo)."""
    _within(a, ONE, INF, "acosh", False)
    return down(a[0].acosh()), up(a[1].acosh())


def atanh(a: Interval) -> Interval:
    """Area hyperbolic tangent on (-1, 1)."""
    _within(a, MINUS_ONE, ONE, "atanh", True)
    return down(a[0].atanh()), up(a[1].atanh())


def _wave(f: Callable[[arb], arb]) -> Function:
    def wave(a: Interval) -> Interval:
        ball = f(to_ball(a))
        lo, hi = down(ball), up(ball)
        return (lo if lo >= -1 else MINUS_ONE), (hi if hi <= 1 else ONE)

    return wave


sin = _wave(arb.sin)
cos = _wave(arb.cos)


def tan(a: Interval) -> Interval:
    """Tangent, on one branch."""
    c = cos(a)
    if c[0] > 0 or c[1] < 0:
        if a[1] - a[0] < 3:
            return down(a[0].tan()), up(a[1].tan())
        return NEG_INF, INF
    raise MaybeUndefined("tan near a pole")


def sign(a: Interval) -> Interval:
    """-1, 0 or 1; an interval of them where undecided."""
    lo, hi = a
    low = ONE if lo > 0 else (ZERO if lo == 0 else MINUS_ONE)
    high = MINUS_ONE if hi < 0 else (ZERO if hi == 0 else ONE)
    return low, high


FUNCTIONS: dict[str, Function] = {
    "neg": neg, "abs": absolute, "sign": sign, "exp": exp, "log": log, "sqrt": sqrt,
    "sin": sin, "cos": cos, "tan": tan, "asin": asin, "acos": acos, "atan": atan,
    "sinh": sinh, "cosh": cosh, "tanh": tanh, "sech": sech, "asinh": asinh, "acosh": acosh,
    "atanh": atanh, "sigmoid": sigmoid, "softplus": softplus, "erf": erf, "erfc": erfc,
}  # fmt: skip
