"""Normal coordinates: the target's features centred at 0, of width and height about 1, its symmetry known.

With u = (x - centre)/width and v = (y - m x - b)/height a threshold gate in (x, y) is one in (u, v):

    tau' = tau width,   theta' = (theta - centre)/width,
    slope' = (slope - m) width/height,   intercept' = (intercept - b + (slope - m) centre)/height,

since the gates sum to 1. So a target that is scaled, shifted, or added a line to is fitted in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gateproof.numerics.fits.gates import Array, Gates
from gateproof.numerics.fits.narrow import narrow_places
from gateproof.numerics.fits.symmetry import with_symmetry
from gateproof.numerics.fits.target import RefusedTarget, Target

#: The grid in u: 0.6 sinh(s) for s in steps; reach on R.
STEP, REACH = 0.008, 10.0
#: Distances of points from a kink: the peak of a steep threshold there is about 1.3/tau from it.
BESIDE = np.geomspace(1e-6, 1e-2, 33)
#: Points are added where the target is off its chords by more than this, so many times, so many points.
CHORD, ROUNDS, MOST = 2e-4, 14, 3000
#: A function's values are off by about so many units of its last place.
ROUNDING = 8.0


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

    def forward(self, tau: Array, theta: Array, slope: Array, intercept: Array) -> Array:
        """A parameter vector in normal coordinates from a gate in the target's."""
        steep = slope - self.m
        return np.concatenate([
            np.log(tau * self.width),
            (theta - self.centre) / self.width,
            steep * self.width / self.height,
            (intercept - self.b + steep * self.centre) / self.height,
        ])  # fmt: skip

    def grid(self) -> Array:
        """Points in u: dense near 0, wide far out, both sides of kinks, inside the domain; those of data."""
        t = self.target
        if t.points is not None:
            return np.asarray((t.points.x - self.centre) / self.width)
        u = _line_grid()
        if t.lo is not None or t.hi is not None:
            lo = -np.inf if t.lo is None else (float(t.lo) - self.centre) / self.width
            hi = np.inf if t.hi is None else (float(t.hi) - self.centre) / self.width
            u = u[(u > lo) & (u < hi)]
            ends = [e for e in (lo, hi) if np.isfinite(e)]
            if len(ends) == 2:
                u = np.concatenate([u, np.linspace(lo, hi, 1201)])
            u = np.concatenate([u, ends])
            kinks = np.array([float(k) for k in t.kinks if lo <= (float(k) - self.centre) / self.width <= hi])
        else:
            lo, hi, kinks = -np.inf, np.inf, np.array([float(k) for k in t.kinks])
        kinks = (kinks - self.centre) / self.width
        near = [kinks + s * d for d in BESIDE for s in (-1, 1)]
        near = [p[(p > lo) & (p < hi)] for p in near]
        return self._refined(np.unique(np.concatenate([u, kinks, *near])))

    def _refined(self, u: Array) -> Array:
        """With points between those where the target bends much."""
        y, room = self.function(u), MOST
        fresh = np.ones(len(u) - 1, dtype=np.bool_)
        for _ in range(ROUNDS):
            at = np.flatnonzero(fresh & (np.diff(u) > 1e-9 * (1 + np.abs(u[1:]))))
            middle = (u[at] + u[at + 1]) / 2
            with np.errstate(all="ignore"):
                here = self.function(middle)
                noise = self.noise(middle)
            off = np.abs(here - (y[at] + y[at + 1]) / 2) > CHORD + noise
            at, middle, here = at[off], middle[off], here[off]
            if not len(at) or len(at) > room:
                return u
            room -= len(at)
            u, y = np.insert(u, at + 1, middle), np.insert(y, at + 1, here)
            fresh = np.zeros(len(u) - 1, dtype=np.bool_)
            left = np.searchsorted(u, middle)
            fresh[left], fresh[left - 1] = True, True
        return u

    def noise(self, u: Array) -> Array:
        """What rounding may have changed the target's values by, in normal coordinates."""
        x = self.centre + self.width * u
        size = np.abs(self.target.function(x)) + np.abs(self.m * x) + abs(self.b)
        return np.asarray(ROUNDING * self.target.resolution * size / self.height)


def _line_grid() -> Array:
    u = 0.6 * np.sinh(np.arange(0.0, REACH + STEP, STEP))
    return np.concatenate([-u[:0:-1], u])


def normal(target: Target) -> Normal:
    """Normal coordinates of a target. RefusedTarget where it has no finite values."""
    if target.lo is not None and target.hi is not None:
        return with_symmetry(_of_interval(target, float(target.lo), float(target.hi)))
    return with_symmetry(_of_line(target))


