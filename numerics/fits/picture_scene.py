"""What a picture of a fit shows: a gate, a function beside it, the error, and the window worth looking at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gateproof.numerics.fits.exports.about import About
from gateproof.numerics.fits.exports.arrays import Evaluated
from gateproof.numerics.fits.gates import Array
from gateproof.theory.gate import Gate

if TYPE_CHECKING:
    from gateproof.numerics.fits.result import Fit


@dataclass(frozen=True)
class Scene:
    """What is drawn. ``function`` is the target on float arrays; ``peaks`` are (place, signed error).

    ``weight`` multiplies the error; ``data`` are the points of a measured curve, x and y. ``beyond``: the
    function may be asked for values outside of the domain.
    """

    gate: Gate
    about: About
    function: Callable[[Array], Array]
    peaks: tuple[tuple[float, float], ...] = ()
    weight: Callable[[Array], Array] | None = None
    data: tuple[Array, Array] | None = None
    beyond: bool = True

    @cached_property
    def evaluated(self) -> Evaluated:
        """The gate in double precision."""
        return Evaluated.of(self.gate)

    def target(self, x: Array) -> Array:
        """The target where it has finite values, else NaN."""
        with np.errstate(all="ignore"):
            y = np.broadcast_to(np.asarray(self.function(x), dtype=np.float64), x.shape)
        return np.where(np.isfinite(y), y, np.nan)

    def error(self, x: Array) -> Array:
        """Gate less target, in the norm's weight."""
        return self._off(x, self.target(x))

    def residuals(self) -> Array:
        """Gate less target at the points of the measured curve, in the norm's weight; empty without one."""
        if self.data is None:
            return np.empty(0)
        return self._off(*self.data)

    def _off(self, x: Array, y: Array) -> Array:
        off = self.evaluated(x) - y
        if self.weight is None:
            return np.asarray(off)
        with np.errstate(all="ignore"):
            return np.asarray(off * self.weight(x))

    @property
    def thresholds(self) -> Array:
        """Places of the thresholds."""
        form = self.evaluated.form
        soft = [h if hard else h + form.centre for h, hard in zip(form.theta, form.hard, strict=True)]
        return np.array(soft, dtype=np.float64)

    def window(self) -> tuple[float, float]:
        """Where something happens, inside the domain."""
        lo, hi = (None if e is None else float(e) for e in self.about.ends)
        if lo is not None and hi is not None:
            return lo, hi
        form, theta = self.evaluated.form, self.thresholds
        width = np.array([0.0 if hard else 6.0 / t for t, hard in zip(form.tau, form.hard, strict=True)])
        near = [*(theta - width), *(theta + width)]
        span = (max(near) - min(near) if near else 0.0) or max(1.0, float(np.abs(theta).max(initial=0.0)))
        middle = (max(near) + min(near)) / 2 if near else 0.0
        near += [x for x, _ in self.peaks if np.isfinite(x) and abs(x - middle) < 3 * span]
        left, right = min(near, default=-3.0), max(near, default=3.0)
        if left == right:
            left, right = left - span, right + span
        left, right = left - 0.08 * (right - left), right + 0.08 * (right - left)
        return left if lo is None else lo, right if hi is None else hi


def scene_of(fit: Fit) -> Scene:
    """What is to be drawn of a fit."""
    from gateproof.numerics.fits.exports.registry import about_of

    points = getattr(fit.target, "points", None)
    data = None if points is None else (np.asarray(points.x), np.asarray(points.y))
    weight = getattr(fit.target, "weight", None)
    peaks = tuple((float(x), float(e)) for x, e in fit.peaks)
    beyond = fit.target.expr is not None
    return Scene(fit.gate, about_of(fit), fit.target.function, peaks, weight, data, beyond)
