"""Which variances go to a stable fixed point of the variance map, by V' at a grid of variances.

Where the map f(q) = sigma_w^2 V(q) + sigma_b^2 rises it keeps the order of variances: between neighbouring
fixed points they move one way, towards the one that attracts. Its basin then ends at the repelling neighbours
of it, or at the ends of what was searched. Where f falls somewhere variances jump over fixed points, and
nothing is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from flint import arb

from gateproof.numerics.meanfield.certified_panels import NoPanels
from gateproof.numerics.meanfield.certified_tails import NoTailBound
from gateproof.numerics.meanfield.curves import Maps
from gateproof.numerics.meanfield.described import ZERO, FieldPoint
from gateproof.numerics.meanfield.value import Value

#: Half octaves of the variance at which V' is looked at; what lies between and beyond counts as they do.
STEPS = range(-24, 32)


def with_basins(
    maps: Maps, points: Sequence[FieldPoint], searched: tuple[Value, Value], sigma_b2: Any
) -> tuple[FieldPoint, ...]:
    """All fixed points of a range, ascending, each stable one with its basin where that is told."""
    if not any(p.stable for p in points) or not rises(maps):
        return tuple(points)
    lo, hi = searched
    first = points[0].q_star
    if first is None or first.hi < lo.lo:
        return tuple(points)  # Between that one and the range nothing is known.
    # A variance below sigma_b^2 is above it after one layer, and below the first fixed point still.
    ends = [ZERO if lo.lo == sigma_b2 else lo, *(p.q_star if p.stable is False else None for p in points), hi]
    made = []
    for place, point in enumerate(points):
        below, above = ends[place], ends[place + 2]
        told = point.stable and below is not None and above is not None
        made.append(replace(point, basin=(_near(below), _near(above))) if told else point)
    return tuple(made)


def _near(end: Value | None) -> Value:
    assert end is not None
    return replace(end, certified=False)


def rises(maps: Maps) -> bool:
    """Whether V' >= 0 at all variances looked at."""
    if maps.phi.homogeneous:
        return True
    for step in STEPS:
        q = arb(2) ** (arb(step) / 2)
        try:
            if maps.at(arb(q.mid()), 16).first[1] < 0:
                return False
        except (NoPanels, NoTailBound):
            return step > 0
    return True
