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

from gateproof.proofs_check.checker.algebra import Algebra

Jet = list[Any]

#: F' as a product of functions of the same argument, which then grow together; sigmoid comes from tanh.
TOGETHER = {
    "exp": ("exp",),
    "sin": ("cos",),
    "cos": ("sin", "-"),
    "sinh": ("cosh",),
    "cosh": ("sinh",),
    "tanh": ("sech", "sech"),  # narrower than 1 - tanh^2 over a wide box
    "sech": ("tanh", "sech", "-"),
}
#: F'(u) in the operations on polynomials.
SLOPES: dict[str, Callable[[Jets, Jet], Jet]] = {
    "log": lambda to, u: to.power(u, -1),
    "tan": lambda to, u: to.power(to.function(u, "cos"), -2),
    "asin": lambda to, u: to.power(to.parabola(1, -1, u), mpq(-1, 2)),
    "acos": lambda to, u: to.neg(SLOPES["asin"](to, u)),
    "atan": lambda to, u: to.power(to.parabola(1, 1, u), -1),
    "asinh": lambda to, u: to.power(to.parabola(1, 1, u), mpq(-1, 2)),
    "acosh": lambda to, u: to.power(to.parabola(-1, 1, u), mpq(-1, 2)),
    "atanh": lambda to, u: to.power(to.parabola(1, -1, u), -1),
    "softplus": lambda to, u: to.function(u, "sigmoid"),
    "erf": lambda to, u: to.mul(
        to.power(to.div(to.constant("pi"), to.number(4)), mpq(-1, 2)),
        to.function(to.neg(to.mul(u, u)), "exp"),
    ),
    "erfc": lambda to, u: to.neg(SLOPES["erf"](to, u)),
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
        first, q, result = self.field.power(a[0], q), mpq(q), a if q else self.number(1)
        if q.denominator > 1 and self.rest:
            result = self.function(self.mul(self.number(q), self.function(a, "log")), "exp")
        elif self.rest:
            for bit in bin(abs(int(q)))[3:]:
                result = self.mul(result, result)
                result = self.mul(result, a) if bit == "1" else result
            result = self.div(self.number(1), result) if q < 0 else result
        return [first, *result[1:]]

    def parabola(self, a: int, b: int, u: Jet) -> Jet:
        """a + b u^2."""
        return self.add(self.number(a), self.mul(self.number(b), self.mul(u, u)))

    def signs(self, a: Jet) -> set[int]:
        return self.field.signs(a[0])

    def function(self, a: Jet, head: str) -> Jet:
        if head == "sigmoid" and self.rest:  # (1 + tanh(u/2))/2, narrower than by s (1 - s)
            half = self.number(mpq(1, 2))
            return [
                self.field.function(a[0], head),
                *self.mul(half, self.function(self.mul(half, a), "tanh"))[1:],
            ]
        names = {head, *TOGETHER.get(head, ())} - {"-"}
        series = {name: [self.field.function(a[0], name)] for name in names}
        slopes: dict[str, Jet] = {name: [] for name in names}
        if self.rest and head in SLOPES:
            slopes[head] = SLOPES[head](self, a)
        change = [self.field.mul(self.field.number(k), c) for k, c in enumerate(a)][1:]
        for k in range(1, len(a)):
            for name in names & TOGETHER.keys():
                factors = [series[factor] for factor in TOGETHER[name] if factor != "-"]
                slope = (
                    factors[0][k - 1] if len(factors) == 1 else self._product(factors[0], factors[1], k - 1)
                )
                slopes[name].append(self.field.neg(slope) if "-" in TOGETHER[name] else slope)
            for name in names:
                whole, share = self._product(change, slopes[name], k - 1), self.field.number(mpq(1, k))
                series[name].append(self.field.mul(whole, share))
        return series[head]
