"""Searches in float64 along the curves of critical points and of fixed points, as functions of the variance.

Every critical point with q > 0 is s(q) = q - V/D, w(q) = 1/D, and every fixed point at sigma_b^2 = s is
w(q) = (q - s)/V: each is one curve in q, so that a search over q misses none between its ends.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, sqrt
from typing import Any

#: Variances searched, points to begin with, and rounds of a finer grid about the best one.
LEAST, LARGEST, POINTS, ROUNDS, FINE = 1e-6, 1e6, 800, 11, 33

Array = Any


@dataclass(frozen=True)
class Along:
    """A point of a curve in floats: q with its numbers; the smaller ``worth`` the better."""

    q: float
    sigma_w2: float
    sigma_b2: float
    chi_1: float
    chi_parallel: float
    worth: float


#: From q: sigma_w2, sigma_b2, chi_1, chi_parallel, how far from what is wanted; NaN where not allowed.
Curve = Callable[[Array], tuple[Array, Array, Array, Array, Array]]


def critical_curve(
    engine: Any, sigma_b2: float, settle: float, also: Callable[..., Array] | None = None
) -> Curve:
    """Critical points with xi_q <= settle, by the distance of sigma_b to the one given.

    ``also(q, sigma_w2)`` says which of them are allowed besides.
    """
    import numpy as np

    def curve(q: Array) -> tuple[Array, Array, Array, Array, Array]:
        v, d, slope = engine.variance(q), engine.slope_energy(q), engine.variance_slope(q)
        w, s, chi = 1 / d, q - v / d, slope / d
        allowed = (s >= 0) & (abs(chi) <= exp(-1 / settle))
        if also is not None:
            allowed &= also(q, w)
        far = abs(np.sqrt(np.where(s >= 0, s, np.nan)) - sqrt(sigma_b2))
        return w, s, np.ones_like(q), chi, np.where(allowed, far, np.nan)

    return curve


def fixed_point_curve(engine: Any, sigma_b2: float, settle: float) -> Curve:
    """Fixed points at sigma_b2 with xi_q <= settle, by |log chi_1|."""
    import numpy as np

    def curve(q: Array) -> tuple[Array, Array, Array, Array, Array]:
        v, d, slope = engine.variance(q), engine.slope_energy(q), engine.variance_slope(q)
        w = (q - sigma_b2) / v
        chi_1, chi = w * d, w * slope
        allowed = (w > 0) & (abs(chi) <= exp(-1 / settle)) & (chi_1 > 0)
        far = abs(np.log(np.where(chi_1 > 0, chi_1, np.nan)))
        return w, np.full_like(q, sigma_b2), chi_1, chi, np.where(allowed, far, np.nan)

    return curve


def nearest(curve: Curve, above: float = 0.0) -> Along | None:
    """The allowed point of least worth for q - above in [LEAST, LARGEST], or None.

    The best point of a grid, then of finer grids about it: the least of the local minima wherever the grid
    tells them apart, which is 1.8 % in q.
    """
    import numpy as np

    q = above + np.geomspace(LEAST, LARGEST, POINTS)
    best: Along | None = None
    for _ in range(ROUNDS):
        with np.errstate(all="ignore"):
            found = curve(q)
        worth = found[4]
        if not np.isfinite(worth).any():
            break
        at = int(np.nanargmin(np.where(np.isfinite(worth), worth, np.nan)))
        here = Along(float(q[at]), *(float(part[at]) for part in found))
        if best is None or here.worth <= best.worth:
            best = here
        lo, hi = q[max(at - 1, 0)], q[min(at + 1, len(q) - 1)]
        q = np.linspace(lo, hi, FINE)
    return best
