"""A small linear programme in floats: the best mixed strategy of a matrix game with side conditions.

What it finds is a proposal only: every weight is checked in balls afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

#: Pivots of one programme; a degenerate start may need many.
MAX_PIVOTS = 400
_EPS = 1e-12


@dataclass(frozen=True)
class Game:
    """The value, the weights by column, and the prices: ``mixture`` of rows, ``lines`` of conditions."""

    value: float
    weights: dict[int, float]
    mixture: list[float]
    lines: list[float]
    pivots: int


def solve(rows: Sequence[Sequence[float]], zeros: Sequence[Sequence[float]]) -> Game | None:
    """max t: sum_j rows[r][j] v_j >= t, sum_j zeros[k][j] v_j = 0, sum v = 1, v >= 0; None without an end.

    The primal simplex method on a dense tableau, from v = 0: entries are shifted to be positive,
    so that t > 0 and sum v <= 1 suffices.
    """
    n = len(rows[0])
    shift = 1.0 - min(min(r) for r in rows)
    conditions = [[-(x + shift) for x in r] + [1.0] for r in rows]
    for z in zeros:
        conditions.append([*z, 0.0])
        conditions.append([-x for x in z] + [0.0])
    conditions.append([1.0] * n + [0.0])
    m = len(conditions)
    table = []
    for k, c in enumerate(conditions):
        slack = [0.0] * m
        slack[k] = 1.0
        table.append(c + slack + [1.0 if k == m - 1 else 0.0])
    goal = [0.0] * n + [-1.0] + [0.0] * (m + 1)
    basis = list(range(n + 1, n + 1 + m))
    for pivots in range(MAX_PIVOTS):
        column = _entering(goal, n + 1 + m, bland=pivots > MAX_PIVOTS // 2)
        if column is None:
            return _read(table, goal, basis, n, len(rows), len(zeros), shift, pivots)
        row = _leaving(table, column, basis)
        if row is None:
            return None
        _pivot(table, goal, row, column)
        basis[row] = column
    return None


def _entering(goal: list[float], width: int, *, bland: bool) -> int | None:
    if bland:
        return next((j for j in range(width) if goal[j] < -_EPS), None)
    least = min(goal[:width])
    return None if least >= -_EPS else goal.index(least)


def _leaving(table: list[list[float]], column: int, basis: list[int]) -> int | None:
    ratios = [
        (max(row[-1], 0.0) / row[column], -row[column], basis[k], k)
        for k, row in enumerate(table)
        if row[column] > 1e-11
    ]
    return min(ratios)[-1] if ratios else None


def _pivot(table: list[list[float]], goal: list[float], row: int, column: int) -> None:
    factor = 1.0 / table[row][column]
    pivot = [x * factor for x in table[row]]
    table[row] = pivot
    for k, other in enumerate(table):
        if k != row and other[column] != 0.0:
            f = other[column]
            table[k] = [a - f * b for a, b in zip(other, pivot, strict=True)]
    f = goal[column]
    goal[:] = [a - f * b for a, b in zip(goal, pivot, strict=True)]


def _read(
    table: list[list[float]],
    goal: list[float],
    basis: list[int],
    n: int,
    rows: int,
    zeros: int,
    shift: float,
    pivots: int,
) -> Game:
    weights = {b: table[k][-1] for k, b in enumerate(basis) if b < n and table[k][-1] > 0}
    start = n + 1
    mixture = [max(0.0, goal[start + k]) for k in range(rows)]
    lines = [goal[start + rows + 2 * k] - goal[start + rows + 2 * k + 1] for k in range(zeros)]
    return Game(goal[-1] - shift, weights, mixture, lines, pivots)
