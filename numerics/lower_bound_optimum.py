"""Where the least error of a family lies, in floats: the place to start a proof from, itself no proof."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf, log, sqrt

from gateproof.numerics.lower_bound_family import Family
from gateproof.numerics.lower_bound_points import Target
from gateproof.numerics.lower_bound_weights import Programme


def optimum(target: Target, family: Family, digits: int) -> tuple[float, float, int] | None:
    """An estimate of the least error, its sharpness, and the pivots: a scan, then tangents that meet."""
    pivots = 0
    scan: list[tuple[float, float, float]] = []

    def at(t: float, rounds: int) -> tuple[float, float, float]:
        nonlocal pivots
        found = Programme(family, target, (t,)).error(rounds)
        if found is None:
            return inf, t, 0.0
        pivots += found[2]
        return found[0], t, found[1]

    scan = [at(2 ** (k / 2), 0) for k in range(-6, 11)]
    best = min(range(len(scan)), key=lambda k: scan[k])
    if scan[best][0] == inf:
        return None
    low, high = (at(scan[k][1], 6) for k in (max(best - 1, 0), min(best + 1, len(scan) - 1)))
    least = min(low, high, at(scan[best][1], 6))
    for step in range(60):
        (ea, a, da), (eb, b, db) = low, high
        meet = (eb - ea + da * a - db * b) / (da - db) if da < 0 < db else (a + b) / 2
        if not a + (b - a) / 50 < meet < b - (b - a) / 50 or step % 4 == 3:
            meet = max(a + (b - a) / 50, min(b - (b - a) / 50, meet)) if step % 4 != 3 else (a + b) / 2
        here = at(meet, 6)
        least = min(least, here)
        floor = here[0] - abs(here[2]) * (b - a)
        low, high = (here, high) if here[2] < 0 else (low, here)
        if (high[1] - low[1]) < 1e-14 * high[1] or (floor > least[0] * (1 - 10.0 ** -(digits + 1))):
            break
    return least[0], least[1], pivots


@dataclass(frozen=True)
class Gate:
    """Parameters of a gate, branches from left to right, as rationals near floats."""

    sharpness: Fraction
    theta: tuple[Fraction, ...]
    slope: tuple[Fraction, ...]
    intercept: tuple[Fraction, ...]


def closest(target: Target, family: Family, digits: int = 6) -> Gate | None:
    """A gate whose error is near the least one: that of the programme's prices at the best sharpness.

    None where none was found, or where its denominator has no two real roots in exp(t x).
    """
    found = optimum(target, family, digits)
    if found is None:
        return None
    _, t, _ = found
    programme = Programme(family, target, (t,))
    least = programme.error()
    if least is None:
        return None
    e = least[0] * (1 + 10.0**-digits)
    game = programme.game(e)
    if game is None:
        return None
    weight, moved = [0.0] * 3, [0.0] * 3
    for mu, (_, row) in zip(game.mixture, programme.rows, strict=True):
        for k, sign in row:
            weight[k] += mu
            moved[k] += mu * sign * e
    lines = [
        (m, n + (moved[k] / weight[k] if weight[k] else 0.0))
        for k, (_, m, n) in enumerate(programme.modes[:2])
    ]
    if not weight[0] > 0 < weight[1]:
        return None
    if not family.middle:
        h = float(family.theta) if family.theta is not None else log(weight[0] / weight[1]) / t
        return _gate(t, (h,), tuple(lines))
    total, product = weight[2] / weight[0], weight[1] / weight[0]
    root = total * total - 4 * product
    if root <= 0:
        return None
    large = (total + sqrt(root)) / 2
    small = product / large
    line = tuple(
        (game.lines[1 - k] / weight[0] - small * (lines[0][k] + lines[1][k])) / (large - small)
        for k in (0, 1)
    )
    return _gate(t, (-log(large) / t, -log(small) / t), (lines[0], (line[0], line[1]), lines[1]))


def _gate(t: float, theta: tuple[float, ...], lines: tuple[tuple[float, float], ...]) -> Gate:
    def near(x: float) -> Fraction:
        return Fraction(round(x * 2**40), 2**40)

    return Gate(
        near(t), tuple(map(near, theta)), tuple(near(m) for m, _ in lines), tuple(near(n) for _, n in lines)
    )
