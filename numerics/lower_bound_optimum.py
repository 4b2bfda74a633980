"""Where the least error of a family lies, in floats: the place to start a proof from, itself no proof."""

from __future__ import annotations

from math import inf

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
