"""A number as an enclosure, and the decimals that it fixes."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any

from flint import arb

from gateproof.numerics import interval as iv
from gateproof.numerics.decimals import decimal_enclosure, floor_decimal, magnitude
from gateproof.numerics.points import rational_bounds

#: Digits of the ends beyond those of the number itself.
MORE = 3


@dataclass(frozen=True)
class Value:
    """A number in [lo, hi], exact ends, +-inf included.

    ``certified``: it is proved to lie there; else the ends are an estimate. ``float(value)`` is near its
    middle, ``str(value)`` has the digits that both ends agree on, at most 15.
    """

    lo: Fraction | float
    hi: Fraction | float
    certified: bool = True

    @classmethod
    def exact(cls, value: Fraction | int | float) -> Value:
        """A number that is known exactly."""
        number = value if isinstance(value, float) and abs(value) == inf else Fraction(value)
        return cls(number, number)

    @classmethod
    def of(cls, ball: arb | None, *, certified: bool = True) -> Value | None:
        """The number in a ball; None where the ball says nothing."""
        if ball is None or ball.is_nan():
            return None
        if not ball.is_finite():
            if ball > 0 or ball < 0:
                # Infinite itself, or from some number up to infinity.
                end = iv.down(ball) if ball > 0 else iv.up(ball)
                near: Fraction | float = inf if ball > 0 else -inf
                if end.is_finite():
                    near = iv.to_fraction(end)
                return cls(near, inf, certified) if ball > 0 else cls(-inf, near, certified)
            return None
        return cls(*rational_bounds(ball), certified)

    @classmethod
    def near(cls, number: Any, error: float) -> Value | None:
        """A float or mpmath number that is off by about this relative error, by estimate."""
        if number is None or number != number:
            return None
        if abs(number) == inf:
            return cls(inf, inf, False) if number > 0 else cls(-inf, -inf, False)
        middle = _fraction(number)
        off = abs(middle) * Fraction(error)
        return cls(middle - off, middle + off, False)

    @property
    def is_exact(self) -> bool:
        """Whether the ends are one number."""
        return self.lo == self.hi

    @property
    def is_infinite(self) -> bool:
        """Whether it is oo or -oo."""
        return self.is_exact and self.finite is None

    @property
    def middle(self) -> Fraction:
        """The middle of the ends. Raises ValueError where one is infinite."""
        ends = self.finite
        if ends is None:
            raise ValueError(f"{self} has no middle")
        return (ends[0] + ends[1]) / 2

    @property
    def finite(self) -> tuple[Fraction, Fraction] | None:
        """The ends where both are finite."""
        if isinstance(self.lo, Fraction) and isinstance(self.hi, Fraction):
            return self.lo, self.hi
        return None

    def decimal(self, digits: int) -> str | None:
        """The number rounded to ``digits`` significant digits, all of them right; "oo" where infinite.

        Fewer where the enclosure is wider, None where it fixes none. An exact short decimal stands as it is.
        """
        if self.is_infinite:
            return "oo" if self.lo > 0 else "-oo"
        ends = self.finite
        if ends is None:
            return None
        if self.is_exact:
            return _exact_text(ends[0], digits)
        if ends[0] <= 0 <= ends[1]:
            return None
        size = max(abs(end) for end in ends)
        for fewer in range(digits, 0, -1):
            places = fewer - 1 - magnitude(size)
            texts = {_rounded(end, places) for end in ends}
            if len(texts) == 1:
                return texts.pop()
        return None

    def fixes(self, digits: int) -> bool:
        """Whether both ends round to one decimal of so many digits."""
        ends = self.finite
        if ends is None:
            return self.is_infinite
        places = digits - 1 - magnitude(max(abs(end) for end in ends))
        return self.is_exact or _rounded(ends[0], places) == _rounded(ends[1], places)

    def ends(self, digits: int) -> dict[str, str]:
        """``{"lo", "hi"}``, rounded outward."""
        ends = self.finite
        if ends is not None:
            if self.is_exact and (text := _short(ends[0], digits + MORE)) is not None:
                return {"lo": text, "hi": text}
            return decimal_enclosure(*ends, digits + MORE)
        made = []
        for end, side in ((self.lo, "lo"), (self.hi, "hi")):
            if isinstance(end, Fraction):
                made.append(decimal_enclosure(end, end, digits + MORE)[side])
            else:
                made.append("oo" if end > 0 else "-oo")
        return {"lo": made[0], "hi": made[1]}

    def __float__(self) -> float:
        if self.finite is None:
            return float(self.lo) if self.is_infinite else float("nan")
        return float(self.middle)

    def __str__(self) -> str:
        return self.decimal(15) or "[{lo}, {hi}]".format(**self.ends(3))

    def __repr__(self) -> str:
        return str(self)


def float_text(value: float | None) -> str | None:
    """A float for JSON, printed in full; "oo" for infinity, None for what is not known."""
    if value is None or value != value:
        return None
    if abs(value) == inf:
        return "oo" if value > 0 else "-oo"
    return repr(float(value))


def _fraction(number: Any) -> Fraction:
    if hasattr(number, "_mpf_"):
        sign, mantissa, exponent, _ = number._mpf_
        size = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
        return -size if sign else size
    return Fraction(float(number))


def _exact_text(value: Fraction, digits: int) -> str:
    return _short(value, digits) or _rounded(value, digits - 1 - magnitude(value))


def _short(value: Fraction, digits: int) -> str | None:
    """The number as a plain decimal of at most so many digits, or None."""
    if value == 0:
        return "0"
    size = magnitude(value)
    scaled = value * Fraction(10) ** (digits - 1 - size)
    if scaled.denominator != 1 or abs(size) > 100:
        return None
    places = digits - 1 - size
    while places > 0 and (value * Fraction(10) ** (places - 1)).denominator == 1:
        places -= 1
    return floor_decimal(value, max(places, 0))


def _rounded(value: Fraction, places: int) -> str:
    """To a number of places, halves to even."""
    unit = Fraction(10) ** -places
    units = round(value / unit)
    if places < 0:
        # Zeros before the point would look like digits.
        digits = str(abs(units))
        rest = f".{digits[1:]}" if len(digits) > 1 else ""
        return f"{'-' if units < 0 else ''}{digits[0]}{rest}e{len(digits) - 1 - places}"
    return floor_decimal(units * unit, places)
