"""Computed values on a box of numbers of a format, with their errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

from gmpy2 import mpq

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
    product,
    scaled,
    symbol,
    times,
)
from gateproof.proofs_check.floating.quotients import Exact, Quotients, root_above, root_below
from gateproof.proofs_check.floating.rounding import (
    ALL,
    MAX_ERROR,
    Computed,
    Result,
    Rounding,
    exponent_of,
    valuation,
)
from gateproof.theory.formats import Format
from gateproof.theory.formula.floating import constant as written_constant
from gateproof.theory.formula.floating import whole
from gateproof.theory.formula.nodes import App, Const, Expr, Fl, Num, Stmt, Var, Where


class ComputedValues(Quotients):
    """What is computed on one box, given by the exact ends of each name."""

    def __init__(self, form: Format, names: Sequence[str], ends: Sequence[Range]) -> None:
        self.format, self.symbols = form, Symbols()
        self.rounding = Rounding(form, self.symbols)
        self._computed: dict[Expr, Computed] = {}
        self._exact: dict[Expr, Exact] = {}
        self.names: dict[str, Computed] = {}
        for name, (lo, hi) in zip(names, ends, strict=True):
            poly = constant(lo) if lo == hi else symbol(self.symbols.new(lo, hi))
            smallest = lo if lo > 0 else -hi if hi < 0 else 0
            grid = max(exponent_of(smallest) - form.bits + 1, form.grid) if smallest else form.grid
            grid = valuation(lo) if lo == hi else grid
            size = self.size(poly, lo, hi)
            self.names[name] = self.rounding.keep(Computed(poly, lo, hi, grid, poly, mpq(0), 0, {}, size))

    def truth_of(self, condition: Stmt, *, computed: bool) -> bool | None:
        """The truth of a condition all over the box, of computed or of exact sides; None if not known."""
        raise NotImplementedError

    def exact(self, node: Expr) -> Exact:
        """An exact value: a polynomial, and bounds."""
        raise NotImplementedError

    # --- computed -------------------------------------------------------------

    def computed(self, node: Expr) -> Computed:
        """What the format gives. Raises UnknownError where that may be no number, or is not enclosed."""
        found = self._computed.get(node)
        if found is None:
            found = self._computed[node] = self._compute(node)
        return found

    def _compute(self, node: Expr) -> Computed:
        if isinstance(node, Num):
            return self._number(mpq(node.value))
        if isinstance(node, Var):
            return self.names[node.name]
        if isinstance(node, Fl):
            return self.computed(node.body)
        if isinstance(node, Where):
            return self._chosen(node)
        if isinstance(node, Const):
            poly, lo, hi = self.exact(node)
            rounded = self.rounding.nearest(lo)
            if rounded != self.rounding.nearest(hi):
                raise UnknownError
            error = max(abs(rounded / lo - 1), abs(rounded / hi - 1))
            done = Computed(constant(rounded), rounded, rounded, valuation(rounded), poly, error)
            return self.rounding.keep(done)
        assert isinstance(node, App)
        return self._app(node)

    def _number(self, value: Any) -> Computed:
        """A constant, rounded once."""
        rounded = self.rounding.nearest(value)
        error = abs(rounded / value - 1) if value else mpq(0)
        grid = valuation(rounded)
        off, size = constant(abs(rounded - value)), constant(abs(value))
        done = Computed(constant(rounded), rounded, rounded, grid, constant(value), error, 0, off, size)
        return self.rounding.keep(done)

    def _chosen(self, node: Where) -> Computed:
        truth = self.truth_of(node.cond, computed=True)
        if truth is None:
            a, b = self.computed(node.then), self.computed(node.other)
            return self._either(a, b)
        return self.computed(node.then if truth else node.other)

    def _either(self, a: Computed, b: Computed) -> Computed:
        """One of two computed values."""
        if key(a.poly) == key(b.poly):
            return a
        lo, hi = min(a.lo, b.lo), max(a.hi, b.hi)
        poly = symbol(self.symbols.new(lo, hi))
        return self.rounding.keep(Computed(poly, lo, hi, min(a.grid, b.grid), poly))

    def _app(self, node: App) -> Computed:
        head = node.head
        if head == "pow":
            base, exponent = written_constant(node.args[0]), whole(node.args[1])
            if base is not None and exponent is not None:
                if base == 0 and exponent < 0:
                    raise UnknownError
                return self._number(mpq(base) ** exponent)
            inner = self.computed(node.args[0])
            return self._times(inner, inner)
        parts = [self.computed(a) for a in node.args]
        if head == "add":
            return reduce(self._plus, parts)
        if head == "mul":
            return reduce(self._times, parts)
        if head in ("max", "min"):
            return reduce(lambda a, b: self._extreme(head, a, b), parts)
        if head == "div":
            return self._over(*parts)
        if head == "sqrt":
            return self._root(parts[0])
        if head == "fma":
            return self._fused(*parts)
        return self._signed(head, parts[0])

    def _signed(self, head: str, a: Computed) -> Computed:
        if head == "neg":
            return self._negative(a)
        if head == "abs":
            if a.lo >= 0:
                return self._magnitude(a, 1)
            if a.hi <= 0:
                return self._magnitude(a, -1)
            top = max(-a.lo, a.hi)
            poly = symbol(self.symbols.named(("abs", key(a.poly)), mpq(0), top))
            return self.rounding.keep(Computed(poly, mpq(0), top, a.grid, poly))
        sign = 1 if a.lo > 0 else -1 if a.hi < 0 else 0 if a.lo == a.hi == 0 else None
        if sign is None:
            poly = symbol(self.symbols.new(mpq(-1), mpq(1)))
            return self.rounding.keep(Computed(poly, mpq(-1), mpq(1), 0, poly))
        return self._number(mpq(sign))

    def _magnitude(self, a: Computed, sign: int) -> Computed:
        done = a if sign > 0 else self._negative(a)
        # The exact value may have the other sign where the computed one is 0.
        same = done.relative is not None and done.relative < 1 and done.small == 0
        return done if same else self.rounding.keep(_without_real(done))

    def _negative(self, a: Computed) -> Computed:
        real = scaled(a.real, -1)
        done = replace(a, poly=scaled(a.poly, -1), lo=-a.hi, hi=-a.lo, real=real)
        return self.rounding.keep(done)

    def _extreme(self, head: str, a: Computed, b: Computed) -> Computed:
        lo, hi = self.symbols.range(plus(a.poly, b.poly, -1))
        larger = True if lo >= 0 or a.lo >= b.hi else False if hi <= 0 or a.hi <= b.lo else None
        if larger is not None:
            chosen = a if larger == (head == "max") else b
            exact = a.relative == 0 == b.relative and not (a.small or b.small)
            return chosen if exact else _without_real(chosen)
        found = self._either(a, b)
        least, most = (max, max) if head == "max" else (min, min)
        lo, hi = least(a.lo, b.lo), most(a.hi, b.hi)
        return self.rounding.keep(Computed(found.poly, lo, hi, found.grid, found.real))

    def _plus(self, a: Computed, b: Computed) -> Computed:
        real = plus(a.real, b.real)
        relative = None
        if not (a.relative is None or b.relative is None or a.small or b.small):
            if a.relative == b.relative == 0:
                relative = mpq(0)
            elif (a.lo >= 0 and b.lo >= 0) or (a.hi <= 0 and b.hi <= 0):
                # Of one sign also exactly, since the relative errors are below 1.
                relative = max(a.relative, b.relative) if max(a.relative, b.relative) < 1 else None
        grid = min(a.grid, b.grid)
        error, size = _added(a, b)
        poly, lo, hi = plus(a.poly, b.poly), a.lo + b.lo, a.hi + b.hi
        return self.rounding.rounded(Result(poly, lo, hi, grid, real, relative, error, size, normal=True))

    def _times(self, a: Computed, b: Computed) -> Computed:
        real = times(a.real, b.real)
        lo, hi = product((a.lo, a.hi), (b.lo, b.hi)) if a is not b else power_range((a.lo, a.hi), 2)
        relative = None
        if not (a.relative is None or b.relative is None or a.small or b.small):
            relative = (1 + a.relative) * (1 + b.relative) - 1
        shifted = _is_power_of_2(a) or _is_power_of_2(b)
        grid = min(a.grid + b.grid, ALL)
        error, size = _multiplied(a, b)
        poly = times(a.poly, b.poly)
        return self.rounding.rounded(Result(poly, lo, hi, grid, real, relative, error, size, shifted))

    def _fused(self, a: Computed, b: Computed, c: Computed) -> Computed:
        lo, hi = product((a.lo, a.hi), (b.lo, b.hi))
        poly, real = plus(times(a.poly, b.poly), c.poly), plus(times(a.real, b.real), c.real)
        grid = min(a.grid + b.grid, c.grid, ALL)
        exact = a.relative == b.relative == c.relative == 0 and not (a.small or b.small or c.small)
        relative = mpq(0) if exact else None
        error, size = _multiplied(a, b)
        if error is not None and size is not None and c.error is not None and c.size is not None:
            error, size = plus(error, c.error), plus(size, c.size)
        else:
            error = size = None
        return self.rounding.rounded(Result(poly, lo + c.lo, hi + c.hi, grid, real, relative, error, size))

    def _over(self, a: Computed, b: Computed) -> Computed:
        if b.lo <= 0 <= b.hi:
            raise UnknownError
        poly = times(a.poly, self.inverse(b.poly, (b.lo, b.hi)))
        lo, hi = product((a.lo, a.hi), power_range((b.lo, b.hi), -1))
        relative, real = None, {}
        if not (a.relative is None or b.relative is None or a.small or b.small) and b.relative < 1:
            relative = (1 + a.relative) / (1 - b.relative) - 1
            # 1/b for the exact b, which lies between these.
            ends = product((b.lo, b.hi), (1 / (1 + b.relative), 1 / (1 - b.relative)))
            real = times(a.real, self.inverse(b.real, ends))
        shifted = _is_power_of_2(b)
        grid = a.grid - exponent_of(abs(b.lo)) if shifted else None
        error = size = None
        if b.relative == 0 and b.lo == b.hi and a.error is not None and a.size is not None:
            error, size = scaled(a.error, 1 / abs(b.lo)), scaled(a.size, 1 / abs(b.lo))
        return self.rounding.rounded(Result(poly, lo, hi, grid, real, relative, error, size, shifted))

    def _root(self, a: Computed) -> Computed:
        if a.lo < 0:
            raise UnknownError
        lo, hi = root_below(a.lo), root_above(a.hi)
        poly = self.root_poly(a.poly, (a.lo, a.hi))
        relative, real = None, {}
        if a.relative is not None and not a.small and a.relative < 1:
            relative = a.relative / (2 - a.relative)
            ends = product((a.lo, a.hi), (1 / (1 + a.relative), 1 / (1 - a.relative)))
            real = self.root_poly(a.real, ends)
        return self.rounding.rounded(Result(poly, lo, hi, None, real, relative, normal=True))


def _added(a: Computed, b: Computed) -> tuple[Poly | None, Poly | None]:
    """Bounds of the error and the size of a sum."""
    if a.error is None or b.error is None or a.size is None or b.size is None:
        return None, None
    return plus(a.error, b.error), plus(a.size, b.size)


def _multiplied(a: Computed, b: Computed) -> tuple[Poly | None, Poly | None]:
    """Bounds of the error and the size of a product."""
    if a.error is None or b.error is None or a.size is None or b.size is None:
        return None, None
    if max(len(a.error), 1) * len(b.size) + max(len(b.error), 1) * len(a.size) > MAX_ERROR:
        return None, None
    error = plus(times(a.error, b.size), times(b.error, a.size))
    return plus(error, times(a.error, b.error)), times(a.size, b.size)


def _without_real(a: Computed) -> Computed:
    return Computed(a.poly, a.lo, a.hi, a.grid, a.poly)


def _is_power_of_2(a: Computed) -> bool:
    return bool(a.lo == a.hi != 0 and abs(a.lo) == two(exponent_of(abs(a.lo))))
