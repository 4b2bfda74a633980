"""Variances, correlations and ranges as a caller gives them, read exactly."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

from gateproof.numerics.written import written

#: Numbers are at most this large, and where they are not 0 at least its inverse.
LARGEST = Fraction(10) ** 60
#: Characters of a number.
LENGTH = 2_000

Given = int | float | str | Fraction | Decimal


class RefusedNumber(ValueError):
    """A number that makes no sense there; the message says what is expected."""


def number(name: str, value: Any) -> Fraction:
    """The exact number that is written: a decimal, p/q, or a float as it is printed. Raises RefusedNumber."""
    found = written(value, LENGTH)
    if found is None:
        raise RefusedNumber(f"{name} {value!r:.40}: give a number, as 0.05, 1e-3 or 1/20")
    return _moderate(name, found)


def _moderate(name: str, value: Fraction) -> Fraction:
    if value and not 1 / LARGEST <= abs(value) <= LARGEST:
        raise RefusedNumber(f"{name}: give 0 or a number of size 1e-60 to 1e60")
    return value


def bias_variance(value: Any, name: str = "sigma_b2") -> Fraction:
    """sigma_b^2 >= 0. Raises RefusedNumber."""
    found = number(name, value)
    if found < 0:
        raise RefusedNumber(f"{name} {_short(value)}: a variance is at least 0")
    return found


def weight_variance(value: Any, name: str = "sigma_w2") -> Fraction:
    """sigma_w^2 > 0. Raises RefusedNumber."""
    found = number(name, value)
    if found <= 0:
        raise RefusedNumber(f"{name} {_short(value)}: the variance of weights is more than 0")
    return found


def difference(value: Any, name: str = "apart") -> Fraction:
    """A difference of correlations in (0, 1). Raises RefusedNumber."""
    found = number(name, value)
    if not 0 < found < 1:
        raise RefusedNumber(f"{name} {_short(value)}: a difference of correlations in (0, 1) is expected")
    return found


def positive_variance(value: Any, name: str = "q") -> Fraction:
    """A variance q > 0. Raises RefusedNumber."""
    found = number(name, value)
    if found <= 0:
        raise RefusedNumber(f"{name} {_short(value)}: a variance > 0 is expected")
    return found


def variances_within(value: Any, name: str = "range") -> tuple[Fraction, Fraction]:
    """A range of q, 0 <= lo < hi, from "lo,hi" or a pair. Raises RefusedNumber."""
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list | tuple) or len(parts) != 2:
        raise RefusedNumber(f"{name} {value!r:.40}: give the least and the largest variance, as 0,100")
    lo, hi = (number(name, part) for part in parts)
    if not 0 <= lo < hi:
        raise RefusedNumber(f"{name} {_short(value)}: 0 <= lo < hi is expected")
    return lo, hi


def _short(value: Any) -> str:
    return f"{value!s:.40}"
