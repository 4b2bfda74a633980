"""Units of printed numbers."""

from __future__ import annotations

from fractions import Fraction

from gateproof.numerics.decimals import magnitude

#: Digits that a fit's document has at least of a bound that was rounded.
LEAST = 6


def unit(text: str, digits: int = LEAST) -> Fraction:
    """One unit of the last digit that is written, and at most that of so many significant digits."""
    value = Fraction(text)
    shown, _, power = text.lower().partition("e")
    places = len(shown.partition(".")[2]) - int(power or 0)
    return min(Fraction(10) ** -places, Fraction(10) ** (magnitude(value) + 1 - digits))
