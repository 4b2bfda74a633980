"""The closed form of the bell exp(-rate x^2), with a shift: E of a product of two is 1/sqrt(Delta).

Delta = (1 + s)^2 - s^2 c^2 with s = 2 rate q. For all q > 0, c in [-1, 1], eps = 1 - c.
"""

from __future__ import annotations

from dataclasses import dataclass

from gateproof.numerics.meanfield.closed_forms_erf import BySlopes, Roots, root
from gateproof.numerics.meanfield.closed_forms_space import Space, Value, added, powered, vanishes


@dataclass(frozen=True)
class Bell(BySlopes):
    """phi(x) = shift + scale * exp(-rate * x^2), rate > 0."""

    space: Space
    shift: Value
    scale: Value
    rate: Value

    def _s(self, q: Value) -> Value:
        return 2 * self.rate * q

    def _values(self, q: Value) -> Roots:
        return Roots(self.space, self._s(q), {(0, 1): self.scale**2})

    def _slopes(self, q: Value) -> Roots:
        return Roots(self.space, self._s(q), {(1, 3): 4 * self.rate**2 * self.scale**2 * q})

    def mean(self, q: Value) -> Value:
        """E phi."""
        if self._cancels():
            return self.shift + self.scale + self.scale * self._fallen(q)
        return self.shift + self.scale / self.space.sqrt(1 + self._s(q))

    def _cancels(self) -> bool:
        """Whether the shift takes most of the bell away at 0, as in 1 - exp(-x^2)."""
        return bool(abs(self.shift + self.scale) < abs(self.shift) / 2)

    def _fallen(self, q: Value) -> Value:
        """E exp(-rate x^2) - 1."""
        return self.space.expm1(-self.space.log1p(self._s(q)) / 2)

    def _product(self, q: Value) -> Value:
        """What the shift adds to a mean of a product."""
        if vanishes(self.shift):
            return 0
        return self.shift**2 + 2 * self.shift * self.scale / self.space.sqrt(1 + self._s(q))

    def variance(self, q: Value) -> Value:
        """E phi^2."""
        return self.correlation(q, 1 + 0 * q)

    def variance_slope(self, q: Value) -> Value:
        """d/dq E phi^2."""
        s, sp = self._s(q), self.space
        # (1 + 2 s)^(-3/2) less (1 + s)^(-3/2), which a shift of -scale leaves.
        left = self.scale**2 * sp.expm1(-3 * sp.log1p(s / (1 + s)) / 2)
        start = self.scale * (self.shift + self.scale)
        return -2 * self.rate * (left + start) / powered(sp.sqrt(1 + s), 3)

    def slope_energy_slope(self, q: Value) -> Value:
        """d/dq E phi'^2."""
        s = self._s(q)
        return 4 * (self.rate * self.scale) ** 2 * (1 - s) / powered(self.space.sqrt(1 + 2 * s), 5)

    def correlation(self, q: Value, c: Value) -> Value:
        """E phi(u) phi(v)."""
        if self._cancels():
            sp, s, start = self.space, self._s(q), self.shift + self.scale
            # 1/sqrt(Delta) - 1/(1 + s), what E (b(u) - 1)(b(v) - 1) has beyond the square of its mean.
            bent = sp.expm1(-sp.log1p(-((s * c / (1 + s)) ** 2)) / 2) / (1 + s)
            square = self._fallen(q) ** 2 + bent
            return start**2 + 2 * start * self.scale * self._fallen(q) + self.scale**2 * square
        both = self.scale**2 / root(self.space, self._s(q), (1 - c) * (1 + c))
        return added((both, self._product(q)))

    def gap(self, q: Value, eps: Value) -> Value:
        """V - C at c = 1 - eps."""
        return self._values(q).fall(eps)
