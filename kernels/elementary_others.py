"""The other elementary functions for Triton, from exp, expm1, log, log1p and a polynomial for atan.

sin and cos are the compiler's own: they need hundreds of bits of pi for large arguments.
"""

# mypy: allow-untyped-defs
# Triton reads these functions' text; the types of their arguments exist only in a compiled kernel.

from __future__ import annotations

import triton
import triton.language as tl

from gateproof.kernels import elementary_tables as tables
from gateproof.kernels.elementary import divide, exp, expm1, log, log1p

B0, B1, B2, B3, B4, B5 = (tl.constexpr(v) for v in tables.ATAN)
INNER, OUTER = tl.constexpr(0.41421356237309503), tl.constexpr(2.414213562373095)
QUARTER, QUARTER_LOW = tl.constexpr(0.7853981852531433), tl.constexpr(-2.1855695000931213e-08)
LN2 = tl.constexpr(0.6931471805599453)
INFINITY = tl.constexpr(float("inf"))


@triton.jit
def sqrt(x):
    """sqrt(x), correctly rounded in both precisions: the rounding version is of single precision only."""
    if x.dtype == tl.float64:
        return tl.sqrt(x)
    else:
        return tl.sqrt_rn(x)


@triton.jit
def sin(x):
    """sin(x)."""
    return tl.sin(x)


@triton.jit
def cos(x):
    """cos(x)."""
    return tl.cos(x)


@triton.jit
def tan(x):
    """tan(x)."""
    return divide(tl.sin(x), tl.cos(x))


@triton.jit
def _atan_single(a):
    """atan(a) for a >= 0, reduced to |w| <= tan(pi/8) by its addition theorem."""
    middle, far = a > INNER, a > OUTER
    steps = tl.where(far, 2.0, tl.where(middle, 1.0, 0.0))
    above = tl.where(far, -1.0, tl.where(middle, a - 1.0, a))
    below = tl.where(far, a, tl.where(middle, a + 1.0, 1.0))
    w = divide(above, below)
    v = w * w
    tail = ((((B5 * v + B4) * v + B3) * v + B2) * v + B1) * v + B0
    return steps * QUARTER + (w + (w * v * tail + steps * QUARTER_LOW))


@triton.jit
def atan(x):
    """atan(x)."""
    a = tl.abs(x)
    if x.dtype == tl.float64:
        # One step of Newton's method on tan from single precision; its error is cubed.
        inside = divide(tl.where(a > 1.0, 1.0, a), tl.where(a > 1.0, a, 1.0))
        first = _atan_single(inside.to(tl.float32)).to(tl.float64)
        t = divide(tl.sin(first), tl.cos(first))
        value = first + divide(inside - t, 1.0 + inside * t)
        value = tl.where(a > 1.0, 1.5707963267948966 - (value - 6.123233995736766e-17), value)
    else:
        value = _atan_single(a)
    return tl.where((x == 0.0) | (x != x), x, tl.where(x < 0.0, -value, value))


@triton.jit
def asin(x):
    """asin(x)."""
    value = atan(divide(x, sqrt((1.0 - x) * (1.0 + x))))
    return tl.where(tl.abs(x) > 1.0, float("nan"), value)


@triton.jit
def acos(x):
    """acos(x)."""
    value = 2.0 * atan(sqrt(divide(1.0 - x, 1.0 + x)))
    return tl.where(tl.abs(x) > 1.0, float("nan"), value)


@triton.jit
def sinh(x):
    """sinh(x)."""
    a = tl.abs(x)
    m = expm1(tl.where(a < 20.0, a, 20.0))
    near = 0.5 * (m + divide(m, m + 1.0))
    half = exp(0.5 * a)
    value = tl.where(a < 20.0, near, (0.5 * half) * half)
    return tl.where((x == 0.0) | (x != x), x, tl.where(x < 0.0, -value, value))


@triton.jit
def cosh(x):
    """cosh(x)."""
    a = tl.abs(x)
    half = exp(0.5 * a)
    e = exp(tl.where(a < 20.0, a, 20.0))
    value = tl.where(a < 20.0, 0.5 * (e + divide(1.0, e)), (0.5 * half) * half)
    return tl.where(x != x, x, value)


@triton.jit
def asinh(x):
    """asinh(x)."""
    a = tl.abs(x)
    big = a > 134217728.0
    s = tl.where(big, 1.0, a)
    near = log1p(s + divide(s * s, 1.0 + sqrt(s * s + 1.0)))
    value = tl.where(big, log(tl.where(big, a, 1.0)) + LN2, near)
    return tl.where((x == 0.0) | (x != x), x, tl.where(x < 0.0, -value, value))


@triton.jit
def acosh(x):
    """acosh(x)."""
    big = x > 134217728.0
    t = tl.where(big, 1.0, x) - 1.0
    value = tl.where(big, log(tl.where(big, x, 1.0)) + LN2, log1p(t + sqrt(t * (t + 2.0))))
    return tl.where((x < 1.0) | (x != x), float("nan"), value)


@triton.jit
def atanh(x):
    """atanh(x)."""
    a = tl.abs(x)
    inside = tl.where(a < 1.0, a, 0.0)
    value = tl.where(a == 1.0, INFINITY, 0.5 * log1p(divide(2.0 * inside, 1.0 - inside)))
    value = tl.where(a > 1.0, float("nan"), value)
    return tl.where((x == 0.0) | (x != x), x, tl.where(x < 0.0, -value, value))


@triton.jit
def power(a, b):
    """a**b, in double precision: the error of b*log(a) is multiplied by its size."""
    base, exponent = a.to(tl.float64), b.to(tl.float64)
    size = tl.abs(base)
    inside = tl.where((size > 0.0) & (size < INFINITY), size, 1.0)
    value = tl.exp(exponent * tl.log(inside))
    value = tl.where(size == 0.0, tl.where(exponent < 0.0, INFINITY, 0.0), value)
    value = tl.where(size == INFINITY, tl.where(exponent < 0.0, 0.0, INFINITY), value)
    whole = tl.floor(exponent) == exponent
    odd = tl.floor(0.5 * exponent) * 2.0 != exponent
    value = tl.where(base < 0.0, tl.where(whole, tl.where(odd, -value, value), float("nan")), value)
    value = tl.where(base != base, float("nan"), tl.where(exponent != exponent, float("nan"), value))
    return tl.where(exponent == 0.0, 1.0, value).to(a.dtype)
