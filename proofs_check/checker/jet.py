"""Taylor polynomials c_0 + c_1 h + ... + c_n h^n with coefficients of another arithmetic, such as intervals.

c_k encloses f^(k)/k! on the whole box that the variable stands for (a point or an interval).
A function y = F(u) comes from its derivative: with g the polynomial of F'(u), which may use y,
y' = g u', that is k y_k = sum_{j=1..k} j u_j g_(k-j).
"""

# ruff: noqa: D102 - algebra.py says what the operations are

from __future__ import annotations

from typing import Any

from gmpy2 import mpq

from gateproof.proofs_check.checker.algebra import Algebra

Jet = list[Any]
PAIRS = {name: names for names in (("sin", "cos"), ("sinh", "cosh"), ("tanh", "sech")) for name in names}


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

    def _derivative(self, u: Jet) -> Jet:
        return [self.field.mul(self.field.number(k), c) for k, c in enumerate(u)][1:]

    def _integral(self, g: Jet, du: Jet, k: int) -> Any:
        """Coefficient k of the integral of g u'."""
        return self.field.div(self._product(du, g, k - 1), self.field.number(k))

    def signs(self, a: Jet) -> set[int]:
        return self.field.signs(a[0])

    def function(self, a: Jet, head: str) -> Jet:
        y = [self.field.function(a[0], head)]
        if not self.rest:
            return y
        if head in PAIRS:
            return self._pair(head, a)
        if head == "sigmoid":  # (1 + tanh(u/2)) / 2
            half = self.number(mpq(1, 2))
            return y + self.mul(half, self.function(self.mul(half, a), "tanh"))[1:]
        slope, change = self._slope(head, a) if head != "exp" else y, self._derivative(a)
        while len(y) < len(a):
            y.append(self._integral(slope, change, len(y)))
        return y

    def _pair(self, head: str, u: Jet) -> Jet:
        """Two functions, each with the other's help: s' = w c and c' = w s or -w s; w is 1 or sech."""
        field, names, change = self.field, PAIRS[head], self._derivative(u)
        s, c = ([field.function(u[0], name)] for name in names)
        weight = c if names[0] == "tanh" else self.number(1)
        slope_s, slope_c = list[Any](), list[Any]()
        for k in range(1, len(u)):
            slope_s.append(self._product(weight, c, k - 1))
            slope_c.append(self._product(weight, s, k - 1))
            s.append(self._integral(slope_s, change, k))
            c.append(self._integral(slope_c, change, k))
            c[k] = c[k] if names[0] == "sinh" else field.neg(c[k])
        return s if head == names[0] else c

    def _slope(self, head: str, u: Jet) -> Jet:
        """F'(u) for the primitives whose derivative is a formula in u alone."""
        one = self.number(1)
        if head == "tan":
            return self.power(self.function(u, "cos"), -2)
        if head in ("acos", "erfc"):
            return self.neg(self._slope("asin" if head == "acos" else "erf", u))
        if head == "log":
            return self.div(one, u)
        if head == "softplus":
            return self.function(u, "sigmoid")
        square = self.mul(u, u)
        if head == "erf":
            scale = self.div(self.number(2), self.power(self.constant("pi"), mpq(1, 2)))
            return self.mul(scale, self.function(self.neg(square), "exp"))
        if head in ("atan", "atanh"):
            return self.div(one, self.add(one, square if head == "atan" else self.neg(square)))
        square = self.neg(square) if head == "asin" else square
        return self.power(self.add(square, self.neg(one) if head == "acosh" else one), mpq(-1, 2))
