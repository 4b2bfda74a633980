"""Taylor polynomials c_0 + c_1 h + ... + c_n h^n with coefficients of another arithmetic, such as intervals.

c_k encloses f^(k)/k! on the whole box that the variable stands for (a point or an interval).
A function y = F(u) comes from its derivative: with g the polynomial of F'(u), which may use y,
y' = g u', that is k y_k = sum_{j=1..k} j u_j g_(k-j).
"""
# ruff: noqa: D102 - algebra.py says what the operations are

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gmpy2 import mpq

from gateproof.proofs_check.checker.algebra import Algebra, Rejected
from gateproof.proofs_check.checker.interval import PRIMITIVES, Intervals

Jet = list[Any]
HALF = mpq(1, 2)

#: F' as a product of functions of the same argument, which then grow together; - F' for the falling ones.
TOGETHER = {
    "exp": ("exp",),
    "sin": ("cos",),
    "cos": ("sin",),
    "sinh": ("cosh",),
    "cosh": ("sinh",),
    "tanh": ("sech", "sech"),  # narrower than 1 - tanh^2 over a wide box
    "sech": ("tanh", "sech"),
}
FALLING = ("cos", "sech")
#: F'(u) in the operations on polynomials.
SLOPES: dict[str, Callable[[Jets, Jet], Jet]] = {
    "log": lambda to, u: to.power(u, -1),
    "tan": lambda to, u: to.power(to.function(u, "cos"), -2),
    "asin": lambda to, u: to.power(to.line(1, -1, to.mul(u, u)), -HALF),
    "atan": lambda to, u: to.power(to.line(1, 1, to.mul(u, u)), -1),
    "asinh": lambda to, u: to.power(to.line(1, 1, to.mul(u, u)), -HALF),
    "acosh": lambda to, u: to.power(to.line(-1, 1, to.mul(u, u)), -HALF),
    "atanh": lambda to, u: to.power(to.line(1, -1, to.mul(u, u)), -1),
    "softplus": lambda to, u: to.function(u, "sigmoid"),
    "erfc": lambda to, u: to.div(
        to.function(to.line(0, -1, to.mul(u, u)), "exp"),
        to.neg(to.power(to.div(to.constant("pi"), to.number(4)), HALF)),
    ),
}
#: Functions by others; the value itself comes from the coefficients' arithmetic.
DERIVED: dict[str, Callable[[Jets, Jet], Jet]] = {
    "acos": lambda to, u: to.sub(to.div(to.constant("pi"), to.number(2)), to.function(u, "asin")),
    "erf": lambda to, u: to.line(1, -1, to.function(u, "erfc")),
    # narrower than by F' = F (1 - F)
    "sigmoid": lambda to, u: to.line(HALF, HALF, to.function(to.line(0, HALF, u), "tanh")),
}


class Jets(Algebra):
    """Taylor arithmetic of a given order."""

    def __init__(self, field: Algebra, order: int) -> None:
        self.field, self.zero = field, field.number(0)
        self.rest = [self.zero] * order  # of a constant

    def variable(self, at: Any) -> Jet:
        """The variable on a box or at a point."""
        return [at, self.field.number(1), *self.rest][: len(self.rest) + 1]

    def fixed(self, value: Any) -> Jet:
        """What does not depend on the variable."""
        return [value, *self.rest]

    def number(self, q: Any) -> Jet:
        return self.fixed(self.field.number(q))

    def constant(self, name: str) -> Jet:
        return self.fixed(self.field.constant(name))

    def add(self, a: Jet, b: Jet) -> Jet:
        return [self.field.add(x, y) for x, y in zip(a, b, strict=True)]

    def neg(self, a: Jet) -> Jet:
        return [self.field.neg(x) for x in a]

    def mul(self, a: Jet, b: Jet) -> Jet:
        return [self._product(a, b, k) for k in range(len(a))]

    def _product(self, a: Jet, b: Jet, k: int) -> Any:
        """Coefficient k of a product; the middle term of a square is a square."""
        total = self.zero
        for j in range(k + 1):
            if a is b and 2 * j == k:
                total = self.field.add(total, self.field.power(a[j], 2))
            elif a[j] != self.zero != b[k - j]:
                total = self.field.add(total, self.field.mul(a[j], b[k - j]))
        return total

    def div(self, a: Jet, b: Jet) -> Jet:
        quotient: Jet = []  # from a = quotient b, coefficient by coefficient
        for k, rest in enumerate(a):
            for j in range(1, k + 1):
                rest = self.field.sub(rest, self.field.mul(b[j], quotient[k - j]))
            quotient.append(self.field.div(rest, b[0]))
        return quotient

    def power(self, a: Jet, q: Any) -> Jet:
        first, q = self.field.power(a[0], q), mpq(q)
        if q.denominator > 1 and self.rest:
            result = self.function(self.mul(self.number(q), self.function(a, "log")), "exp")
        else:
            result = self.whole(a, abs(int(q))) if self.rest else [first]
            result = self.div(self.number(1), result) if q < 0 else result
        return [first, *result[1:]]

    def signs(self, a: Jet) -> set[int]:
        return self.field.signs(a[0])

    def _special(self, a: Jet, head: str) -> Jet:
        """sum_k F^(k)(a_0)/k! (a - a_0)^k."""
        if not isinstance(self.field, Intervals):
            raise Rejected(f"{head} is known over intervals alone")
        from gateproof.proofs_check.checker import special

        values = special.coefficients(self.field, head, a[0], len(self.rest))
        step = [self.zero, *a[1:]]
        total = self.fixed(values[-1])
        for value in reversed(values[:-1]):
            total = self.add(self.mul(total, step), self.fixed(value))
        return total

    def function(self, a: Jet, head: str) -> Jet:
        if head not in PRIMITIVES:
            return self._special(a, head)
        if head in DERIVED and self.rest:
            return [self.field.function(a[0], head), *DERIVED[head](self, a)[1:]]
        names = {head, *TOGETHER.get(head, ())}
        series = {name: [self.field.function(a[0], name)] for name in names}
        slopes: dict[str, Jet] = {name: [] for name in names}
        if head in SLOPES and self.rest:
            slopes[head] = SLOPES[head](self, a)
        change = [self.field.mul(self.field.number(k), c) for k, c in enumerate(a)][1:]
        for k in range(1, len(a)):
            for name in names & TOGETHER.keys():
                f, *others = (series[factor] for factor in TOGETHER[name])
                slope = self._product(f, others[0], k - 1) if others else f[k - 1]
                slopes[name].append(self.field.neg(slope) if name in FALLING else slope)
            for name in names:
                whole = self._product(change, slopes[name], k - 1)
                series[name].append(self.field.mul(whole, self.field.number(mpq(1, k))))
        return series[head]
