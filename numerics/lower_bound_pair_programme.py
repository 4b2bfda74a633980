"""The linear programme in floats that proposes the weights of a leaf for gates with two sharpnesses.

Unknown are the weights at the witnesses, the rows are those of :mod:`gateproof.numerics.lower_bound_pair` at
some places of the box, and the least row is made as large as possible. Without pivots the two conditions on
lines are part of the programme (at one place); with them the pivots' weights are put in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import cosh, exp, sinh, tanh

from gateproof.numerics.lower_bound_pair_shapes import FAR, RATES, Box, flatness
from gateproof.numerics.lower_bound_simplex import solve

#: A witness, y and h there.
Entry = tuple[float, float, float]
#: A ray and its signs.
FloatRow = tuple[list[float], list[float]]


@dataclass(frozen=True)
class Pivots:
    """The two, the signs of their weights, and the witnesses near which others are tried."""

    pair: tuple[float, float]
    signs: tuple[int, int]
    near: tuple[float, ...]


#: On an infinite side of d, what a witness' sigmoid may be off at its start.
LOOSE = 0.02


def programme(
    entries: Sequence[Entry],
    bound: Fraction,
    box: Box,
    places: Sequence[Sequence[float]],
    wanted: Sequence[FloatRow],
    pivots: Pivots | None = None,
) -> tuple[float, dict[float, float]] | None:
    """The weights whose least row at the places is largest, and that row in the programme's own units."""
    e = float(bound)
    pair, signs, near = (None, (), None) if pivots is None else (pivots.pair, pivots.signs, pivots.near)
    pool = [
        entry
        for k, entry in enumerate(entries)
        if _usable(box, entry[0])
        and (near is None or not k % 4 or any(abs(entry[0] - x) <= 0.5 for x in near))
    ]
    tables = [[factors(box, x, p) for x, _, _ in pool] for p in places]
    tops = [
        [
            max(row[k] * max(0.0, abs(y + s * h) - 2 * e) for row, (_, y, h) in zip(table, pool, strict=True))
            for k, s in ((0, 1), (1, -1))
        ]
        for table in (tables if box.ratio is None else tables[:1] * len(tables))
    ]
    if min(map(min, tops)) <= 0:
        return None
    parts = [
        [(a / p, 1.0, b / q, z) for a, b, z in table] for table, (p, q) in zip(tables, tops, strict=True)
    ]
    scales = [1 / max(max(table[i][:3]) for table in parts) for i in range(len(pool))]
    levels = [(y + h, y, y - h) for _, y, h in pool]
    plan = _plan(wanted, tops[0], e, places)
    chosen = [i for i, (x, _, _) in enumerate(pool) if pair and x in pair]
    if pair:
        chosen.sort(key=lambda i: pair.index(pool[i][0]))
    bases = (
        [
            [
                sum(c * (levels[i][m] - move - e * s) * parts[k][i][m] for m, c, move in ray) / parts[k][i][3]
                for i, s in zip(chosen, signs, strict=True)
            ]
            for ray, k in plan
        ]
        if pair
        else []
    )
    columns: list[list[float]] = []
    names: list[tuple[float, float]] = []
    for i, (x, _, _) in enumerate(pool):
        if i in chosen:
            continue
        up, down = [], []
        for n, (ray, k) in enumerate(plan):
            more = less = 0.0
            row = parts[k][i]
            for m, c, move in ray:
                level = levels[i][m] - move
                more += c * row[m] * (level - e)
                less -= c * row[m] * (level + e)
            if pair:
                a, b = pair
                taken = row[3] * ((b - x) * bases[n][0] + (x - a) * bases[n][1]) / (b - a)
                more, less = more - taken, less + taken
            up.append(more * scales[i])
            down.append(less * scales[i])
        if not pair:
            turn = parts[0][i][3] * scales[i]
            up += [turn, turn * x]
            down += [-turn, -turn * x]
        for side, column in ((1, up), (-1, down)):
            size = max(1.0, max(column), -min(column))
            columns.append([v / size for v in column])
            names.append((x, side * scales[i] / size))
    table = [list(r) for r in zip(*columns, strict=True)]
    game = solve(table[: len(plan)], table[len(plan) :])
    if game is None:
        return None
    weights: dict[float, float] = {}
    for j, v in game.weights.items():
        x, unit = names[j]
        weights[x] = weights.get(x, 0.0) + v * unit
    return game.value, {x: v for x, v in weights.items() if v}


def _plan(
    wanted: Sequence[FloatRow],
    tops: Sequence[float],
    e: float,
    places: Sequence[Sequence[float]],
) -> list[tuple[list[tuple[int, float, float]], int]]:
    """The rows as (mode, factor, shift), each with the place where it is taken; the middle one has no t."""
    found, seen = [], set()
    for n, (ray, signs) in enumerate(wanted):
        sized = [ray[0] * tops[0], ray[1], ray[2] * tops[1]]
        terms = [(m, c / max(sized), signs[m] * e) for m, c in enumerate(sized) if c]
        for k, place in enumerate(places):
            key = (n, *place[1:]) if len(terms) == 1 and ray[1] else (n, *place)
            if key not in seen:
                seen.add(key)
                found.append((terms, k))
    return found


def factors(box: Box, x: float, at: Sequence[float]) -> tuple[float, float, float]:
    """A0, A3 and tanh z in floats."""
    t, d, place = at
    rates = RATES[box.chart]
    fall, grow = (
        exp(max(-600.0, min(600.0, s * (t + r * d) * x))) for s, r in ((-1, rates[0]), (1, rates[1]))
    )
    if box.chart == "near":
        low, high = flatness(box)
        bowl = 1 / (cosh(d * x) - float(low + high) / 2 * sinh(d * x))
        return fall * bowl, grow * bowl, (cosh(d * x) - place * (sinh(d * x) / d if d else x)) * bowl
    if box.chart == "beyond":
        n = 1 / (1 + place * exp(min(600.0, 2 * d * (x - float(FAR)))))
        return fall * n, grow * n, 2 * n - 1
    z = max(-300.0, min(300.0, d * (x - place)))
    small = box.sides[1][0] == 0
    turn = (tanh(z) / d if d else x - place) if small else tanh(z)
    return fall / (1 + exp(2 * z)), grow / (1 + exp(-2 * z)), turn


def _usable(box: Box, x: float) -> bool:
    """Whether on an infinite side of d the gates at x are nearly 0 or 1."""
    _, (d, end), (low, high) = box.sides
    if end is not None:
        return True
    gap = float(FAR) - x if box.chart == "beyond" else max(float(low) - x, x - float(high or low))
    return gap > 0 and exp(-2 * float(d) * gap) < LOOSE
