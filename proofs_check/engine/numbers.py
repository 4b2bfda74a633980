"""Exact rationals and enclosures as text."""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from gateproof.numerics.decimals import decimal_enclosure
from gateproof.numerics.points import rational_bounds

#: Larger numbers are not written out: their text would be longer than any reader's patience.
_BITS = 4_000


def rational_text(value: Fraction) -> str:
    """``p/q``, or ``p`` for a whole number."""
    return str(value.numerator) if value.denominator == 1 else f"{value.numerator}/{value.denominator}"


def short_text(value: Fraction) -> str:
    """The number exactly where it is short, else to 20 digits."""
    if value.numerator.bit_length() + value.denominator.bit_length() <= 200:
        return rational_text(value)
    bounds = decimal_enclosure(value, value, 20)
    return f"[{bounds['lo']}, {bounds['hi']}]"


def ball_text(ball: arb, digits: int = 20) -> str:
    """An enclosure as a decimal, or as [lo, hi]; numbers of extreme size by their order alone."""
    if not ball.is_finite() or ball.is_zero():
        return "0" if ball.is_zero() else "not finite"
    if not arb(2) ** -_BITS < abs(ball) < arb(2) ** _BITS:
        return str(ball.str(digits))
    bounds = decimal_enclosure(*rational_bounds(ball), digits)
    return bounds["lo"] if bounds["lo"] == bounds["hi"] else f"[{bounds['lo']}, {bounds['hi']}]"
