"""Binary floating-point formats (IEEE 754): their numbers, units in the last place and rounding, exactly.

A format has ``bits`` significant bits and exponents up to ``highest``; its least exponent of a normal
number is 1 - ``highest``, with subnormal numbers below (IEEE 754-2019, 3.3). All numbers here are exact
rationals. The sign of a zero is not kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Format:
    """A format by its name, significant bits (p) and largest exponent (emax)."""

    name: str
    bits: int
    highest: int

    @property
    def lowest(self) -> int:
        """The exponent of the least normal number (emin)."""
        return 1 - self.highest

    @property
    def grid(self) -> int:
        """The exponent of the least number above 0; every number is a multiple of that power of 2."""
        return self.lowest - self.bits + 1

    @property
    def last(self) -> int:
        """The place of the largest finite number."""
        return ((self.highest - self.lowest + 2) << (self.bits - 1)) - 1

    @property
    def largest(self) -> Fraction:
        """The largest finite number."""
        return self.number(self.last)

    def step(self, value: Fraction) -> int:
        """The exponent of ulp(value): max(e, emin) - p + 1 where 2^e <= abs(value) < 2^(e+1)."""
        return unit_exponent(value.numerator, value.denominator, self.bits, self.grid)

    def ulp(self, value: Fraction) -> Fraction:
        """The unit in the last place of a real number.

        2^(max(e, emin) - p + 1) where 2^e <= abs(value) < 2^(e+1), and 2^(emin - p + 1) for 0: Goldberg's,
        extended to all reals (Muller et al., Handbook of Floating-Point Arithmetic, 2nd ed., 2018, 2.3.2).
        """
        return Fraction(2) ** self.step(value)

    def rounded(self, value: Fraction) -> Fraction | None:
        """The nearest number, of two the even one; None for what is rounded to an infinity."""
        found = nearest(value.numerator, value.denominator, self.bits, self.grid)
        result = Fraction(found[0]) * Fraction(2) ** found[1]
        return None if abs(result) > self.largest else result

    def holds(self, value: Fraction) -> bool:
        """Whether the value is a finite number of the format."""
        return abs(value) <= self.largest and (value / self.ulp(value)).denominator == 1

    def number(self, place: int) -> Fraction:
        """The number at a place: 0 at 0, the others in order on both sides of it."""
        exponent, digits = divmod(abs(place), 1 << (self.bits - 1))
        if exponent:
            digits += 1 << (self.bits - 1)
        size = Fraction(digits) * Fraction(2) ** (self.grid + max(exponent - 1, 0))
        return -size if place < 0 else size

    def at_most(self, value: Fraction) -> int:
        """The place of the largest finite number <= ``value``; one below all where there is none."""
        if value < 0:
            return -self.at_least(-value)
        step = self.step(value)
        digits = value // Fraction(2) ** step
        return min(int(digits) + ((step - self.grid) << (self.bits - 1)), self.last)

    def at_least(self, value: Fraction) -> int:
        """The place of the least finite number >= ``value``; one above all where there is none."""
        if value > self.largest:
            return self.last + 1
        if value < 0:
            return -self.at_most(-value) if -value <= self.largest else -self.last
        found = self.at_most(value)
        return found if self.number(found) == value else found + 1


def unit_exponent(over: int, under: int, bits: int, grid: int) -> int:
    """The exponent of the unit in the last place of over/under: ``bits`` bits, 2^grid at least."""
    if not over:
        return grid
    exponent = over.bit_length() - under.bit_length()
    size = abs(over)
    if (size < under << exponent) if exponent >= 0 else (size << -exponent < under):
        exponent -= 1
    return max(exponent - bits + 1, grid)


def nearest(over: int, under: int, bits: int, grid: int) -> tuple[int, int]:
    """over/under rounded to nearest, ties to even: m and k for m 2^k, the exponent unbounded above."""
    step = unit_exponent(over, under, bits, grid)
    if step >= 0:
        under <<= step
    else:
        over <<= -step
    digits, rest = divmod(over, under)
    if 2 * rest > under or (2 * rest == under and digits & 1):
        digits += 1
    return digits, step


#: The formats that a claim can name.
FORMATS = {
    f.name: f
    for f in (
        Format("float16", 11, 15),
        Format("bfloat16", 8, 127),
        Format("float32", 24, 127),
        Format("float64", 53, 1023),
    )
}
