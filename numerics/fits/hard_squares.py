"""Hard gates of least root mean square: the best breaks among many by dynamic programming, then moved.

The least squares of a piece between two breaks follow from six running sums, so all pairs are known at once,
and the best K pieces from the best K - 1 (Bellman 1961, "On the approximation of curves by line segments
using dynamic programming"). Up to 700 points of data have their breaks between them, so that is the optimum;
other breaks are then moved to where both lines are equally far from the target, which is stationary.
:mod:`...hard_ramps` has continuous ones.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gateproof.numerics.fits.gates import Array
from gateproof.numerics.fits.hard_grid import Grid, chosen
from gateproof.numerics.fits.hard_ramps import Weighted, continuous
from gateproof.numerics.fits.hard_solve import Pieces
from gateproof.numerics.fits.hard_walls import Straight, Tip, Walls
from gateproof.numerics.fits.measure import Measure

#: Breaks tried by dynamic programming; rounds of moving them.
BREAKS, ROUNDS = 700, 80


Index = NDArray[np.intp]


def least_squares(grid: Grid, form: Walls, most: int, measure: Measure) -> Pieces | None:
    """The best pieces, at most so many; ``error`` is the root mean square. None if none fit the ends."""
    sampled = _sampled(grid, measure)
    found = _by_breaks(grid, form, most, sampled)
    if found is None:
        return None
    for closer in (8.0, 64.0) if form.function is not None else ():
        sampled = _finer(form, measure, sampled, found.theta, closer)
        index = [0, *np.searchsorted(sampled.x, found.theta, side="right"), len(sampled.x)]
        sums = _Sums(sampled, form)
        found = _moved(form, sums, sampled, [int(k) for k in index])
    return continuous(grid, form, most, sampled, found) if form.continuous else found


def _finer(form: Walls, measure: Measure, s: Weighted, theta: tuple[float, ...], closer: float) -> Weighted:
    """More points around breaks, and the weights of all."""
    assert form.function is not None
    step = np.interp(np.array(theta), s.x, np.gradient(s.x)) if len(theta) else np.zeros(0)
    around = [t + np.linspace(-2, 2, 65) * h * 8 / closer for t, h in zip(theta, step, strict=True)]
    fresh = np.setdiff1d(np.concatenate([*around, np.zeros(0)]), s.x)
    fresh = fresh[(fresh > s.x[0]) & (fresh < s.x[-1])]
    at = np.searchsorted(s.x, fresh)
    x = np.insert(s.x, at, fresh)
    y = np.insert(s.y, at, np.asarray(form.function(fresh), dtype=np.float64))
    return _weighed(x, y, measure)


def _sampled(grid: Grid, measure: Measure) -> Weighted:
    if measure.x is not None and measure.weight is not None:
        inside = np.isin(measure.x, grid.x)
        x, w = measure.x[inside], measure.weight[inside]
        y = grid.y[np.searchsorted(grid.x, x)]
    else:
        return _weighed(grid.x, grid.y, measure)
    return Weighted(x, y, w / w.sum())


def _weighed(x: Array, y: Array, measure: Measure) -> Weighted:
    """Weights of the trapezoid rule."""
    assert measure.density is not None
    step = np.diff(x)
    with np.errstate(all="ignore"):
        w = np.nan_to_num(measure.density(x)) * (np.append(step, 0.0) + np.append(0.0, step)) / 2
    return Weighted(x, y, w / w.sum())


# --- with jumps ---------------------------------------------------------------


class _Sums:
    """Running sums of 1, x, y, x^2, x y, y^2 by weight; x and y shifted and scaled to keep digits."""

    def __init__(self, s: Weighted, form: Walls) -> None:
        origin = form.kind == "multiplicative"
        self.x0 = 0.0 if origin else float((s.w * s.x).sum())
        self.scale = float(np.sqrt((s.w * (s.x - self.x0) ** 2).sum())) or 1.0
        u = (s.x - self.x0) / self.scale
        self.m = 0.0 if origin else float((s.w * u * s.y).sum() / ((s.w * u * u).sum() or 1.0))
        self.b = 0.0 if origin else float((s.w * s.y).sum())
        v = s.y - self.m * u - self.b
        parts = (s.w, s.w * u, s.w * v, s.w * u * u, s.w * u * v, s.w * v * v)
        self.sums = np.array([np.concatenate([[0.0], np.cumsum(p)]) for p in parts])
        self.kind = form.kind

    def straight(self, slope: float, at_zero: float) -> Straight:
        """The line v = slope u + at_zero in x and y."""
        return Straight((slope + self.m) / self.scale, self.x0, at_zero + self.b)

    def own(self, line: Straight | Tip) -> tuple[float, float]:
        """A line's slope and height at u = 0, in u and v."""
        if isinstance(line, Tip):
            line = Straight(line.slope, 0.0, line.intercept)
        return line.slope * self.scale - self.m, line.height(self.x0) - self.b

    def best(self, i: Index, j: Index, tip: Tip | None) -> tuple[Array, Array, Array]:
        """Least squares of the points i to j - 1, with the slope and the height at u = 0."""
        one, u, v, uu, uv, vv = (s[j] - s[i] for s in self.sums)
        slope: Array | float
        height: Array | float
        with np.errstate(divide="ignore", invalid="ignore"):
            if tip is not None:
                slope, height = self.own(tip)
                if not tip.pinned:
                    height = np.where(one > 0, (v - slope * u) / one, 0.0)
            elif self.kind == "multiplicative":
                slope, height = np.where(uu > 0, uv / uu, 0.0), 0.0
            elif self.kind == "constant":
                slope = -self.m
                height = np.where(one > 0, (v - slope * u) / one, 0.0)
            else:
                spread = uu - u * u / one
                slope = np.where(spread > 1e-15 * uu, (uv - u * v / one) / spread, 0.0)
                height = np.where(one > 0, (v - slope * u) / one, 0.0)
            cost = vv - 2 * slope * uv - 2 * height * v + slope**2 * uu + 2 * slope * height * u
        cost = np.maximum(np.nan_to_num(cost + height**2 * one), 0.0)
        return cost, np.broadcast_to(slope, cost.shape), np.broadcast_to(height, cost.shape)


