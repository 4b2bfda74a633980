"""Closed forms of piecewise linear functions: the relu family, and any number of kinks by Price's theorem.

With phi'' = sum J_k delta(x_k), Price (1958) gives E phi' phi' = (E phi')^2 + S/(2 pi), S the integral from 0
to asin(c) of sum J_j J_k e_jk(t), e_jk(t) = exp(-(x_j^2 + x_k^2 - 2 x_j x_k sin t)/(2 q cos^2 t)); one more
integration gives E phi phi with c - sin t as a further factor. The integrals run over the angle from c = 1
or from c = 0, where nothing cancels. All q > 0, c in [-1, 1], eps = 1 - c.
"""

from __future__ import annotations

from dataclasses import dataclass

from gateproof.numerics.meanfield import closed_forms_pieces as pieces
from gateproof.numerics.meanfield.closed_forms_space import Space, Value, added, vanishes


def arc(space: Space, eps: Value) -> Value:
    """acos(1 - eps)."""
    return 2 * space.atan2(space.sqrt(eps), space.sqrt(2 - eps))


@dataclass(frozen=True)
class TwoSlopes:
    """phi(x) = level + line * x + bend * |x|: relu, leaky and parametric relu, abs, the identity."""

    space: Space
    level: Value
    line: Value
    bend: Value

    def mean(self, q: Value) -> Value:
        """E phi."""
        return self.level + self.bend * self.space.sqrt(2 / self.space.pi * q)

    def _shifted(self, q: Value) -> Value:
        """What the level adds to a mean of a product."""
        if vanishes(self.level):
            return 0
        return 2 * self.level * self.bend * self.space.sqrt(2 / self.space.pi * q) + self.level**2

    def variance(self, q: Value) -> Value:
        """E phi^2."""
        return added(((self.line**2 + self.bend**2) * q, self._shifted(q)))

    def variance_slope(self, q: Value) -> Value:
        """d/dq E phi^2."""
        shifted = self.level * self.bend * self.space.sqrt(2 / (self.space.pi * q))
        return self.line**2 + self.bend**2 + shifted

    def slope_energy(self, q: Value) -> Value:
        """E phi'^2."""
        return self.line**2 + self.bend**2 + 0 * q

    def slope_energy_slope(self, q: Value) -> Value:
        """d/dq E phi'^2."""
        return 0 * q

    def curvature_energy(self, q: Value) -> Value:
        """E phi''^2."""
        return 0 * q + (0 if self.bend == 0 else self.space.inf)

    def third_energy(self, q: Value) -> Value:
        """E phi'''^2."""
        return self.curvature_energy(q)

    def correlation(self, q: Value, c: Value) -> Value:
        """E phi(u) phi(v)."""
        sp = self.space
        if vanishes(self.bend):
            return added((self.line**2 * (q * c), self._shifted(q)))
        bent = sp.sqrt((1 - c) * (1 + c)) + c * sp.asin(c)
        slopes = added((0 if vanishes(self.line) else self.line**2 * c, 2 / sp.pi * self.bend**2 * bent))
        return added((q * slopes, self._shifted(q)))

    def correlation_slope(self, q: Value, c: Value) -> Value:
        """E phi'(u) phi'(v)."""
        return self.line**2 + self.bend**2 * 2 / self.space.pi * self.space.asin(c) + 0 * q

    def gap(self, q: Value, eps: Value) -> Value:
        """V - C at c = 1 - eps; |x| gives eps less (2/pi)(sin t - t cos t), t = acos c."""
        lag = 2 / self.space.pi * self.space.sine_lag(arc(self.space, eps))
        return q * ((self.line**2 + self.bend**2) * eps - self.bend**2 * lag)

    def slope_gap(self, q: Value, eps: Value) -> Value:
        """D - E phi' phi' at c = 1 - eps."""
        return self.bend**2 * 2 / self.space.pi * arc(self.space, eps) + 0 * q


