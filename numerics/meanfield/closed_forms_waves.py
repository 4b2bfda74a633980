"""Closed forms of entire functions: sines and cosines with a line, exponentials.

E cos(a u) cos(b v) = exp(-(a^2 + b^2) q/2) cosh(a b q c), the same with sinh for sines; E u sin(b v) =
c b q exp(-b^2 q/2). For all q > 0, c in [-1, 1], eps = 1 - c.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gateproof.numerics.meanfield.closed_forms_space import Space, Value, added, vanishes


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
        total = odd._times(odd, q, c) + start**2
        for v, _, b in self.terms:
            total = total + 2 * start * b * sp.expm1(-(v**2) * q / 2)
            for w, _, b2 in self.terms:
                x = abs(v * w * q * c)
                near = sp.exp((x - (v**2 + w**2) * q / 2) / 2) * sp.expm1(-x)
                both = sp.expm1(-(v**2) * q / 2) * sp.expm1(-(w**2) * q / 2) + near**2 / 2
                total = total + b * b2 * both
        return total

    def _times(self, other: Waves, q: Value, c: Value) -> Value:
        """E phi(u) psi(v).

        With c = s |c|, x = v w q: exp(-(v^2 + w^2) q/2) exp(x |c|), in one exponent, is ``near``, and
        2 cosh(x c) = exp(x |c|) (2 + fade), 2 sinh(x c) = -s exp(x |c|) fade, fade = expm1(-2 x |c|).
        """
        sp = self.space
        sign, size = sp.sided(c)
        parts = [self._line_times(other, q, c), *self._by_line(other, q, c), *other._by_line(self, q, c)]
        for v, a, b in self.terms:
            for w, a2, b2 in other.terms:
                sines, cosines = a * a2, b * b2
                if vanishes(sines) and vanishes(cosines):
                    continue
                x = v * w * q
                top = x * (size - 1)
                near = sp.exp(top if vanishes(v - w) else top - (v - w) ** 2 / 2 * q)
                fade = sp.expm1(-2 * x * size)
                if not vanishes(sines):
                    parts.append(-sines / 2 * sign * near * fade)
                if not vanishes(cosines):
                    parts.append(cosines / 2 * near * (2 + fade))
        return added(parts)

    def _line_times(self, other: Waves, q: Value, c: Value) -> Value:
        """The mean of the product of the lines."""
        slopes = self.slope * other.slope
        return self.level * other.level + (0 if vanishes(slopes) else slopes * (q * c))

    def _by_line(self, other: Waves, q: Value, c: Value) -> Iterator[Value]:
        """Means of these sines and cosines times the other line."""
        for v, a, b in self.terms:
            even, odd = b * other.level, a * other.slope * v
            if not (vanishes(even) and vanishes(odd)):
                left = even if vanishes(odd) else even + odd * (q * c)
                yield left * self.space.exp(-(v**2) / 2 * q)

    def _fall(self, q: Value, eps: Value) -> Value:
        """E phi^2 less E phi(u) phi(v)."""
        sp, c = self.space, 1 - eps
        total = 0 if vanishes(self.slope) else self.slope**2 * q * eps
        for v, a, b in self.terms:
            mixed = 2 * a * self.slope * v
            if not vanishes(mixed):
                total = total + mixed * sp.exp(-(v**2) / 2 * q) * q * eps
            for w, a2, b2 in self.terms:
                x = v * w * q
                lost = -sp.expm1(-x * eps) / 2
                if not vanishes(v - w):
                    lost = lost * sp.exp(-((v - w) ** 2) / 2 * q)
                # exp(-x (1 + c)) - 1.
                other = sp.expm1(-x * (1 + c))
                total = total + lost * (a * a2 * (2 + other) - b * b2 * other)
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
        return self.slope_energy(q) + self._times(bent, q, 1 + 0 * q)

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
        return self._square_about_zero(q, c) if self._cancels() else self._times(self, q, c)

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
