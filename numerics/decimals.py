"""Outward rounded decimals, and short fractions."""

from __future__ import annotations

from fractions import Fraction


def floor_decimal(value: Fraction, places: int) -> str:
    """The largest decimal with ``places`` places that is <= value (places may be negative)."""
    return _text(_scaled(value, places, up=False), places)


def ceil_decimal(value: Fraction, places: int) -> str:
    """The smallest decimal with ``places`` places that is >= value."""
    return _text(_scaled(value, places, up=True), places)


def magnitude(value: Fraction) -> int:
    """The decimal exponent e with 10**e <= |value| < 10**(e+1); 0 for 0."""
    if value == 0:
        return 0
    top, bottom = abs(value.numerator), value.denominator
    guess = int((top.bit_length() - bottom.bit_length()) * 0.30103)
    while Fraction(10) ** guess > abs(value):
        guess -= 1
    while Fraction(10) ** (guess + 1) <= abs(value):
        guess += 1
    return guess


def decimal_enclosure(lo: Fraction, hi: Fraction, digits: int) -> dict[str, str]:
    """``{"lo", "hi"}`` with ``digits`` significant digits, rounded outward.

    Those of the end nearer to 0 where both agree to a digit: one unit of 10**400 below 10**400 is 0.
    """
    sizes = abs(lo), abs(hi)
    size = min(sizes) if agreed_digits(lo, hi) >= 1 else max(sizes)
    places = digits - 1 - magnitude(size)
    return {"lo": floor_decimal(lo, places), "hi": ceil_decimal(hi, places)}


def agreed_digits(lo: Fraction, hi: Fraction) -> int:
    """How many significant digits the enclosure fixes: its width is at most 10**-d of its size."""
    if lo == hi:
        return 10**6
    largest = max(abs(lo), abs(hi))
    if hi - lo >= largest:
        return 0
    return -magnitude((hi - lo) / largest) - 1


def simplest_between(lo: Fraction, hi: Fraction) -> Fraction:
    """The fraction of smallest denominator in a closed interval, by its common continued fraction."""
    if lo > hi:
        lo, hi = hi, lo
    if lo <= 0 <= hi:
        return Fraction(0)
    if hi < 0:
        return -simplest_between(-hi, -lo)
    quotients = list[int]()
    while True:
        whole, rest = divmod(lo.numerator, lo.denominator)
        if rest == 0 or whole + 1 <= hi:
            found = Fraction(whole + (rest > 0))
            for quotient in reversed(quotients):
                found = quotient + 1 / found
            return found
        quotients.append(whole)
        lo, hi = 1 / (hi - whole), 1 / (lo - whole)


def _scaled(value: Fraction, places: int, up: bool) -> int:
    scaled = value * Fraction(10) ** places
    return -((-scaled.numerator) // scaled.denominator) if up else scaled.numerator // scaled.denominator


def _text(scaled: int, places: int) -> str:
    if scaled == 0 and places <= 0:
        return "0"
    sign = "-" if scaled < 0 else ""
    body = str(abs(scaled))
    if places < -40 or places > 40 + len(body):
        # Far from 1: scientific form keeps the string short.
        digits = body.rstrip("0") or "0"
        mantissa = digits[0] + ("." + digits[1:] if len(digits) > 1 else "")
        return f"{sign}{mantissa}e{len(body) - 1 - places}" if scaled else "0"
    if places <= 0:
        return sign + body + "0" * -places
    body = body.rjust(places + 1, "0")
    return f"{sign}{body[:-places]}.{body[-places:]}"
