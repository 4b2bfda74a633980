"""Closed forms of entire functions: sines and cosines with a line, exponentials, polynomials.

E cos(a u) cos(b v) = exp(-(a^2 + b^2) q/2) cosh(a b q c), the same with sinh for sines; E u sin(b v) =
c b q exp(-b^2 q/2); a polynomial by its Hermite coefficients. For all q > 0, c in [-1, 1], eps = 1 - c.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial

from gateproof.numerics.meanfield.closed_forms_space import Space, Value


@dataclass(frozen=True)
class Waves:
    """phi(x) = level + slope x + a sin(rate x) + b cos(rate x) for each (rate > 0, a, b) of ``terms``."""

    space: Space
    level: Value
    slope: Value
    terms: tuple[tuple[Value, Value, Value], ...]

    def derivative(self) -> Waves:
        """phi'."""
        turned = tuple((w, -w * b, w * a) for w, a, b in self.terms)
        return Waves(self.space, self.slope, 0 * self.slope, turned)

    def _at_zero(self) -> Value:
        """phi(0)."""
        return self.level + sum(b for _, _, b in self.terms)

    def _cancels(self) -> bool:
        """Whether the level takes most of the cosines away at 0, as in 1 - cos(x)."""
        return bool(abs(self._at_zero()) < abs(self.level) / 2)

    def odd_size(self, q: Value) -> Value:
        """What E phi^2 would be at small q if the line and the sines added up: rounding is in proportion."""
        return q * (abs(self.slope) + sum(abs(a * w) for w, a, _ in self.terms)) ** 2

    def _square_about_zero(self, q: Value, c: Value) -> Value:
        """E phi(u) phi(v) with cos - 1 in place of cos: nothing cancels at small q."""
        sp, start = self.space, self._at_zero()
        odd = Waves(sp, 0 * self.level, self.slope, tuple((w, a, 0 * b) for w, a, b in self.terms))
        total = odd._times(odd, q, c, 1 - c) + start**2
        for v, _, b in self.terms:
            total = total + 2 * start * b * sp.expm1(-(v**2) * q / 2)
            for w, _, b2 in self.terms:
                x = abs(v * w * q * c)
                near = sp.exp((x - (v**2 + w**2) * q / 2) / 2) * sp.expm1(-x)
                both = sp.expm1(-(v**2) * q / 2) * sp.expm1(-(w**2) * q / 2) + near**2 / 2
                total = total + b * b2 * both
        return total

    def _times(self, other: Waves, q: Value, c: Value, eps: Value) -> Value:
        """E phi(u) psi(v)."""
        sp = self.space
        total = self.level * other.level + self.slope * other.slope * q * c
        for v, a, b in self.terms:
            lost = sp.exp(-(v**2) * q / 2)
            total = total + lost * (b * other.level + a * other.slope * v * q * c)
            for w, a2, b2 in other.terms:
                x = v * w * q
                near = sp.exp(-((v - w) ** 2) * q / 2 - x * eps)
                far = sp.exp(-((v - w) ** 2) * q / 2 - x * (1 + c))
                # near and far differ by 2 x c in the exponent.
                sines = sp.where(c > 0, -near * sp.expm1(-2 * x * c), far * sp.expm1(2 * x * c))
                total = total + (a * a2 * sines + b * b2 * (near + far)) / 2
        for w, a2, b2 in other.terms:
            total = total + sp.exp(-(w**2) * q / 2) * (b2 * self.level + a2 * self.slope * w * q * c)
        return total

    def _fall(self, q: Value, eps: Value) -> Value:
        """E phi^2 less E phi(u) phi(v)."""
        sp, c = self.space, 1 - eps
        total = self.slope**2 * q * eps
        for v, a, b in self.terms:
            total = total + 2 * sp.exp(-(v**2) * q / 2) * a * self.slope * v * q * eps
            for w, a2, b2 in self.terms:
                x = v * w * q
                top = sp.exp(-((v - w) ** 2) * q / 2)
                lost = -sp.expm1(-x * eps) * top / 2
                total = total + lost * (a * a2 * (1 + sp.exp(-x * (1 + c))) - b * b2 * sp.expm1(-x * (1 + c)))
        return total

    def mean(self, q: Value) -> Value:
        """E phi."""
        sp, about = self.space, self._cancels()
        total = (self._at_zero() if about else self.level) + 0 * q
        for w, _, b in self.terms:
            total = total + b * (sp.expm1 if about else sp.exp)(-(w**2) * q / 2)
        return total

    def variance(self, q: Value) -> Value:
        """E phi^2."""
        return self.correlation(q, 1 + 0 * q)

    def variance_slope(self, q: Value) -> Value:
        """d/dq E phi^2 = E phi'^2 + E phi phi''."""
        bent = self.derivative().derivative()
        return self.slope_energy(q) + self._times(bent, q, 1 + 0 * q, 0 * q)

    def slope_energy(self, q: Value) -> Value:
        """E phi'^2."""
        return self.derivative().variance(q)

    def slope_energy_slope(self, q: Value) -> Value:
        """d/dq E phi'^2."""
        return self.derivative().variance_slope(q)

    def curvature_energy(self, q: Value) -> Value:
        """E phi''^2."""
        return self.derivative().derivative().variance(q)

    def third_energy(self, q: Value) -> Value:
        """E phi'''^2."""
        return self.derivative().curvature_energy(q)

    def correlation(self, q: Value, c: Value) -> Value:
        """E phi(u) phi(v)."""
        return self._square_about_zero(q, c) if self._cancels() else self._times(self, q, c, 1 - c)

    def correlation_slope(self, q: Value, c: Value) -> Value:
        """E phi'(u) phi'(v)."""
        return self.derivative().correlation(q, c)

    def gap(self, q: Value, eps: Value) -> Value:
        """V - C at c = 1 - eps."""
        return self._fall(q, eps)

    def slope_gap(self, q: Value, eps: Value) -> Value:
        """D - E phi' phi' at c = 1 - eps."""
        return self.derivative()._fall(q, eps)