@dataclass(frozen=True)
class PiecewiseLinear:
    """phi(0) = level; slope ``line`` around 0, or left of a kink at 0; ``kinks`` (at, jump of phi')."""

    space: Space
    level: Value
    line: Value
    kinks: tuple[tuple[Value, Value], ...]

    def _bell(self, x: Value, q: Value) -> Value:
        """The density of N(0, q)."""
        sp = self.space
        return sp.exp(-(x**2) / (2 * q)) / sp.sqrt(2 * sp.pi * q)

    def _of_steps(self, first: Value, steps: list[tuple[Value, Value]], q: Value) -> Value:
        """E of a step function: ``first`` around (or left of) 0, with (at, jump) elsewhere.

        Far kinks count by their tails, near ones as halves of a sign, so that neither cancels.
        """
        sp = self.space
        total, rest = first + 0 * q, 0 * q
        for x, jump in steps:
            side = 1 if x >= 0 else -1
            z = x / sp.sqrt(2 * q)
            near = abs(z) < 1
            total = total + sp.where(near, side * jump / 2 + 0 * q, 0 * q)
            rest = rest + sp.where(near, -jump / 2 * sp.erf(z), side * jump / 2 * sp.erfc(abs(z)))
        return total + rest

    def _slope_mean(self, q: Value) -> Value:
        return self._of_steps(self.line, list(self.kinks), q)

    def _sum(self, t: Value, q: Value, side: Value) -> Value:
        """sum J_j J_k e_jk at the angle t from side, 1 or -1; by expm1 where all exponents are small.

        The jumps may cancel then. e_jk has -(x_j - side x_k)^2/(2 q sin^2 t) - side x_j x_k/(q (1 + cos t)).
        """
        sp = self.space
        plain: Value = 0
        small: Value = sum(jump for _, jump in self.kinks) ** 2
        most: Value = 0 * q
        flat, steep = q * (1 + sp.cos(t)), 2 * q * sp.sin(t) ** 2
        for m, (j, a) in enumerate(self.kinks):
            for n, (k, b) in enumerate(self.kinks[: m + 1]):
                height = (j - side * k) ** 2 / steep + side * j * k / flat
                weight = a * b * (1 if m == n else 2)
                plain = plain + weight * sp.exp(-height)
                small = small + weight * sp.expm1(-height)
                most = sp.where(height > most, height, most)
        return sp.where(most < 0.5, small, plain)

    def _rising(self, q: Value, c: Value, weighted: bool) -> Value:
        """The integral over t from 0 to asin c of the sum, times c - sin t where weighted."""
        sp = self.space
        side = sp.where(c < 0, -1 + 0 * c, 1 + 0 * c)
        start = arc(sp, 1 - abs(c))

        def part(s: Value, q: Value, start: Value, side: Value) -> Value:
            value = self._sum(start + s, q, side)
            # cos(start) - cos(start + s), where cos(start) is |c|.
            return value * 2 * sp.sin(start + s / 2) * sp.sin(s / 2) if weighted else value

        total = sp.integral(part, sp.pi / 2 - start, q, start, side)
        return total if weighted else side * total

    def _falling(self, q: Value, eps: Value, weighted: bool) -> Value:
        """The integral over angles t from c = 1 to acos c of the sum, times 1 - cos t where weighted."""
        sp = self.space

        def part(t: Value, q: Value) -> Value:
            value = self._sum(t, q, 1)
            return value * 2 * sp.sin(t / 2) ** 2 if weighted else value

        return sp.integral(part, arc(sp, eps), q)

    def mean(self, q: Value) -> Value:
        """E phi."""
        sp = self.space
        total = self.level + sp.sqrt(q / (2 * sp.pi)) * sum(jump for _, jump in self.kinks)
        for x, jump in self.kinks:
            z = abs(x) / sp.sqrt(2 * q)
            rise = sp.sqrt(q / (2 * sp.pi)) * sp.expm1(-(z**2))
            total = total + jump * (rise - abs(x) / 2 * sp.erfc(z))
        return total

    def variance(self, q: Value) -> Value:
        """E phi^2: by pieces, by pairs of kinks where pieces cancel, as far out."""
        found, size = pieces.variance(self.space, self._pieces(), q)
        return self.space.where(size > 8 * found, self.correlation(q, 1 + 0 * q), found)

    def _pieces(self) -> list[pieces.Piece]:
        return pieces.pieces(self.level, self.line, self.kinks)

    def variance_slope(self, q: Value) -> Value:
        """d/dq E phi^2 = E phi'^2 + sum J_k phi(x_k) times the density at x_k.

        By pieces where less cancels there, as for large q.
        """
        total = self.slope_energy(q)
        size = total
        for x, jump in self.kinks:
            added = jump * self.value(x) * self._bell(x, q)
            total, size = total + added, size + abs(added)
        other, by_pieces = pieces.variance_slope(self.space, self._pieces(), q)
        return self.space.where(by_pieces < size, other, total)

    def value(self, x: Value) -> Value:
        """phi(x) for one number x."""
        total = self.level + self.line * x
        for at, jump in self.kinks:
            beyond = x > at if at >= 0 else x < at
            total = total + (jump * abs(x - at) if beyond else 0 * x)
        return total

    def _square_steps(self) -> tuple[Value, list[tuple[Value, Value]]]:
        """phi'^2 as a step function."""
        steps = []
        for right in (True, False):
            slope = self.line
            for x, jump in self.kinks if right else reversed(self.kinks):
                if (x >= 0) is right:
                    after = slope + jump if right else slope - jump
                    rise = after**2 - slope**2
                    steps.append((x, rise if right else -rise))
                    slope = after
        return self.line**2, steps

    def slope_energy(self, q: Value) -> Value:
        """E phi'^2."""
        return self._of_steps(*self._square_steps(), q)

    def slope_energy_slope(self, q: Value) -> Value:
        """d/dq E phi'^2."""
        total = 0 * q
        for x, rise in self._square_steps()[1]:
            total = total + rise * x / (2 * q) * self._bell(x, q)
        return total

    def curvature_energy(self, q: Value) -> Value:
        """E phi''^2."""
        return 0 * q + (self.space.inf if self.kinks else 0)

    def third_energy(self, q: Value) -> Value:
        """E phi'''^2."""
        return self.curvature_energy(q)

    def correlation(self, q: Value, c: Value) -> Value:
        """E phi(u) phi(v)."""
        rising = self._rising(q, c, weighted=True) / (2 * self.space.pi)
        return self.mean(q) ** 2 + q * (c * self._slope_mean(q) ** 2 + rising)

    def correlation_slope(self, q: Value, c: Value) -> Value:
        """E phi'(u) phi'(v)."""
        return self._slope_mean(q) ** 2 + self._rising(q, c, weighted=False) / (2 * self.space.pi)

    def gap(self, q: Value, eps: Value) -> Value:
        """V - C at c = 1 - eps."""
        # E phi' phi' from the angle to c = 1: that of 1 - eps as one number is off by rounding/sqrt(eps).
        # Where c is not near 1 it is taken from c = 0: for large q D is much larger.
        near = self.slope_energy(q) - self.slope_gap(q, eps)
        slopes = self.space.where(eps > 0.5, self.correlation_slope(q, 1 - eps), near)
        return q * (eps * slopes + self._falling(q, eps, weighted=True) / (2 * self.space.pi))

    def slope_gap(self, q: Value, eps: Value) -> Value:
        """D - E phi' phi' at c = 1 - eps."""
        return self._falling(q, eps, weighted=False) / (2 * self.space.pi)
