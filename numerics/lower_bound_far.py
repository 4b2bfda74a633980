"""Weights for all large sharpness at once, found in floats.

On [a, oo) a row counts its outermost witness in full and of the others only the negative terms, damped by
exp(-a distance): the rule of the dominant term (:mod:`...numerics.lower_bound_family`). With the outermost
witnesses chosen these are the rows of a matrix game. Weights that are best at t = a seldom obey that rule:
they let many terms of both signs balance. Nothing here is trusted.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import exp

from gateproof.numerics.lower_bound_family import Family
from gateproof.numerics.lower_bound_points import Target
from gateproof.numerics.lower_bound_simplex import solve

#: Outermost witnesses tried at each end; the share of the error by which an outermost term must be positive.
TRIED, CLEAR = 4, 0.5

Proposed = tuple[tuple[float, float], ...]


def far_weights(family: Family, target: Target, low: float, e: float) -> Iterator[Proposed]:
    """Witnesses with weights for [low, oo) and error e, the most promising first."""
    if family.theta is not None:
        return
    points = [x for x in target.grid if _known(target, x)]
    left, right = family.modes[0], family.modes[1]
    firsts = [x for x in points if _off(target, x, left.slope, left.intercept) > (2 + CLEAR) * e]
    lasts = [x for x in points if _off(target, x, right.slope, right.intercept) > (2 + CLEAR) * e]
    found = []
    for first in firsts[:TRIED]:
        for last in lasts[-TRIED:]:
            inside = [x for x in points if first <= x <= last]
            if len(inside) > (2 if family.middle else 0):
                game = solve(*_game(family, target, inside, low, e))
                if game is not None and game.value > 0:
                    weights: dict[float, float] = {}
                    for column, v in game.weights.items():
                        k, side = divmod(column, 2)
                        weights[inside[k]] = weights.get(inside[k], 0.0) + (-v if side else v)
                    found.append((game.value, tuple((x, v) for x, v in sorted(weights.items()) if v)))
    for _, proposed in sorted(found, reverse=True):
        yield proposed


def _known(target: Target, x: float) -> bool:
    try:
        target.value(x)
    except (ArithmeticError, ValueError):
        return False
    return True


def _off(target: Target, x: float, slope: object, intercept: object) -> float:
    return abs(target.value(x) - float(slope) * x - float(intercept))  # type: ignore[arg-type]


def _game(
    family: Family, target: Target, points: list[float], low: float, e: float
) -> tuple[list[list[float]], list[list[float]]]:
    """Column 2k is a positive weight at point k, column 2k + 1 a negative one."""
    rows = []
    for row in family.rows:
        ((mode, sign),) = row
        rate, m, n = float(mode.rate), float(mode.slope), float(mode.intercept) + sign * e
        top = max(rate * x for x in points)
        entries = []
        for x in points:
            rest, near = target.value(x) - m * x - n, exp(-low * (top - rate * x))
            for side in (1.0, -1.0):
                term = side * rest - e
                entries.append(term if rate * x == top else near * min(0.0, term))
        rows.append(entries)
    zeros = []
    if family.middle:
        zeros = [[side * v for x in points for side in (1.0, -1.0) for v in (x**k,)] for k in (0, 1)]
    return rows, zeros
