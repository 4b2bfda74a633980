"""Which places of a large error are peaks: it falls on both sides of one, or the domain ends there.

An error that tends to a constant far out is level there but for rounding, whose ups and downs are none.
Of data each stretch of one sign has one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gateproof.numerics.fits.certified_sample import values_of
from gateproof.numerics.fits.gates import Array
from gateproof.numerics.fits.normal import Normal
from gateproof.theory.gate import Gate

#: What a peak rises above its sides, as a share of the largest error; roundings of values that are no rise.
RISE, ROUNDINGS = 1e-6, 16.0

Peak = tuple[float, float]


def true_peaks(found: Normal, gate: Gate, peaks: Sequence[Peak]) -> list[Peak]:
    """The peaks among places and signed errors, ascending; of one level stretch between falls the highest."""
    target = found.target
    if target.points is not None:
        return _of_runs(values_of(gate)(target.points.x) - target.points.y, target.points.x, peaks)
    if not peaks:
        return []
    grid = np.unique(found.centre + found.width * found.grid())
    at = np.array([x for x, _ in peaks])
    x = np.union1d(grid, at)
    right, left = target.function(x), values_of(gate)(x)
    weight = np.ones_like(x) if target.weight is None else target.weight(x)
    with np.errstate(all="ignore"):
        error = (left - right) * weight
        blur = RISE * max(abs(e) for _, e in peaks) + ROUNDINGS * target.resolution * np.abs(right) * weight
    error, blur = (np.where(np.isfinite(v), v, 0.0) for v in (error, blur))
    kept: list[tuple[int, float]] = []
    for k, (_, size) in zip(np.searchsorted(x, at), peaks, strict=True):
        height = error * np.sign(size)
        height[k] = abs(size)
        before, after = (
            _falls(height[:k][::-1], blur[:k][::-1], height[k]),
            _falls(height[k + 1 :], blur[k + 1 :], height[k]),
        )
        ends = (before is None and target.lo is not None, after is None and target.hi is not None)
        if not ((before or ends[0]) and (after or ends[1])):
            continue
        if kept and np.sign(kept[-1][1]) == np.sign(size):
            j, other = kept[-1]
            low = min(abs(other), abs(size))
            if not np.any(height[j : k + 1] < low - blur[j : k + 1]):
                if abs(size) > abs(other):
                    kept[-1] = (int(k), size)
                continue
        kept.append((int(k), size))
    return [(float(x[k]), size) for k, size in kept]


def _of_runs(error: Array, x: Array, peaks: Sequence[Peak]) -> list[Peak]:
    """Of the points between two changes of the error's sign the one that is farthest off, if it is a peak."""
    run = np.cumsum(np.diff(np.sign(error), prepend=np.sign(error[:1])) != 0)
    highest: dict[int, Peak] = {}
    for at, size in peaks:
        k = int(run[np.searchsorted(x, at)])
        if k not in highest or abs(size) > abs(highest[k][1]):
            highest[k] = (at, size)
    return list(highest.values())


def _falls(heights: Array, blur: Array, top: float) -> bool | None:
    """Whether heights, going away from a peak, fall before they are above it; None where they stay level."""
    lower, higher = heights < top - blur, heights > top + blur
    if not lower.any() and not higher.any():
        return None
    if not higher.any():
        return True
    return bool(lower.any() and np.argmax(lower) < np.argmax(higher))
