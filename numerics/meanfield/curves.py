"""Functions of the variance whose zeros are fixed points, critical points and folds, in balls.

With V, D and their derivatives at q, s = sigma_b^2 and w = sigma_w^2:

    fixed points       w V + s - q = 0
    edge of chaos      (q - s) D - V = 0, then w = 1/D          (a fixed point with chi_1 = w D = 1)
    fold               (q - s) V' - V = 0, then w = 1/V'        (a fixed point with chi_parallel = w V' = 1)
    double-critical    D - V' = 0, then w = 1/D, s = q - V/D    (both)
    fold of the edge   D^2 - V' D + V D' = 0: there s = q - V/D is stationary along the edge
"""

from __future__ import annotations

from functools import lru_cache

from flint import arb

from gateproof.numerics.meanfield.activation import Phi
from gateproof.numerics.meanfield.certified_moments import Moments, Quadrature
from gateproof.numerics.meanfield.certified_panels import NoPanels
from gateproof.numerics.meanfield.certified_tails import NoTailBound
from gateproof.numerics.meanfield.zeros import Curve, Jet


class Maps:
    """Moments of one activation at any accuracy; nodes are shared by all curves and accuracies are kept."""

    def __init__(self, phi: Phi) -> None:
        self.phi = phi
        self._by_digits: dict[int, Quadrature] = {}

    def at(self, q: arb, digits: int) -> Moments:
        """V, D and M with two derivatives, to about ``digits`` digits, for every q of the ball."""
        # Few accuracies, so that nodes are used again.
        level = next(d for d in (16, 32, 48, 64, 112, 224, 448, 10_000) if d >= digits)
        if level not in self._by_digits:
            self._by_digits[level] = Quadrature(self.phi, min(level, digits + 8))
        return self._by_digits[level].moments(q)


@lru_cache(maxsize=16)
def maps_of(phi: Phi) -> Maps:
    """The maps of an activation, kept with their nodes."""
    return Maps(phi)


def reachable(maps: Maps, lo: arb, hi: arb) -> arb | None:
    """The largest of hi, hi/4, .. down to lo at which the moments can be computed, or None."""
    while hi >= lo:
        try:
            maps.at(hi, 16)
        except (NoPanels, NoTailBound):
            hi = arb((hi / 4).mid())
        else:
            return hi
    return None


def fixed_point_curve(maps: Maps, sigma_w2: arb, sigma_b2: arb) -> Curve:
    """w V + s - q."""

    def curve(q: arb, digits: int) -> Jet:
        v = maps.at(q, digits).first
        return sigma_w2 * v[0] + sigma_b2 - q, sigma_w2 * v[1] - 1, sigma_w2 * v[2]

    return curve


def edge_curve(maps: Maps, sigma_b2: arb) -> Curve:
    """(q - s) D - V."""

    def curve(q: arb, digits: int) -> Jet:
        m = maps.at(q, digits)
        v, d, above = m.first, m.second, q - sigma_b2
        return above * d[0] - v[0], d[0] + above * d[1] - v[1], 2 * d[1] + above * d[2] - v[2]

    return curve


def fold_curve(maps: Maps, sigma_b2: arb) -> Curve:
    """(q - s) V' - V; its second derivative is not enclosed."""

    def curve(q: arb, digits: int) -> Jet:
        v, above = maps.at(q, digits).first, q - sigma_b2
        return above * v[1] - v[0], above * v[2], arb.nan()

    return curve


def double_curve(maps: Maps) -> Curve:
    """D - V'; its second derivative is not enclosed."""

    def curve(q: arb, digits: int) -> Jet:
        m = maps.at(q, digits)
        return m.second[0] - m.first[1], m.second[1] - m.first[2], arb.nan()

    return curve


def edge_fold_curve(maps: Maps) -> Curve:
    """D^2 - V' D + V D'; its second derivative is not enclosed."""

    def curve(q: arb, digits: int) -> Jet:
        m = maps.at(q, digits)
        v, d = m.first, m.second
        value = d[0] ** 2 - v[1] * d[0] + v[0] * d[1]
        return value, 2 * d[0] * d[1] - v[2] * d[0] + v[0] * d[2], arb.nan()

    return curve
