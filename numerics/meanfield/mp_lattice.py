"""Means over two correlated normal variables by the trapezoid rule in the plane, for smooth activations.

As in :mod:`~.mp_pairs`, with s = i h and d = j h on one grid: u = (i + j) h and v = (i - j) h lie on it too,
so that the activation is worked out along a line only. What is left is a sum of products over the plane.
"""

from __future__ import annotations

from math import ceil, floor, log, log2, pi, sqrt

from flint import arb

from gateproof.numerics.meanfield.mp_panels import Estimate, NotReached
from gateproof.numerics.meanfield.mp_values import Values
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
        level = floor(log2(narrow * pi * sqrt(2 / (digits * log(10)))))
        coarse: arb | None = None
        while True:
            found = _sum(values, order, (along, across), level, digits)
            if coarse is not None:
                off = abs(found - coarse).upper()
                if off <= abs(found) * arb(10) ** -digits:
                    return Estimate(found.mid(), off + found.rad())
            coarse = found
            level -= 1


def _sum(values: Values, order: int, variances: tuple[arb, arb], level: int, digits: int) -> arb:
    width = sqrt(2 * digits * log(10)) + 2
    counts = [ceil(width * float(v.sqrt()) / 2.0**level) for v in variances]
    if counts[0] * counts[1] > MAX_POINTS:
        raise NotReached("the grid is too large")
    along, across = (_weights(v, level, n) for v, n in zip(variances, counts, strict=True))
    reach = counts[0] + counts[1]
    heights = values.on_grid(order, level, range(-reach, reach + 1))
    symmetric = values.phi.parity != 0
    total = arb(0)
    for i in range(0 if symmetric else -counts[0], counts[0] + 1):
        centre = reach + i
        row = arb(0)
        # j and -j give the same, j = 0 gives nothing.
        for j in range(1, counts[1] + 1):
            off = heights[centre + j] - heights[centre - j]
            row += across[j] * (off * off)
        total += row * along[abs(i)] * (2 if symmetric and i else 1)
    return total * arb((1, 2 * level)) / (2 * arb.pi() * (variances[0] * variances[1]).sqrt())


def _weights(variance: arb, level: int, count: int) -> list[arb]:
    rate = -arb((1, 2 * level)) / (2 * variance)
    return [(rate * (i * i)).exp() for i in range(count + 1)]
