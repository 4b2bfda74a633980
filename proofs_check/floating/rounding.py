"""What one rounding does on a box: nothing where the result is a number of the format, else a bounded error.

Facts used, with p bits and the least exponent emin of normal numbers (Muller et al., Handbook of
Floating-Point Arithmetic, 2nd ed., 2.3 and 4.2):

    a multiple of 2^g with g >= emin - p + 1 and size at most 2^(g + p) is a number of the format
        (with it Sterbenz's lemma, and that sums do not underflow)
    a number of the format of size at least 2^e, e >= emin, is a multiple of 2^(e - p + 1)
    rounding keeps order, multiples of 2^g, and errs at most half a unit, and at most the value itself
    it errs at most u/(1 + u) of the value, u = 2^-p, where that is 0 or at least 2^emin
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gmpy2 import mpq

from gateproof.proofs_check.floating.numbers import fraction, two
from gateproof.proofs_check.floating.polynomial import (
    Poly,
    Symbols,
    UnknownError,
    constant,
    key,
    plus,
    replaced,
    scaled,
    symbol,
    value_of,
)
from gateproof.theory.formats import Format, nearest, unit_exponent

#: 0 is a multiple of every power of 2.
ALL = 1 << 20
#: Terms of a bound of errors by sizes.
MAX_ERROR = 100


@dataclass(frozen=True)
class Computed:
    """A computed value on a box.

    It equals ``poly``, lies in [lo, hi] and is a multiple of 2^``grid``. With ``relative`` it is
    ``real`` (1 + t) + h with abs(t) <= ``relative`` and abs(h) <= ``small``, ``real`` the exact formula.
    With ``error`` it is off ``real`` by at most ``error``, and abs(``real``) <= ``size``.
    """

    poly: Poly
    lo: Any
    hi: Any
    grid: int
    real: Poly
    relative: Any = None
    small: Any = 0
    error: Poly | None = None
    size: Poly | None = None


@dataclass(frozen=True)
class Result:
    """An exact result before it is rounded; ``grid`` is None where no power of 2 divides it for sure."""

    poly: Poly
    lo: Any
    hi: Any
    grid: int | None
    real: Poly
    relative: Any = None
    error: Poly | None = None
    size: Poly | None = None
    #: Whether it is a number of the format, or one times a power of 2 down to the grid.
    shifted: bool = False
    #: Whether it is 0 or a normal number wherever it is no number of the format.
    normal: bool = False


def exponent_of(size: Any) -> int:
    """e with 2^e <= size < 2^(e+1), for a positive rational."""
    return unit_exponent(int(size.numerator), int(size.denominator), 1, -(1 << 40))


def valuation(value: Any) -> int:
    """The largest g such that the dyadic number is a multiple of 2^g."""
    if not value:
        return ALL
    return int(value.numerator & -value.numerator).bit_length() - int(value.denominator).bit_length()


class Rounding:
    """The roundings of one format on one box, and what was learnt about their errors."""

    def __init__(self, form: Format, symbols: Symbols) -> None:
        self.format, self.symbols = form, symbols
        self.unit = two(-form.bits)
        self.largest = mpq(form.largest)
        self.learnt: dict[int, Poly] = {}
        self.exact: dict[int, Poly] = {}
        self.held: dict[Any, Computed] = {}
        self.roundings: dict[Any, Computed] = {}

    def nearest(self, value: Any) -> Any:
        """A number rounded. Raises UnknownError where it overflows."""
        digits, step = nearest(
            int(value.numerator), int(value.denominator), self.format.bits, self.format.grid
        )
        found = digits * two(step)
        if abs(found) > self.largest:
            raise UnknownError
        return found

    def keep(self, value: Computed) -> Computed:
        """Note that a polynomial is a number of the format."""
        self.held.setdefault(key(value.poly), value)
        return value

    def reduced(self, a: Poly) -> Poly:
        """The polynomial with what was learnt put in."""
        for k in sorted(self.learnt, reverse=True):
            a = replaced(a, k, self.learnt[k])
        return a

    def rounded(self, result: Result) -> Computed:
        """The computed value. Raises UnknownError where it may overflow."""
        poly, lo, hi = self.reduced(result.poly), result.lo, result.hi
        low, high = self.symbols.range(poly)
        lo, hi = max(lo, low), min(hi, high)
        if result.grid is not None and not lo == hi == 0 and result.grid < ALL // 2:
            lo, hi = _inward(lo, hi, two(result.grid))
        if lo > hi:
            raise UnknownError
        if lo == hi:
            self._learn(poly, lo)
            poly = constant(lo)
        same = self.roundings.get(key(poly))
        if same is not None:
            # Equal results are rounded alike; their exact formulas may differ.
            alike = key(same.real) == key(result.real)
            return same if alike else _without_bounds(same, result.real)
        bottom, top = self.nearest(lo), self.nearest(hi)
        size, grid = max(abs(lo), abs(hi)), self._grid(bottom, top, result.grid)
        if self._is_exact(result, poly, lo, hi, size):
            grid = max(grid, min(result.grid, ALL)) if result.grid is not None else grid
            done = Computed(poly, lo, hi, grid, result.real, result.relative, 0, result.error, result.size)
            return self.keep(done)
        near = self._near(poly)
        if near is not None:
            return Computed(near.poly, near.lo, near.hi, near.grid, result.real)
        half = self._half(lo, hi)
        k = self.symbols.new(-half, half, error=True)
        self.exact[k] = poly
        normal = self._is_normal(result, lo, hi)
        relative, small = self._relative(result, normal=normal)
        error = self._error(result, normal=normal)
        poly, before = plus(poly, symbol(k)), key(poly)
        if bottom == top:
            self._learn(poly, bottom)
            poly = constant(bottom)
        size = None if error is None else result.size
        done = self.keep(Computed(poly, bottom, top, grid, result.real, relative, small, error, size))
        self.roundings[before] = done
        return done

    def _is_exact(self, result: Result, poly: Poly, lo: Any, hi: Any, size: Any) -> bool:
        if size == 0 or key(poly) in self.held or key(scaled(poly, -1)) in self.held:
            return True
        if lo == hi and self.nearest(lo) == lo:
            return True
        form = self.format
        smallest = lo if lo > 0 else -hi if hi < 0 else mpq(0)
        if result.shifted and smallest >= two(form.lowest):
            return True
        if result.grid is None or result.grid < form.grid:
            return False
        return result.shifted or bool(size <= two(min(result.grid, form.highest) + form.bits))

    def _grid(self, lo: Any, hi: Any, before: int | None) -> int:
        """A power of 2 of which the rounded value is a multiple."""
        form = self.format
        smallest = lo if lo > 0 else -hi if hi < 0 else 0
        found = form.grid
        if smallest:
            found = max(exponent_of(smallest) - form.bits + 1, form.grid)
        return found if before is None else max(found, min(before, ALL))

    def _half(self, lo: Any, hi: Any) -> Any:
        """A bound of the error for results between two numbers."""
        return max(self._half_up_to(-lo), self._half_up_to(hi))

    def _half_up_to(self, size: Any) -> Any:
        form = self.format
        if size <= 0:
            return mpq(0)
        e = exponent_of(size)
        power = two(e)
        # At 2^e itself there is no error, and just above it is rounded to it.
        if e > form.lowest and self.nearest(size) == power:
            return min(size, max(two(max(e - 1, form.lowest) - form.bits), size - power))
        return min(size, two(max(e, form.lowest) - form.bits))

    def _near(self, poly: Poly) -> Computed | None:
        """The number of the format that the result is rounded to, as it differs from it by too little."""
        errors = self.symbols.errors
        rest = {m: v for m, v in poly.items() if any(k in errors for k, _ in m)}
        main = {m: v for m, v in poly.items() if m not in rest}
        if not rest or not main:
            return None
        for sign in (1, -1):
            held = self.held.get(key(scaled(main, sign)))
            if held is None or held.lo <= 0 <= held.hi:
                continue
            smallest = min(abs(held.lo), abs(held.hi))
            step = two(self.format.step(fraction(smallest)))
            normal = smallest > two(self.format.lowest)
            # Below a power of 2 the numbers are twice as dense.
            half = step / 4 if smallest.numerator == 1 or smallest == two(exponent_of(smallest)) else step / 2
            half = half if normal else step / 2
            lo, hi = self.symbols.range(rest)
            if max(-lo, hi) < half:
                if sign > 0:
                    return held
                return Computed(scaled(held.poly, -1), -held.hi, -held.lo, held.grid, held.real)
        return None

    def _is_normal(self, result: Result, lo: Any, hi: Any) -> bool:
        """Whether the result is 0 or normal wherever it is no number of the format."""
        smallest = lo if lo > 0 else -hi if hi < 0 else mpq(0)
        return bool(
            result.normal
            or smallest >= two(self.format.lowest)
            or (result.grid is not None and result.grid >= self.format.lowest)
        )

    def _relative(self, result: Result, *, normal: bool) -> tuple[Any, Any]:
        """The relative bound and what underflow adds to it."""
        t = result.relative
        if t is None:
            return None, 0
        found = (1 + t) * (1 + self.unit / (1 + self.unit)) - 1
        if normal:
            return found, 0
        # Of exact operands: the error is one or the other.
        return (found, two(self.format.grid - 1)) if t == 0 else (None, 0)

    def _error(self, result: Result, *, normal: bool) -> Poly | None:
        """The bound of the error by sizes: what it was, u/(1 + u) of the value, and what underflow adds."""
        if result.error is None or result.size is None or len(result.error) > MAX_ERROR:
            return None
        value = plus(result.size, result.error)
        found = plus(result.error, value, self.unit / (1 + self.unit))
        return found if normal else plus(found, constant(two(self.format.grid - 1)))

    def _learn(self, poly: Poly, value: Any) -> None:
        """The polynomial is that number: so is an error in it, in terms of the rest."""
        if value_of(poly) is not None:
            return
        for monomial, factor in poly.items():
            if len(monomial) == 1 and monomial[0][0] in self.symbols.errors and monomial[0][1] == 1:
                k = monomial[0][0]
                rest = {m: v for m, v in poly.items() if m != monomial}
                if any(k == j for m in rest for j, _ in m) or k in self.learnt:
                    continue
                self.learnt[k] = scaled(plus(constant(value), rest, -1), 1 / factor)
                return


def _without_bounds(value: Computed, real: Poly) -> Computed:
    """The computed value, of which it is not known how far it is from another exact one."""
    return Computed(value.poly, value.lo, value.hi, value.grid, real)


def _inward(lo: Any, hi: Any, step: Any) -> tuple[Any, Any]:
    """The ends moved inward to multiples of a step."""
    low, high = lo / step, hi / step
    return -(-low.numerator // low.denominator) * step, high.numerator // high.denominator * step
