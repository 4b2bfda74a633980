"""Tables that turn values of a function at fixed nodes into its Hermite coefficients.

For z ~ N(0, 1) and h_n the orthonormal Hermite polynomials, a_n = E f(sqrt(q) z) h_n(z) is a trapezoid sum
over z = (i + 1/2) step. Of a_n only sums of a_n^2 c^n are used: what f has beyond the N-th coefficient, and
what lies beyond the last node, enters these squared. A step of 2 pi/(2 sqrt(N) + 9) is the one at which N
Hermite functions, of frequencies up to sqrt(N), are still orthogonal on the grid to 1e-16.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: Numbers of coefficients; a function gets the first that its estimate accepts.
SIZES = (32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384)
#: The weight beyond is exp(-REACH^2/2), 4e-19.
REACH = 9.2
_MARGIN = 9.0


@dataclass(frozen=True)
class Table:
    """Nodes z > 0 (M,), weights of a mean over both signs (M,), and the maps to even and odd a_n (M, N/2)."""

    nodes: Array
    weights: Array
    even: Array
    odd: Array

    @property
    def size(self) -> int:
        """The number of coefficients."""
        return 2 * int(self.even.shape[1])


@lru_cache(maxsize=16)
def table(size: int) -> Table:
    """The table for an even number of coefficients, built in extended precision."""
    step = 2 * np.pi / (2 * np.sqrt(size) + _MARGIN)
    count = int(np.ceil(REACH / step))
    z = (np.arange(count, dtype=np.longdouble) + np.longdouble(0.5)) * np.longdouble(step)
    bell = np.exp(-z * z / 2) * np.longdouble(step) / np.sqrt(np.longdouble(2) * _PI)
    columns = np.empty((size, count), np.longdouble)
    before, here = np.zeros_like(z), 2 * bell
    for n in range(size):
        columns[n] = here
        # A polynomial in z grows along its recurrence, and so does its rounding, by a few units a hundred.
        before, here = (
            here,
            (z * here - np.sqrt(np.longdouble(n)) * before) / np.sqrt(np.longdouble(n + 1)),
        )
    halves = [np.ascontiguousarray(columns[k::2].T, dtype=np.float64) for k in (0, 1)]
    return Table(z.astype(np.float64), (2 * bell).astype(np.float64), *halves)


#: 4 atan(1) in extended precision.
_PI = 4 * np.arctan(np.longdouble(1))


@dataclass(frozen=True)
class Line:
    """Nodes z >= 0 (2 M,) of two interlaced trapezoid rules and weights (M,) of the mean over both signs.

    The nodes i step come first, then the nodes (i + 1/2) step: two rules, whose average is that of half the
    step. Each weight belongs to a value at z and one at -z. A wave near a multiple of half the step looks
    constant to both: a third rule, on a grid that is moved by MOVED steps, has nodes of both signs, ``moved``
    (2 M,), with weights ``moved_weights``.
    """

    nodes: Array
    weights: Array
    moved: Array
    moved_weights: Array


#: Not near a fraction of small denominator, nor is its double.
MOVED = 0.19098300562505257
#: Nodes of each of the two rules.
LINE_SIZES = (40, 80, 160, 320, 640, 1280, 2560, 5120)


@lru_cache(maxsize=16)
def line(size: int) -> Line:
    """The two rules with ``size`` nodes each."""
    step = REACH / size
    i = np.asarray(np.arange(size) * step, np.float64)
    nodes = np.concatenate([i, i + 0.5 * step])
    moved = np.asarray((np.arange(-size, size) + MOVED) * step, np.float64)
    weights, other = (np.asarray(np.exp(-(z**2) / 2) * step / np.sqrt(2 * np.pi)) for z in (nodes, moved))
    weights[0] /= 2
    return Line(nodes, weights, moved, other)
