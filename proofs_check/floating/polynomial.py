"""Polynomials with rational coefficients in symbols that each lie in an interval; exponents may be negative.

What a format computes is the exact result plus an error for each rounding; as polynomials in the names and
these errors, what is equal cancels before anything is bounded (Daumas and Melquiond, Certification of bounds
on expressions involving rounded operators, ACM TOMS 37, 2010, do so by rewriting).
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from gmpy2 import mpq

Monomial = tuple[tuple[int, int], ...]
Poly = dict[Monomial, Any]
Range = tuple[Any, Any]
ZERO = mpq(0)
MAX_TERMS = 300
#: Symbols whose ends are tried.
_CORNERS = 3
_MAX_POWER = 12
#: Bits of the ends of intervals that are not those of a format.
_BITS = 160


class UnknownError(Exception):
    """The box is not decided by its bounds."""


def constant(value: Any) -> Poly:
    """A number."""
    return {(): value} if value else {}


def symbol(k: int, power: int = 1) -> Poly:
    """A power of one symbol."""
    return {((k, power),): mpq(1)}


def plus(a: Poly, b: Poly, factor: Any = 1) -> Poly:
    """a + factor b."""
    found = dict(a)
    for monomial, value in b.items():
        total = found.get(monomial, ZERO) + factor * value
        if total:
            found[monomial] = total
        else:
            found.pop(monomial, None)
    return found


def scaled(a: Poly, factor: Any) -> Poly:
    """Factor a."""
    return {monomial: factor * value for monomial, value in a.items()} if factor else {}


def times(a: Poly, b: Poly) -> Poly:
    """a b."""
    found: Poly = {}
    for left, u in a.items():
        for right, v in b.items():
            monomial = _product(left, right)
            total = found.get(monomial, ZERO) + u * v
            if total:
                found[monomial] = total
            else:
                found.pop(monomial, None)
    if len(found) > MAX_TERMS:
        raise UnknownError
    return found


def _product(a: Monomial, b: Monomial) -> Monomial:
    if not a or not b:
        return a or b
    powers = dict(a)
    for k, power in b:
        powers[k] = powers.get(k, 0) + power
    return tuple(sorted((k, power) for k, power in powers.items() if power))


def key(a: Poly) -> Hashable:
    """Equal for equal polynomials."""
    return frozenset(a.items())


def value_of(a: Poly) -> Any:
    """The number that the polynomial is, else None."""
    if not a:
        return ZERO
    return a.get(()) if len(a) == 1 else None


def replaced(a: Poly, k: int, by: Poly) -> Poly:
    """The polynomial with another one in place of a symbol. Raises UnknownError for its inverse powers."""
    parts: dict[int, Poly] = {}
    for monomial, value in a.items():
        powers = dict(monomial)
        power = powers.pop(k, 0)
        parts.setdefault(power, {})[tuple(sorted(powers.items()))] = value
    if min(parts, default=0) < 0 or max(parts, default=0) > _MAX_POWER:
        raise UnknownError
    found, factor = parts.get(0, {}), constant(mpq(1))
    for power in range(1, max(parts, default=0) + 1):
        factor = times(factor, by)
        found = plus(found, times(parts.get(power, {}), factor))
    return found


class Symbols:
    """The symbols of one box: what each is, and between which rationals it lies."""

    def __init__(self) -> None:
        self.ranges: list[Range] = []
        self.errors: set[int] = set()
        self.known: dict[Hashable, int] = {}

    def new(self, lo: Any, hi: Any, *, error: bool = False) -> int:
        """A symbol that lies between two numbers."""
        self.ranges.append((lo, hi))
        if error:
            self.errors.add(len(self.ranges) - 1)
        return len(self.ranges) - 1

    def named(self, name: Hashable, lo: Any, hi: Any) -> int:
        """The symbol of that name, which stands for one value on the box; its range rounded outward."""
        found = self.known.get(name)
        if found is None:
            found = self.known[name] = self.new(_outward(lo, -1), _outward(hi, 1))
        return found

    def range(self, a: Poly) -> Range:
        """Bounds of a polynomial: those of its monomials added up, at each end of some symbols.

        In a symbol that has power 1 wherever it stands the polynomial is affine, so that its ends are enough.
        """
        chosen = self._affine(a)
        if not chosen:
            return self._sum(a)
        found = [self._sum(part) for part in self._corners(a, chosen)]
        return min(lo for lo, _ in found), max(hi for _, hi in found)

    def _affine(self, a: Poly) -> list[int]:
        """Some symbols that stand in several monomials, with power 1."""
        seen: dict[int, int] = {}
        for monomial in a:
            for k, power in monomial:
                seen[k] = seen.get(k, 0) + 1 if power == 1 else -MAX_TERMS * 2
        return sorted((k for k, times_ in seen.items() if times_ > 1), key=lambda k: -seen[k])[:_CORNERS]

    def _corners(self, a: Poly, chosen: list[int]) -> list[Poly]:
        """The polynomial with each symbol at both of its ends."""
        parts = [a]
        for k in chosen:
            parts = [replaced(part, k, constant(end)) for part in parts for end in self.ranges[k]]
        return parts

    def _sum(self, a: Poly) -> Range:
        low, high = ZERO, ZERO
        for monomial, value in a.items():
            lo, hi = self._monomial(monomial)
            low += value * (lo if value > 0 else hi)
            high += value * (hi if value > 0 else lo)
        return low, high

    def _monomial(self, monomial: Monomial) -> Range:
        total: Range = (mpq(1), mpq(1))
        for k, power in monomial:
            total = product(total, power_range(self.ranges[k], power))
        return total


def product(a: Range, b: Range) -> Range:
    """The range of a product."""
    ends = (a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1])
    return min(ends), max(ends)


def power_range(a: Range, power: int) -> Range:
    """The range of a whole power. Raises UnknownError for a negative power of a range with 0."""
    lo, hi = a
    if power < 0:
        if lo <= 0 <= hi:
            raise UnknownError
        return power_range((1 / hi, 1 / lo), -power)
    if power % 2 == 0 and lo < 0:
        lo, hi = (ZERO if hi >= 0 else -hi), max(-lo, hi)
    return lo**power, hi**power


def _outward(value: Any, side: int) -> Any:
    """A number with few bits just above (``side`` 1) or below (-1)."""
    if not value or value.denominator.bit_length() + value.numerator.bit_length() < 2 * _BITS:
        return value
    shift = _BITS - (value.numerator.bit_length() - value.denominator.bit_length())
    two = mpq(2) ** shift if shift >= 0 else 1 / mpq(2) ** -shift
    moved = value * two
    whole = moved.numerator // moved.denominator
    return mpq(whole + (side > 0)) / two
