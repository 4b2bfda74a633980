"""Means over a normal pair of a function that is analytic near R, by its Hermite coefficients.

E f(u) f(v) = sum a_n(q)^2 c^n. The coefficients of all variances in a piece come from one matrix product with
a table (:mod:`fast_hermite`) that the calibration picked; a sum at |c| < 1 takes the coefficients until c^n
is below 1e-16.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from gateproof.numerics.meanfield import fast_series as series
from gateproof.numerics.meanfield.fast_calibration import Calibration, step_of
from gateproof.numerics.meanfield.fast_chunks import Done, filled, pieces
from gateproof.numerics.meanfield.fast_hermite import SIZES, line, table

Array = NDArray[np.float64]
Traced = Callable[[Any], Any]

_ROWS = (64, 512)
_POINTS = (64, 512, 4096)
#: Coefficients held at once for the points of a piece.
_HELD = 1 << 22
_TINY_LOG = 37.0


@partial(jax.jit, static_argnums=(0, 1, 2))
def _values(f: Traced, parity: int, size: int, q: Any) -> tuple[Any, Any]:
    """Even and odd parts at the nodes, None for a part that is 0: (Q, M)."""
    x = jax.numpy.sqrt(q)[:, None] * table(size).nodes
    right = f(x)
    if parity:
        return (right, None) if parity > 0 else (None, right)
    left = f(-x)
    return (right + left) / 2, (right - left) / 2


@partial(jax.jit, static_argnums=(0, 1))
def _squares(size: int, columns: int, values: tuple[Any, Any]) -> tuple[Any, Any]:
    rule, half = table(size), columns // 2
    even, odd = values
    return (
        None if even is None else (even @ rule.even[:, :half]) ** 2,
        None if odd is None else (odd @ rule.odd[:, :half]) ** 2,
    )


@partial(jax.jit, static_argnums=(0, 1))
def _sums(kind: str, columns: int, parts: tuple[Any, Any], rows: Any, q: Any, eps: Any, c: Any) -> Any:
    """The sums of a kind for points that belong to rows; None for rows where each row has one point."""
    half = columns // 2
    some = parts[0] if parts[0] is not None else parts[1]
    zero = jax.numpy.zeros_like(some)
    even, odd = (zero if p is None else p for p in parts)
    if rows is not None:
        even, odd = even[rows], odd[rows]
    assert even.shape[-1] == half
    if kind == "total":
        return series.total(even, odd, c, eps)
    if kind == "raised":
        even, odd = series.raised(even, odd, q)
    return series.lack(even, odd, c, eps)


class Smooth:
    """One function with its calibration; ``traced`` is for JAX arrays, ``calibration`` holds it for NumPy."""

    def __init__(self, traced: Traced, calibration: Calibration, parity: int) -> None:
        self.traced, self.calibration, self.parity = traced, calibration, parity

    def sizes(self, q: Array) -> tuple[NDArray[np.int64], Array]:
        """For each variance the size of its table (-1 where none passes) and the estimated relative error."""
        steps = step_of(q)
        unique, back = np.unique(steps, return_inverse=True)
        found = [self.calibration.table_size(int(s)) for s in unique]
        return np.array([n for n, _ in found], np.int64)[back], np.array([e for _, e in found])[back]

    def apply(self, kind: str, q: Array, c: Array, eps: Array, sizes: Any, done: Done) -> Array:
        """Sums at flat points whose tables are known.

        ``total`` is E f f, ``lack`` E f^2 - E f f, and ``raised`` the lack of a function whose derivative f
        is. Arrays (P,).
        """
        out = np.empty(len(q))
        columns = _columns(c, sizes) if kind == "total" else sizes
        for size, count in sorted({(int(a), int(b)) for a, b in _unique_pairs(sizes, columns)}):
            here = np.nonzero((sizes == size) & (columns == count))[0]
            self._group(kind, size, count, (q, c, eps), here, out, done)
        return out

    def _group(
        self, kind: str, size: int, columns: int, points: tuple[Array, Array, Array], here: Any, out: Array,
        done: Done,
    ) -> None:  # fmt: skip
        q, c, eps = points
        unique, back = np.unique(q[here], return_inverse=True)
        single = len(unique) == len(here)
        order = np.argsort(back, kind="stable")
        bounds = np.searchsorted(back[order], np.arange(len(unique) + 1))
        rows = [r for r in _ROWS if r * columns <= _HELD] or [_ROWS[0]]
        held = [p for p in _POINTS if p * columns <= _HELD] or [_POINTS[0]]
        for start, stop, padded in pieces(len(unique), rows):
            variances = filled(unique[start:stop], padded)
            parts = _squares(size, columns, _values(self.traced, self.parity, size, variances))
            members = order[bounds[start] : bounds[stop]]
            for first, last, room in [(0, len(members), padded)] if single else pieces(len(members), held):
                mine = filled(members[first:last], room)
                at = here[mine]
                which = None if single else back[mine] - start
                found = _sums(kind, columns, parts, which, q[at], eps[at], c[at])
                out[here[members[first:last]]] = np.asarray(found)[: last - first]
                done(last - first)


def _unique_pairs(a: Any, b: Any) -> Any:
    return np.unique(np.stack([a, b], axis=1), axis=0)


def _columns(c: Array, sizes: Any) -> Any:
    """The coefficients that a correlation needs, up to all of a table."""
    with np.errstate(divide="ignore"):
        needed = _TINY_LOG / np.maximum(-np.log(np.abs(c)), 1e-300)
    index = np.searchsorted(np.array(SIZES), needed)
    return np.minimum(np.array([*SIZES, SIZES[-1]])[index], sizes)


@partial(jax.jit, static_argnums=(0, 1))
def _lines(f: Traced, size: int, q: Any) -> Any:
    rule = line(size)
    x = jax.numpy.sqrt(q)[:, None] * rule.nodes
    terms = rule.weights * (f(x) + f(-x))
    one, other = jax.numpy.sum(terms[:, :size], axis=1), jax.numpy.sum(terms[:, size:], axis=1)
    return (one + other) / 2, abs(one - other), jax.numpy.sum(abs(terms), axis=1) / 2


def line_means(f: Traced, sizes: Any, q: Array) -> tuple[Array, Array, Array]:
    """E f(u) with estimated error and size for flat q, by line rules of given sizes."""
    out = np.empty((3, len(q)))
    for size in np.unique(sizes):
        here = np.nonzero(sizes == size)[0]
        for start, stop, padded in pieces(len(here), _ROWS):
            found = _lines(f, int(size), filled(q[here[start:stop]], padded))
            out[:, here[start:stop]] = np.stack([np.asarray(a) for a in found])[:, : stop - start]
    return out[0], out[1], out[2]
