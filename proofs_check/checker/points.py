"""The truth of a floating-point claim at one point.

Outside of ``fl`` arithmetic is rational, and in intervals where a function is not.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import gmpy2
from gmpy2 import mpq

from gateproof.proofs_check.checker.algebra import HOLDS, Rejected
from gateproof.proofs_check.checker.evaluate import HEADS, is_special, rational
from gateproof.proofs_check.checker.interval import Interval
from gateproof.proofs_check.checker.rounded import Point, Rounded, Value, exponent, power_of_two


class Points(Rounded):
    """Exact values and statements too."""

    # --- exact ----------------------------------------------------------------

    def exact(self, tree: Any) -> Value:
        """The exact value: a rational, or an interval that holds it."""
        self.size += 1
        match tree:
            case ["num", text]:
                value = rational(text)
                return lambda _: value
            case ["const", "pi" | "e" as name]:
                constant = self.field.constant(name)
                return lambda _: constant
            case ["var", str(name)] if name in self.names:
                return lambda x: mpq(x[name])
            case ["fl", inner]:
                return self.held(inner)
            case ["ulp", inner]:
                of = self.exact(inner)
                return lambda x: self.unit(of(x))
            case ["where", p, a, b]:
                truth, then, other = self.truth(p, self.exact), self.exact(a), self.exact(b)
                return lambda x: then(x) if truth(x) else other(x)
            case ["app", "add" | "mul" | "max" | "min" as head, first, *rest]:
                parts = [self.exact(part) for part in (first, *rest)]
                return lambda x: reduce(lambda a, b: self.apply(head, a, b), [part(x) for part in parts])
            case ["app", str(head), *rest] if head in HEADS or head == "pow":
                if len(rest) != (2 if head == "pow" else HEADS[head][0]):
                    raise Rejected(f"wrong number of arguments: {tree!r:.60}")
                parts = [self.exact(part) for part in rest]
                return lambda x: self.apply(head, *(part(x) for part in parts))
            case ["app", str(head), inner] if is_special(head):
                of = self.exact(inner)
                return lambda x: self.apply(head, of(x))
        raise Rejected(f"not a formula that this checker knows: {tree!r:.60}")

    def apply(self, head: str, *args: Any) -> Any:
        """An operation, by rational arithmetic where that gives it."""
        if not any(isinstance(a, Interval) for a in args):
            found = self.rationally(head, *args)
            if found is not None:
                return found
        if head == "pow" and isinstance(args[1], Interval):
            raise Rejected("a power with an exponent that is not rational")
        parts = [a if isinstance(a, Interval) else self.field.number(a) for a in args]
        if head == "pow":
            return self.field.power(parts[0], args[1])
        if head in ("add", "mul", "max", "min"):
            return getattr(self.field, head)(*parts)
        _, operation, *data = HEADS.get(head, (1, "function", head))
        return getattr(self.field, operation)(*parts, *data)

    def rationally(self, head: str, a: Any, b: Any = None) -> Any:
        """The rational value, or None."""
        if head in ("add", "mul", "max", "min"):
            return (
                a + b if head == "add" else a * b if head == "mul" else {"max": max, "min": min}[head](a, b)
            )
        if head in ("neg", "abs", "sign"):
            return -a if head == "neg" else abs(a) if head == "abs" else mpq((a > 0) - (a < 0))
        if head == "div":
            if b == 0:
                raise Rejected("division by 0")
            return a / b
        if head == "pow" and b.denominator == 1 and abs(b) <= 10_000:
            if a == 0 and b < 0:
                raise Rejected("division by 0")
            return a ** int(b)
        if head == "sqrt" and a >= 0 and gmpy2.is_square(a.numerator) and gmpy2.is_square(a.denominator):
            return mpq(gmpy2.isqrt(a.numerator), gmpy2.isqrt(a.denominator))
        return None

    def unit(self, value: Any) -> Any:
        """The unit in the last place of a real number."""
        ends = [abs(mpq(q)) for q in (value if isinstance(value, Interval) else (value, value))]
        if isinstance(value, Interval) and not (value.lo > 0 or value.hi < 0):
            raise Rejected("the binade of a value is not seen")
        steps = {max(exponent(q) - self.bits + 1 if q else self.least, self.least) for q in ends}
        if len(steps) > 1:
            raise Rejected("the binade of a value is not seen")
        return power_of_two(steps.pop())

    # --- statements -----------------------------------------------------------

    def truth(self, tree: Any, value: Callable[[Any], Value]) -> Callable[[Point], bool]:
        """The truth of a statement whose sides have the given kind of value; all parts must have one."""
        match tree:
            case ["rel", [_, *_] as relations, *terms] if len(terms) == len(relations) + 1:
                if not all(isinstance(name, str) and name in HOLDS for name in relations):
                    raise Rejected(f"not a relation: {relations!r:.60}")
                sides = [value(term) for term in terms]
                links = [*zip(relations, sides, sides[1:], strict=False)]
                return lambda x: False not in [self.compare(name, a(x), b(x)) for name, a, b in links]
            case ["and" | "or" as word, first, *rest]:
                parts, join = [self.truth(p, value) for p in (first, *rest)], all if word == "and" else any
                return lambda x: join([part(x) for part in parts])
            case ["not", part]:
                inner = self.truth(part, value)
                return lambda x: not inner(x)
            case ["whole", a]:
                of = value(a)
                return lambda x: self.whole(of(x))
            case ["implies", a, b]:
                left, right = self.truth(a, value), self.truth(b, value)
                return lambda x: not left(x) or right(x)
        raise Rejected(f"not a statement that this checker knows: {tree!r:.60}")

    def whole(self, q: Any) -> bool:
        """Whether a rational is a whole number."""
        if isinstance(q, Interval):
            raise Rejected("whether a value is whole is not seen")
        return bool(q.denominator == 1)

    def compare(self, relation: str, a: Any, b: Any) -> bool:
        """Whether a relation holds; Rejected where that is not seen."""
        if not (isinstance(a, Interval) or isinstance(b, Interval)):
            return (a > b) - (a < b) in HOLDS[relation]
        u, v = (side if isinstance(side, Interval) else self.field.number(side) for side in (a, b))
        found = {sign in HOLDS[relation] for sign in self.field.signs(self.field.add(u, self.field.neg(v)))}
        if len(found) > 1:
            raise Rejected("the order of two values is not seen")
        return found.pop()