@dataclass(frozen=True)
class Exponential:
    """phi(x) = shift + scale * exp(rate * x)."""

    space: Space
    shift: Value
    scale: Value
    rate: Value

    def mean(self, q: Value) -> Value:
        """E phi."""
        if self._cancels():
            return self.shift + self.scale + self.scale * self.space.expm1(self.rate**2 * q / 2)
        return self.shift + self.scale * self.space.exp(self.rate**2 * q / 2)

    def _cancels(self) -> bool:
        """Whether the shift takes most of the rest away at 0, as in exp(x) - 1."""
        return bool(abs(self.shift + self.scale) < abs(self.shift) / 2)

    def variance(self, q: Value) -> Value:
        """E phi^2."""
        return self.correlation(q, 1 + 0 * q)

    def variance_slope(self, q: Value) -> Value:
        """d/dq E phi^2."""
        r, sp = self.rate**2, self.space
        return r * self.scale * (2 * self.scale * sp.exp(2 * r * q) + self.shift * sp.exp(r * q / 2))

    def slope_energy(self, q: Value) -> Value:
        """E phi'^2."""
        return self.correlation_slope(q, 1 + 0 * q)

    def slope_energy_slope(self, q: Value) -> Value:
        """d/dq E phi'^2."""
        return 2 * self.rate**2 * self.slope_energy(q)

    def curvature_energy(self, q: Value) -> Value:
        """E phi''^2."""
        return self.rate**2 * self.slope_energy(q)

    def third_energy(self, q: Value) -> Value:
        """E phi'''^2."""
        return self.rate**4 * self.slope_energy(q)

    def correlation(self, q: Value, c: Value) -> Value:
        """E phi(u) phi(v)."""
        r, sp = self.rate**2 * q, self.space
        if self._cancels():
            start, rise = self.shift + self.scale, sp.expm1(r / 2)
            square = rise**2 + sp.exp(r) * sp.expm1(r * c)
            return start**2 + 2 * start * self.scale * rise + self.scale**2 * square
        shifted = self.shift**2 + 2 * self.shift * self.scale * sp.exp(r / 2)
        return shifted + self.scale**2 * sp.exp(r * (1 + c))

    def correlation_slope(self, q: Value, c: Value) -> Value:
        """E phi'(u) phi'(v)."""
        return (self.rate * self.scale) ** 2 * self.space.exp(self.rate**2 * q * (1 + c))

    def gap(self, q: Value, eps: Value) -> Value:
        """V - C at c = 1 - eps."""
        r, sp = self.rate**2 * q, self.space
        return -(self.scale**2) * sp.exp(2 * r) * sp.expm1(-r * eps)

    def slope_gap(self, q: Value, eps: Value) -> Value:
        """D - E phi' phi' at c = 1 - eps."""
        return self.rate**2 * self.gap(q, eps)


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
        found = []
        for n in range(len(self.coefficients)):
            total: Value = 0
            for j, k in enumerate(range(n, len(self.coefficients), 2)):
                weight = factorial(k) // (2**j * factorial(j) * factorial(n))
                total = total + weight * self.coefficients[k] * q**j
            found.append(factorial(n) * q**n * total**2)
        return found

    def mean(self, q: Value) -> Value:
        """E phi."""
        total: Value = 0 * q
        for k in range(0, len(self.coefficients), 2):
            moment = factorial(k) // (2 ** (k // 2) * factorial(k // 2))
            total = total + moment * self.coefficients[k] * q ** (k // 2)
        return total

    def variance(self, q: Value) -> Value:
        """E phi^2."""
        return sum(self.squares(q)) + 0 * q

    def variance_slope(self, q: Value) -> Value:
        """d/dq E phi^2: that of the moments of phi^2."""
        p, total = self.coefficients, 0 * q
        for k in range(2, 2 * len(p) - 1, 2):
            square = sum(p[i] * p[k - i] for i in range(max(0, k - len(p) + 1), min(k, len(p) - 1) + 1))
            half = k // 2
            moment = factorial(k) // (2**half * factorial(half))
            total = total + half * moment * square * q ** (half - 1)
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
        total = 0 * q * c
        for a in reversed(self.squares(q)):
            total = total * c + a
        return total

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
