"""Which variances go to a stable fixed point of the variance map, in floats.

Where the map f(q) = sigma_w^2 V(q) + sigma_b^2 rises it keeps the order of variances: between neighbouring
fixed points they move one way, towards the one that attracts. Its basin then ends at the repelling neighbours
of it, or at the ends of what was searched. Where f falls somewhere variances jump over fixed points, and
nothing is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gateproof.numerics.meanfield.activation import Phi
from gateproof.numerics.meanfield.described import ZERO, FieldPoint
from gateproof.numerics.meanfield.engines import float_engine
from gateproof.numerics.meanfield.value import Value

#: Octaves of the variance in which V' is looked at, and points in each; what lies beyond counts as they do.
OCTAVES, STEPS = range(-20, 20), 4
#: Of V/q: less of V' is rounding.
NOTHING = 1e-10


def with_basins(
    phi: Phi, points: Sequence[FieldPoint], searched: tuple[Value, Value], sigma_b2: Any
) -> tuple[FieldPoint, ...]:
    """All fixed points of a range, ascending, each stable one with its basin where that is told."""
    if not any(p.stable for p in points) or not rises(phi):
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


def rises(phi: Phi) -> bool:
    """Whether V' >= 0 at all variances looked at."""
    import numpy as np

    if phi.homogeneous:
        return True
    engine: Any = float_engine(phi, False).plain
    for octave in OCTAVES:
        q = 2.0 ** (octave + np.arange(STEPS) / STEPS)
        try:
            falls = engine.variance_slope(q) < -NOTHING * engine.variance(q) / q
        except ArithmeticError:
            return octave > 0
        if np.any(falls):
            return False
    return True
