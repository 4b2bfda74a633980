"""Elementary functions for Triton in single and double precision, without libdevice.

One table of operations for every target: the same source runs on NVIDIA and AMD cards and in the interpreter,
where libdevice does not, and gives the same digits up to fused multiply-adds. ``tl.exp`` in single precision
is a hardware approximation that errs by up to 64 units in the last place at the ends of its range; here it is
a polynomial after an exact reduction. Double precision uses the compiler's own exp and log.
"""

# mypy: allow-untyped-defs
# Triton reads these functions' text; the types of their arguments exist only in a compiled kernel.

from __future__ import annotations

import triton
import triton.language as tl

from gateproof.kernels import elementary_tables as tables


def _numbers(values: tuple[float, ...]) -> tuple[tl.constexpr, ...]:
    return tuple(tl.constexpr(v) for v in values)


E0, E1, E2, E3, E4, E5 = _numbers(tables.EXPM1)
A0, A1, A2, A3, A4 = _numbers(tables.ATANH)
T0, T1, T2, T3, T4 = _numbers(tables.TANH)
SPLIT = tl.constexpr(tables.TANH_SPLIT)
HIGH, LOW = tl.constexpr(tables.LN2_HIGH), tl.constexpr(tables.LN2_LOW)
INVERSE_LN2 = tl.constexpr(1.4426950408889634)
#: Numbers beside it are whole in single precision, and their bits count on from its own.
SHIFT, SHIFT_BITS = tl.constexpr(12582912.0), tl.constexpr(0x4B400000)
INFINITY = tl.constexpr(float("inf"))


@triton.jit
def divide(a, b):
    """a/b, correctly rounded: ``/`` in single precision is an approximation on a card."""
    if b.dtype == tl.float64:
        return a / b
    else:
        return tl.div_rn(a, b)


@triton.jit
def high(x):
    """The upper half of a number's bits: at most 12 of 24 significant ones, or 26 of 53."""
    if x.dtype == tl.float64:
        return (x.to(tl.int64, bitcast=True) & -134217728).to(tl.float64, bitcast=True)
    else:
        return (x.to(tl.int32, bitcast=True) & -4096).to(tl.float32, bitcast=True)


@triton.jit
def odd(total, low):
    """total + low rounded to odd: the neighbour of the exact sum whose last bit is 1, or the sum itself."""
    near = total + low
    rest = low - (near - total)
    bits = near.to(tl.int32, bitcast=True)
    # One up in size where both have one sign, else one down.
    moved = bits + (((bits ^ rest.to(tl.int32, bitcast=True)) >> 31) | 1)
    between = (rest != 0.0) & (tl.abs(rest) < tl.abs(near)) & ((bits & 1) == 0)
    found = tl.where(between, moved, bits).to(tl.float32, bitcast=True)
    # Beside infinity low is no number.
    return tl.where(tl.abs(low) < INFINITY, found, total)


@triton.jit
def _power_of_two(k):
    """2**k for whole numbers k from -126 to 127."""
    return ((k + 127) << 23).to(tl.float32, bitcast=True)


@triton.jit
def _reduced(x):
    """Whole k as a float, r, and k as an integer with x = k*log(2) + r, |r| <= log(2)/2, for |x| < 200."""
    # Neither floor nor a conversion: a card does those at a quarter of the rate of an addition.
    shifted = x * INVERSE_LN2 + SHIFT
    k = shifted - SHIFT
    return k, (x - k * HIGH) - k * LOW, shifted.to(tl.int32, bitcast=True) - SHIFT_BITS


