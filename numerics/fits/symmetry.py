"""Whether a target is even or odd about some place, after its mean line is taken off."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gateproof.numerics.fits.gates import Array
from gateproof.numerics.fits.target import Target

if TYPE_CHECKING:
    from gateproof.numerics.fits.normal import Normal

#: Values on both sides agree to this share of the height, beside rounding.
SAME = 1e-11
#: Rounding of a value whose argument is rounded too, in units of the last place.
ROUNDING = 32.0


def with_symmetry(found: Normal) -> Normal:
    """The coordinates centred where the target is even or odd, if it is."""
    if found.target.points is not None:
        return found
    u = np.concatenate([np.linspace(0.01, 4, 97), [6.0, 9.0, 14.0]])
    for centre in dict.fromkeys((found.centre, *_centres(found))):
        trial = replace(found, centre=centre)
        right, left = (_values(trial, s * u) for s in (1.0, -1.0))
        if right is None or left is None or abs(centre - found.centre) > 2 * found.width:
            continue
        middle = float(trial.function(np.zeros(1))[0])
        room = SAME * (1 + np.abs(right)) + _rounding(trial, u, right)
        if (np.abs(right - left) <= room).all():
            return replace(found, centre=centre, symmetry="even")
        if (np.abs(right + left - 2 * middle) <= room).all():
            return replace(found, centre=centre, b=found.b + middle * found.height, symmetry="odd")
    return found


def _rounding(found: Normal, u: Array, v: Array) -> Array:
    """What rounding of x and of the target's value makes of v."""
    x = found.centre + found.width * u
    size = np.abs(v) * found.height + np.abs(found.m * x) + abs(found.b)
    by_x = (
        np.abs(x).max() * np.abs(np.diff(v, prepend=v[0]) / np.diff(u, prepend=u[0] - 1)).max() / found.width
    )
    return np.asarray(ROUNDING * (found.target.resolution * size / found.height + 2.0**-53 * by_x))


def _values(found: Normal, u: Array) -> Array | None:
    t, x = found.target, found.centre + found.width * u
    outside = (t.lo is not None and x.min() < float(t.lo)) or (t.hi is not None and x.max() > float(t.hi))
    if outside:
        # On an interval its two halves must agree.
        if (
            t.lo is None
            or t.hi is None
            or abs(found.centre - (float(t.lo) + float(t.hi)) / 2) > 1e-13 * found.width
        ):
            return None
        u = u / u[-1] * (float(t.hi) - float(t.lo)) / 2 / found.width * np.sign(u[-1])
        x = np.clip(found.centre + found.width * u, float(t.lo), float(t.hi))
        u = (x - found.centre) / found.width
    values = found.function(u)
    return values if np.isfinite(values).all() else None


def _centres(found: Normal) -> list[float]:
    """Places that a symmetry is likely to have as its centre."""
    t = found.target
    centres = [0.0]
    if t.left is not None and t.right is not None:
        slopes, apart = t.right.m - t.left.m, t.left.b - t.right.b
        if slopes:
            centres.append(apart / slopes)
        else:
            x = found.centre + found.width * np.linspace(-2, 2, 20001)
            rest = t.function(x) - t.left.m * x - (t.left.b + t.right.b) / 2
            crossings = np.flatnonzero(rest[1:] * rest[:-1] < 0)
            centres += [
                _root(t, float(x[k]), float(x[k + 1]), (t.left.b + t.right.b) / 2) for k in crossings[:3]
            ]
            if not apart:
                centres.append(float(x[np.argmax(np.abs(rest))]))
    # A centre found on a grid is likely to stand for a short decimal.
    return [*centres, *(round(c, places) for c in (found.centre, *centres) for places in range(4))]


def _root(t: Target, a: float, b: float, level: float) -> float:
    """Bisection for f - slope x = level."""
    assert t.left is not None
    slope = t.left.m

    def rest(x: float) -> float:
        return float(t.function(np.array([x]))[0]) - slope * x - level

    start = rest(a)
    for _ in range(80):
        middle = (a + b) / 2
        a, b = (middle, b) if (rest(middle) > 0) == (start > 0) else (a, middle)
    return (a + b) / 2
