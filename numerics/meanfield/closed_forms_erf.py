"""Closed forms with the root of Delta = (1 + s)^2 - s^2 c^2: error functions, exact gelu.

From E erf(a u) erf(a v) = (2/pi) asin(s c/(1 + s)), s = 2 a^2 q (Williams 1998), by Gaussian integration by
parts. Delta is written 1 + s (2 + s (1 - c)(1 + c)), and what a value loses from c = 1 on by expm1 and
log1p, so that no digit is lost near c = 1 or at small q. For all q > 0, c in [-1, 1], eps = 1 - c.
"""

from __future__ import annotations

from dataclasses import dataclass

from gateproof.numerics.meanfield.closed_forms_space import Space, Value, added, powered


def root(space: Space, s: Value, lack: Value) -> Value:
    """The root of Delta, for lack = (1 - c)(1 + c)."""
    return space.sqrt(1 + s * (2 + s * lack))


@dataclass(frozen=True)
class Roots:
    """Sums of coefficient * c^i * Delta^(-p/2), by (i, p)."""

    space: Space
    s: Value
    terms: dict[tuple[int, int], Value]

    def at(self, c: Value, eps: Value) -> Value:
        """The value at c = 1 - eps."""
        base = root(self.space, self.s, eps * (1 + c))
        tops: dict[int, Value] = {}
        for (i, p), k in self.terms.items():
            top = k * powered(c, i) if i else k
            tops[p] = tops[p] + top if p in tops else top
        return added(top / powered(base, p) for p, top in tops.items())

    def fall(self, eps: Value) -> Value:
        """The value at c = 1 less that at c = 1 - eps."""
        sp, c = self.space, 1 - eps
        top = 1 + 2 * self.s
        rise = sp.log1p(self.s**2 * (eps * (1 + c)) / top)
        total: Value = 0
        for (i, p), k in self.terms.items():
            part = -sp.expm1(-p * rise / 2)
            if i:
                part = part + eps * (1 + sum(powered(c, j) for j in range(1, i))) * sp.exp(-p * rise / 2)
            total = total + k * part / powered(sp.sqrt(top), p)
        return total

    def slope(self) -> Roots:
        """The derivative in c."""
        made: dict[tuple[int, int], Value] = {}
        for (i, p), k in self.terms.items():
            if i:
                made[i - 1, p] = made.get((i - 1, p), 0) + i * k
            made[i + 1, p + 2] = made.get((i + 1, p + 2), 0) + p * self.s**2 * k
        return Roots(self.space, self.s, made)


class BySlopes:
    """What follows from E phi'(u) phi'(v) alone, where that is a sum of such terms."""

    def _slopes(self, q: Value) -> Roots:
        """E phi' phi'."""
        raise NotImplementedError

    def slope_energy(self, q: Value) -> Value:
        """E phi'^2."""
        return self._slopes(q).at(1, 0 * q)

    def curvature_energy(self, q: Value) -> Value:
        """E phi''^2."""
        return self._slopes(q).slope().at(1, 0 * q) / q

    def third_energy(self, q: Value) -> Value:
        """E phi'''^2."""
        return self._slopes(q).slope().slope().at(1, 0 * q) / q**2

    def correlation_slope(self, q: Value, c: Value) -> Value:
        """E phi'(u) phi'(v)."""
        return self._slopes(q).at(c, 1 - c)

    def slope_gap(self, q: Value, eps: Value) -> Value:
        """D - E phi' phi' at c = 1 - eps."""
        return self._slopes(q).fall(eps)


def angle(space: Space, s: Value, c: Value) -> Value:
    """E erf(a u) erf(a v)."""
    return 2 / space.pi * space.asin(s * c / (1 + s))


def angle_fall(space: Space, s: Value, eps: Value) -> Value:
    """The same at c = 1 less that at c = 1 - eps, as the angle with the sine and cosine of a difference."""
    c = 1 - eps
    bend = s**2 * (eps * (1 + c))
    left, right = space.sqrt(1 + 2 * s), space.sqrt(1 + 2 * s + bend)
    sine = s * (bend / (left + right) + eps * left)
    return 2 / space.pi * space.atan2(sine, left * right + s**2 * c)


@dataclass(frozen=True)
class ErrorFunction(BySlopes):
    """phi(x) = shift + scale * erf(rate * x)."""

    space: Space
    shift: Value
    scale: Value
    rate: Value

    def _s(self, q: Value) -> Value:
        return 2 * self.rate**2 * q

    def _slopes(self, q: Value) -> Roots:
        """E phi' phi'."""
        factor = 4 * self.rate**2 * self.scale**2 / self.space.pi
        return Roots(self.space, self._s(q), {(0, 1): factor})

    def mean(self, q: Value) -> Value:
        """E phi."""
        return self.shift + 0 * q

    def variance(self, q: Value) -> Value:
        """E phi^2."""
        return self.correlation(q, 1 + 0 * q)

    def variance_slope(self, q: Value) -> Value:
        """d/dq E phi^2."""
        s = self._s(q)
        return 4 * (self.rate * self.scale) ** 2 / self.space.pi / ((1 + s) * self.space.sqrt(1 + 2 * s))

    def slope_energy_slope(self, q: Value) -> Value:
        """d/dq E phi'^2."""
        base = self.space.sqrt(1 + 2 * self._s(q))
        return -8 * self.rate**4 * self.scale**2 / self.space.pi / powered(base, 3)

    def correlation(self, q: Value, c: Value) -> Value:
        """E phi(u) phi(v)."""
        return added((self.scale**2 * angle(self.space, self._s(q), c), self.shift**2))

    def gap(self, q: Value, eps: Value) -> Value:
        """V - C at c = 1 - eps."""
        return self.scale**2 * angle_fall(self.space, self._s(q), eps)


