"""What one rounding does to all numbers of a box.

With p bits, emin the least exponent of normal numbers and u = 2^-p, to nearest and without overflow:

    exact     a multiple of 2^g, g >= emin - p + 1, of size at most 2^(g + p) is a number of the format, as is
              a number times a power of 2 where it is such a multiple, or at least 2^emin
    multiple  a number of the format of size 2^e or more, e >= emin, is a multiple of 2^(e - p + 1); rounding
              takes a multiple of 2^g to one, and keeps the order
    error     at most half of 2^(e - p + 1), e >= emin, for sizes up to 2^(e + 1); at most the value's size;
              at most u/(1 + u) of the value where that is normal
    nearest   what is off a number of the format by less than half the distance to the next is rounded to it
"""

from __future__ import annotations

from typing import Any, NamedTuple

from gmpy2 import mpq

from gateproof.proofs_check.checker import sums
from gateproof.proofs_check.checker.algebra import Rejected
from gateproof.proofs_check.checker.rounded import exponent, power_of_two
from gateproof.proofs_check.checker.sums import Ends, Sum, Table

ANY = 1 << 20  # 0 is a multiple of every power of 2


class Number(NamedTuple):
    """A computed number of a box: a sum, in ``ends``, a multiple of 2^``grid``.

    If ``off`` is not None it is real (1 + t) + h, abs(t) <= off, abs(h) <= ``tiny``. If ``error`` is not
    None it is off real by at most that, and abs(real) <= ``size``.
    """

    sum: Sum
    ends: Ends
    grid: int
    real: Sum
    off: Any = None
    tiny: Any = 0
    error: Sum | None = None
    size: Sum | None = None

    def bare(self, real: Sum) -> Number:
        """The number, beside an exact value from which its distance is not known."""
        return Number(self.sum, self.ends, self.grid, real)


def least(ends: Ends) -> Any:
    """The least size of a number between the ends."""
    return max(ends[0], -ends[1], mpq(0))


def most(ends: Ends) -> Any:
    """The largest size."""
    return max(-ends[0], ends[1])


