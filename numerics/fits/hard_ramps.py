"""Continuous hard gates of least root mean square.

Such a gate is a sum of ramps d_j relu(x - t_j) on the first line; for given t_j its d_j are linear, and the
derivative of the least square by t_j is that with d_j kept. Starts are the breaks of the best gate with
jumps, breaks as dense as the target bends, and breaks of equal mass between; the optimum is a local one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gateproof.numerics.fits.gates import Array
from gateproof.numerics.fits.hard_grid import Grid, chosen
from gateproof.numerics.fits.hard_solve import Pieces
from gateproof.numerics.fits.hard_walls import Straight, Walls

#: Breaks are found on about so many points, lines on all of them.
FEW = 6000


@dataclass(frozen=True)
class Weighted:
    """Points with weights that sum to 1."""

    x: Array
    y: Array
    w: Array


def continuous(grid: Grid, form: Walls, most: int, s: Weighted, rough: Pieces) -> Pieces | None:
    """Ramps from several starts; the best of them."""
    heavy = s.w > 1e-14 * s.w.max()
    spread = float(np.sqrt((s.w * (s.x - (s.w * s.x).sum()) ** 2).sum())) or 1.0
    inner = Grid(s.x[heavy], s.y[heavy], np.zeros(int(heavy.sum()), np.bool_), grid.width, grid.centre)
    bends = inner.x[chosen(inner, most + 1)][1:-1]
    mass = np.interp(np.arange(1, most) / most, np.cumsum(s.w), s.x)
    starts = [np.array(rough.theta), bends[: most - 1], mass]
    every = max(1, len(s.x) // FEW)
    few = Weighted(s.x[::every], s.y[::every], s.w[::every] / s.w[::every].sum())
    best: Pieces | None = None
    for start in starts:
        if len(start) != most - 1:
            continue
        found = _ramps(form, few, np.sort(start), spread)
        if found is not None and (best is None or found.error < best.error):
            best = found
    if every == 1 or best is None:
        return best
    whole = _with_ramps(form, s, np.array(best.theta))
    return None if whole is None else whole[2]


def _ramps(form: Walls, s: Weighted, theta: Array, spread: float) -> Pieces | None:
    if not len(theta):
        value = _with_ramps(form, s, theta)
        return None if value is None else value[2]

    def of(t: Array) -> tuple[float, Array]:
        value = _with_ramps(form, s, np.sort(t) * spread)
        if value is None:
            return 1e300, np.zeros_like(t)
        order = np.argsort(np.argsort(t))
        return float(np.log(max(value[0], 1e-300))), (value[1] * spread / max(value[0], 1e-300))[order]

    from scipy.optimize import minimize

    result = minimize(of, theta / spread, jac=True, method="BFGS", options={"maxiter": 400, "gtol": 1e-10})
    value = _with_ramps(form, s, np.sort(result.x) * spread)
    return None if value is None else value[2]


def _with_ramps(form: Walls, s: Weighted, theta: Array) -> tuple[float, Array, Pieces] | None:
    """The least mean square for given breaks, its derivatives by them, and the pieces."""
    x, root = s.x, np.sqrt(s.w)
    x0, n = float(theta[0]) if len(theta) else float((s.w * x).sum()), len(theta)
    ramps = np.maximum(x[:, None] - theta, 0.0)
    basis = np.column_stack([np.ones_like(x), x - x0, ramps])
    wanted, given = [], []
    for tip, after in ((form.left, np.zeros(n)), (form.right, np.ones(n))):
        if tip is None:
            continue
        wanted.append(np.concatenate([[0.0, 1.0], after]))
        given.append(tip.slope)
        if tip.pinned:
            wanted.append(np.concatenate([[1.0, 0.0], after * (x0 - theta)]))
            given.append(tip.intercept + tip.slope * x0)
    rows = np.array(wanted).reshape(-1, n + 2)
    weighted = root[:, None] * basis
    scale = np.maximum(np.sqrt((weighted**2).sum(axis=0)), 1e-300)
    kkt = np.zeros((n + 2 + len(rows),) * 2)
    kkt[: n + 2, : n + 2] = (weighted / scale).T @ (weighted / scale)
    kkt[n + 2 :, : n + 2] = rows / scale
    kkt[: n + 2, n + 2 :] = (rows / scale).T
    right = np.concatenate([(weighted / scale).T @ (root * s.y), given])
    solution = np.linalg.lstsq(kkt, right, rcond=1e-15)[0]
    free, multipliers = solution[: n + 2] / scale, solution[n + 2 :]
    if len(rows) and np.abs(rows @ free - given).max() > 1e-7 * (1 + np.abs(given).max()):
        return None
    error = basis @ free - s.y
    bends = free[2:]
    slope = np.array([-2 * d * float((s.w * error)[x > t].sum()) for d, t in zip(bends, theta, strict=True)])
    if form.right is not None and form.right.pinned:
        slope -= 2 * multipliers[-1] * bends
    lines = [Straight(float(free[1]), x0, float(free[0]))]
    for t, d in zip(theta, bends, strict=True):
        before = lines[-1]
        lines.append(Straight(before.slope + float(d), float(t), before.height(float(t))))
    mean = float((s.w * error**2).sum())
    return mean, slope, Pieces(tuple(lines), tuple(float(t) for t in theta), float(np.sqrt(mean)))