@dataclass(frozen=True)
class ErrorLinear:
    """phi(x) = x * (line + bend * erf(rate * x)); exact gelu has 1/2, 1/2, sqrt(1/2)."""

    space: Space
    line: Value
    bend: Value
    rate: Value

    def _s(self, q: Value) -> Value:
        return 2 * self.rate**2 * q

    def _values(self, s: Value) -> Roots:
        """E x erf x erf /q, less c times the angle."""
        factor = 2 / self.space.pi * s
        return Roots(self.space, s, {(0, 1): factor, (2, 1): factor * (1 - s) / (1 + s)})

    def _slopes(self, s: Value) -> Roots:
        """E (x erf)' (x erf)', less the angle."""
        factor = 2 / self.space.pi * s
        return Roots(self.space, s, {(1, 1): 2 * factor / (1 + s), (1, 3): factor})

    def _curves(self, q: Value) -> Roots:
        """E phi'' phi''."""
        s = self._s(q)
        made = self._slopes(s).slope()
        made.terms[0, 1] = made.terms.get((0, 1), 0) + 2 * s / self.space.pi
        return Roots(self.space, s, {k: self.bend**2 * v / q for k, v in made.terms.items()})

    def mean(self, q: Value) -> Value:
        """E phi."""
        sp = self.space
        return self.bend * 2 * self.rate * q / sp.sqrt(sp.pi * (1 + self._s(q)))

    def variance(self, q: Value) -> Value:
        """E phi^2."""
        return self.correlation(q, 1 + 0 * q)

    def variance_slope(self, q: Value) -> Value:
        """d/dq E phi^2."""
        sp, s = self.space, self._s(q)
        root = sp.sqrt(1 + 2 * s)
        sums = 4 * s / ((1 + s) * root) + s * (
            2 / ((1 + s) * root) + 4 / ((1 + s) ** 2 * root) - 4 * s / ((1 + s) * powered(root, 3))
        )
        return self.line**2 + self.bend**2 * (angle(sp, s, 1 + 0 * s) + sums / sp.pi)

    def slope_energy(self, q: Value) -> Value:
        """E phi'^2."""
        return self.correlation_slope(q, 1 + 0 * q)

    def slope_energy_slope(self, q: Value) -> Value:
        """d/dq E phi'^2."""
        sp, s = self.space, self._s(q)
        root = sp.sqrt(1 + 2 * s)
        rise = 2 / ((1 + s) * root) + 4 / ((1 + s) * root) + 2 / powered(root, 3)
        fall = 4 / ((1 + s) ** 2 * root) + 4 / ((1 + s) * powered(root, 3)) + 6 / powered(root, 5)
        return self.bend**2 * 2 * self.rate**2 / sp.pi * (rise - s * fall)

    def curvature_energy(self, q: Value) -> Value:
        """E phi''^2."""
        return self._curves(q).at(1, 0 * q)

    def third_energy(self, q: Value) -> Value:
        """E phi'''^2."""
        return self._curves(q).slope().at(1, 0 * q) / q

    def correlation(self, q: Value, c: Value) -> Value:
        """E phi(u) phi(v)."""
        # _values and the angle together, from r = s c/(1 + s): c asin(r) + (s (1 - c^2) + 2 c r)/sqrt(Delta).
        sp, s = self.space, self._s(q)
        r, lack = s * c / (1 + s), (1 - c) * (1 + c)
        bent = c * sp.asin(r) + (s * lack + 2 * (c * r)) / root(sp, s, lack)
        return q * (self.line**2 * c + 2 / sp.pi * self.bend**2 * bent)

    def correlation_slope(self, q: Value, c: Value) -> Value:
        """E phi'(u) phi'(v)."""
        s = self._s(q)
        return self.line**2 + self.bend**2 * (angle(self.space, s, c) + self._slopes(s).at(c, 1 - c))

    def gap(self, q: Value, eps: Value) -> Value:
        """V - C at c = 1 - eps."""
        s = self._s(q)
        fall = angle_fall(self.space, s, eps) + eps * angle(self.space, s, 1 - eps)
        return q * (self.line**2 * eps + self.bend**2 * (fall + self._values(s).fall(eps)))

    def slope_gap(self, q: Value, eps: Value) -> Value:
        """D - E phi' phi' at c = 1 - eps."""
        s = self._s(q)
        return self.bend**2 * (angle_fall(self.space, s, eps) + self._slopes(s).fall(eps))
