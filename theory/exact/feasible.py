"""Rational linear equations in numbers that are not negative: the first phase of the simplex method.

Exact, by Bland's rule, which never cycles. Bertsimas and Tsitsiklis, Introduction to Linear Optimization
(1997), 3.4, 3.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

MAX_PIVOTS = 300
ZERO = Fraction(0)


def feasible(rows: Sequence[Sequence[Fraction]], right: Sequence[Fraction]) -> list[Fraction] | None:
    """Some x >= 0 with rows x = right, or None where there is none or it takes too many pivots."""
    m, n = len(rows), len(rows[0])
    table = []
    for k, (row, value) in enumerate(zip(rows, right, strict=True)):
        sign = -1 if value < 0 else 1
        slack = [Fraction(int(j == k)) for j in range(m)]
        table.append([sign * a for a in row] + slack + [sign * value])
    basis = list(range(n, n + m))
    goal = [-sum((row[j] for row in table), ZERO) for j in range(n)] + [ZERO] * m
    goal.append(-sum((row[-1] for row in table), ZERO))
    for _ in range(MAX_PIVOTS):
        column = next((j for j in range(n) if goal[j] < 0), None)
        if column is None:
            break
        ratios = [(row[-1] / row[column], basis[k], k) for k, row in enumerate(table) if row[column] > 0]
        if not ratios:
            return None
        _, _, at = min(ratios)
        pivot = table[at][column]
        table[at] = [a / pivot for a in table[at]]
        for k, row in enumerate(table):
            if k != at and row[column]:
                table[k] = _less(row, table[at], row[column])
        goal = _less(goal, table[at], goal[column])
        basis[at] = column
    else:
        return None
    if goal[-1]:
        return None
    found = [ZERO] * n
    for k, j in enumerate(basis):
        if j < n:
            found[j] = table[k][-1]
    return found


def _less(row: list[Fraction], other: list[Fraction], factor: Fraction) -> list[Fraction]:
    return [a - factor * b if b else a for a, b in zip(row, other, strict=True)]
