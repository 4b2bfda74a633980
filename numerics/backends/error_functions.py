"""erf, erfc and the normal distribution function for arrays, with their digits kept in the tails.

erfc(a) = exp(-a**2) * T((a - 4)/(a + 4))/(1 + 2a) for a >= 0 with a polynomial T, and exp(-a**2) is taken of
an exactly split square: rounding a**2 alone would cost a**2 units in the last place. Polynomials: see
``error_tables.py``; the tests compute them again.
"""

from __future__ import annotations

from math import frexp, ldexp, sqrt
from typing import Any

from gateproof.numerics.backends.error_tables import ERF, SCALED, SPLIT

Array = Any
Ops = Any


def _polynomial(u: Array, coefficients: tuple[float, ...]) -> Array:
    value: Array = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        value = value * u + c
    return value


def expsq(ops: Ops, u: Array, c: float) -> Array:
    """exp(c*u**2) for a number c."""
    if c == 0:
        return u * 0.0 + 1.0
    # Past this size the value is 0 or infinite in every format.
    bound = sqrt(1500.0 / abs(c))
    a = abs(u)
    a = ops.where(a > bound, bound, a)
    mantissa, exponent = frexp(c)
    # In units of 1/sqrt|c| the size is below 55: coarse**2 * head has 8 + 8 + 8 bits where single precision
    # does not flush it to 0, and 14 + 14 + 24 in double precision: exact, for any scale of c.
    bits, step = (8, 4) if ops.small else (24, 8)
    unit = ldexp(1.0, -step - exponent // 2)
    coarse = ops.floor(a / unit + 0.5) * unit
    head = ldexp(round(ldexp(mantissa, bits)), exponent - bits)
    fine = (a - coarse) * (a + coarse) * c
    if head != c:
        fine = fine + coarse * coarse * (c - head)
    return ops.exp(coarse * coarse * head) * ops.exp(fine)


def _scaled(ops: Ops, a: Array) -> Array:
    """exp(a**2)*erfc(a) for a >= 0."""
    # Both ends: (a - 4)/(a + 4) is 1 at infinity.
    big = ops.where(a > 1e9, 1e9, a)
    t = (big - 4.0) / (big + 4.0)
    return _polynomial(t, SCALED[ops.small]) / (1.0 + 2.0 * big)


def erfc(ops: Ops, u: Array) -> Array:
    """1 - erf(u)."""
    a = abs(u)
    right = _scaled(ops, a) * expsq(ops, a, -1.0)
    return ops.where(u >= 0, right, 2.0 - right)


def erf(ops: Ops, u: Array) -> Array:
    """The error function."""
    a = abs(u)
    near = u * _polynomial(u * u, ERF[ops.small])
    far = 1.0 - _scaled(ops, a) * expsq(ops, a, -1.0)
    return ops.where(a < SPLIT, near, ops.where(u > 0, far, -far))


def ncdf(ops: Ops, u: Array) -> Array:
    """erfc(-u/sqrt(2))/2."""
    a = abs(u)
    left = 0.5 * _scaled(ops, a * sqrt(0.5)) * expsq(ops, a, -0.5)
    return ops.where(u <= 0, left, 1.0 - left)
