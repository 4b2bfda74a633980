"""Where a function of one variable must be cut for Gauss-Legendre panels to resolve it.

Between kinks an interval is halved until the Legendre coefficients of the function and its derivatives at
16 nodes have fallen to rounding. NumPy only; done once for each range of x.
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
MAX_PANELS = 512
_RESOLVED = 3e-14
_NARROW = 1e-9


@lru_cache(maxsize=4)
def rule(order: int = ORDER) -> tuple[Array, Array, Array]:
    """Nodes and weights on [-1, 1], and what maps nodal values to their last two Legendre coefficients."""
    nodes, weights = np.polynomial.legendre.leggauss(order)
    degrees = np.array([order - 2, order - 1])
    values = np.polynomial.legendre.legvander(nodes, order - 1)[:, degrees]
    return nodes, weights, values * weights[:, None] * (2 * degrees + 1) / 2


def features(
    branches: Sequence[Sequence[Function]], cuts: Sequence[float], reach: float
) -> tuple[float, ...] | None:
    """Ascending places in (-reach, reach) to cut at, kinks among them; None where there are too many.

    ``branches`` holds the functions between the ``cuts``, left to right, each with its derivatives.
    """
    inside = [k for k in cuts if -reach < k < reach]
    first = sum(1 for k in cuts if k <= -reach)
    ends = [-reach, *inside, reach]
    found: list[float] = list(inside)
    for i, (a, b) in enumerate(pairwise(ends)):
        parts = branches[first + i]
        size = _sizes(parts, a, b)
        todo, count = [(a, b)], 0
        while todo:
            lo, hi = todo.pop()
            if _resolved(parts, lo, hi, size):
                continue
            count += 1
            if count > MAX_PANELS or hi - lo < _NARROW * min(1.0, reach):
                return None
            middle = (lo + hi) / 2
            found.append(middle)
            todo += [(lo, middle), (middle, hi)]
    return tuple(sorted(found))


def _sizes(parts: Sequence[Function], a: float, b: float) -> list[float]:
    x = np.linspace(a, b, 202)[1:-1]
    with np.errstate(all="ignore"):
        return [float(np.nanmax(np.abs(f(x)), initial=0.0)) for f in parts]


def _resolved(parts: Sequence[Function], lo: float, hi: float, sizes: Sequence[float]) -> bool:
    nodes, _, last = rule()
    x = lo + (hi - lo) * (nodes + 1) / 2
    with np.errstate(all="ignore"):
        for f, size in zip(parts, sizes, strict=True):
            values = np.asarray(f(x), np.float64)
            top = float(np.abs(values).max())
            if not np.isfinite(top):
                return False
            if float(np.abs(values @ last).max()) > _RESOLVED * max(top, 1e-6 * size):
                return False
    return True