def _by_breaks(grid: Grid, form: Walls, most: int, s: Weighted) -> Pieces | None:
    sums = _Sums(s, form)
    places = _candidates(grid, form, s)
    i, j = np.meshgrid(places, places, indexing="ij")
    ahead = i < j
    middle = np.where(ahead, sums.best(i, j, None)[0], np.inf)
    size = len(places)
    first = np.where(ahead[0], sums.best(i[0], j[0], form.left)[0], np.inf)
    last = np.where(ahead[:, -1], sums.best(i[:, -1], j[:, -1], form.right)[0], np.inf)
    one = _single(sums, form, places)
    best: list[tuple[float, tuple[int, ...]]] = [] if one is None else [(one, (0, size - 1))]
    reach, came = first, list[Index]()
    for _ in range(1, most):
        total = reach + last
        k = int(np.argmin(total))
        if np.isfinite(total[k]):
            best.append((float(total[k]), _back(came, k, size)))
        whole = reach[:, None] + middle
        came.append(np.argmin(whole, axis=0))
        reach = whole.min(axis=0)
    if not best:
        return None
    low = min(b[0] for b in best)
    _, cuts = next(b for b in best if b[0] <= low * (1 + 1e-12) + 1e-300)
    index = [int(places[c]) for c in cuts]
    return _moved(form, sums, s, index)


