"""Means over a normal pair of a function that is analytic near R, by its Hermite coefficients.

E f(u) f(v) = sum a_n(q)^2 c^n. The coefficients of all variances in a piece come from one matrix product with
a table (:mod:`fast_hermite`) that the calibration picked; a sum at |c| < 1 takes the coefficients until c^n
is below 1e-16. What is compiled does not depend on the table, but for its number of coefficients.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from gateproof.numerics.meanfield import fast_series as series
from gateproof.numerics.meanfield.fast_calibration import Calibration, step_of
from gateproof.numerics.meanfield.fast_chunks import Done, elementwise, filled, pieces
from gateproof.numerics.meanfield.fast_hermite import line, table

Array = NDArray[np.float64]
Traced = Callable[[Any], Any]

#: Points in one call of a compiled sum, values in one of a compiled function.
_POINTS = (32, 128, 1024)
_VALUES = (2048, 8192, 32768, 131072)
#: Numbers held at once: values at nodes, coefficients of points.
_HELD = 1 << 21
_TINY_LOG = 37.0
#: Where a sum at |c| < 1 may stop, and the tables that it then reads, beside the whole of its own.
_STOPS = (64, 256, 1024, 4096)
_TABLES = np.array([64, 256, 1024, 4096, 16384])


@partial(jax.jit, static_argnums=0)
def _evaluated(f: Traced, x: Any) -> Any:
    return f(x)


def values(f: Traced, x: Array) -> Array:
    """f at an array of any shape; compiled for a few sizes."""
    return elementwise(partial(_evaluated, f), [x.reshape(-1)], _VALUES, lambda _: None)[0].reshape(x.shape)


@lru_cache(maxsize=64)
def _maps(size: int, columns: int) -> tuple[Any, Any]:
    """A table's maps to even and odd coefficients, as JAX arrays; called where x64 is on."""
    rule, half = table(size), columns // 2
    return jax.numpy.asarray(rule.even[:, :half]), jax.numpy.asarray(rule.odd[:, :half])


@partial(jax.jit, static_argnums=(0, 1))
def _sums(
    kind: str, parity: int, sides: tuple[Any, Any], maps: tuple[Any, Any], points: Any, rows: Any
) -> Any:
    """The sums of a kind from values at nodes and their mirrors (R, M), for the points (q, c, eps) of rows.

    No ``rows`` where each row has one point; what the parity leaves out is 0.
    """
    q, c, eps = points
    right, left = sides
    if parity:
        one = (right @ maps[0 if parity > 0 else 1]) ** 2
        parts = [one, jax.numpy.zeros_like(one)][::parity]
    else:
        parts = [((right + left) / 2 @ maps[0]) ** 2, ((right - left) / 2 @ maps[1]) ** 2]
    if rows is not None:
        parts = [a[rows] for a in parts]
    if kind == "total" and parity:
        return series.one_parity(parts[0 if parity > 0 else 1], parity, c, eps)
    even, odd = parts
    if kind == "total":
        return series.total(even, odd, c, eps)
    even, odd = series.raised(even, odd, q)
    return series.lack(even, odd, c, eps)


class Smooth:
    """One function with its calibration; ``traced`` is for JAX arrays, ``calibration`` holds it for NumPy."""

    def __init__(self, traced: Traced, calibration: Calibration, parity: int, alone: bool = False) -> None:
        self.traced, self.calibration, self.parity = traced, calibration, parity
        # What is a function of NumPy by itself (tanh, atan) is there up to ten times as quick as in XLA.
        self._values = calibration.function if alone else partial(values, traced)

    def sizes(self, q: Array) -> tuple[NDArray[np.int64], Array]:
        """For each variance the size of its table (-1 where none passes) and the estimated relative error."""
        steps = step_of(q)
        unique, back = np.unique(steps, return_inverse=True)
        found = [self.calibration.table_size(int(s)) for s in unique]
        return np.array([n for n, _ in found], np.int64)[back], np.array([e for _, e in found])[back]

    def apply(self, kind: str, q: Array, c: Array, eps: Array, sizes: Any, done: Done) -> Array:
        """Sums at flat points whose tables are known.

        ``total`` is E f f, and ``raised`` is E g^2 - E g g for a g whose derivative f is. Arrays (P,).
        """
        out = np.empty(len(q))
        columns = sizes
        if kind == "total":
            columns, sizes = _columns(c, sizes)
        keys = sizes * 65536 + columns
        order = np.lexsort((q, keys))
        groups = np.split(order, np.nonzero(np.diff(keys[order]))[0] + 1)
        for batch in _batches(groups, sizes):
            rows = [np.unique(q[g], return_inverse=True) for g in batch]
            nodes = [table(int(sizes[g[0]])).nodes for g in batch]
            flat = np.concatenate(
                [(np.sqrt(u)[:, None] * z).reshape(-1) for (u, _), z in zip(rows, nodes, strict=True)]
            )
            right = self._values(flat)
            left = None if self.parity else self._values(-flat)
            start = 0
            for group, (unique, back), z in zip(batch, rows, nodes, strict=True):
                stop = start + len(unique) * len(z)
                sides = tuple(None if a is None else a[start:stop].reshape(-1, len(z)) for a in (right, left))
                start = stop
                maps = _maps(int(sizes[group[0]]), int(columns[group[0]]))
                points = (q[group], c[group], eps[group])
                out[group] = self._group(kind, sides, maps, points, back, done)
        return out

    def _group(
        self, kind: str, sides: tuple[Array | None, ...], maps: Any, points: tuple[Array, ...], back: Any,
        done: Done,
    ) -> Array:  # fmt: skip
        """Points of one table, sorted by their variances; ``back`` is each one's row."""
        out = np.empty(len(back))
        single = int(back[-1]) + 1 == len(back)
        columns = 2 * maps[0].shape[1]
        room = tuple(p for p in _POINTS if p * columns <= _HELD) or _POINTS[:1]
        for start, stop, padded in pieces(len(back), room):
            mine = tuple(filled(p[start:stop], padded) for p in points)
            if single:
                held = tuple(None if a is None else _rows(a, start, stop, padded) for a in sides)
                found = _sums(kind, self.parity, held, maps, mine, None)
            else:
                low, high = int(back[start]), int(back[stop - 1]) + 1
                size = next(p for p in (1, 8, *_POINTS) if p >= high - low)
                held = tuple(None if a is None else _rows(a, low, high, size) for a in sides)
                found = _sums(kind, self.parity, held, maps, mine, filled(back[start:stop] - low, padded))
            out[start:stop] = np.asarray(found)[: stop - start]
            done(stop - start)
        return out


