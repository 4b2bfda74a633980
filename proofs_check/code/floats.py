"""Floating-point formats: their numbers as exact fractions, and units in the last place."""

from __future__ import annotations

from fractions import Fraction
from math import inf, isfinite, ldexp

from gateproof.kernels.check.rounding import FORMATS as PLAIN
from gateproof.kernels.check.rounding import Format as Plain


class Format(Plain):
    """A format with what exact fractions tell of its numbers."""

    @property
    def least(self) -> float:
        """The least number above 0."""
        return ldexp(1.0, self.lowest - self.bits + 1)

    def unit(self, value: Fraction) -> Fraction:
        """The unit in the last place of a real number: of the numbers around it (Muller et al., 2.6)."""
        size = abs(value)
        if size == 0:
            return Fraction(self.least)
        exponent = size.numerator.bit_length() - size.denominator.bit_length()
        if size < Fraction(2) ** exponent:
            exponent -= 1
        exponent = min(max(exponent, self.lowest), self.highest)
        return Fraction(2) ** (exponent - self.bits + 1)

    def overflows(self, value: Fraction) -> bool:
        """Whether a real number is rounded to an infinity."""
        return abs(value) >= Fraction(self.largest) + self.unit(Fraction(self.largest)) / 2

    def down(self, value: Fraction) -> float:
        """The largest number of the format that is at most ``value``; minus infinity below them all."""
        if abs(value) > Fraction(self.largest):
            return self.largest if value > 0 else -inf
        unit = self.unit(value)
        return float(value // unit * unit)

    def up(self, value: Fraction) -> float:
        """The least number of the format that is at least ``value``."""
        found = self.down(-value)
        return inf if found == -inf else 0.0 - found

    def holds(self, value: Fraction) -> bool:
        """Whether a number is one of the format."""
        return abs(value) <= Fraction(self.largest) and value % self.unit(value) == 0

    def neighbours(self, value: float) -> list[float]:
        """A number with the next ones on both sides, where these are finite."""
        exact = Fraction(value)
        found = [self.down(exact - self.unit(exact) / 4), value, self.up(exact + self.unit(exact) / 4)]
        return [v for v in found if isfinite(v)]


FORMATS = {
    name: Format(f.name, f.bits, f.lowest, f.highest)
    for name, f in {**PLAIN, "float64": Plain("float64", 53, -1022, 1023)}.items()
}


def shown(value: float) -> str:
    """A number in decimal and, exactly, in hexadecimal."""
    if not isfinite(value) or (value == int(value) and abs(value) < 1e6):
        return repr(value)
    return f"{value!r} ({value.hex()})"