def _of_interval(target: Target, lo: float, hi: float) -> Normal:
    x = np.linspace(lo, hi, 801) if target.points is None else target.points.x
    y = _finite(target, x)
    m = (y[-1] - y[0]) / (hi - lo)
    b = y[0] - m * lo
    rest = y - m * x - b
    height = float(np.abs(rest).max())
    if not height > ROUNDING * target.resolution * float(np.abs(y).max()):
        height = 1.0
    return Normal(target, (lo + hi) / 2, (hi - lo) / 6, height, m, b, "")


def _of_line(target: Target) -> Normal:
    """Centre and spread of min(f - left line, f - right line)**2, which vanishes far out."""
    sides = [line for line in (target.left, target.right) if line is not None]
    m = float(np.mean([s.m for s in sides])) if sides else 0.0
    b = float(np.mean([s.b for s in sides])) if sides else 0.0
    found = Normal(target, 0.0, 1.0, 1.0, m, b, "")
    x, first = _wide(target), True
    for _ in range(12):
        spread = _spread(target, x)
        if spread is None:
            if first:
                found = replace(
                    found, centre=float(target.kinks[len(target.kinks) // 2]) if target.kinks else 0.0
                )
            break
        centre, width = spread
        settled = abs(centre - found.centre) + abs(width - found.width) < 1e-9 * width
        found, first = replace(found, centre=centre, width=width), False
        if settled:
            break
        # On points placed by the last estimate, so that the next one does not depend on the first points.
        x = _within(target, centre + width * _line_grid())
    return _levelled(found)


def _levelled(found: Normal) -> Normal:
    """The centre at the crossing of the asymptotes where they cross near it; the height around it."""
    target, centre, b = found.target, found.centre, found.b
    if target.left is not None and target.right is not None and target.left.m != target.right.m:
        left, right = target.left, target.right
        crossing = (left.b - right.b) / (right.m - left.m)
        if abs(crossing - centre) < 0.5 * found.width:
            centre = crossing
        b = left.b + (left.m - found.m) * crossing
    x = _within(target, centre + found.width * np.linspace(-3, 3, 301))
    y = _finite(target, x)
    height = float(np.abs(y - found.m * x - b).max(initial=0.0))
    if not height > ROUNDING * target.resolution * float(np.abs(y).max(initial=0.0)):
        height = 1.0
    return replace(found, centre=centre, b=b, height=height)


def _spread(target: Target, x: Array) -> tuple[float, float] | None:
    """Median and half distance of the 16 % and 84 % quantiles of the squared distance; None where it is 0."""
    y = _finite(target, x)
    sides = [line for line in (target.left, target.right) if line is not None]
    if sides:
        noise = [ROUNDING * target.resolution * (np.abs(y) + np.abs(s.m * x) + abs(s.b)) for s in sides]
        apart = [np.abs(y - s.m * x - s.b) for s in sides]
        distance = np.min([np.where(a > n, a, 0.0) for a, n in zip(apart, noise, strict=True)], axis=0)
    else:
        distance = np.abs(y)
    top = float(distance.max(initial=0.0))
    if not top > 0:
        return None
    square = (distance / top) ** 2
    total = np.concatenate([[0.0], np.cumsum(np.diff(x) * (square[1:] + square[:-1]))])
    if not total[-1] > 0:
        return None
    low, centre, high = (float(np.interp(q * total[-1], total, x)) for q in (0.16, 0.5, 0.84))
    return centre, max((high - low) / 2, 1e-12 * (1 + abs(centre)))


def _wide(target: Target) -> Array:
    """Points over fifteen decades on both sides of 0 and of each kink, within the domain."""
    far = np.geomspace(1e-8, 1e7, 6001)
    base = np.concatenate([-far[::-1], [0.0], far])
    x = _within(target, np.unique(np.concatenate([base, *(float(k) + base for k in target.kinks[:8])])))
    return _within(target, np.unique(np.concatenate([x, *(p + base for p in narrow_places(target, x))])))


def _within(target: Target, x: Array) -> Array:
    if target.lo is not None:
        x = np.concatenate([[float(target.lo)], x[x > float(target.lo)]])
    if target.hi is not None:
        x = np.concatenate([x[x < float(target.hi)], [float(target.hi)]])
    return x


def _finite(target: Target, x: Array) -> Array:
    with np.errstate(all="ignore"):
        y = target.function(x)
    bad = np.flatnonzero(~np.isfinite(y))
    if len(bad):
        raise RefusedTarget(f"{target.name} has no finite value at x = {x[bad[0]]:.6g}")
    return y
