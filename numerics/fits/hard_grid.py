"""Points where a hard gate is held against its target: dense where the target bends, both sides of jumps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gateproof.numerics.fits.gates import Array
from gateproof.numerics.fits.normal import normal
from gateproof.numerics.fits.target import RefusedTarget, Target

#: On R: points, and how far they go in units of the target's width.
POINTS, REACH = 4001, 10.0
#: Rounds of halving intervals where the target bends; the most points.
ROUNDS, MOST = 10, 24_000
#: Data with more points is held against some of them first.
LONG = 1500


@dataclass(frozen=True)
class Grid:
    """Ascending x and values; at a jump two entries with one x, the second of which is ``after`` it.

    ``own`` are jumps where the value is not the limit from the left: three entries with one x, the limit, the
    value, and the limit from the right, which is ``after``.
    """

    x: Array
    y: Array
    after: np.typing.NDArray[np.bool_]
    width: float
    centre: float
    own: tuple[float, ...] = ()

    @property
    def height(self) -> float:
        """The size of the target's departure from a line between the ends of its middle part."""
        x, y = self.x, self.y
        inner = np.abs(x - self.centre) <= 3 * self.width
        x, y = x[inner], y[inner]
        if len(x) < 3 or not x[-1] > x[0]:
            return float(np.abs(self.y).max(initial=0.0))
        rest = y - y[0] - (y[-1] - y[0]) / (x[-1] - x[0]) * (x - x[0])
        return float(np.abs(rest).max())


def of_points(target: Target) -> Grid:
    """The points of data."""
    assert target.points is not None
    x, y = target.points.x, target.points.y
    return Grid(
        x, y, np.zeros(len(x), dtype=np.bool_), float(x[-1] - x[0]) / 6 or 1.0, float(x[0] + x[-1]) / 2
    )


def dense(target: Target) -> Grid:
    """A dense grid of the target. RefusedTarget where it has no finite value."""
    if target.points is not None:
        return of_points(target)
    x, width, centre = _places(target)
    y = _values(target, x)
    size = float(np.ptp(y[np.abs(x - centre) <= 3 * width])) or 1.0
    for _ in range(ROUNDS):
        fine = _where_it_bends(x, y, 1e-6 * size, width)
        if not len(fine) or len(x) + len(fine) > MOST:
            break
        x = np.unique(np.concatenate([x, fine]))
        y = _values(target, x)
    return _with_jumps(target, Grid(x, y, np.zeros(len(x), dtype=np.bool_), width, centre), size)


def _places(target: Target) -> tuple[Array, float, float]:
    """Points to begin with, and the width and the centre of what there is to see."""
    kinks = [float(k) for k in target.kinks]
    if target.lo is not None and target.hi is not None:
        lo, hi = float(target.lo), float(target.hi)
        width = (hi - lo) / 6
        x = np.linspace(lo, hi, POINTS)
        centre = (lo + hi) / 2
        near_zero = min(max(0.0, lo), hi)
    else:
        found = normal(target)
        lo = -np.inf if target.lo is None else float(target.lo)
        hi = np.inf if target.hi is None else float(target.hi)
        width, centre = found.width, found.centre
        centres = [centre, *_crossing(target)]
        near_zero, centre = centre, centres[-1]
        steps = width * 0.6 * np.sinh(np.linspace(-REACH, REACH, POINTS))
        x = np.concatenate([c + steps for c in centres])
    near = width * np.geomspace(1e-8, 1.0, 81)
    ends = [e for e in (lo, hi) if np.isfinite(e)]
    around = [p + s * near for p in (*kinks[:64], *ends, near_zero, centre) for s in (-1, 1)]
    x = np.unique(np.concatenate([x, kinks, ends, *around]))
    return x[(x >= lo) & (x <= hi)], width, centre


def _crossing(target: Target) -> list[float]:
    """Where the asymptotes meet: a target that is far from 0 bends there."""
    a, b = target.left, target.right
    return [(a.b - b.b) / (b.m - a.m)] if a is not None and b is not None and a.m != b.m else []


