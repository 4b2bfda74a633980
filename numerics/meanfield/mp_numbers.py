"""Between exact rationals, balls, MPFR numbers and mpmath numbers; roundings at a given precision."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import gmpy2
from flint import arb
from gmpy2 import mpfr

from gateproof.numerics.points import exact_arb
from gateproof.numerics.precision import precision


def point(value: Fraction, bits: int) -> arb:
    """The number rounded to ``bits`` bits, as an exact ball."""
    with precision(bits):
        return exact_arb(value).mid()


def to_mpfr(x: arb, bits: int) -> mpfr:
    """The middle of a ball."""
    mantissa, exponent = x.mid().man_exp()
    with gmpy2.context(gmpy2.get_context(), precision=bits):
        whole = mpfr(int(mantissa))
        shift = int(exponent)
        return gmpy2.mul_2exp(whole, shift) if shift >= 0 else gmpy2.div_2exp(whole, -shift)


def to_arb(value: mpfr) -> arb:
    """The number as an exact ball."""
    mantissa, exponent = value.as_mantissa_exp()
    return arb((int(mantissa), int(exponent)))


def to_mpf(value: arb) -> Any:
    """The middle of a ball as an mpmath number, unrounded."""
    from mpmath import libmp, mp

    if not value.is_finite():
        return mp.inf if value > 0 else mp.nan
    mantissa, exponent = value.mid().man_exp()
    return mp.make_mpf(libmp.from_man_exp(int(mantissa), int(exponent)))