@triton.jit
def _between(x, low, high):
    """x within bounds, one instruction each; not-a-number stays."""
    raised = tl.maximum(x, low, propagate_nan=tl.PropagateNan.ALL)
    return tl.minimum(raised, high, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def _expm1_tail(r):
    """(expm1(r) - r)/r**2."""
    return ((((E5 * r + E4) * r + E3) * r + E2) * r + E1) * r + E0


@triton.jit
def exp(x):
    """exp(x), subnormal results included."""
    if x.dtype == tl.float64:
        return tl.exp(x)
    else:
        _, r, whole = _reduced(_between(x, -105.0, 89.0))
        value = 1.0 + (r + r * r * _expm1_tail(r))
        half = whole >> 1
        # Of not-a-number r is not-a-number, whatever its bits say as an exponent.
        return value * _power_of_two(half) * _power_of_two(whole - half)


@triton.jit
def expm1(x):
    """exp(x) - 1."""
    if x.dtype == tl.float64:
        u = tl.exp(x)
        below = u - 1.0
        # What u lost when it was rounded is made good by the logarithm of u itself (Kahan).
        near = tl.where(u == 1.0, x, below * (x / tl.log(tl.where((u == 1.0) | (u == 0.0), 2.0, u))))
        return tl.where(tl.abs(x) < 1.1, near, below)
    else:
        k, r, whole = _reduced(_between(x, -50.0, 89.0))
        half = whole >> 1
        first, second = _power_of_two(half), _power_of_two(whole - half)
        scale = first * second
        near = r + r * r * _expm1_tail(r)
        value = tl.where(k < 127.0, scale * near + (scale - 1.0), (1.0 + near) * first * second - 1.0)
        value = tl.where(k == 0.0, near, value)
        return tl.where(x == 0.0, x, value)


@triton.jit
def _log_near(f, half_low):
    """log(1 + f) + half_low for -0.3 < f <= 1 by 2*atanh(f/(2 + f))."""
    s = divide(f, 2.0 + f)
    z = s * s
    tail = (((A4 * z + A3) * z + A2) * z + A1) * z + A0
    # f - s*(f - z*tail) keeps f itself exact.
    return f - (s * (f - z * tail) - half_low)


@triton.jit
def log(x):
    """The natural logarithm."""
    if x.dtype == tl.float64:
        return tl.log(x)
    else:
        small = x < 1.1754943508222875e-38
        scaled = tl.where(small, x * 8388608.0, x)
        inside = tl.where((scaled > 0.0) & (scaled < INFINITY), scaled, 1.0)
        bits = inside.to(tl.int32, bitcast=True) - 0x3F3504F3
        whole = bits >> 23
        mantissa = ((bits & 0x7FFFFF) + 0x3F3504F3).to(tl.float32, bitcast=True)
        k = whole.to(tl.float32) - tl.where(small, 23.0, 0.0)
        value = k * HIGH + _log_near(mantissa - 1.0, k * LOW)
        value = tl.where(x == 0.0, -INFINITY, value)
        value = tl.where(x == INFINITY, x, value)
        return tl.where((x < 0.0) | (x != x), float("nan"), value)


@triton.jit
def log1p(x):
    """log(1 + x)."""
    if x.dtype == tl.float64:
        y = 1.0 + x
        near = tl.where(y == 1.0, x, tl.log(y) * (x / tl.where(y == 1.0, 1.0, y - 1.0)))
        return tl.where((x > 1e20) | (y == 0.0), tl.log(y), near)
    else:
        near = _log_near(tl.where((x > -0.25) & (x <= 1.0), x, 0.0), 0.0)
        y = 1.0 + x
        lost = tl.where(x < 1.0, x - (y - 1.0), 1.0 - (y - x))
        far = log(y) + tl.where((y > 0.0) & (y < INFINITY), divide(lost, y), 0.0)
        return tl.where((x > -0.25) & (x <= 1.0), tl.where(x == 0.0, x, near), far)


@triton.jit
def tanh(x):
    """The hyperbolic tangent."""
    a = tl.abs(x)
    if x.dtype == tl.float64:
        m = expm1(-2.0 * a)
        t = -m / (2.0 + m)
        return tl.where(x < 0.0, -t, tl.where(x == 0.0, x, t))
    else:
        v = x * x
        near = x + x * v * ((((T4 * v + T3) * v + T2) * v + T1) * v + T0)
        # From SPLIT on the quotient is at most 1/2, and half its error is that of the result.
        t = 1.0 - divide(2.0, 1.0 + exp(2.0 * a))
        return tl.where(a < SPLIT, tl.where(x == 0.0, x, near), tl.where(x < 0.0, -t, t))