def _candidates(grid: Grid, form: Walls, s: Weighted) -> Index:
    """Numbers of points left of which a piece may begin: at each of data, else where the target bends."""
    n = len(s.x)
    if n <= BREAKS:
        return np.arange(n + 1)
    if form.function is None:
        return np.unique(np.linspace(0, n, BREAKS + 1).astype(np.intp))
    heavy = np.flatnonzero(s.w > 1e-16 * s.w.max())
    a, b = int(heavy[0]), int(heavy[-1]) + 1
    inner = Grid(s.x[a:b], s.y[a:b], np.diff(s.x[a:b], prepend=-np.inf) == 0, grid.width, grid.centre)
    mass = np.searchsorted(np.cumsum(s.w), np.linspace(0.0, 1.0, BREAKS // 3 + 1)[1:-1])
    return np.unique(np.concatenate([[0, n], a + chosen(inner, 2 * BREAKS // 3), mass])).astype(np.intp)


def _single(sums: _Sums, form: Walls, places: Index) -> float | None:
    """One piece from end to end."""
    a, b = form.left, form.right
    if a is not None and b is not None and (a.slope, a.pinned) != (b.slope, b.pinned):
        return None
    if a is not None and b is not None and a.pinned and a.intercept != b.intercept:
        return None
    return float(sums.best(places[:1], places[-1:], a or b)[0][0])


def _back(came: list[Index], k: int, size: int) -> tuple[int, ...]:
    cuts = [size - 1, k]
    for step in reversed(came):
        cuts.append(int(step[cuts[-1]]))
    return (0, *cuts[::-1]) if cuts[-1] else tuple(cuts[::-1])


def _lines(form: Walls, sums: _Sums, index: list[int]) -> tuple[list[Straight], float]:
    lines: list[Straight] = []
    total = 0.0
    last = len(index) - 2
    for k in range(last + 1):
        tip = form.left if k == 0 and form.left is not None else form.right if k == last else None
        cost, slope, height = sums.best(np.array([index[k]]), np.array([index[k + 1]]), tip)
        lines.append(sums.straight(float(slope[0]), float(height[0])))
        total += float(cost[0])
    return lines, total


def _moved(form: Walls, sums: _Sums, s: Weighted, index: list[int]) -> Pieces:
    """Breaks of a function moved to where both lines are equally far, on the points that there are."""
    best = list(index), *_lines(form, sums, index)
    for _ in range(ROUNDS if form.function is not None or len(s.x) > BREAKS else 0):
        index, lines, _ = best
        moved = [index[0]]
        for k in range(1, len(index) - 1):
            a, b = moved[-1] + 1, index[k + 1]
            x, y, w = s.x[a:b], s.y[a:b], s.w[a:b]
            gain = w * ((lines[k - 1].at(x) - y) ** 2 - (lines[k].at(x) - y) ** 2)
            moved.append(a + int(np.argmin(np.concatenate([[0.0], np.cumsum(gain)]))))
        moved.append(index[-1])
        if moved == index or any(p >= q for p, q in pairwise(moved)):
            break
        trial = _lines(form, sums, moved)
        if not trial[1] < best[2]:
            break
        best = moved, *trial
    index, lines, total = best
    theta = []
    for k, place in enumerate(index[1:-1]):
        theta.append(_equal(form, lines[k], lines[k + 1], float(s.x[place - 1]), float(s.x[place])))
    return Pieces(tuple(lines), tuple(theta), float(np.sqrt(max(total, 0.0))))


def _equal(form: Walls, one: Straight, two: Straight, a: float, b: float) -> float:
    """Where between two points the lines are equally far from the function, or cross; else the middle."""
    met = one.crossing(two)
    if a <= met < b:
        return met
    if form.function is None or not a < b:
        return a + (b - a) / 2
    low, high = a, b

    def apart(x: float) -> float:
        assert form.function is not None
        y = float(form.function(np.array([x]))[0])
        return abs(one.height(x) - y) - abs(two.height(x) - y)

    for _ in range(60):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if apart(middle) < 0 else (low, middle)
    return low
