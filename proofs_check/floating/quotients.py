"""Inverses, roots and sizes of polynomials on a box, in which what is no error stands apart."""

from __future__ import annotations

from typing import Any

from gmpy2 import is_square, isqrt, mpq

from gateproof.proofs_check.floating.numbers import two
from gateproof.proofs_check.floating.polynomial import (
    Poly,
    Range,
    Symbols,
    UnknownError,
    constant,
    key,
    plus,
    power_range,
    scaled,
    symbol,
    times,
    value_of,
)

#: An exact value: a polynomial, and bounds.
Exact = tuple[Poly, Any, Any]


class Quotients:
    """Inverses, roots and sizes; equal ones are one symbol."""

    symbols: Symbols

    def inverse(self, b: Poly, ends: Range) -> Poly:
        """1/b, in which what is no error stands apart: 1/(r + e) = 1/r - e/(r (r + e))."""
        value = value_of(b)
        if value is not None:
            if not value:
                raise UnknownError
            return constant(1 / value)
        if len(b) == 1:
            ((monomial, factor),) = b.items()
            if all(not (lo <= 0 <= hi) for lo, hi in (self.symbols.ranges[k] for k, _ in monomial)):
                return {tuple((k, -power) for k, power in monomial): 1 / factor}
        low, high = self.symbols.range(b)
        lo, hi = max(low, ends[0]), min(high, ends[1])
        if lo <= 0 <= hi or lo > hi:
            raise UnknownError
        rest = {m: v for m, v in b.items() if any(k in self.symbols.errors for k, _ in m)}
        main = plus(b, rest, -1)
        if not rest or not main:
            return symbol(self.symbols.named(("1/", key(b)), *power_range((lo, hi), -1)))
        first = self.inverse(main, self.symbols.range(main))
        both = symbol(self.symbols.named(("1/", key(b)), *power_range((lo, hi), -1)))
        return plus(first, times(rest, times(first, both)), -1)

    def root_poly(self, a: Poly, ends: Range) -> Poly:
        """sqrt(a) with errors apart: sqrt(r + e) = sqrt(r) + e/(sqrt(r) + sqrt(r + e))."""
        value = value_of(a)
        if value is not None and value >= 0 and is_square(value.numerator) and is_square(value.denominator):
            return constant(mpq(isqrt(value.numerator), isqrt(value.denominator)))
        if len(a) == 1:
            ((monomial, factor),) = a.items()
            squares = factor > 0 and is_square(factor.numerator) and is_square(factor.denominator)
            if squares and all(power % 2 == 0 for _, power in monomial):
                half = {tuple((k, power // 2) for k, power in monomial): self._square_root(factor)}
                lo, hi = self.symbols.range(half)
                if lo >= 0 or hi <= 0:
                    return half if lo >= 0 else scaled(half, -1)
        low, high = self.symbols.range(a)
        lo, hi = max(low, ends[0]), min(high, ends[1])
        if lo < 0 or lo > hi:
            raise UnknownError
        rest = {m: v for m, v in a.items() if any(k in self.symbols.errors for k, _ in m)}
        main = plus(a, rest, -1)
        if not rest or not main or lo == 0:
            return symbol(self.symbols.named(("sqrt", key(a)), root_below(lo), root_above(hi)))
        ends = self.symbols.range(main)
        if ends[0] <= 0:
            raise UnknownError
        first = self.root_poly(main, ends)
        least, most = self.symbols.range(first)
        least = max(least, root_below(ends[0]))
        most = min(most, root_above(ends[1]))
        under = least + root_below(lo), most + root_above(hi)
        factor = symbol(self.symbols.named(("root step", key(a)), *power_range(under, -1)))
        return plus(first, times(rest, factor))

    @staticmethod
    def _square_root(value: Any) -> Any:
        return mpq(isqrt(value.numerator), isqrt(value.denominator))

    def size(self, poly: Poly, lo: Any, hi: Any) -> Poly:
        """abs: the product of the sizes of the symbols of a product, else a symbol for it."""
        if lo >= 0 or hi <= 0:
            return poly if lo >= 0 else scaled(poly, -1)
        if len(poly) == 1:
            ((monomial, factor),) = poly.items()
            alone = next((k for k, power in monomial if power == 1 and len(monomial) == 1), None)
            if alone is None:
                done = constant(abs(factor))
                for k, power in monomial:
                    done = times(done, self.symbol_size(k, power))
                return done
            if factor != 1:
                return scaled(self.symbol_size(alone, 1), abs(factor))
        return symbol(self.symbols.named(("abs", key(poly)), mpq(0), max(-lo, hi)))

    def symbol_size(self, k: int, power: int) -> Poly:
        """The size of a power of a symbol."""
        lo, hi = self.symbols.ranges[k]
        if power % 2 == 0 or lo >= 0:
            return symbol(k, power)
        if hi <= 0:
            return scaled(symbol(k, power), -1)
        size = self.size(symbol(k), lo, hi)
        done = size
        for _ in range(power - 1):
            done = times(done, size)
        return done


def root_below(value: Any) -> Any:
    """A number with few bits at most the root."""
    shift = _root_shift(value)
    return mpq(isqrt((value.numerator << 2 * shift) // value.denominator)) / two(shift)


def root_above(value: Any) -> Any:
    """A number with few bits at least the root."""
    shift = _root_shift(value)
    scaled_up = -((-value.numerator << 2 * shift) // value.denominator)
    root = isqrt(scaled_up)
    return mpq(root + (root * root != scaled_up)) / two(shift)


def _root_shift(value: Any) -> int:
    size = int(value.denominator).bit_length() - int(value.numerator).bit_length()
    return max(80 + size // 2, 80)
