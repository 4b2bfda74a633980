"""Functions on intervals with exact ends: monotone ones at their ends, never nan."""

from __future__ import annotations

from collections.abc import Callable

from flint import arb

from gateproof.numerics.errors import MaybeUndefined, Undefined
from gateproof.numerics.interval import (
    INF,
    MINUS_ONE,
    NEG_INF,
    ONE,
    ZERO,
    Interval,
    absolute,
    div,
    down,
    integer_power,
    mul,
    neg,
    to_ball,
    up,
)

Function = Callable[[Interval], Interval]

#: Arguments of saturating functions are cut here: exp(2**40) still has a small exponent.
_CUT = arb(2) ** 40
_TINY = arb(2) ** -1024


def half_power(a: Interval, n: int) -> Interval:
    """a**(n/2) for an odd n."""
    if n < 0:
        return div((ONE, ONE), half_power(a, -n))
    return sqrt(integer_power(a, n))


def real_power(a: Interval, b: Interval) -> Interval:
    """a**b for a base > 0, or a base >= 0 with an exponent > 0."""
    lo, hi = a
    if b[0] == b[1] and b[0].is_integer() and abs(b[0]) < 2**20:
        return integer_power(a, int(float(b[0])))
    # A whole number among the exponents may be the one that is meant: it has powers of every base.
    if (hi < 0 and b[1].floor() < b[0]) or (hi == 0 and b[1] < 0):
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
    # log(1 + exp(-x)) < exp(-x) < 2**-1024 beyond the cut.
    return max(lo, a[0]), hi if a[1] <= _CUT else up(a[1] + _TINY)


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
    return down(a[0].atan()) if a[0] > -_CUT else -half, up(a[1].atan()) if a[1] < _CUT else half


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


def logistic(x: arb) -> tuple[arb, arb, arb]:
    """sigmoid(x), tanh(x/2) and sech(x/2)**2 of a thin ball, each relatively accurate, from one exponential.

    With e = exp(-x): 1/(1+e), (1-e)/(1+e) and 4 e/(1+e)**2, where 1-e near 0 comes from expm1.
    """
    if x < -1:
        s, t, q = logistic(-x)
        return q / (4 * s), -t, q
    if x < 1:
        m = (-x).expm1()
        s = 1 / (2 + m)
        return s, -m * s, 4 * (1 + m) * s * s
    e = (-x).exp()
    s = 1 / (1 + e)
    return s, (1 - e) * s, 4 * e * s * s


def logistic_on(a: Interval) -> tuple[Interval, Interval, Interval]:
    """The same on an interval: two rise, the third falls with |x|."""
    lo, hi = a
    (s0, t0, q0), (s1, t1, q1) = (logistic(max(min(x, _CUT), -_CUT)) for x in a)
    cut = lo < -_CUT or hi > _CUT
    least = ZERO if cut else min(down(q0), down(q1))
    return (
        (ZERO if lo < -_CUT else down(s0), ONE if hi > _CUT else up(s1)),
        (MINUS_ONE if lo < -_CUT else down(t0), ONE if hi > _CUT else up(t1)),
        (least, ONE if lo <= 0 <= hi else max(up(q0), up(q1))),
    )


#: Entire functions as arb has them, for balls that are neither wide nor far from 0.
BALLS: dict[str, Callable[[arb], arb]] = {
    "exp": arb.exp, "sin": arb.sin, "cos": arb.cos, "sinh": arb.sinh, "cosh": arb.cosh,
    "tanh": arb.tanh, "sech": arb.sech, "atan": arb.atan, "sigmoid": lambda x: 1 / (1 + (-x).exp()),
    "softplus": _softplus, "erf": arb.erf, "erfc": arb.erfc,
}  # fmt: skip
