"""How far out a mean reaches: for what grows, and for what is nearly 0 but for a bump, not where the bell is.

The integrand of E f(u)^p, log g(z) = p log|f(sqrt(q) z)| - z^2/2, is scanned as far as the bell is a normal
double. A mean is taken over the window in which log g is less than a fall below its top; where that is at an
end of the scan the mean is infinite, or no matter of doubles. What is narrower than a step of the scan may be
missed between two of its places.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from gateproof.numerics.meanfield.fast_hermite import REACH

Array = NDArray[np.float64]
Function = Callable[[Array], Array]

#: exp(-FAR^2/2) is the last normal double but for a few.
FAR = 37.0
_STEP = 0.125
_PLACES = np.arange(-FAR, FAR + _STEP / 2, _STEP)
#: The bell at REACH. A product is, by Schwarz's inequality, off by the root of what its square loses.
FALL, FALL_OF_PRODUCTS = REACH**2 / 2, 80.0
#: A window that ends before keeps the reach of a bounded function.
_NEARLY = REACH + 0.6


def _height(f: Function, q: float, power: int, places: Array) -> Array:
    """log g; oo where f has no finite value."""
    with np.errstate(all="ignore"):
        size = np.abs(np.asarray(f(np.sqrt(q) * places), np.float64))
        return np.where(np.isfinite(size), power * np.log(size), np.inf) - places**2 / 2


def window(
    functions: Sequence[Function], power: int, variances: tuple[float, float], kinks: Sequence[float],
    pairs: bool,
) -> tuple[float, float] | None:  # fmt: skip
    """Ends in deviations that serve all variances between two; None where the mean does not end.

    For ``pairs`` with the larger fall where it is not the reach of a bounded function.
    """
    low, high = -REACH, REACH
    for fall in (FALL, FALL_OF_PRODUCTS)[: 1 + pairs]:
        for q in variances:
            near = np.array([k / np.sqrt(q) + side for k in kinks for side in (-1e-3, 1e-3)])
            places = np.unique(np.concatenate([_PLACES, near[np.abs(near) < FAR]]))
            top = np.max([_height(f, q, power, places) for f in functions], axis=0)
            if top.max() == -np.inf:
                continue
            kept = np.nonzero(top > top.max() - fall)[0]
            if top.max() == np.inf or kept[0] == 0 or kept[-1] == len(places) - 1:
                return None
            low, high = (
                min(low, float(places[kept[0]]) - _STEP),
                max(high, float(places[kept[-1]]) + _STEP),
            )
        if low >= -_NEARLY and high <= _NEARLY:
            return -REACH, REACH
    return float(np.floor(low)), float(np.ceil(high))


def beyond(f: Function, q: float) -> float:
    """An estimate of the mean of f(u)^2 over |u| > REACH sqrt(q); infinite where it does not fall."""
    places = np.arange(REACH, FAR + _STEP / 2, _STEP)
    total = 0.0
    for side in (1.0, -1.0):
        height = _height(f, q, 2, side * places)
        if height.max() == np.inf:
            return float("inf")
        with np.errstate(all="ignore"):
            g = np.exp(height) / np.sqrt(2 * np.pi)
            total += float(g.sum() - g[0] / 2) * _STEP
            if g[-1] > 0:
                rate = (height[-9] - height[-1]) / (8 * _STEP)
                total += float(g[-1] / rate) if rate > 0 else float("inf")
    return total
