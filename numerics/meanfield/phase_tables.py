"""What a phase diagram needs of an activation, tabulated once in log q so that each of 10^6 points is cheap.

V/q, D and V' are cubic splines on a grid of log q. Where chi_1 > 1 the stable correlation c* < 1 solves
w h(q, t) = 1 with h = gap(q, eps)/(q eps), t = sqrt(eps), and R'(c*) = rho/h, rho = E phi' phi' at c*. With
lambda = 1/chi_1 = h/D that is a function of (q, lambda) alone; it is tabulated on
mu = (lambda - lambda_0)/(1 - lambda_0) in [0, 1], lambda_0 the value at c = 0, below which no c* can be.

All means are NumPy's: for a few hundred points of two variables JAX takes longer to compile.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline, PchipInterpolator, RectBivariateSpline

from gateproof.numerics.meanfield.activation import Phi, RefusedActivation
from gateproof.numerics.meanfield.plain import PlainEngine

Array = NDArray[np.float64]
#: Steps of log q of the splines and of the table of R'(c*), nodes in t, and points in mu.
STEP, WIDE_STEP, NODES, LEVELS = 0.03, 0.4, 14, 41


class Tables:
    """Splines for variances in [lo, hi], a start among their nodes.

    ``error`` estimates the splines' relative error: at points between their nodes.
    """

    def __init__(self, phi: Phi, lo: float, hi: float, start: float) -> None:
        self.engine, self.phi = PlainEngine(phi), phi
        # The start is a node: a fixed point is on one side of it.
        ends = [np.log(lo), np.log(start), np.log(hi)]
        parts = [np.linspace(a, b, int(np.ceil((b - a) / STEP)) + 1) for a, b in pairwise(ends)]
        x = np.unique(np.concatenate([*parts[0:1], parts[1][1:]]))
        count = len(x)
        ratio, d, slope = self._means(np.exp(x))
        fine = np.isfinite(ratio) & np.isfinite(d) & np.isfinite(slope)
        # What grows like exp(x) has no means in floats from some variance on.
        count = count if fine.all() else int(np.argmin(fine))
        if count < 8:
            raise RefusedActivation(f"the activation {phi.text!r:.60}: no means in floats from q = {lo:g} on")
        if x[count - 1] < np.log(start):
            raise RefusedActivation(
                f"the activation {phi.text!r:.60}: no means in floats from q = {np.exp(x[count]):.3g} on,"
                f" below the start {start:g}"
            )
        x, ratio, d, slope = x[:count], ratio[:count], d[:count], slope[:count]
        self.x, self.q, self.lo, self.hi = x, np.exp(x), lo, float(np.exp(x[-1]))
        self.ratio, self.d, self.slope = (CubicSpline(x, y) for y in (ratio, d, slope))
        self.energy: Array = ratio * self.q
        self.monotone = bool((slope >= 0).all())
        between = (x[:-1:7] + x[1::7][: len(x[:-1:7])]) / 2
        right = self._means(np.exp(between))
        pairs = zip((self.ratio, self.d, self.slope), right, strict=True)
        self.error = max(float(np.max(abs(s(between) - y)) / np.max(abs(y))) for s, y in pairs)
        self._rate: RectBivariateSpline | None = None
        self._least: CubicSpline | None = None
        self.within = (0.0, 0.0)

    def _means(self, q: Array) -> Array:
        """V/q, D and V' for ascending q; NaN from where floats do not resolve phi on."""
        engine = self.engine
        found = np.full((3, len(q)), np.nan)
        octave = np.floor(np.log2(q))
        for here in (octave == k for k in np.unique(octave)):
            part = q[here]
            try:
                found[:, here] = (
                    engine.variance(part) / part,
                    engine.slope_energy(part),
                    engine.variance_slope(part),
                )
            except ArithmeticError:
                break
        return found

    def correlations(self, lo: float, hi: float) -> None:
        """Tabulate R'(c*) for variances from lo to hi."""
        lo, hi = max(lo, self.lo), min(hi, self.hi)
        count = max(6, int(np.ceil(np.log(hi / lo) / WIDE_STEP)) + 1) if hi > lo else 6
        hi = max(hi, 1.5 * lo)
        x = np.linspace(np.log(lo), np.log(hi), count)
        t = (1 - np.cos(np.pi * np.arange(1, NODES + 1) / NODES)) / 2
        q = np.exp(x)[:, None]
        d = np.asarray(self.engine.slope_energy(q[:, 0]))
        h = self.engine.gap(q, t**2) / (q * t**2)
        rho = d[:, None] - self.engine.slope_gap(q, t**2)
        mu = np.linspace(0, 1, LEVELS)
        least, rows = np.empty(count), np.empty((count, LEVELS))
        fine = np.linspace(0, 1, 400)
        nodes = np.concatenate([[0.0], t])
        for i in range(count):
            part = CubicSpline(nodes, np.concatenate([[1.0], h[i] / d[i]]))(fine)
            rate = CubicSpline(nodes, np.concatenate([[1.0], rho[i] / h[i]]))(fine)
            least[i] = part[-1]
            # h falls with eps; what rounding turns round is dropped, as where phi is nearly a line.
            falling = np.concatenate([[True], part[1:] < np.minimum.accumulate(part)[:-1]])
            level = (part[falling][::-1] - least[i]) / max(1 - least[i], 1e-300)
            known = rate[falling][::-1]
            rows[i] = PchipInterpolator(level, known)(mu) if len(level) > 1 else 1.0
        self._rate = RectBivariateSpline(x, mu, rows, s=0)
        self._least = CubicSpline(x, least)
        self.within = (lo, hi)

    def rate(self, q: Array, chi_1: Array) -> Array:
        """R'(c*) at points with chi_1 >= 1; NaN outside of what was tabulated."""
        if self._rate is None or self._least is None:
            return np.full_like(q, np.nan)
        x = np.log(q)
        least = self._least(x)
        mu = np.clip((1 / chi_1 - least) / (1 - least), 0, 1)
        lo, hi = self.within
        found = self._rate.ev(x, mu)
        return np.where((q >= lo * (1 - 1e-9)) & (q <= hi * (1 + 1e-9)), found, np.nan)

    def chi_1_of(self, q: Array, rate: float) -> tuple[Array, Array]:
        """The two least chi_1 > 1 with R'(c*) = rate at each tabulated q; NaN where there is none.

        R'(c*) falls from 1 as chi_1 grows, and may rise again towards c* = 0.
        """
        assert self._rate is not None
        assert self._least is not None
        mu = np.linspace(1, 0, 400)
        x = np.log(q)
        least = np.asarray(self._least(x))
        found = np.full((2, len(q)), np.nan)
        for i, value in enumerate(x):
            along = self._rate.ev(np.full_like(mu, value), mu) - rate
            for branch, k in enumerate(np.nonzero((along[1:] < 0) != (along[:-1] < 0))[0][:2]):
                level = mu[k] + along[k] / (along[k] - along[k + 1]) * (mu[k + 1] - mu[k])
                found[branch, i] = 1 / (least[i] + level * (1 - least[i]))
        return found[0], found[1]
