"""Exact numbers that every part of a floating-point decision uses."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from gmpy2 import mpq


def two(exponent: int) -> Any:
    """2^exponent."""
    return mpq(1 << exponent) if exponent >= 0 else mpq(1, 1 << -exponent)


def fraction(value: Any) -> Fraction:
    """A rational of gmpy2 as one of the standard library."""
    return Fraction(int(value.numerator), int(value.denominator))