class Roundoff:
    """Rounding in one format; equal results are rounded alike, and numbers of the format are remembered."""

    def __init__(self, bits: int, highest: int, table: Table) -> None:
        self.bits, self.highest, self.lowest, self.table = bits, highest, 1 - highest, table
        self.bottom = self.lowest - bits + 1
        self.largest = (2 - power_of_two(1 - bits)) * power_of_two(highest)
        self.numbers: dict[Any, Number] = {}
        self.before: dict[Any, Number] = {}

    def grid(self, size: Any) -> int:
        """The exponent of the unit in the last place of a size."""
        return max(exponent(size) - self.bits + 1, self.bottom) if size else self.bottom

    def nearest(self, q: Any) -> Any:
        """A rational rounded, ties to even."""
        unit = power_of_two(self.grid(q))
        whole, rest = divmod(q, unit)
        if 2 * rest > unit or (2 * rest == unit and whole % 2):
            whole += 1
        if abs(whole * unit) > self.largest:
            raise Rejected("a computed value may overflow")
        return whole * unit

    def keep(self, number: Number) -> Number:
        """Remember a number of the format by its sum."""
        self.numbers.setdefault(sums.same(number.sum), number)
        return number

    def round(
        self,
        a: Sum,
        ends: Ends,
        grid: int | None,
        real: Sum,
        off: Any,
        error: tuple[Sum, Sum] | None = None,
        *,
        shift: bool = False,
        normal: bool = False,
    ) -> Number:
        """The number that an exact result becomes; ``error``: how far that is off real at most, and its size.

        ``shift``: it is a number of the format times a power of 2. ``normal``: it is exact, 0 or normal.
        """
        a = self.table.settled(a)
        low, high = self.table.within(a, ends)
        if grid is not None and grid < ANY // 2:
            step = power_of_two(grid)
            low, high = -(-low // step) * step, high // step * step
            if low > high:
                raise Rejected("a range is empty")
        if low == high:
            self.solve(a, low)
            a = sums.of(low)
        known = self.before.get(sums.same(a))
        if known is not None:
            alike = sums.same(known.real) == sums.same(real)
            return known if alike else known.bare(real)
        ends, rounded = (low, high), (self.nearest(low), self.nearest(high))
        finest = self.grid(least(rounded))
        finest = finest if grid is None else max(finest, min(grid, ANY))
        if self.exact(a, ends, grid, shift):
            return self.keep(Number(a, ends, finest, real, off, 0, *(error or (None, None))))
        near = self.near(a)
        if near is not None:
            return near.bare(real)
        half = max(self.half(-low), self.half(high))
        change = self.table.new((-half, half))
        self.table.rounding[len(self.table.ends) - 1] = a
        tiny: Any = 0
        unit, under = power_of_two(-self.bits), power_of_two(self.bottom - 1)
        unit = unit / (1 + unit)
        normal = normal or least(ends) >= power_of_two(self.lowest)
        normal = normal or (grid is not None and grid >= self.lowest)
        if off is not None:
            exact, off = off == 0, (1 + off) * (1 + unit) - 1
            if not normal:
                off, tiny = (off, under) if exact else (None, 0)
        if error is not None:
            more = sums.add(error[0], sums.add(error[0], error[1]), unit)
            error = (more if normal else sums.add(more, sums.of(under))), error[1]
        total = sums.add(a, change)
        if rounded[0] == rounded[1]:
            self.solve(total, rounded[0])
            total = sums.of(rounded[0])
        number = self.keep(Number(total, rounded, finest, real, off, tiny, *(error or (None, None))))
        self.before[sums.same(a)] = number
        return number

    def exact(self, a: Sum, ends: Ends, grid: int | None, shift: bool) -> bool:
        """Whether the result is a number of the format all over the box."""
        known = any(sums.same(b) in self.numbers for b in (a, sums.add({}, a, -1)))
        if known or (ends[0] == ends[1] and self.nearest(ends[0]) == ends[0]):
            return True
        if shift and least(ends) >= power_of_two(self.lowest):
            return True
        if grid is None or grid < self.bottom:
            return False
        return shift or bool(most(ends) <= power_of_two(min(grid, self.highest) + self.bits))

    def half(self, size: Any) -> Any:
        """A bound of the error for results from 0 up to a size."""
        if size <= 0:
            return mpq(0)
        e = exponent(size)
        start = power_of_two(e)
        if e > self.lowest and self.nearest(size) == start:
            # Up to 2^e the units are half as large, and what is above is rounded to 2^e.
            return min(size, max(power_of_two(max(e - 1, self.lowest) - self.bits), size - start))
        return min(size, power_of_two(max(e, self.lowest) - self.bits))

    def near(self, a: Sum) -> Number | None:
        """The number that the part without errors is, if the errors are too small to leave it."""
        main, rest = self.table.errors(a)
        for sign in (1, -1):
            number = self.numbers.get(sums.same(sums.add({}, main, sign)))
            if number is None or not main or not rest or least(number.ends) == 0:
                continue
            size = least(number.ends)
            unit = power_of_two(self.grid(size))
            dense = size == power_of_two(exponent(size)) and size > power_of_two(self.lowest)
            if most(self.table.range(rest)) < unit / (4 if dense else 2):
                turned = (-number.ends[1], -number.ends[0])
                return number if sign > 0 else Number(main, turned, number.grid, main)
        return None

    def solve(self, a: Sum, value: Any) -> None:
        """The sum is that number all over the box, so an error in it follows from the rest."""
        for p, q in a.items():
            if len(p) == 1 and p[0][1] == 1 and p[0][0] in self.table.rounding:
                (s, _), rest = p[0], {r: v for r, v in a.items() if r != p}
                if s not in self.table.solved and all(s != t for r in rest for t, _ in r):
                    self.table.solved[s] = sums.add({}, sums.add(sums.of(value), rest, -1), 1 / q)
                    return
