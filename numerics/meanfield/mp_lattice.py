"""Means over two correlated normal variables by the trapezoid rule in the plane, for smooth activations.

As in :mod:`~.mp_pairs`, with s = i h and d = j h on one grid: u = (i + j) h and v = (i - j) h lie on it too,
so that the activation is worked out along a line only. What is left is a sum of products over the plane.
"""

from __future__ import annotations

from math import ceil

from flint import arb

from gateproof.numerics.meanfield.mp_panels import Estimate, NotReached
from gateproof.numerics.meanfield.mp_values import SHIFT, SHIFT_ACROSS, Grid, Values, half_width, level_of
from gateproof.numerics.precision import precision

#: Points of the plane beyond which panels are quicker.
MAX_POINTS = 4_000_000


def lattice_mean(values: Values, order: int, q: arb, eps: arb, digits: int) -> Estimate:
    """E (phi^(order)(u) - phi^(order)(v))^2 / 2 at correlation 1 - eps, 0 < eps < 2, for exact q and eps.

    Digits count against the mean itself. Raises NotReached where the grid would be too large.
    """
    if values.phi.kinks:
        raise NotReached("kinks: the trapezoid rule converges too slowly")
    with precision(values.bits):
        along, across = q * (2 - eps) / 2, q * eps / 2
        narrow = float(across.sqrt().min(along.sqrt()))
        level = level_of(narrow, digits)
        while True:
            found = _sum(values, order, (along, across), level, digits, (0, 0))
            moved = _sum(values, order, (along, across), level, digits, (SHIFT, SHIFT_ACROSS))
            off = abs(found - moved).upper()
            if off <= abs(found) * arb(10) ** -digits:
                return Estimate(found.mid(), off + found.rad())
            level -= 1


def _sum(
    values: Values,
    order: int,
    variances: tuple[arb, arb],
    level: int,
    digits: int,
    shifts: tuple[int, int],
) -> arb:
    """The sum on a grid that is moved by shifts/1024 of a step along s and d."""
    width = half_width(digits)
    counts = [ceil(width * float(v.sqrt()) / 2.0**level) for v in variances]
    if counts[0] * counts[1] > MAX_POINTS:
        raise NotReached("the grid is too large")
    first, second = (range(-n, n + 1) for n in counts)
    along = _weights(variances[0], Grid(level, shifts[0]), first)
    across = _weights(variances[1], Grid(level, shifts[1]), second)
    reach = counts[0] + counts[1]
    places = range(-reach, reach + 1)
    ups = values.on_grid(order, Grid(level, shifts[0] + shifts[1]), places)
    downs = values.on_grid(order, Grid(level, shifts[0] - shifts[1]), places)
    still = shifts == (0, 0)
    symmetric = still and values.phi.parity != 0
    total = arb(0)
    for i in first:
        if symmetric and i < 0:
            continue
        row = arb(0)
        # Where nothing is moved j and -j give the same, j = 0 gives nothing.
        for j in range(1, counts[1] + 1) if still else second:
            off = ups[reach + i + j] - downs[reach + i - j]
            row += across[counts[1] + j] * (off * off)
        total += row * along[counts[0] + i] * (2 if symmetric and i else 1)
    whole = total if still else total / 2
    return whole * arb((1, 2 * level)) / (2 * arb.pi() * (variances[0] * variances[1]).sqrt())


def _weights(variance: arb, grid: Grid, indices: range) -> list[arb]:
    rate = -1 / (2 * variance)
    return [(rate * (x * x)).exp() for x in map(grid.point, indices)]
