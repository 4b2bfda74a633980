"""The closed form of a polynomial, by its Hermite coefficients. For all q > 0, c in [-1, 1], eps = 1 - c."""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial

from gateproof.numerics.meanfield.closed_forms_space import Space, Value


@dataclass(frozen=True)
class Polynomial:
    """phi(x) = the sum of coefficients[k] * x^k."""

    space: Space
    coefficients: tuple[Value, ...]

    def derivative(self) -> Polynomial:
        """phi'."""
        return Polynomial(self.space, tuple(k * p for k, p in enumerate(self.coefficients))[1:] or (0,))

    def squares(self, q: Value) -> list[Value]:
        """Squares of the coefficients in the orthonormal Hermite polynomials.

        x^k is the sum over j of k!/(2^j j! (k - 2j)!) q^(k/2) He_(k - 2j).
        """
        found, power = [], 1 + 0 * q
        for a in self._squares(q):
            found.append(a * power)
            power = power * q
        return found

    def _squares(self, q: Value) -> list[Value]:
        """The same without q^n, numbers where they do not depend on q."""
        found = []
        for n in range(len(self.coefficients)):
            parts = [
                factorial(k) // (2**j * factorial(j) * factorial(n)) * self.coefficients[k]
                for j, k in enumerate(range(n, len(self.coefficients), 2))
            ]
            total = parts.pop()
            for part in reversed(parts):
                total = total * q + part
            found.append(factorial(n) * (total * total))
        return found

    def mean(self, q: Value) -> Value:
        """E phi."""
        total: Value = 0 * q
        for k in reversed(range(0, len(self.coefficients), 2)):
            moment = factorial(k) // (2 ** (k // 2) * factorial(k // 2))
            total = total * q + moment * self.coefficients[k]
        return total

    def variance(self, q: Value) -> Value:
        """E phi^2."""
        return self._by_horner(q, q)

    def variance_slope(self, q: Value) -> Value:
        """d/dq E phi^2: that of the moments of phi^2."""
        p, total = self.coefficients, 0 * q
        for k in reversed(range(2, 2 * len(p) - 1, 2)):
            square = sum(p[i] * p[k - i] for i in range(max(0, k - len(p) + 1), min(k, len(p) - 1) + 1))
            half = k // 2
            moment = factorial(k) // (2**half * factorial(half))
            total = total * q + half * moment * square
        return total

    def slope_energy(self, q: Value) -> Value:
        """E phi'^2."""
        return self.derivative().variance(q)

    def slope_energy_slope(self, q: Value) -> Value:
        """d/dq E phi'^2."""
        return self.derivative().variance_slope(q)

    def curvature_energy(self, q: Value) -> Value:
        """E phi''^2."""
        return self.derivative().slope_energy(q)

    def third_energy(self, q: Value) -> Value:
        """E phi'''^2."""
        return self.derivative().curvature_energy(q)

    def correlation(self, q: Value, c: Value) -> Value:
        """E phi(u) phi(v)."""
        return self._by_horner(q, q * c)

    def _by_horner(self, q: Value, both: Value) -> Value:
        """E phi(u) phi(v) in q c."""
        total, *rest = reversed(self._squares(q))
        for a in rest:
            total = total * both + a
        return total if rest else total + 0 * both

    def correlation_slope(self, q: Value, c: Value) -> Value:
        """E phi'(u) phi'(v)."""
        return self.derivative().correlation(q, c)

    def gap(self, q: Value, eps: Value) -> Value:
        """V - C at c = 1 - eps: 1 - c^n is eps (1 + c + .. + c^(n-1))."""
        c, total = 1 - eps, 0 * q * eps
        geometric: Value = 0
        for a in self.squares(q)[1:]:
            geometric = geometric * c + 1
            total = total + a * geometric
        return eps * total

    def slope_gap(self, q: Value, eps: Value) -> Value:
        """D - E phi' phi' at c = 1 - eps."""
        return self.derivative().gap(q, eps)
