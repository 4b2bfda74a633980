"""Normal coordinates: the target's features centred at 0, of width and height about 1, its symmetry known.

With u = (x - centre)/width and v = (y - m x - b)/height a threshold gate in (x, y) is one in (u, v):

    tau' = tau width,   theta' = (theta - centre)/width,
    slope' = (slope - m) width/height,   intercept' = (intercept - b + (slope - m) centre)/height,

since the gates sum to 1. So a target that is scaled, shifted, or added a line to is fitted in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gateproof.numerics.fits.gates import Array, Gates
from gateproof.numerics.fits.target import RefusedTarget, Target

#: The grid in u: 0.6 sinh(s) for s in steps; reach on R.
STEP, REACH = 0.008, 10.0
SAME = 1e-11


@dataclass(frozen=True)
class Normal:
    """The change of coordinates; ``symmetry`` of the target in them: 'even', 'odd' or ''."""

    target: Target
    centre: float
    width: float
    height: float
    m: float
    b: float
    symmetry: str

    def function(self, u: Array) -> Array:
        """The target in normal coordinates."""
        x = self.centre + self.width * u
        return np.asarray((self.target.function(x) - self.m * x - self.b) / self.height)

    def line(self, m: float, b: float) -> tuple[float, float]:
        """A line in normal coordinates."""
        slope = m - self.m
        return slope * self.width / self.height, (b - self.b + slope * self.centre) / self.height

    def inverse(self, gates: Gates, full: Array) -> tuple[Array, Array, Array, Array]:
        """Tau, theta, slope and intercept in the target's coordinates."""
        tau, theta, slope, intercept = gates.parts(full)
        slope = self.m + slope * self.height / self.width
        intercept = self.b + intercept * self.height - (slope - self.m) * self.centre
        return tau / self.width, self.centre + self.width * theta, slope, intercept

    def grid(self) -> Array:
        """Points in u: dense near 0, wide far out, both sides of every kink, inside the domain."""
        t = self.target
        u = 0.6 * np.sinh(np.arange(0.0, REACH + STEP, STEP))
        u = np.concatenate([-u[:0:-1], u])
        if t.lo is not None or t.hi is not None:
            lo = -np.inf if t.lo is None else (float(t.lo) - self.centre) / self.width
            hi = np.inf if t.hi is None else (float(t.hi) - self.centre) / self.width
            u = u[(u > lo) & (u < hi)]
            ends = [e for e in (lo, hi) if np.isfinite(e)]
            if len(ends) == 2:
                u = np.concatenate([u, np.linspace(lo, hi, 1201)])
            u = np.concatenate([u, ends])
        kinks = np.array([(float(k) - self.centre) / self.width for k in t.kinks])
        near = [kinks + s * d for d in (1e-3, 1e-2) for s in (-1, 1)] if len(kinks) else []
        return np.unique(np.concatenate([u, kinks, *near]))


def normal(target: Target) -> Normal:
    """Normal coordinates of a target. RefusedTarget where it has no finite values."""
    if target.lo is not None and target.hi is not None:
        return _of_interval(target, float(target.lo), float(target.hi))
    return _of_line(target)


def _of_interval(target: Target, lo: float, hi: float) -> Normal:
    x = np.linspace(lo, hi, 801)
    y = _finite(target, x)
    m = (y[-1] - y[0]) / (hi - lo)
    b = y[0] - m * lo
    rest = y - m * x - b
    height = float(np.abs(rest).max()) or 1.0
    found = Normal(target, (lo + hi) / 2, (hi - lo) / 6, height, m, b, "")
    return _with_symmetry(found)


def _of_line(target: Target) -> Normal:
    """Centre and spread of min(|f - left line|, |f - right line|), which vanishes far out."""
    x = _wide(target)
    y = _finite(target, x)
    sides = [line for line in (target.left, target.right) if line is not None]
    distance = np.min([np.abs(y - s.m * x - s.b) for s in sides], axis=0) if sides else np.abs(y)
    area = np.diff(x) * (distance[1:] + distance[:-1]) ** 2
    total = np.concatenate([[0.0], np.cumsum(area)])
    if not total[-1] > 0:
        centre, width = (float(target.kinks[len(target.kinks) // 2]) if target.kinks else 0.0), 1.0
    else:
        low, centre, high = (float(np.interp(q * total[-1], total, x)) for q in (0.16, 0.5, 0.84))
        width = max((high - low) / 2, 1e-12 * (1 + abs(centre)))
    m = float(np.mean([s.m for s in sides])) if sides else 0.0
    b = float(np.mean([s.b for s in sides])) if sides else 0.0
    if len(sides) == 2 and sides[0].m != sides[1].m:
        crossing = (sides[0].b - sides[1].b) / (sides[1].m - sides[0].m)
        if abs(crossing - centre) < 0.5 * width:
            centre = crossing
        b = sides[0].b + (sides[0].m - m) * crossing
    near = centre + width * np.linspace(-3, 3, 301)
    rest = _finite(target, near) - m * near - b
    height = float(np.abs(rest).max()) or 1.0
    return _with_symmetry(Normal(target, centre, width, height, m, b, ""))


def _wide(target: Target) -> Array:
    """Points over twelve decades on both sides of 0 and of each kink, within the domain."""
    far = np.geomspace(1e-7, 1e7, 5601)
    base = np.concatenate([-far[::-1], [0.0], far])
    x = np.unique(np.concatenate([base, *(float(k) + base for k in target.kinks[:8])]))
    if target.lo is not None:
        x = x[x >= float(target.lo)]
    if target.hi is not None:
        x = x[x <= float(target.hi)]
    return x


def _finite(target: Target, x: Array) -> Array:
    with np.errstate(all="ignore"):
        y = target.function(x)
    bad = np.flatnonzero(~np.isfinite(y))
    if len(bad):
        raise RefusedTarget(f"{target.name} has no finite value at x = {x[bad[0]]:.6g}")
    return y


def _with_symmetry(found: Normal) -> Normal:
    """The coordinates centred where the target is even or odd, if it is."""
    u = np.concatenate([np.linspace(0.01, 4, 97), [6.0, 9.0, 14.0]])
    for centre in dict.fromkeys((found.centre, *_centres(found))):
        trial = Normal(found.target, centre, found.width, found.height, found.m, found.b, "")
        right, left = (_values(trial, s * u) for s in (1.0, -1.0))
        if right is None or left is None or abs(centre - found.centre) > 2 * found.width:
            continue
        middle = float(trial.function(np.zeros(1))[0])
        if np.abs(right - left).max() <= SAME * (1 + np.abs(right).max()):
            return Normal(found.target, centre, found.width, found.height, found.m, found.b, "even")
        if np.abs(right + left - 2 * middle).max() <= SAME * (1 + np.abs(right).max()):
            b = found.b + middle * found.height
            return Normal(found.target, centre, found.width, found.height, found.m, b, "odd")
    return found


def _values(found: Normal, u: Array) -> Array | None:
    t, x = found.target, found.centre + found.width * u
    outside = (t.lo is not None and x.min() < float(t.lo)) or (t.hi is not None and x.max() > float(t.hi))
    values = None if outside else found.function(x * 0 + u)
    return values if values is None or np.isfinite(values).all() else None


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

    def rest(x: float) -> float:
        assert t.left is not None
        return float(t.function(np.array([x]))[0]) - t.left.m * x - level

    start = rest(a)
    for _ in range(80):
        middle = (a + b) / 2
        a, b = (middle, b) if (rest(middle) > 0) == (start > 0) else (a, middle)
    return (a + b) / 2
