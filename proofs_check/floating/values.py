"""Exact values on a box of numbers of a format, as polynomials."""

from __future__ import annotations

from functools import reduce
from typing import Any

from flint import arb
from gmpy2 import mpq

from gateproof.numerics.ball import evaluate
from gateproof.numerics.errors import NumericsError
from gateproof.numerics.points import exact_arb, rational_bounds
from gateproof.numerics.precision import precision
from gateproof.proofs_check.floating.computed import ComputedValues
from gateproof.proofs_check.floating.numbers import fraction, two
from gateproof.proofs_check.floating.polynomial import (
    Poly,
    Range,
    UnknownError,
    constant,
    key,
    plus,
    power_range,
    product,
    scaled,
    symbol,
    times,
)
from gateproof.proofs_check.floating.quotients import Exact, root_above, root_below
from gateproof.proofs_check.floating.rounding import exponent_of
from gateproof.theory.formula.floating import whole
from gateproof.theory.formula.nodes import App, Const, Expr, Fl, Num, Ulp, Var, Where

_BITS = 256
_TOP_POWER, _TOP_CONSTANT = 12, 4_096


class Values(ComputedValues):
    """Exact values on the box too."""

    # --- exact ----------------------------------------------------------------

    def exact(self, node: Expr) -> Exact:
        """An exact value: a polynomial, and bounds. Raises UnknownError where it may have none."""
        found = self._exact.get(node)
        if found is None:
            poly, lo, hi = self._exact_value(node)
            poly = self.rounding.reduced(poly)
            low, high = self.symbols.range(poly)
            found = self._exact[node] = (poly, max(lo, low), min(hi, high))
        return found

    def _exact_value(self, node: Expr) -> Exact:
        if isinstance(node, Num):
            return self._fixed(mpq(node.value))
        if isinstance(node, Var):
            given = self.names[node.name]
            return given.poly, given.lo, given.hi
        if isinstance(node, Fl):
            done = self.computed(node.body)
            return done.poly, done.lo, done.hi
        if isinstance(node, Ulp) and node.of is not None:
            return self._unit(node.of)
        if isinstance(node, Where):
            truth = self.truth_of(node.cond, computed=False)
            if truth is None:
                (_, a, b), (_, c, d) = self.exact(node.then), self.exact(node.other)
                return self._new(min(a, c), max(b, d))
            return self.exact(node.then if truth else node.other)
        if isinstance(node, App):
            return self._exact_app(node)
        if isinstance(node, Const) and node.name != "oo":
            return self._by_ball(node, [])
        raise UnknownError

    @staticmethod
    def _fixed(value: Any) -> Exact:
        return constant(value), value, value

    def _new(self, lo: Any, hi: Any) -> Exact:
        return symbol(self.symbols.new(lo, hi)), lo, hi

    def _exact_app(self, node: App) -> Exact:
        head, parts = node.head, [self.exact(a) for a in node.args]
        if head in ("add", "mul", "max", "min"):
            return reduce(lambda a, b: self._pair(head, a, b), parts)
        poly, lo, hi = parts[0]
        if head == "neg":
            return scaled(poly, -1), -hi, -lo
        if head == "abs":
            return self._exact_size(poly, lo, hi)
        if head == "sign":
            known = lo > 0 or hi < 0 or lo == hi
            return self._fixed(mpq((lo > 0) - (hi < 0))) if known else self._new(mpq(-1), mpq(1))
        if head == "div":
            under, low, high = parts[1]
            if low <= 0 <= high:
                raise UnknownError
            inverse = self.inverse(under, (low, high))
            return (times(poly, inverse), *product((lo, hi), power_range((low, high), -1)))
        if head == "sqrt":
            if lo < 0:
                raise UnknownError
            return self.root_poly(poly, (lo, hi)), root_below(lo), root_above(hi)
        exponent = whole(node.args[1]) if head == "pow" else None
        if exponent is not None and lo == hi and (lo or exponent >= 0) and abs(exponent) <= _TOP_CONSTANT:
            return self._fixed(lo**exponent)
        if exponent is not None and abs(exponent) <= _TOP_POWER:
            return self._whole_power(poly, (lo, hi), exponent)
        return self._by_ball(node, parts)

    def _exact_size(self, poly: Poly, lo: Any, hi: Any) -> Exact:
        if lo >= 0:
            return poly, lo, hi
        if hi <= 0:
            return scaled(poly, -1), -hi, -lo
        top = max(-lo, hi)
        return self.size(poly, lo, hi), mpq(0), top

    def _whole_power(self, poly: Poly, ends: Range, exponent: int) -> Exact:
        if exponent < 0:
            if ends[0] <= 0 <= ends[1]:
                raise UnknownError
            poly = self.inverse(poly, ends)
        done = constant(mpq(1))
        for _ in range(abs(exponent)):
            done = times(done, poly)
        return (done, *power_range(ends, exponent)) if exponent else self._fixed(mpq(1))

    def _pair(self, head: str, a: Exact, b: Exact) -> Exact:
        (p, lo, hi), (q, low, high) = a, b
        if head == "add":
            return plus(p, q), lo + low, hi + high
        if head == "mul":
            square = key(p) == key(q)
            ends = power_range((lo, hi), 2) if square else product((lo, hi), (low, high))
            return (times(p, q), *ends)
        least, most = self.symbols.range(plus(p, q, -1))
        larger = True if least >= 0 or lo >= high else False if most <= 0 or hi <= low else None
        if larger is not None:
            return a if larger == (head == "max") else b
        choose = max if head == "max" else min
        return self._new(choose(lo, low), choose(hi, high))

    def _unit(self, of: Expr) -> Exact:
        """ulp: a power of 2, known where the value stays in a binade."""
        poly, lo, hi = self.exact(of)
        least = lo if lo > 0 else -hi if hi < 0 else mpq(0)
        form = self.format
        ends = [
            two(max(exponent_of(size) - form.bits + 1, form.grid) if size else form.grid)
            for size in (least, max(-lo, hi))
        ]
        if ends[0] == ends[1]:
            return self._fixed(ends[0])
        return symbol(self.symbols.named(("ulp", key(poly)), *ends)), ends[0], ends[1]

    def _by_ball(self, node: Expr, parts: list[Exact]) -> Exact:
        """A function that is not rational: a symbol for it, enclosed by balls."""
        head = node.head if isinstance(node, App) else to_name(node)
        names = [f"a{k}" for k in range(len(parts))]
        with precision(_BITS):
            balls = {n: _ball(lo, hi) for n, (_, lo, hi) in zip(names, parts, strict=True)}
        outer = App(head, tuple(map(Var, names))) if isinstance(node, App) else node
        try:
            lo, hi = map(mpq, rational_bounds(evaluate(outer, balls, _BITS)))
        except NumericsError as error:
            raise UnknownError from error
        name = (head, *(key(poly) for poly, _, _ in parts))
        return symbol(self.symbols.named(name, lo, hi)), lo, hi


def to_name(node: Expr) -> str:
    """The name of a constant."""
    assert isinstance(node, Const)
    return node.name


def _ball(lo: Any, hi: Any) -> arb:
    low, high = exact_arb(fraction(lo)), exact_arb(fraction(hi))
    return low.union(high)
