"""Values on a box of numbers of a format: computed ones with their errors, and exact ones as polynomials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

from flint import arb
from gmpy2 import is_square, isqrt, mpq

from gateproof.numerics.ball import evaluate
from gateproof.numerics.errors import NumericsError
from gateproof.numerics.points import exact_arb, rational_bounds
from gateproof.numerics.precision import precision
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
    value_of,
)
from gateproof.proofs_check.floating.rounding import (
    ALL,
    MAX_ERROR,
    Computed,
    Result,
    Rounding,
    exponent_of,
    two,
    valuation,
)
from gateproof.theory.formats import Format
from gateproof.theory.formula.floating import constant as written_constant
from gateproof.theory.formula.floating import whole
from gateproof.theory.formula.nodes import App, Const, Expr, Fl, Num, Stmt, Ulp, Var, Where

_BITS = 256
_TOP_POWER, _TOP_CONSTANT = 12, 4_096
Exact = tuple[Poly, Any, Any]


class Values:
    """The values of expressions on one box, given by the exact ends of each name."""

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
            size = self._size(poly, lo, hi)
            self.names[name] = self.rounding.keep(Computed(poly, lo, hi, grid, poly, mpq(0), 0, {}, size))

    def truth_of(self, condition: Stmt, *, computed: bool) -> bool | None:
        """The truth of a condition all over the box, of computed or of exact sides; None if not known."""
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
        poly = times(a.poly, self._inverse(b.poly, (b.lo, b.hi)))
        lo, hi = product((a.lo, a.hi), power_range((b.lo, b.hi), -1))
        relative, real = None, {}
        if not (a.relative is None or b.relative is None or a.small or b.small) and b.relative < 1:
            relative = (1 + a.relative) / (1 - b.relative) - 1
            # 1/b for the exact b, which lies between these.
            ends = product((b.lo, b.hi), (1 / (1 + b.relative), 1 / (1 - b.relative)))
            real = times(a.real, self._inverse(b.real, ends))
        shifted = _is_power_of_2(b)
        grid = a.grid - exponent_of(abs(b.lo)) if shifted else None
        error = size = None
        if b.relative == 0 and b.lo == b.hi and a.error is not None and a.size is not None:
            error, size = scaled(a.error, 1 / abs(b.lo)), scaled(a.size, 1 / abs(b.lo))
        return self.rounding.rounded(Result(poly, lo, hi, grid, real, relative, error, size, shifted))

    def _inverse(self, b: Poly, ends: Range) -> Poly:
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
        first = self._inverse(main, self.symbols.range(main))
        both = symbol(self.symbols.named(("1/", key(b)), *power_range((lo, hi), -1)))
        return plus(first, times(rest, times(first, both)), -1)

    def _root(self, a: Computed) -> Computed:
        if a.lo < 0:
            raise UnknownError
        lo, hi = _root_below(a.lo), _root_above(a.hi)
        poly = self._root_poly(a.poly, (a.lo, a.hi))
        relative, real = None, {}
        if a.relative is not None and not a.small and a.relative < 1:
            relative = a.relative / (2 - a.relative)
            ends = product((a.lo, a.hi), (1 / (1 + a.relative), 1 / (1 - a.relative)))
            real = self._root_poly(a.real, ends)
        return self.rounding.rounded(Result(poly, lo, hi, None, real, relative, normal=True))

    def _root_poly(self, a: Poly, ends: Range) -> Poly:
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
            return symbol(self.symbols.named(("sqrt", key(a)), _root_below(lo), _root_above(hi)))
        ends = self.symbols.range(main)
        if ends[0] <= 0:
            raise UnknownError
        first = self._root_poly(main, ends)
        least, most = self.symbols.range(first)
        least = max(least, _root_below(ends[0]))
        most = min(most, _root_above(ends[1]))
        under = least + _root_below(lo), most + _root_above(hi)
        factor = symbol(self.symbols.named(("root step", key(a)), *power_range(under, -1)))
        return plus(first, times(rest, factor))

    @staticmethod
    def _square_root(value: Any) -> Any:
        return mpq(isqrt(value.numerator), isqrt(value.denominator))

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
            inverse = self._inverse(under, (low, high))
            return (times(poly, inverse), *product((lo, hi), power_range((low, high), -1)))
        if head == "sqrt":
            if lo < 0:
                raise UnknownError
            return self._root_poly(poly, (lo, hi)), _root_below(lo), _root_above(hi)
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
        return self._size(poly, lo, hi), mpq(0), top

    def _size(self, poly: Poly, lo: Any, hi: Any) -> Poly:
        """abs: the product of the sizes of the symbols of a product, else a symbol for it."""
        if lo >= 0 or hi <= 0:
            return poly if lo >= 0 else scaled(poly, -1)
        if len(poly) == 1:
            ((monomial, factor),) = poly.items()
            if len(monomial) > 1 or monomial[0][1] != 1:
                done = constant(abs(factor))
                for k, power in monomial:
                    done = times(done, self._symbol_size(k, power))
                return done
            if factor != 1:
                return scaled(self._symbol_size(*monomial[0]), abs(factor))
        return symbol(self.symbols.named(("abs", key(poly)), mpq(0), max(-lo, hi)))

    def _symbol_size(self, k: int, power: int) -> Poly:
        """The size of a power of a symbol."""
        lo, hi = self.symbols.ranges[k]
        if power % 2 == 0 or lo >= 0:
            return symbol(k, power)
        if hi <= 0:
            return scaled(symbol(k, power), -1)
        size = self._size(symbol(k), lo, hi)
        done = size
        for _ in range(power - 1):
            done = times(done, size)
        return done

    def _whole_power(self, poly: Poly, ends: Range, exponent: int) -> Exact:
        if exponent < 0:
            if ends[0] <= 0 <= ends[1]:
                raise UnknownError
            poly = self._inverse(poly, ends)
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
            lo, hi = map(_rational, rational_bounds(evaluate(outer, balls, _BITS)))
        except NumericsError as error:
            raise UnknownError from error
        name = (head, *(key(poly) for poly, _, _ in parts))
        return symbol(self.symbols.named(name, lo, hi)), lo, hi


def to_name(node: Expr) -> str:
    """The name of a constant."""
    assert isinstance(node, Const)
    return node.name


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


def _root_below(value: Any) -> Any:
    """A number with few bits at most the root."""
    shift = _root_shift(value)
    return mpq(isqrt((value.numerator << 2 * shift) // value.denominator)) / two(shift)


def _root_above(value: Any) -> Any:
    """A number with few bits at least the root."""
    shift = _root_shift(value)
    scaled_up = -((-value.numerator << 2 * shift) // value.denominator)
    root = isqrt(scaled_up)
    return mpq(root + (root * root != scaled_up)) / two(shift)


def _root_shift(value: Any) -> int:
    size = int(value.denominator).bit_length() - int(value.numerator).bit_length()
    return max(80 + size // 2, 80)


def _ball(lo: Any, hi: Any) -> arb:
    low, high = exact_arb(_fraction(lo)), exact_arb(_fraction(hi))
    return low.union(high)


def _fraction(value: Any) -> Any:
    from fractions import Fraction

    return Fraction(int(value.numerator), int(value.denominator))


def _rational(value: Any) -> Any:
    return mpq(value)