def _rows(a: Array, start: int, stop: int, size: int) -> Array:
    """Rows of a matrix, the last one repeated up to a size."""
    if stop - start == size:
        return a[start:stop]
    return np.concatenate([a[start:stop], np.broadcast_to(a[stop - 1], (size - stop + start, a.shape[1]))])


def _batches(groups: list[Any], sizes: Any) -> Iterator[list[Any]]:
    """Groups of points together, as many as their values may be held; a large group is cut."""
    batch: list[Any] = []
    held = 0
    for group in groups:
        count = len(table(int(sizes[group[0]])).nodes)
        most = max(1, _HELD // count)
        for start in range(0, len(group), most):
            part = group[start : start + most]
            if batch and held + len(part) * count > _HELD:
                yield batch
                batch, held = [], 0
            batch.append(part)
            held += len(part) * count
    if batch:
        yield batch


def _columns(c: Array, sizes: Any) -> tuple[Any, Any]:
    """The coefficients that a correlation needs, up to all of a table, and the table to take them from.

    Fewer kinds of both mean fewer calls: a few coefficients may come from a larger table as well.
    """
    with np.errstate(divide="ignore"):
        needed = _TINY_LOG / np.maximum(-np.log(np.abs(c)), 1e-300)
    stop = np.array([*_STOPS, 1 << 30])[np.searchsorted(np.array(_STOPS), needed)]
    larger = _TABLES[np.searchsorted(_TABLES, sizes)]
    some = (stop < sizes) | (sizes <= _STOPS[1])
    return np.where(some, np.minimum(stop, larger), sizes), np.where(some, larger, sizes)


def line_means(
    functions: tuple[Traced, ...], body: Callable[..., Array], sizes: Any, q: Array, heat: bool = False
) -> tuple[Array, Array, Array]:
    """E body(f(u), ..) with estimated error and size for flat q, by line rules of given sizes.

    ``heat``: its slope in q, the mean with the factor (z^2 - 1)/(2 q), z = u/sqrt(q).
    """
    out = np.empty((3, len(q)))
    for size in np.unique(sizes):
        rule, here = line(int(size)), np.nonzero(sizes == size)[0]
        weights, others = rule.weights, rule.moved_weights
        if heat:
            weights, others = weights * (rule.nodes**2 - 1) / 2, others * (rule.moved**2 - 1) / 2
        rows = max(1, _HELD // len(rule.nodes))
        for start in range(0, len(here), rows):
            mine = here[start : start + rows]
            root = np.sqrt(q[mine])[:, None]
            x = root * rule.nodes
            sides = [body(*(values(f, s * x) for f in functions)) for s in (1.0, -1.0)]
            half = [[a[:, :size] @ weights[:size], a[:, size:] @ weights[size:]] for a in sides]
            one, other = half[0][0] + half[1][0], half[0][1] + half[1][1]
            mean = (one + other) / 2
            moved = body(*(values(f, root * rule.moved) for f in functions)) @ others
            spread = (abs(sides[0]) + abs(sides[1])) @ abs(weights) / 2
            out[:, mine] = mean, np.maximum(abs(one - other), abs(mean - moved)), spread
            if heat:
                out[:, mine] /= q[mine]
    return out[0], out[1], out[2]
