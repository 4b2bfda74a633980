"""The linear programme of a minimax step: the lowest level above all linearised peaks.

    minimise e + cost u   subject to   height_i + slopes_i . d <= e,   values_k + by_k . d + u >= 0,
                                       low <= d <= high,   u >= 0

Programmes have some ten unknowns and conditions; a dense tableau solves one in less time than a solver for
large ones takes to read it, and without its tolerances. At d = low, e and u as low as they may be, a basis is
feasible, so that one phase suffices. What the tableau ends with is solved for again and checked; a general
solver is asked where that fails.

Source: the simplex method with upper bounds (Dantzig 1955).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gateproof.numerics.fits.gates import Array

#: Entries and prices below it are rounding; how far an optimum may be off its conditions.
TINY, OFF = 1e-11, 1e-9

Conditions = tuple[Array, Array]


def lowest(
    slopes: Array,
    height: Array,
    low: Array,
    high: Array,
    conditions: Conditions | None = None,
    cost: float = 0.0,
) -> tuple[Array, float, Array] | None:
    """The step d (n,), e + cost u, and the share of each height (m,) in holding it up; None if there is none.

    ``low`` and ``high`` are finite; ``conditions``: values (k,) and their derivatives (k, n).
    """
    rows, rest, costs, upper, width = _standard(slopes, height, low, high, conditions, cost)
    solved = _simplex(rows, rest, costs, upper, len(height), len(low))
    if solved is None:
        return _general(slopes, height, low, high, conditions, cost)
    v, prices, value = solved
    shares = np.maximum(0.0, -prices[: len(height)])
    return np.clip(low + width * v[: len(low)], low, high), value, shares


def _standard(
    slopes: Array, height: Array, low: Array, high: Array, conditions: Conditions | None, cost: float
) -> tuple[Array, Array, Array, Array, Array]:
    """Rows A v + slack = rest for v = ((d - low)/width, e, u), costs and upper bounds of v; width."""
    width = high - low
    m, n = slopes.shape
    rows = np.hstack([slopes * width, np.full((m, 1), -1.0), np.zeros((m, 1))])
    rest = -height - slopes @ low
    if conditions is not None:
        values, by_q = conditions
        more = np.hstack([-by_q * width, np.zeros((len(values), 1)), np.full((len(values), 1), -1.0)])
        rows, rest = np.vstack([rows, more]), np.append(rest, values + by_q @ low)
    costs = np.concatenate([np.zeros(n), [1.0, cost]])
    upper = np.concatenate([np.where(width > 0, 1.0, 0.0), [np.inf, np.inf]])
    return rows, rest, costs, upper, width


@dataclass
class _Tableau:
    """``table``: the columns of all unknowns and slacks; ``rhs``: the basic values; ``price``: the costs."""

    table: Array
    rhs: Array
    price: Array
    upper: Array
    basis: NDArray[np.intp]
    #: Which unknowns stand for their distance from the upper bound.
    flipped: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))

    def pivot(self, row: int, column: int) -> None:
        """Bring a column into the basis instead of that of the row."""
        pivot = self.table[row, column]
        self.table[row] /= pivot
        self.rhs[row] /= pivot
        factor = self.table[:, column].copy()
        factor[row] = 0.0
        self.table -= factor[:, None] * self.table[row]
        self.rhs -= factor * self.rhs[row]
        self.price -= self.price[column] * self.table[row]
        self.basis[row] = column

    def flip_nonbasic(self, column: int) -> None:
        """Go to the other bound."""
        self.rhs -= self.table[:, column] * self.upper[column]
        self.table[:, column] *= -1
        self.price[column] *= -1
        self.flipped[column] ^= True

    def flip_basic(self, row: int) -> None:
        """Measure a basic unknown from its upper bound."""
        column = self.basis[row]
        self.table[row] *= -1
        self.table[row, column] = 1.0
        self.rhs[row] = self.upper[column] - self.rhs[row]
        self.flipped[column] ^= True


def _simplex(
    rows: Array, rest: Array, costs: Array, upper: Array, peaks: int, n: int
) -> tuple[Array, Array, float] | None:
    """The unknowns, the prices of the rows and the value; None without an end, or where it is not exact."""
    m, size = rows.shape
    whole = np.hstack([rows, np.eye(m)])
    every = np.concatenate([costs, np.zeros(m)])
    t = _Tableau(
        whole.copy(),
        rest.copy(),
        every.copy(),
        np.concatenate([upper, np.full(m, np.inf)]),
        np.arange(size, size + m),
        np.zeros(size + m, dtype=np.bool_),
    )
    level = int(np.argmin(rest[:peaks]))
    t.pivot(level, n)
    if m > peaks and rest[peaks:].min() < 0:
        t.pivot(peaks + int(np.argmin(rest[peaks:])), n + 1)
    if not _descend(t, level):
        return None
    return _solved_again(t, whole, rest, every, n)


def _descend(t: _Tableau, level: int) -> bool:
    """Pivots until no price is negative; False where they do not end. Row ``level`` never leaves."""
    m, movable = len(t.rhs), t.upper > 0
    most = 20 * len(t.price)
    for count in range(most):
        prices = np.where(movable, t.price, 0.0)
        candidates = np.flatnonzero(prices < -TINY)
        if not len(candidates):
            return True
        column = int(candidates[0]) if count > most // 2 else int(np.argmin(prices))
        along = t.table[:, column]
        bound = t.upper[t.basis]
        with np.errstate(all="ignore"):
            falling = np.where(along > TINY, np.maximum(t.rhs, 0.0) / along, np.inf)
            rising = np.where(
                (along < -TINY) & np.isfinite(bound), np.maximum(bound - t.rhs, 0.0) / -along, np.inf
            )
        room = np.minimum(falling, rising)
        room[level] = np.inf
        least = room.min() if m else np.inf
        if t.upper[column] <= least:
            if not np.isfinite(t.upper[column]):
                return False
            t.flip_nonbasic(column)
            continue
        near = np.flatnonzero(room <= least * (1 + 1e-12) + 1e-300)
        row = int(near[np.argmax(np.abs(along[near]))])
        if rising[row] < falling[row]:
            t.flip_basic(row)
        t.pivot(row, column)
    return False


def _solved_again(
    t: _Tableau, whole: Array, rest: Array, costs: Array, n: int
) -> tuple[Array, Array, float] | None:
    """The vertex and its prices from the programme itself, if they are an optimum."""
    v = np.where(t.flipped, t.upper, 0.0)
    v[t.basis] = 0.0
    square = whole[:, t.basis]
    try:
        v[t.basis] = np.linalg.solve(square, rest - whole @ v)
        prices = np.linalg.solve(square.T, costs[t.basis])
    except np.linalg.LinAlgError:
        return None
    inside = v.copy()
    inside[n] = 0.0
    size = 1.0 + float(np.abs(rest).max(initial=0.0))
    off = max(-inside.min(initial=0.0), (inside - t.upper).max(initial=0.0))
    reduced = costs - prices @ whole
    reduced = np.where(t.flipped, -reduced, reduced)
    reduced[t.basis] = 0.0
    reduced[t.upper <= 0] = 0.0
    if not (np.isfinite(v).all() and off <= OFF * size and reduced.min(initial=0.0) >= -OFF):
        return None
    return np.asarray(v, dtype=np.float64), np.asarray(prices, dtype=np.float64), float(costs @ v)


def _general(
    slopes: Array, height: Array, low: Array, high: Array, conditions: Conditions | None, cost: float
) -> tuple[Array, float, Array] | None:
    from scipy.optimize import linprog

    m, n = slopes.shape
    rows = np.hstack([slopes, np.full((m, 1), -1.0), np.zeros((m, 1))])
    rest = -height
    if conditions is not None:
        values, by_q = conditions
        more = np.hstack([-by_q, np.zeros((len(values), 1)), np.full((len(values), 1), -1.0)])
        rows, rest = np.vstack([rows, more]), np.append(rest, values)
    bounds = np.column_stack([np.append(low, [-np.inf, 0.0]), np.append(high, [np.inf, np.inf])])
    result = linprog(
        np.concatenate([np.zeros(n), [1.0, cost]]), A_ub=rows, b_ub=rest, bounds=bounds, method="highs"
    )
    if result.x is None:
        return None
    shares = np.maximum(0.0, -np.asarray(result.ineqlin.marginals[:m]))
    return np.asarray(result.x[:n]), float(result.fun), shares
