"""The truth of a floating-point claim at one point, exactly.

What stands in ``fl`` is rounded after each operation, in whole numbers; all else is rational arithmetic, and
balls of growing precision where a value is not rational.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from gmpy2 import is_square, isqrt, mpq

from gateproof.numerics.errors import MaybeUndefined
from gateproof.numerics.errors import Undefined as NoValue
from gateproof.numerics.points import SIGN_TESTS, at_point, difference_sign, enclosure, rational_bounds
from gateproof.proofs_check.engine.outcome import NotYetError, UndecidedError
from gateproof.proofs_check.engine.space import infinite_sign
from gateproof.proofs_check.floating.numbers import fraction, two
from gateproof.theory.formats import Format, nearest, unit_exponent
from gateproof.theory.formula.floating import constant, whole
from gateproof.theory.formula.nodes import (
    And,
    App,
    Const,
    Expr,
    Fl,
    Implies,
    In,
    Node,
    Not,
    Num,
    Or,
    Rel,
    Stmt,
    Ulp,
    Var,
    Where,
    rebuild,
)
from gateproof.theory.formula.printer import to_text

Point = Sequence[Any]
Value = Callable[[Point], Any]
Truth = Callable[[Point], bool]
#: Digits of a rational power before it is left to balls, and bits at which equal balls are given up.
_MAX_POWER, _MAX_BITS = 4_096, 2_048
_ROUGH_BITS = 256


class UndefinedError(Exception):
    """A part has no value at the point; the message says which."""


class _IrrationalError(Exception):
    """The value is no rational number, or not known to be one."""


class Program:
    """Expressions and statements in some names as functions of a point of the format."""

    def __init__(self, form: Format, names: Sequence[str]) -> None:
        self.format, self.places = form, {name: k for k, name in enumerate(names)}
        self.largest = mpq(form.largest)
        self._exact: dict[Expr, Value] = {}
        self._computed: dict[Expr, Value] = {}

    # --- statements -----------------------------------------------------------

    def truth(self, stmt: Stmt) -> Truth:
        """The truth at a point; UndefinedError where a part that counts has no value.

        Of ``a => b`` the b counts where a holds; all parts of ``and`` and ``or`` count.
        """
        if isinstance(stmt, Rel):
            links = [
                self._link(op, a, b) for op, a, b in zip(stmt.ops, stmt.terms, stmt.terms[1:], strict=False)
            ]
            return links[0] if len(links) == 1 else lambda x: False not in [link(x) for link in links]
        if isinstance(stmt, And | Or):
            parts, join = [self.truth(p) for p in stmt.parts], all if isinstance(stmt, And) else any
            return lambda x: join([part(x) for part in parts])
        if isinstance(stmt, Not):
            inner = self.truth(stmt.part)
            return lambda x: not inner(x)
        if isinstance(stmt, In):
            value = self.exact(stmt.item)
            return lambda x: _is_whole(value, x)
        assert isinstance(stmt, Implies)
        left, right = self.truth(stmt.left), self.truth(stmt.right)
        return lambda x: not left(x) or right(x)

    def _link(self, op: str, a: Expr, b: Expr) -> Truth:
        test: Callable[[int], bool] = SIGN_TESTS[op]
        sign = self.sign(a, b)
        return lambda x: test(sign(x))

    def sign(self, a: Expr, b: Expr) -> Callable[[Point], int]:
        """The sign of a - b at a point. Raises UndefinedError, and UndecidedError where balls cannot tell."""
        ends = infinite_sign(a), infinite_sign(b)
        if any(ends):
            others = [self.exact(e) for e, end in zip((a, b), ends, strict=True) if not end]
            known = (ends[0] > ends[1]) - (ends[0] < ends[1])

            def against_infinity(x: Point) -> int:
                for value in others:
                    _finite(value, x)
                return known

            return against_infinity
        left, right, slow = self.exact(a), self.exact(b), self._by_balls(a, b)

        def compare(x: Point) -> int:
            try:
                u, v = left(x), right(x)
            except _IrrationalError:
                return slow(x)
            return int(u > v) - int(u < v)

        return compare

    def _by_balls(self, a: Expr, b: Expr) -> Callable[[Point], int]:
        """The sign of a - b where a side is not rational: parts in the format become names."""
        (left, right), values = self._parted(a, b)

        def compare(x: Point) -> int:
            try:
                found = difference_sign(left, right, self._environment(values, x), _MAX_BITS)
            except NoValue as error:
                raise UndefinedError(str(error) or "a side has no value") from None
            if found is None:
                raise UndecidedError(f"the sides agree to {_MAX_BITS} bits at a point")
            return found

        return compare

    def _parted(self, *sides: Expr) -> tuple[list[Expr], dict[str, Value]]:
        """The sides with names for what is in the format, and the values of these names."""
        parts: dict[Expr, str] = {}

        def named(node: Node) -> Node:
            if isinstance(node, Fl | Ulp):
                return Var(parts.setdefault(node, f"part {len(parts) + 1}"))
            done: Node = rebuild(node, named)
            return done

        found = [side for side in map(named, sides) if isinstance(side, Expr)]
        return found, {name: self.exact(part) for part, name in parts.items()}

    def _environment(self, values: dict[str, Value], x: Point) -> dict[str, Fraction]:
        env = {name: fraction(x[k]) for name, k in self.places.items()}
        return {**env, **{name: fraction(value(x)) for name, value in values.items()}}

    # --- exact values ---------------------------------------------------------

    def exact(self, node: Expr) -> Value:
        """The exact value at a point, where that is a rational number."""
        found = self._exact.get(node)
        if found is None:
            found = self._exact[node] = self._exact_value(node)
        return found

    def _exact_value(self, node: Expr) -> Value:
        if isinstance(node, Num):
            value = mpq(node.value)
            return lambda _: value
        if isinstance(node, Var):
            place = self.places[node.name]
            return lambda x: x[place]
        if isinstance(node, Fl):
            return self.computed(node.body)
        if isinstance(node, Ulp) and node.of is not None:
            return self._ulp(node.of)
        if isinstance(node, Where):
            return self._where(node, self.exact)
        if isinstance(node, App):
            return self._exact_app(node)
        if isinstance(node, Const) and node.name != "oo":
            return _irrational
        raise NotYetError(f"{to_text(node)} in a floating-point claim")

    def _exact_app(self, node: App) -> Value:
        head, parts = node.head, [self.exact(a) for a in node.args]
        first = parts[0]
        if head in _EXACT:
            return _folded(_EXACT[head], parts)
        if head in _SIMPLE:
            return _applied(_SIMPLE[head], first)
        if head == "div":
            return _quotient(first, parts[1], to_text(node))
        if head == "sqrt":
            return lambda x: _root(first(x), node)
        if head == "pow":
            return lambda x: _power(first(x), parts[1](x), node)
        return _irrational

    def _ulp(self, of: Expr) -> Value:
        form, value = self.format, self.exact(of)
        step = self._step_by_balls(of)

        def ulp(x: Point) -> Any:
            try:
                q = value(x)
            except _IrrationalError:
                return step(x)
            return two(unit_exponent(int(q.numerator), int(q.denominator), form.bits, form.grid))

        return ulp

    def _step_by_balls(self, of: Expr) -> Value:
        """ulp of a value that is not rational: balls that lie in one binade."""
        form = self.format
        (named,), values = self._parted(of)

        def ulp(x: Point) -> Any:
            environment = self._environment(values, x)
            for bits in (128, 512, _MAX_BITS):
                try:
                    lo, hi = rational_bounds(at_point(named, environment, bits))
                except NoValue as error:
                    raise UndefinedError(str(error) or "a value of which ulp is taken") from None
                except MaybeUndefined:
                    continue
                if lo <= 0 <= hi and max(-lo, hi) >= Fraction(2) ** form.lowest:
                    continue
                steps = {form.step(lo), form.step(hi)}
                if len(steps) == 1:
                    return two(steps.pop())
            raise UndecidedError("the binade of a value of which ulp is taken is not seen")

        return ulp

    def rough(self, node: Expr) -> Value:
        """The value where it is rational, and else a rational near it; None where it is neither."""
        value = self.exact(node)
        named, values = self._parted(node)

        def near(x: Point) -> Any:
            try:
                return value(x)
            except _IrrationalError:
                pass
            try:
                lo, hi = rational_bounds(at_point(named[0], self._environment(values, x), _ROUGH_BITS))
            except (NoValue, MaybeUndefined):
                return None
            return mpq(lo + hi) / 2

        return near

    # --- computed values ------------------------------------------------------

    def computed(self, node: Expr) -> Value:
        """What the format gives, operation by operation. Raises UndefinedError where that is no number."""
        found = self._computed.get(node)
        if found is None:
            found = self._computed[node] = self._computed_value(node)
        return found

    def _computed_value(self, node: Expr) -> Value:
        if isinstance(node, Num | Const):
            value = self._constant(node)
            return lambda _: value
        if isinstance(node, Var):
            return self.exact(node)
        if isinstance(node, Fl):
            return self.computed(node.body)
        if isinstance(node, Where):
            truth = self._computed_truth(node.cond)
            then, other = self.computed(node.then), self.computed(node.other)
            return lambda x: then(x) if truth(x) else other(x)
        assert isinstance(node, App)
        return self._computed_app(node)

    def _computed_truth(self, stmt: Stmt) -> Truth:
        """A condition in ``fl``: its sides are computed, and compared exactly."""

        def within(part: Node) -> Node:
            if isinstance(part, Rel):
                return Rel(part.ops, tuple(Fl(t) for t in part.terms))
            done: Node = rebuild(part, within)
            return done

        done = within(stmt)
        assert isinstance(done, Stmt)
        return self.truth(done)

    def _computed_app(self, node: App) -> Value:
        head, text = node.head, to_text(node)
        if head == "pow":
            return self._computed_power(node, text)
        parts = [self.computed(a) for a in node.args]
        first = parts[0]
        if head in ("add", "mul"):
            found = first
            for part in parts[1:]:
                found = self._rounded(_folded(_EXACT[head], [found, part]), text)
            return found
        if head == "div":
            return self._rounded(_quotient(first, parts[1], text), text)
        if head == "fma":
            a, b, c = parts
            return self._rounded(lambda x: a(x) * b(x) + c(x), text)
        if head == "sqrt":
            return lambda x: self._root(first(x), text)
        if head in _EXACT:
            return _folded(_EXACT[head], parts)
        return _applied(_SIMPLE[head], first)

    def _computed_power(self, node: App, text: str) -> Value:
        base, exponent = constant(node.args[0]), whole(node.args[1])
        if base is not None and exponent is not None:
            if base == 0 and exponent < 0:
                return _undefined(f"division by 0 in {text}")
            value = self._round(mpq(base) ** exponent, text)
            return lambda _: value
        inner = self.computed(node.args[0])

        def square(x: Point) -> Any:
            v = inner(x)
            return v * v

        return self._rounded(square, text)

    def _rounded(self, value: Value, text: str) -> Value:
        return lambda x: self._round(value(x), text)

    def _round(self, q: Any, text: str) -> Any:
        form = self.format
        digits, step = nearest(int(q.numerator), int(q.denominator), form.bits, form.grid)
        found = digits * two(step)
        if abs(found) > self.largest:
            raise UndefinedError(f"{text} overflows {form.name}")
        return found

    def _root(self, q: Any, text: str) -> Any:
        """The square root rounded: the root of q 4^k with enough bits, and a last bit for what is left."""
        if q < 0:
            raise UndefinedError(f"root of a negative number in {text}")
        if q == 0:
            return q
        over, under = int(q.numerator), int(q.denominator)
        # q is a number of the format, so its denominator is a power of 2; an even one.
        shift = under.bit_length() - 1
        if shift & 1:
            over, shift = over << 1, shift + 1
        more = max(self.format.bits + 2 - over.bit_length() // 2, 0)
        over <<= 2 * more
        root = int(isqrt(over))
        sticky = 2 * root + (root * root != over)
        return self._round(mpq(sticky, 1 << (shift // 2 + more + 1)), text)

    def _constant(self, node: Expr) -> Any:
        """A number of the text, rounded to the format."""
        text = to_text(node)
        if isinstance(node, Num):
            return self._round(mpq(node.value), text)
        lo, hi = enclosure(node, 1_024)
        found = self._round(mpq(lo), text)
        if found != self._round(mpq(hi), text):
            raise UndecidedError(f"{text} is too near to the middle of two numbers")
        return found

    def _where(self, node: Where, value: Callable[[Expr], Value]) -> Value:
        truth, then, other = self.truth(node.cond), value(node.then), value(node.other)
        return lambda x: then(x) if truth(x) else other(x)


def closed(node: Expr, form: Format) -> Fraction | None:
    """The value of an expression without names where it is rational, else None."""
    try:
        return fraction(Program(form, ()).exact(node)(()))
    except (_IrrationalError, KeyError, UndefinedError, NotYetError):
        return None


def _finite(value: Value, x: Point) -> None:
    try:
        value(x)
    except _IrrationalError:
        raise UndecidedError("an irrational value against infinity") from None


def _is_whole(value: Value, x: Point) -> bool:
    try:
        return bool(value(x).denominator == 1)
    except _IrrationalError:
        raise UndecidedError("whether an irrational value is whole") from None


def _irrational(_x: Point) -> Any:
    raise _IrrationalError


def _undefined(reason: str) -> Value:
    def raised(_x: Point) -> Any:
        raise UndefinedError(reason)

    return raised


def _folded(operation: Callable[[Any, Any], Any], parts: list[Value]) -> Value:
    if len(parts) == 1:
        return parts[0]
    if len(parts) == 2:
        a, b = parts
        return lambda x: operation(a(x), b(x))
    first, *rest = parts

    def folded(x: Point) -> Any:
        total = first(x)
        for part in rest:
            total = operation(total, part(x))
        return total

    return folded


def _applied(operation: Callable[[Any], Any], part: Value) -> Value:
    return lambda x: operation(part(x))


def _quotient(over: Value, under: Value, text: str) -> Value:
    def quotient(x: Point) -> Any:
        a, b = over(x), under(x)
        if not b:
            raise UndefinedError(f"division by 0 in {text}")
        return a / b

    return quotient


def _root(q: Any, node: App) -> Any:
    if q < 0:
        raise UndefinedError(f"root of a negative number in {to_text(node)}")
    over, under = q.numerator, q.denominator
    if not (is_square(over) and is_square(under)):
        raise _IrrationalError
    return mpq(isqrt(over), isqrt(under))


def _power(base: Any, exponent: Any, node: App) -> Any:
    if exponent.denominator != 1:
        if base < 0 or (base == 0 and exponent < 0):
            raise UndefinedError(f"{to_text(node)} has no value")
        raise _IrrationalError
    if base == 0 and exponent < 0:
        raise UndefinedError(f"division by 0 in {to_text(node)}")
    if abs(exponent) > _MAX_POWER:
        raise _IrrationalError
    return base ** int(exponent)


_EXACT: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "mul": lambda a, b: a * b,
    "max": max,
    "min": min,
}
_SIMPLE: dict[str, Callable[[Any], Any]] = {
    "neg": lambda a: -a,
    "abs": abs,
    "sign": lambda a: mpq((a > 0) - (a < 0)),
}
