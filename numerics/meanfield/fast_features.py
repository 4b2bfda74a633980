"""Where a function of one variable must be cut for Gauss-Legendre panels to resolve it.

Between kinks an interval is halved until the Legendre coefficients of the function and its derivatives at
16 nodes have fallen to rounding, and the polynomial through the nodes is the function at places that lie
between them, denser towards 0 and kinks. NumPy only; done once for each range of x.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Function = Callable[[Array], Array]

#: Nodes of a panel.
ORDER = 16
MAX_PANELS = 2048
_RESOLVED, _SEEN = 3e-14, 1e-9
#: Last coefficients below may be rounding of a formula whose terms cancel; the error is of their squares.
_ROUNDING = 1e-9
_EPS = float(np.finfo(np.float64).eps)
#: What is below this part of a function's top, both under the root of the bell, is not resolved for itself.
_FLOOR = 1e-6
_NARROW = 1e-9
#: The nearest places on each side of 0 and of kinks, and the factor from one to the next.
_NEAREST, _APART = 1e-6, 1.06


@lru_cache(maxsize=4)
def rule(order: int = ORDER) -> tuple[Array, Array, Array]:
    """Nodes and weights on [-1, 1], and what maps nodal values to their last two Legendre coefficients."""
    nodes, weights = np.polynomial.legendre.leggauss(order)
    degrees = np.array([order - 2, order - 1])
    values = np.polynomial.legendre.legvander(nodes, order - 1)[:, degrees]
    return nodes, weights, values * weights[:, None] * (2 * degrees + 1) / 2


@lru_cache(maxsize=1)
def _coefficients() -> Array:
    nodes, weights, _ = rule()
    vander = np.polynomial.legendre.legvander(nodes, ORDER - 1)
    return np.asarray(vander * weights[:, None] * (2 * np.arange(ORDER) + 1) / 2)


def features(
    branches: Sequence[Sequence[Function]], cuts: Sequence[float], lo: float, hi: float, deviation: float
) -> tuple[float, ...] | None:
    """Ascending places in (lo, hi) to cut at, kinks among them; None where there are too many.

    ``branches`` holds the functions between the ``cuts``, left to right, each with its derivatives.
    ``deviation`` is that of the normal variable they are functions of.
    """
    inside = [k for k in cuts if lo < k < hi]
    first = sum(1 for k in cuts if k <= lo)
    found: list[float] = list(inside)
    rungs = int(np.log(max(hi - lo, 1.0) / min(hi - lo, _NEAREST)) / np.log(_APART)) + 2
    ladder = np.geomspace(min(1e-4 * (hi - lo), _NEAREST), hi - lo, rungs)
    around = [k + side * ladder for k in (0.0, *inside) for side in (-1, 1)]
    places = np.unique(np.concatenate(around))
    for i, (a, b) in enumerate(pairwise([lo, *inside, hi])):
        mine = places[(places > a) & (places < b)]
        more = _halved(branches[first + i], a, b, deviation, mine)
        if more is None:
            return None
        found += more
    return tuple(sorted(found))


def _halved(
    parts: Sequence[Function], a: float, b: float, deviation: float, places: Array
) -> list[float] | None:
    """The places where [a, b] is halved, a generation at a time."""
    with np.errstate(all="ignore"):
        there = [np.asarray(f(places), np.float64) for f in parts]
        bell = np.exp(-((places / deviation) ** 2) / 4)
        tops = [float(np.nanmax(np.abs(v) * bell, initial=0.0)) for v in there]
    found: list[float] = []
    lo, hi = np.array([a]), np.array([b])
    before = np.full((len(parts), 1), np.inf)
    while len(lo):
        bad, left = _unresolved(parts, lo, hi, deviation, tops, places, there, before)
        lo, hi = lo[bad], hi[bad]
        narrow = _NARROW * np.maximum(min(1.0, b - a), np.abs(lo) * 1e-6)
        if len(found) + len(lo) > MAX_PANELS or (hi - lo < narrow).any():
            return None
        middle = (lo + hi) / 2
        found += middle.tolist()
        lo, hi = np.stack([lo, middle], 1).reshape(-1), np.stack([middle, hi], 1).reshape(-1)
        before = np.repeat(left[:, bad], 2, axis=1)
    return found


def _unresolved(
    parts: Sequence[Function], lo: Array, hi: Array, deviation: float, tops: list[float], places: Array,
    there: list[Array], before: Array,
) -> tuple[NDArray[np.bool_], Array]:  # fmt: skip
    """Which panels, ascending, are not resolved, and their last coefficients; raises the tops.

    ``before`` holds those of the panels that were halved: what halving does not make smaller is rounding.
    """
    nodes, _, last = rule()
    middle, half = (lo + hi) / 2, (hi - lo) / 2
    x = middle[:, None] + half[:, None] * nodes
    bell = np.exp(-((x / deviation) ** 2) / 4)
    bad, left = np.zeros(len(lo), bool), np.empty((len(parts), len(lo)))
    panel = np.searchsorted(hi, places)
    # Accepted panels have gaps between them.
    here = np.nonzero((panel < len(lo)) & (lo[np.minimum(panel, len(lo) - 1)] < places))[0]
    panel = panel[here]
    vander = np.polynomial.legendre.legvander((places[here] - middle[panel]) / half[panel], ORDER - 1)
    with np.errstate(all="ignore"):
        at_nodes = [np.asarray(f(x), np.float64) for f in parts]
        top = [np.abs(v).max(axis=1) for v in at_nodes]
        # What rounding of x leaves: eps x f', by the next derivative or as in the one before.
        noise = [_EPS * np.abs(x).max(axis=1) * t for t in top[1:]]
        noise.append(noise[-1] * top[-1] / np.where(top[-2] > 0, top[-2], np.inf) if noise else 0 * top[0])
        for k, values in enumerate(at_nodes):
            tops[k] = max(tops[k], float(np.nanmax(np.abs(values) * bell)))
            size = np.maximum(top[k], _FLOOR * tops[k] / np.maximum(bell[:, ORDER // 2], 1e-300))
            size = size + noise[k] / _RESOLVED
            left[k] = np.abs(values @ last).max(axis=1) / np.where(size > 0, size, 1)
            rounding = (left[k] <= _ROUNDING) & (left[k] > before[k] / 8)
            good = np.isfinite(top[k]) & ((left[k] <= _RESOLVED) | rounding)
            between = np.sum(vander * (values @ _coefficients())[panel], axis=1)
            seen = np.abs(between - there[k][here]) <= _SEEN * size[panel]
            bad |= ~good
            bad[panel[~seen]] = True
    return bad, left
