"""Lower bounds in the target's own units: f is looked at as g(u) = f(c + w u)/h.

The search for witnesses begins on a grid of step 1/4 near 0 and with sharpnesses near 1, and an error below
1e-9 is none to it. The families are closed under x = c + w u and under a factor: a gate of f with sharpness
t, thresholds theta_k, lines (m_k, b_k) and error e is one of g with w t, (theta_k - c)/w,
(m_k w/h, (b_k + m_k c)/h) and e/h. So a bound for g is one for f.

Rows of a certificate in w and h are the same but for a factor (t x, v and the sign of a row stay), and it
is written for f itself. A shift c multiplies a row by exp(w_j t c), which the chord rule is not invariant
under: such a certificate is about f(x + c), and its text says so. In a large width w a checker that looks for
the asymptotes a fixed way out does not see them: there the certificate is about f(w x + c).

All numbers are exact: c is rational, w and h are powers of two.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from gateproof.numerics import interval as iv
from gateproof.numerics.ball import compiled
from gateproof.numerics.certificate import ratio
from gateproof.numerics.errors import NumericsError
from gateproof.numerics.lower_bound_family import End, Family
from gateproof.numerics.precision import precision
from gateproof.theory.formula import substitute
from gateproof.theory.formula.nodes import App, Expr, Node, Var, num
from gateproof.theory.formula.powers import linear
from gateproof.theory.formula.printer import to_text

ONE = Fraction(1)
#: Units within this factor of 1 are 1. Where the deviation from a line is looked at, in widths.
_NEAR, _PLACES = 4, (-4, -2, -1, 0, 1, 2, 4)
_BITS = 96
#: Widths from which on the certificate is about f(w x + c).
_WIDE = 16

Tree = list[Any]


@dataclass(frozen=True)
class Units:
    """x = centre + width u and f = height g, with width > 0 and height > 0."""

    centre: Fraction = Fraction(0)
    width: Fraction = ONE
    height: Fraction = ONE

    @property
    def near(self) -> bool:
        """Whether the target may do as it stands."""
        return self.width == self.height == 1 and abs(self.centre) <= _NEAR

    def inner(self, target: Expr, var: str) -> Expr:
        """g as a core expression."""
        return _divided(_placed(target, var, self.centre, self.width), self.height)

    @property
    def kept(self) -> Fraction:
        """The width w in which a certificate is written."""
        return self.width if self.width > _WIDE else ONE

    def placed(self, target: Expr, var: str) -> Expr:
        """f(kept x + centre), which the certificate is about."""
        return _placed(target, var, self.centre, self.kept)

    def text(self, written: str, var: str) -> str:
        """The target as it is written, and what stands for x."""
        x = _place(var, self.centre, self.kept)
        return written if x == Var(var) else f"with {to_text(x)} for {var}: {written}"

    def into(self, family: Family) -> Family:
        """The family of g for one of f."""
        ends = [self._line(e.slope, e.intercept, e.free) for e in (family.left, family.right)]
        return Family(family.branches, ends[0], ends[1], self.place(family.theta))

    def out_of(self, family: Family) -> Family:
        """The family of f(kept x + centre) for one of g."""
        w, h = self.width / self.kept, self.height
        ends = [End(e.slope * h / w, e.intercept * h, e.free) for e in (family.left, family.right)]
        return Family(family.branches, ends[0], ends[1], None if family.theta is None else family.theta * w)

    def line(self, slope: Fraction, intercept: Fraction) -> tuple[Fraction, Fraction]:
        """The line of f for one of g."""
        m = slope * self.height / self.width
        return m, intercept * self.height - m * self.centre

    def place(self, x: Fraction | None) -> Fraction | None:
        """u for x."""
        return None if x is None else (x - self.centre) / self.width

    def tree(self, tree: Tree) -> Tree:
        """A tree of f(kept x + centre) for one of g."""
        w = self.width / self.kept
        if tree[0] == "split":
            at, below, above = tree[1:]
            return ["split", ratio(Fraction(at) / w), self.tree(below), self.tree(above)]
        return ["leaf", [[ratio(Fraction(x) * w), v] for x, v in tree[1]]]

    def _line(self, slope: Fraction, intercept: Fraction, free: bool) -> End:
        m, b = slope * self.width, intercept + slope * self.centre
        return End(m / self.height, b / self.height, free)


@lru_cache(maxsize=256)
def units_of(target: Expr, var: str) -> Units:
    """The units of a core expression: where its lines in ``var`` are 0, how steep they are, and its size."""
    lines = tuple(dict.fromkeys(_lines(target, var)))
    if not lines:
        return Units()
    places = [-b / a for a, b in lines]
    steep = max(abs(a) for a, _ in lines)
    width = 1 / steep if not 1 <= steep * _NEAR <= _NEAR**2 else ONE
    width = _power_of_two(width)
    centre = (min(places) + max(places)) / 2
    height = _height(target, var, centre, width)
    return Units(centre, width, height if not 1 <= height * _NEAR <= _NEAR**2 else ONE)


def _lines(node: Node, var: str) -> Iterator[tuple[Fraction, Fraction]]:
    """The largest parts that are lines, but not constants."""
    line = linear(node, var) if isinstance(node, Expr) else None
    if line is not None:
        if line[0]:
            yield line
        return
    for part in node.children():
        yield from _lines(part, var)


def _height(target: Expr, var: str, centre: Fraction, width: Fraction) -> Fraction:
    """A power of two near the largest deviation from the chord over eight widths."""
    run = compiled(target)
    values: list[float] = []
    with precision(_BITS):
        for k in _PLACES:
            try:
                ball = iv.to_ball(run({var: iv.of_ball(iv.rational(centre + k * width))}))
            except NumericsError:
                return ONE
            if not ball.is_finite():
                return ONE
            values.append(float(ball.mid()))
    a, b, reach = values[0], values[-1], _PLACES[-1]
    chord = [(a + b) / 2 + (b - a) / 2 * k / reach for k in _PLACES]
    off = max(abs(v - line) for v, line in zip(values, chord, strict=True))
    return _power_of_two(Fraction(off)) if 0 < off < math.inf else ONE


def _power_of_two(value: Fraction) -> Fraction:
    return Fraction(2) ** (value.numerator.bit_length() - value.denominator.bit_length())


def _place(var: str, centre: Fraction, width: Fraction) -> Expr:
    x: Expr = Var(var)
    if width != 1:
        x = App("mul", (num(width), x))
    return App("add", (x, num(centre))) if centre else x


def _placed(target: Expr, var: str, centre: Fraction, width: Fraction) -> Expr:
    x = _place(var, centre, width)
    return target if x == Var(var) else substitute(target, {var: x})


def _divided(expr: Expr, height: Fraction) -> Expr:
    return expr if height == 1 else App("mul", (num(1 / height), expr))
