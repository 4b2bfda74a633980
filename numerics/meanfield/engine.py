"""What every engine of the mean field computes: means of an activation over normal variables."""

from __future__ import annotations

from typing import Protocol, TypeVar

#: An array (fast), an mpf (mp) or a ball (certified).
T = TypeVar("T")


class Engine(Protocol[T]):
    """Means for u, v jointly normal with mean 0, variance q > 0 and correlation c in [-1, 1].

    Numbers are dimensionless: q a variance, eps = 1 - c in [0, 2]. Where a mean does not exist (D at a jump
    of phi, K2 at one of phi', K3 at one of phi'') the methods return infinity.
    """

    def mean(self, q: T) -> T:
        """M = E phi(u)."""
        ...

    def variance(self, q: T) -> T:
        """V = E phi(u)^2."""
        ...

    def variance_slope(self, q: T) -> T:
        """dV/dq = E phi(u)^2 (u^2 - q)/(2 q^2)."""
        ...

    def slope_energy(self, q: T) -> T:
        """D = E phi'(u)^2."""
        ...

    def slope_energy_slope(self, q: T) -> T:
        """dD/dq = E phi'(u)^2 (u^2 - q)/(2 q^2)."""
        ...

    def curvature_energy(self, q: T) -> T:
        """K2 = E phi''(u)^2."""
        ...

    def third_energy(self, q: T) -> T:
        """K3 = E phi'''(u)^2."""
        ...

    def correlation(self, q: T, c: T) -> T:
        """C = E phi(u) phi(v)."""
        ...

    def correlation_slope(self, q: T, c: T) -> T:
        """E phi'(u) phi'(v) = (dC/dc)/q."""
        ...

    def gap(self, q: T, eps: T) -> T:
        """V - C at c = 1 - eps, to the relative accuracy of the engine for small eps too."""
        ...

    def slope_gap(self, q: T, eps: T) -> T:
        """D - E phi'(u) phi'(v) at c = 1 - eps, to the same accuracy."""
        ...