def _values(target: Target, x: Array) -> Array:
    with np.errstate(all="ignore"):
        y = np.array(target.function(x), dtype=np.float64)
    bad = np.flatnonzero(~np.isfinite(y))
    if len(bad):
        raise RefusedTarget(f"{target.name} has no finite value at x = {x[bad[0]]:.6g}")
    return y


def _where_it_bends(x: Array, y: Array, size: float, width: float) -> Array:
    """Middles of the intervals beside points that are far from the chord of their neighbours."""
    away = np.zeros(len(x))
    step = np.diff(x)
    share = step[:-1] / (step[:-1] + step[1:])
    away[1:-1] = np.abs(y[1:-1] - y[:-2] - share * (y[2:] - y[:-2]))
    beside = np.maximum(away[1:], away[:-1])
    wide = step > 1e-9 * (np.abs(x[1:]) + width)
    chosen = np.flatnonzero((beside > size) & wide)
    return np.asarray((x[chosen] + x[chosen + 1]) / 2)


def _with_jumps(target: Target, grid: Grid, size: float) -> Grid:
    """Two entries at each kink where the values on both sides differ."""
    x, y, after, width = grid.x, grid.y, grid.after, grid.width
    own = []
    for kink in (float(k) for k in target.kinks):
        left, right = (_limit(target, kink, s, width) for s in (-1, 1))
        if left is None or right is None:
            continue
        here = float(target.function(np.array([kink]))[0])
        if max(abs(left - here), abs(right - here)) <= 1e-4 * size:
            continue
        k = int(np.searchsorted(x, kink))
        values, beyond = [right], [True]
        if abs(here - left) > 1e-9 * (size + abs(here)):
            own.append(kink)
            values, beyond = [here, right], [False, True]
        y[k] = left
        x = np.insert(x, k + 1, [kink] * len(values))
        y, after = np.insert(y, k + 1, values), np.insert(after, k + 1, beyond)
    return Grid(x, y, after, width, grid.centre, tuple(own))


def _limit(target: Target, kink: float, side: int, width: float) -> float | None:
    """The value beside a kink, where it does not go on towards the value at the kink."""
    step = max(abs(kink) * 2.0**-50, 1e-13 * width)
    x = kink + side * step * np.array([0.0, 1.0, 2.0, 1e3])
    if (target.lo is not None and x.min() < float(target.lo)) or (
        target.hi is not None and x.max() > float(target.hi)
    ):
        return None
    here, near, then, far = (float(v) for v in target.function(x))
    # A kink as steep as a square root is 30 times nearer at a thousandth of the distance; a jump stays.
    return 2 * near - then if abs(near - here) > 0.3 * abs(far - here) else here


def some_of(grid: Grid, count: int, *, data: bool) -> np.typing.NDArray[np.intp]:
    """The points to begin with: all of data that is not long, else about ``count``."""
    return np.arange(len(grid.x)) if data and len(grid.x) <= LONG else chosen(grid, count)


def chosen(grid: Grid, count: int) -> np.typing.NDArray[np.intp]:
    """Indices of about so many points, as dense as the pieces of a good fit would be."""
    x, y = grid.x, grid.y
    if len(x) <= count:
        return np.arange(len(x))
    step = np.maximum(np.diff(x), 1e-300)
    slope = np.diff(y) / step
    bend = np.zeros(len(x))
    with np.errstate(over="ignore", invalid="ignore"):
        bend[1:-1] = np.nan_to_num(np.abs(np.diff(slope)) / ((step[1:] + step[:-1]) / 2), posinf=0.0)
    steep = np.sqrt(np.maximum(bend[1:], bend[:-1])) * step
    steep = np.minimum(steep, np.quantile(steep, 0.999) * 4 + 1e-300)
    even = np.diff(np.arcsinh((x - grid.centre) / grid.width))
    density = steep / (steep.sum() or 1.0) + 0.3 * even / (even.sum() or 1.0)
    total = np.concatenate([[0.0], np.cumsum(density)])
    places = np.searchsorted(total, np.linspace(0.0, total[-1], count))
    jumps = np.flatnonzero(grid.after)
    keep = [places, np.array([0, len(x) - 1]), jumps, jumps - 1, jumps - 2]
    return np.unique(np.clip(np.concatenate(keep), 0, len(x) - 1)).astype(np.intp)
