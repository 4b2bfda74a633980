"""Means over a normal pair by panels, for any activation, away from |c| = 1.

With z = u/sqrt(q), y = v/sqrt(q) and s^2 = 1 - c^2 the density is, for c >= 0,

    exp(-z^2/(2 (1 + c))) exp(-y^2/(2 (1 + c))) exp(-c (z - y)^2/(2 s^2))/(2 pi s),

so that nodes and values of f serve all points of a step of the ladder, and a point costs the exponential of
squared differences, which no cancellation touches. Nodes stand as close as the last factor
asks for. For c < 0, v has the nodes -u.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gateproof.numerics.meanfield.fast_chunks import Done
from gateproof.numerics.meanfield.fast_features import ORDER
from gateproof.numerics.meanfield.fast_general import General, Span
from gateproof.numerics.meanfield.fast_panels import EPS, errors, weights_of
from gateproof.numerics.meanfield.fast_window import FALL

Array = NDArray[np.float64]

#: Ends of ranges of |c|, each with nodes of its own; beyond the last one the factor is too narrow.
RANGES = (0.5, 0.8, 0.95)
#: Panels' width in deviations of the narrowest factor: the 16th Legendre coefficient of a bell is then 1e-11.
_WIDTH = 2.4
#: exp(-DEEP) adds nothing. Numbers of a block: it stays in the cache.
_DEEP, _BLOCK = 42.0, 1 << 15


@dataclass(frozen=True)
class _Nodes:
    """Nodes (N,) ascending, half widths of their panels, weights, and values of f."""

    x: Array
    half: Array
    weights: Array
    values: Array


class Pairs:
    """Products of one derivative of an activation."""

    def __init__(self, general: General, order: int) -> None:
        self.general, self.order = general, order
        self._known: dict[tuple[Span, int], tuple[_Nodes, float]] = {}

    def product(self, q: Array, c: Array, done: Done) -> tuple[Array, Array, Array]:
        """E f(u) f(v) with error and size, for flat arrays with |c| up to the last of RANGES."""
        out = np.empty((3, len(q)))
        ranges = np.searchsorted(np.array(RANGES), np.abs(c))
        for span, points in self.general.groups(q, (self.order,)):
            for place in np.unique(ranges[points]).tolist():
                here = points[ranges[points] == place]
                nodes, inner = self._nodes(span, place)
                for i in here.tolist():
                    value, error, size = _one(nodes, float(q[i]), float(c[i]))
                    out[:, i] = value, error + inner * size, size
                done(len(here))
        return out[0], out[1], out[2]

    def _nodes(self, span: Span, place: int) -> tuple[_Nodes, float]:
        """The nodes of a range, and the part of a size by which means over v are off."""
        if (span, place) not in self._known:
            nodes = self._made(span, place)
            lost = max(_inner_error(nodes, span.low**2, sign * RANGES[place]) for sign in (1, -1))
            self._known[span, place] = nodes, lost
        return self._known[span, place]

    def _made(self, span: Span, place: int) -> _Nodes:
        c, orders = RANGES[place], (self.order,)
        widest = min(np.sqrt((1 - c) * (1 + c) / c), 1.0) * _WIDTH
        x, half = self.general.panels(span, self.general.window(span, orders), orders, widest)
        with np.errstate(all="ignore"):
            values = self.general.own.plain[self.order](x.reshape(-1)).reshape(x.shape)
            # Under the root of the bell of V, what is below 1e-18 of the top adds nothing to any product.
            heights = [
                np.max(np.log(np.abs(values)) - (x / d) ** 2 / 4, axis=1) for d in (span.low, span.high)
            ]
        kept = np.any([h > h.max() - FALL for h in heights], axis=0)
        if not kept.any():
            kept[:1] = True
        return _Nodes(x[kept].reshape(-1), half[kept], weights_of(half[kept]), values[kept].reshape(-1))


def _outer(nodes: _Nodes, q: float, c: float) -> Array:
    """f and its factor of the density at the nodes."""
    bell = np.exp(-(nodes.x**2) / (2 * q * (1 + abs(c))))
    return np.asarray(nodes.values * bell / np.sqrt(q * 2 * np.pi * np.sqrt((1 - abs(c)) * (1 + abs(c)))))


def _factors(nodes: _Nodes, q: float, c: float) -> Iterator[tuple[slice, slice, Array]]:
    """The last factor of the density, by blocks of rows and the columns where it is not 0."""
    x, sign = nodes.x, 1.0 if c >= 0 else -1.0
    rate = abs(c) / (2 * (1 - abs(c)) * (1 + abs(c)) * q)
    reach = np.sqrt(_DEEP / rate) if rate > 0 else np.inf
    rows = max(ORDER, _BLOCK // len(x))
    for start in range(0, len(x), rows):
        stop = min(start + rows, len(x))
        ends = sorted((sign * x[start], sign * x[stop - 1]))
        lo, hi = np.searchsorted(x, [ends[0] - reach, ends[1] + reach])
        # Whole panels, so that sums over one are.
        lo, hi = lo - lo % ORDER, min(len(x), hi + -hi % ORDER)
        part = x[start:stop, None] - sign * x[lo:hi]
        part *= part
        part *= -rate
        np.exp(part, out=part)
        yield slice(start, stop), slice(lo, hi), part


def _one(nodes: _Nodes, q: float, c: float) -> tuple[float, float, float]:
    outer = _outer(nodes, q, c)
    weighted = outer * nodes.weights
    # By einsum: BLAS would start threads for each of these small products.
    plain, inner, spread = np.abs(weighted), np.empty_like(outer), np.empty_like(outer)
    for rows, columns, part in _factors(nodes, q, c):
        inner[rows] = np.einsum("ij,j->i", part, weighted[columns])
        spread[rows] = np.einsum("ij,j->i", part, plain[columns])
    error = float(errors((outer * inner).reshape(-1, ORDER)) @ nodes.half)
    size = plain * spread
    error += 2 * EPS / q * float(size @ nodes.x**2)
    return float(weighted @ inner), error, float(size.sum())


def _inner_error(nodes: _Nodes, q: float, c: float) -> float:
    """The part of the size by which means over v are off, where the last factor is narrowest."""
    outer = _outer(nodes, q, c)
    size = np.abs(outer * nodes.weights)
    lost = total = 0.0
    for rows, columns, part in _factors(nodes, q, c):
        panels = slice(columns.start // ORDER, columns.stop // ORDER)
        off = errors((part * outer[columns]).reshape(len(part), -1, ORDER)) @ nodes.half[panels]
        lost += float(size[rows] @ off)
        total += float(size[rows] @ np.einsum("ij,j->i", part, size[columns]))
    return lost / total + 2 * EPS if total > 0 else 0.0
