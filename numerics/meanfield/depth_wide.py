"""Gaps for a variance that is a ball: by those at its middle, which are sharp, and how fast they move.

At fixed c, d/dq E phi(u) phi(v) = E phi''(u) phi(v) + c E phi'(u) phi'(v), which Cauchy and Schwarz bound by
sqrt(V K2) + D; the same one derivative higher. Hence

    |d gap/dq| <= |V'| + sqrt(V K2) + D,        |d slope_gap/dq| <= |D'| + sqrt(D K3) + K2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flint import arb

from gateproof.numerics.meanfield.engine import Engine


class WideGaps:
    """gap and slope_gap of an engine of balls at one ball q."""

    def __init__(self, engine: Engine[Any], q: arb) -> None:
        self.engine, self.q, self.middle = engine, q, q.mid()
        self.radius = q.rad()
        self._moves: dict[int, arb] = {}

    def gap(self, eps: arb) -> arb:
        """V - C at c = 1 - eps for every variance of the ball."""
        return self._held(0, self.engine.gap, eps)

    def slope_gap(self, eps: arb) -> arb:
        """D - E phi'(u) phi'(v), the same."""
        return self._held(1, self.engine.slope_gap, eps)

    def _held(self, order: int, gap: Callable[[arb, arb], arb], eps: arb) -> arb:
        if self.radius == 0:
            return gap(self.q, eps)
        moves = self._speed(order)
        if not moves.is_finite():
            return gap(self.q, eps)
        return gap(self.middle, eps) + arb(0, (moves * self.radius).upper())

    def _speed(self, order: int) -> arb:
        found = self._moves.get(order)
        if found is None:
            engine, q = self.engine, self.q
            energies = [engine.variance, engine.slope_energy, engine.curvature_energy, engine.third_energy]
            rise = engine.slope_energy_slope(q) if order else engine.variance_slope(q)
            low, mid, high = (e(q) for e in energies[order : order + 3])
            found = self._moves[order] = abs(rise) + (low * high).sqrt() + mid
        return found
