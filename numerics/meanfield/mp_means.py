"""Means over one normal variable to any number of digits, each with an estimate of its error.

Where the activation is one smooth formula: the trapezoid rule on R, whose step starts at what the density
alone needs and is halved until two steps agree (it converges like exp(-2 pi d/step) where the nearest
pole is d off the real line). With kinks, and where the variance is so large that the grid would be long:
Gauss-Legendre panels between the kinks.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, log2, sqrt

from flint import arb

from gateproof.numerics.meanfield.mp_panels import Estimate, NotReached, over_panels
from gateproof.numerics.meanfield.mp_values import SHIFT, Grid, Values, half_width, level_of
from gateproof.numerics.precision import precision

#: Points of the grid beyond which panels do the work.
MAX_GRID = 20_000
_MAX_WIDER = 6


@dataclass(frozen=True)
class Moment:
    """E prod phi^(k)(u) over ``orders``, and with ``heat`` its derivative in q by the density."""

    orders: tuple[int, ...]
    heat: bool = False


def moment(values: Values, what: Moment, q: arb, digits: int) -> Estimate:
    """The mean for the exact variance q > 0, right to ``digits`` digits of E|integrand| by estimate.

    ``values`` must hold some digits more. Raises NotReached where the integrand does not fall fast enough.
    """
    with precision(values.bits):
        return _moment(values, what, q, digits)


@lru_cache(maxsize=4096)
def _moment(values: Values, what: Moment, q: arb, digits: int) -> Estimate:
    if values.phi.parity == -1 and sum(what.orders) % 2 == 0 and len(what.orders) % 2 == 1:
        return Estimate(arb(0), arb(0))
    root = sqrt(float(q)) if 1e-300 < float(q) < 1e300 else float(q.sqrt())
    width = half_width(digits)
    if not values.phi.kinks:
        level = level_of(root, digits)
        found = _trapezoid(values, what, q, digits, level, width * root)
        if found is not None:
            return found
    return _panels(values, what, q, digits, root, width)


# --- trapezoid ----------------------------------------------------------------


def _trapezoid(
    values: Values, what: Moment, q: arb, digits: int, level: int, reach: float
) -> Estimate | None:
    """None where a grid would not do; the step 2**level is halved until two grids of it agree.

    The second grid is moved by a part of the step. Halving alone tells nothing: on grids of step 1/8 and
    1/16 sin(100 x) has the values of a slow wave.
    """
    unclear = 0
    while reach / 2.0**level <= MAX_GRID and unclear < _MAX_WIDER:
        scale = arb((1, level)) / (2 * arb.pi() * q).sqrt()
        found = _sums(values, what, q, Grid(level, 0), reach, digits)
        moved = None if found is None else _sums(values, what, q, Grid(level, SHIFT), reach, digits)
        if found is None or moved is None:
            # No end of the integrand: it grows, or a hump of it lies between the points.
            unclear += 1
        else:
            total, size, rest = found
            off = abs(total - moved[0]).mid() + rest + total.rad()
            if off <= size * arb(10) ** -digits:
                return Estimate((total * scale).mid(), (off * scale).upper())
        level -= 1
    return None


def _sums(
    values: Values, what: Moment, q: arb, grid: Grid, reach: float, digits: int
) -> tuple[arb, arb, arb] | None:
    """Sum of the terms, of their sizes, and the size of those beyond; None where they do not end."""
    symmetric = values.phi.parity != 0 and grid.shift == 0
    for _ in range(_MAX_WIDER):
        count = ceil(reach / 2.0**grid.level)
        indices = range(count + 1) if symmetric else range(-count, count + 1)
        terms = _terms(values, what, q, grid, indices)
        ends = (terms[-1], terms[-2]) if symmetric else (terms[-1], terms[-2], terms[0], terms[1])
        rest = max(abs(t).upper() for t in ends)
        total, size = _total(terms), _total([abs(t) for t in terms])
        if symmetric:
            total, size = 2 * total - terms[0], 2 * size - abs(terms[0])
        if rest * max(8, count) <= size * arb(10) ** -digits:
            return total, size.mid(), rest * count
        reach *= 1.5
    return None


def _total(terms: Sequence[arb]) -> arb:
    found = arb(0)
    for t in terms:
        found += t
    return found


def _terms(values: Values, what: Moment, q: arb, grid: Grid, indices: range) -> list[arb]:
    """Integrand times exp(-x^2/2q) at the points of a grid."""
    found = list(densities(q, grid, indices, values.bits))
    for order in what.orders:
        found = [f * v for f, v in zip(found, values.on_grid(order, grid, indices), strict=True)]
    if what.heat:
        twice = 2 * q
        points = [grid.point(i) for i in indices]
        found = [f * (x * x / q - 1) / twice for f, x in zip(found, points, strict=True)]
    return found


@lru_cache(maxsize=64)
def densities(q: arb, grid: Grid, indices: range, bits: int) -> tuple[arb, ...]:
    """exp(-x^2/2q) at the points of a grid."""
    with precision(bits):
        rate = -1 / (2 * q)
        if grid.shift or indices[0] >= 0:
            return tuple((rate * (x * x)).exp() for x in map(grid.point, indices))
        half = [(rate * (x * x)).exp() for x in map(grid.point, range(max(-indices[0], indices[-1]) + 1))]
    return tuple(half[abs(i)] for i in indices)


# --- panels -------------------------------------------------------------------


def _panels(values: Values, what: Moment, q: arb, digits: int, root: float, width: float) -> Estimate:
    for _ in range(_MAX_WIDER):
        found, rest = _between(values, what, q, digits, root, width)
        # The mean itself may be 0 by cancellation.
        whole = found.value.abs_upper().max(_size(values, what, q))
        if rest <= whole * arb(10) ** -digits:
            return Estimate(found.value, found.error + rest)
        width *= 1.5
    raise NotReached("the integrand falls too slowly: its mean may not exist at this variance")


def _between(
    values: Values, what: Moment, q: arb, digits: int, root: float, width: float
) -> tuple[Estimate, arb]:
    """The integral over width deviations to either side, and the size of what is beyond."""
    step = 2.0 ** round(log2(root))
    scale = 1 / (2 * arb.pi() * q).sqrt()
    symmetric = values.phi.parity != 0
    nodes = 12 + digits // 2
    total = Estimate(arb(0), arb(0))
    size = _size(values, what, q)
    tolerance = size * arb(10) ** -digits
    for branch, ends in _intervals(values, step, width * root, symmetric):

        def f(points: Sequence[arb], branch: int = branch) -> list[arb]:
            return [_integrand(values, what, q, x, branch) * scale for x in points]

        total = total + over_panels(f, ends, nodes, tolerance / (len(values.forms) + 1))
    if symmetric:
        total = total.times(arb(2))
    far = arb(step) * ceil(width * root / step)
    places = (far,) if symmetric else (-far, far)
    beyond = [_integrand(values, what, q, x, values.branch(x)) * scale * arb(root) * 2 for x in places]
    # The roundings of values that are nearly 0 are errors, and no sign of a tail.
    rounding = sum((x.rad() for x in beyond), arb(0))
    return Estimate(total.value, total.error + rounding), max(abs(x.mid()) for x in beyond)


def _size(values: Values, what: Moment, q: arb) -> arb:
    """A rough E|integrand|, from points whose distance to 0 is halved: a narrow hump there is seen."""
    root = q.sqrt().mid()
    total = arb(0)
    for k in range(-6, 2 * max(8, int(float(root.log()) / 0.7) if root > 1 else 0) + 16):
        for side in (1, -1):
            x = (side * root * arb(2) ** (-arb(k) / 2)).mid()
            total += abs(_integrand(values, what, q, x, values.branch(x)) * x)
    return (total * 0.35 / (2 * arb.pi() * q).sqrt()).upper()


def _integrand(values: Values, what: Moment, q: arb, x: arb, branch: int) -> arb:
    point = x.mid()
    found = (-(point * point) / (2 * q)).exp()
    known: dict[int, arb] = {}
    for order in what.orders:
        if order not in known:
            known[order] = values.at(order, point, branch)
        found = found * known[order]
    return found * (point * point / q - 1) / (2 * q) if what.heat else found


def _intervals(values: Values, step: float, reach: float, symmetric: bool) -> list[tuple[int, list[arb]]]:
    """Each branch with the ends of its panels within the reach; from 0 on where the integrand is even."""
    far = arb(step) * ceil(reach / step)
    bottom = arb(0) if symmetric else -far
    found = []
    cuts = [bottom - 1, *values.cuts, far + 1]
    for k, (lo, hi) in enumerate(itertools.pairwise(cuts)):
        lo, hi = max(lo, bottom), min(hi, far)
        if lo >= hi:
            continue
        inner = _apart([*_multiples(step, lo, hi), *_near_places(values, step)], lo, hi)
        found.append((k, [lo, *inner, hi]))
    return found


def _multiples(step: float, lo: arb, hi: arb) -> list[arb]:
    first, last = int((lo / step).ceil().unique_fmpz() or 0), int((hi / step).floor().unique_fmpz() or 0)
    return [arb(step) * i for i in range(first, last + 1)]


def _near_places(values: Values, step: float) -> list[arb]:
    """Around 0 and the kinks, halved down to 1/8: what happens there must not fall between nodes."""
    found = []
    while step > 0.25:
        step /= 2
        found += [(c + side * arb(step)).mid() for c in (arb(0), *values.cuts) for side in (1, -1)]
    return found


def _apart(points: Sequence[arb], lo: arb, hi: arb) -> list[arb]:
    """Ascending, inside of the interval, none so near to another or to an end that a panel is a sliver."""
    found: list[arb] = []
    for x in sorted(points, key=lambda x: x.mid()):
        before = found[-1] if found else lo
        margin = max(arb(1) / 64, abs(x) / 64)
        if x - before > margin.min(abs(hi - lo) / 8) and hi - x > margin.min(abs(hi - lo) / 8):
            found.append(x)
    return found
