"""The best hard gate with K pieces: a tunnel with walls at few points, and more where the gate leaves it.

Walls at some points only make the tunnel wider, so the narrowest tunnel for K pieces is a lower bound of the
error, and the gate's own error an upper one. Peaks of the error are added to the points until both agree.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gateproof.numerics.fits.gates import Array
from gateproof.numerics.fits.hard_grid import Grid, some_of
from gateproof.numerics.fits.hard_jumps import placed
from gateproof.numerics.fits.hard_walk import Narrowest, narrowest
from gateproof.numerics.fits.hard_walls import Straight, Walls

#: Rounds of adding peaks; relative agreement of the bounds, and of the bisection.
ROUNDS, AGREED, DIGITS = 20, 1e-12, (4.0, 8.0, 14.5)


@dataclass(frozen=True)
class Pieces:
    """Lines and the places between them, with the error on the dense grid and at its peaks.

    ``attained`` is False where a threshold nearer to the jump right of it would be better.
    """

    lines: tuple[Straight, ...]
    theta: tuple[float, ...]
    error: float
    attained: bool = True

    def numbers(
        self, x: Array, after: np.typing.NDArray[np.bool_] | None = None
    ) -> np.typing.NDArray[np.intp]:
        """Which piece holds at x: the one left of a threshold there, or right of it where ``after``."""
        theta = np.array(self.theta)
        found = np.searchsorted(theta, x, side="left")
        return found if after is None else np.where(after, np.searchsorted(theta, x, side="right"), found)

    def at(self, x: Array, number: np.typing.NDArray[np.intp] | None = None) -> Array:
        """Heights at x, of the pieces with these numbers."""
        number = self.numbers(x) if number is None else number
        slope, x0, y0 = (np.array([getattr(s, n) for s in self.lines])[number] for n in ("slope", "x", "y"))
        return np.asarray(y0 + slope * (x - x0))


@dataclass(frozen=True)
class Solved:
    """Pieces with the narrowest tunnel that they were found in, and the walls."""

    pieces: Pieces
    tunnel: Narrowest
    walls: Walls


def solve(grid: Grid, form: Walls, most: int) -> Solved | None:
    """The best pieces; None where no number of them has a finite error. ``form`` is without points."""
    index = some_of(grid, 40 * most + 160, data=form.function is None)
    x, y = grid.x[index], grid.y[index]
    low, high = 1e-3 * _size(grid) / most**2 + 1e-300, _size(grid) / most + 1e-300
    least = max(1e-13 * _size(grid), 1e-300)
    best: Solved | None = None
    for done in range(ROUNDS):
        digits = DIGITS[-1] if len(x) == len(grid.x) else DIGITS[min(done, len(DIGITS) - 1)]
        walls = replace(form, x=x, y=y, v=form.half_width(x))
        tunnel = _bracketed(walls, most, low, high, least, digits)
        if tunnel is None:
            return None
        pieces = _pieces(walls, tunnel, grid.width)
        places, error = peaks(grid, form, pieces)
        worst = max(float(np.abs(error).max(initial=0.0)), tunnel.above)
        solved = Solved(replace(pieces, error=worst), tunnel, walls)
        if best is None or worst < best.pieces.error:
            best = solved
        best = replace(best, tunnel=tunnel, walls=walls) if tunnel.below > best.tunnel.below else best
        new = (np.abs(error) > (1 + AGREED) * tunnel.above) & ~np.isin(places, x)
        # Noise has more peaks than the gate rests on: the highest first.
        fresh = np.unique(places[new][np.argsort(-np.abs(error[new]), kind="stable")[: 6 * most + 30]])
        enough = worst <= (1 + AGREED) * tunnel.above + least or not len(fresh)
        if len(x) == len(grid.x) or (enough and digits == DIGITS[-1]):
            break
        values = grid.y[np.searchsorted(grid.x, fresh)] if form.function is None else form.function(fresh)
        x, y = _merged(x, y, fresh, np.asarray(values, dtype=np.float64))
        low, high = max(tunnel.below, least), worst
    return best


def _size(grid: Grid) -> float:
    return grid.height or float(np.abs(grid.y).max(initial=0.0)) or 1.0


def _bracketed(
    walls: Walls, most: int, low: float, high: float, least: float, digits: float
) -> Narrowest | None:
    """The narrowest tunnel, from guesses of it that may be far off on either side."""
    for _ in range(80):
        found = narrowest(walls, most, low=low, high=high, digits=digits)
        if found is None:
            low, high = high, 8 * high
            if not high < 1e6 * (float(np.abs(walls.y).max()) + 1.0) * 64:
                return None
        elif found.lower is None and low > least:
            low, high = max(low / 1e3, least), low
        else:
            return found
    return None


def _pieces(walls: Walls, tunnel: Narrowest, width: float) -> Pieces:
    found = placed(walls, tunnel.upper, tunnel.above, width)
    return Pieces(found.lines, found.theta, tunnel.above, found.attained)


def _merged(x: Array, y: Array, places: Array, values: Array) -> tuple[Array, Array]:
    at = np.searchsorted(x, places)
    return np.insert(x, at, places), np.insert(y, at, values)


def peaks(grid: Grid, form: Walls, pieces: Pieces) -> tuple[Array, Array]:
    """Where the weighted error of each piece is locally largest, and what it is there."""
    number = pieces.numbers(grid.x, grid.after)
    v = form.half_width(grid.x)
    error = (pieces.at(grid.x, number) - grid.y) / v
    size = np.abs(error)
    same = number[1:] == number[:-1]
    rising = np.concatenate([[True], ~same | (size[1:] >= size[:-1])])
    falling = np.concatenate([~same | (size[:-1] >= size[1:]), [True]])
    at = np.flatnonzero(rising & falling & (size > 0.5 * size.max(initial=0.0)))
    if form.function is None or not len(at):
        return grid.x[at], error[at]
    inner = (at > 0) & (at < len(grid.x) - 1)
    inner[inner] &= same[at[inner] - 1] & same[at[inner]]
    places, values = grid.x[at].copy(), error[at].copy()
    k = at[inner]
    found = _refined(form, pieces, number[k], grid.x[k - 1], grid.x[k], grid.x[k + 1])
    better = np.abs(found[1]) >= np.abs(values[inner])
    places[inner] = np.where(better, found[0], places[inner])
    values[inner] = np.where(better, found[1], values[inner])
    return places, values


def _refined(
    form: Walls, pieces: Pieces, number: np.typing.NDArray[np.intp], a: Array, x: Array, b: Array
) -> tuple[Array, Array]:
    """Peaks between grid points: parabolas through three points, ever closer ones."""
    run = form.function
    assert run is not None

    def error(x: Array) -> Array:
        return np.asarray((pieces.at(x, number) - run(x)) / form.half_width(x))

    middle = error(x)
    for _ in range(6):
        left, right = error(a), error(b)
        p, q = x - a, b - x
        with np.errstate(divide="ignore", invalid="ignore"):
            rise, fall = (middle - left) / p, (right - middle) / q
            move = -(rise * q + fall * p) / (2 * (fall - rise))
        move = np.where(np.isfinite(move), np.clip(move, -0.9 * p, 0.9 * q), 0.0)
        there = error(x + move)
        better = np.abs(there) > np.abs(middle)
        x, middle = np.where(better, x + move, x), np.where(better, there, middle)
        reach = np.maximum(np.minimum(p, q) / 16, 4e-8 * (p + q))
        a, b = np.maximum(a, x - reach), np.minimum(b, x + reach)
    return x, middle
