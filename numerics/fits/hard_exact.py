"""Targets that are piecewise linear themselves: their own lines and breaks, without error.

A tunnel as wide as the rounding of the values is walked through. Breaks are then put at the kinks nearby or
where lines cross, and coefficients at simple fractions nearby, if that is no worse.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from gateproof.numerics.fits.gates import Array
from gateproof.numerics.fits.hard_grid import Grid, some_of
from gateproof.numerics.fits.hard_solve import Pieces
from gateproof.numerics.fits.hard_walk import thresholds, walk
from gateproof.numerics.fits.hard_walls import Straight, Tip, Walls
from gateproof.numerics.fits.target import Target

#: Rounding, in units of the target's resolution; simple fractions have smaller denominators than this.
NOISE, SIMPLE = 16.0, 1000
#: How far from a kink, in widths of the target, a break may be found.
BESIDE = 1e-5


def without_error(grid: Grid, form: Walls, target: Target, most: int) -> Pieces | None:
    """The target's own pieces, if it has at most so many; None otherwise."""
    noise = rounding(grid, target.resolution)
    index = some_of(grid, 40 * most + 400, data=form.function is None)
    x, y = grid.x[index], grid.y[index]
    tips = [None if t is None else Tip(t.slope, t.intercept, True) for t in (form.left, form.right)]
    # A gate with jumps may be continuous; without jumps in the target both walks end alike.
    walls = replace(form, x=x, y=y, v=noise[index], function=None, weight=None, left=tips[0], right=tips[1])
    walked = walk(walls, 1.0, most)
    if not walked.covered:
        return None
    rough = Pieces(tuple(link.line for link in walked.links), tuple(thresholds(walls, walked, 1.0)), 0.0)
    if not (np.diff(rough.theta) > 0).all():
        return None
    pieces = _polished(grid, form, target, rough, noise)
    number = pieces.numbers(grid.x, grid.after)
    away = np.abs(pieces.at(grid.x, number) - grid.y)
    if (away > 4 * noise).any():
        return None
    return replace(pieces, error=float((away * (away > noise)).max(initial=0.0)))


def rounding(grid: Grid, resolution: float) -> Array:
    """How far values may be off by rounding alone: in y, and in x times the slope."""
    x, y = grid.x, grid.y
    step = np.diff(x)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = np.where(step > 0, np.abs(np.diff(y)) / step, 0.0)
    steep = np.maximum(np.concatenate([[0.0], slope]), np.concatenate([slope, [0.0]]))
    steep = np.minimum(steep, np.ptp(y) / max(np.ptp(x), 1e-300) * len(x))
    return np.asarray(NOISE * resolution * (np.abs(y) + np.abs(x) * steep + 1e-3 * grid.height) + 1e-300)


def _polished(grid: Grid, form: Walls, target: Target, rough: Pieces, noise: Array) -> Pieces:
    """Lines through points well inside of each piece, breaks at kinks or crossings."""
    kinks = np.array([float(k) for k in target.kinks])
    theta = [_at_kink(t, kinks, grid.width) for t in rough.theta]
    number = np.searchsorted(np.array(theta), grid.x, side="left")
    lines = []
    for k in range(len(rough.lines)):
        tip = form.left if k == 0 else form.right if k == len(rough.lines) - 1 else None
        mine = (number == k) & ~grid.after
        if tip is not None:
            lines.append(Straight(tip.slope, 0.0, tip.intercept))
        elif mine.sum() < 2:
            lines.append(rough.lines[k])
        else:
            lines.append(_through(grid.x[mine], grid.y[mine], noise[mine], grid.width))
    for k, t in enumerate(theta):
        if t not in kinks:
            met = lines[k].crossing(lines[k + 1])
            near = abs(met - t) <= 1e-3 * grid.width if form.function is not None else False
            theta[k] = met if near else t
    return Pieces(tuple(lines), tuple(theta), 0.0)


def _at_kink(t: float, kinks: Array, width: float) -> float:
    if not len(kinks):
        return t
    k = float(kinks[np.argmin(np.abs(kinks - t))])
    return k if abs(k - t) <= max(BESIDE, 1e-2) * width else t


def _through(x: Array, y: Array, noise: Array, width: float) -> Straight:
    """The line through two points far apart, with simple coefficients if they are as near to all points."""
    middle = np.clip(np.median(x), x[0] + 0.0, x[-1])
    near = np.flatnonzero(np.abs(x - middle) <= 20 * width)
    a, b = (near[0], near[-1]) if len(near) > 1 else (0, len(x) - 1)
    slope = float((y[b] - y[a]) / (x[b] - x[a]))
    given = Straight(slope, float(x[a]), float(y[a]))
    for simple in (_simple(slope), slope):
        c = float(y[a] - simple * x[a])
        for intercept in (_simple(c), c):
            line = Straight(simple, 0.0, intercept)
            if (np.abs(line.at(x) - y) <= noise).all():
                return line
    return given


def _simple(value: float) -> float:
    return float(Fraction(value).limit_denominator(SIMPLE))
