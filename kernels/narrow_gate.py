"""Threshold gates whose results are rounded to 16 bits: once, although float32 stands between.

A line such as 0.9 x + 0.1 of a 16-bit x lies within 2**-25 of the middle of two 16-bit numbers for about one
x in 100: float32 rounds it to that middle, and the next rounding then goes to the even neighbour. So what a
line and its products lack is computed beside them (Dekker, Numer. Math. 18 (1971) 224; Knuth, TAOCP 2, 4.2.2)
and decides the last bit: rounding to odd in 24 bits and then to nearest in p is one rounding where
24 >= p + 2 (Boldo and Melquiond, IEEE Trans. Computers 57 (2008) 462).

Where a gate is 1 this is all that is rounded. Where it turns, errors of sigmoids remain, of a few units of
float32; they change a 16-bit result for one input in 2**(24 - p). So would the error of an exponent, which
the graphs for float32 put right: at most 100*2**-24, a hundredth of a unit of float16. It is left out here.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import frexp
from typing import Any

from gateproof.kernels.gate_graph import Gate, Shape

#: A float32 and what it lacks, to first order; None is nothing.
Pair = tuple[Any, Any]


def plain_lines(shape: Shape, numbers: Sequence[float]) -> bool:
    """Whether all lines are x times 0 or a power of two: exact in float32, and so are their products."""
    if not numbers:
        return False
    lines = numbers[shape.taus + shape.branches - 1 :]
    slopes, intercepts = lines[: shape.branches], lines[shape.branches :]
    return not any(intercepts) and all(abs(frexp(s)[0]) in (0.0, 0.5) for s in slopes)


class Narrow(Gate):
    """On symbols of float32 that hold 16-bit tensors, and numbers of float32."""

    def _halves(self, wide: Any) -> Pair:
        """Two numbers of 12 bits, whose products with 12 more are exact."""
        high = self.ops.high(wide)
        return high, wide - high

    def _lost(self, halves: Pair, narrow: Any, product: Any) -> Any:
        """What a rounded product lacks, of a number's halves and one of at most 12 bits."""
        return (halves[0] * narrow - product) + halves[1] * narrow

    def _added(self, value: Pair, other: Any) -> Pair:
        """A value and a number (Knuth)."""
        first, low = value
        total = first + other
        v = total - first
        return total, ((first - (total - v)) + (other - v)) + low

    def _line_of(self, slope: Any, halves: Pair) -> Pair:
        """A slope times x."""
        product = self._shut(slope, self.x)
        return product, self._lost(halves, self.x, product)

    def times(self, value: Pair, narrow: Any) -> Pair:
        """A value times a 16-bit number."""
        total, low = value
        product = total * narrow
        lost = self._lost(self._halves(total), narrow, product)
        return product, lost if low is None else lost + low * narrow

    def once(self, value: Pair) -> Any:
        """The float32 whose rounding to 16 bits is that of the exact sum of the pair."""
        total, low = value
        return total if low is None else self.ops.odd(total, low)

    def pair(self) -> Pair:
        """y."""
        if self.shape.branches == 1:
            line = self._line_of(self.slope[0], self._halves(self.slope[0]))
            return self._added(line, self.intercept[0])
        return self._of_two() if self.shape.branches == 2 else self._of_many()

    def _of_many(self) -> Pair:
        """The line of the branch that x lies in, by its own numbers, and the sum of the other terms."""
        lines = [self._shut(g, b) for g, b in zip(self.gates, self.lines, strict=True)]
        own = list(zip(lines, self.gates, self.slope, self.intercept, strict=True))
        on, rest = own[0], None
        for above, other in zip(self.above, own[1:], strict=True):
            on, off = zip(*(self._chosen(above, a, b) for a, b in zip(on, other, strict=True)), strict=True)
            rest = off[0] if rest is None else rest + off[0]
        _, gate, slope, intercept = on
        value, low = self._added(self._line_of(slope, self._halves(slope)), intercept)
        total, lost = self._added((self._shut(gate, value), self._shut(gate, low)), rest)
        return self._whole(total), lost

    def _of_two(self) -> Pair:
        """The line that is on, by its own numbers, and what the other one adds."""
        right = self.above[0] if self.shape.hard else self.z[0] >= 0.0
        slope, other = self._chosen(right, *self.slope)
        intercept, height = self._chosen(right, *self.intercept)
        # Halves of numbers are made once, not for each element.
        high, low = zip(*(self._halves(s) for s in self.slope), strict=True)
        halves = self._chosen(right, *high)[0], self._chosen(right, *low)[0]
        line = self._line_of(slope, halves)
        if self.shape.hard:
            value, rest = self._added(line, intercept)
            return self._whole(value), rest
        e, r = self.parts[0]
        value, rest = self._added(line, intercept + self._shut(e, self._line(other, height)))
        # Where r is 1 its product is exact, elsewhere r itself is not; it is at least 1/2.
        return r * value, rest


def narrow_value(gate: Narrow, u: Any) -> Any:
    """y, or y u."""
    value = gate.pair()
    return gate.once(value if u is None else gate.times(value, u))


def narrow_gradients(gate: Narrow, dy: Any, u: Any, *, numbers_too: bool) -> list[Any]:
    """``gate_gradients``, of which those in the tensors are rounded once."""
    in_x, *in_numbers = gate.gradients() if numbers_too else [gate.in_x()]
    slope: Pair = (in_x, None)
    found = [gate.once(gate.times(slope if u is None else gate.times(slope, u), dy))]
    if u is not None:
        found.append(gate.once(gate.times(gate.pair(), dy)))
    outer = dy if u is None else dy * u
    return [*found, *(outer * g for g in in_numbers)]
