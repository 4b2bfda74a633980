"""Exact rationals as text."""

from __future__ import annotations

from fractions import Fraction


def rational_text(value: Fraction) -> str:
    """``p/q``, or ``p`` for a whole number."""
    return str(value.numerator) if value.denominator == 1 else f"{value.numerator}/{value.denominator}"
