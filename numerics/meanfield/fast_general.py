"""Means of one normal variable by panels, for any activation; where it must be cut, and how far out.

Variances stand on the ladder of the calibration. On each step nodes and values of the functions are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gateproof.numerics.meanfield.fast_features import features
from gateproof.numerics.meanfield.fast_functions import Functions
from gateproof.numerics.meanfield.fast_panels import EPS, ROOT, ends_of, nodes_between, summed, weights_of
from gateproof.numerics.meanfield.fast_window import FAR, window

Array = NDArray[np.float64]
Index = NDArray[np.intp]
Body = Callable[..., Array]
#: Of a window, in deviations.
Ends = tuple[float, float]

#: Panels' width in deviations; values at once.
_WIDEST, _HELD = 1.6, 1 << 20
#: Narrow spans in one step.
_FINER = 16


class NotResolved(ArithmeticError):
    """A mean whose error estimate stays above what is allowed; the message says of what and where."""


class Span(NamedTuple):
    """Variances that share nodes: the least and the greatest of their deviations."""

    low: float
    high: float


def _spans(q: Array, finer: int) -> tuple[list[Span], Index]:
    """The spans of variances, a step of the ladder or a part of one, and which one each has."""
    tops, back = np.unique(np.ceil(2 * finer * np.log2(q) - 1e-9), return_inverse=True)
    return [Span(2.0 ** ((k - 1) / (4 * finer)), 2.0 ** (k / (4 * finer))) for k in tops.tolist()], back


class General:
    """One activation's panels."""

    def __init__(self, own: Functions, name: str) -> None:
        self.own, self.name = own, name
        self._windows: dict[tuple[Any, ...], tuple[float, float] | None] = {}
        self._cuts: dict[tuple[Span, Ends, tuple[int, ...]], tuple[float, ...] | None] = {}
        self._values: dict[tuple[str, Span], tuple[Array, Array, Array]] = {}

    def groups(self, q: Array, *what: Any) -> Iterator[tuple[Span, Index]]:
        """Spans and their points; narrower ones where the mean of a step's last variance is infinite.

        ``what`` is what ``window`` takes. Raises NotResolved.
        """
        spans, back = _spans(q, 1)
        for k, span in enumerate(spans):
            here = np.nonzero(back == k)[0]
            if self._window(span, *what) is not None:
                yield span, here
                continue
            finer, own = _spans(q[here], _FINER)
            for j, part in enumerate(finer):
                yield part, here[own == j]

    def window(self, span: Span, orders: tuple[int, ...], power: int = 2, pairs: bool = True) -> Ends:
        """Ends in deviations of means of |f|^power. Raises NotResolved where there are none."""
        found = self._window(span, orders, power, pairs)
        if found is None:
            raise NotResolved(
                f"a mean of {self.name} at variances near {span.high**2:.4g} is infinite, or much of it lies"
                f" beyond {FAR:g} deviations"
            )
        return found

    def _window(self, span: Span, orders: tuple[int, ...], power: int = 2, pairs: bool = True) -> Ends | None:
        key = (span, orders, power, pairs)
        if key not in self._windows:
            self._windows[key] = window(
                [self.own.plain[k] for k in orders], power, (span.low**2, span.high**2), self.own.kinks, pairs
            )
        return self._windows[key]

    def cuts(self, span: Span, ends: Ends, orders: tuple[int, ...]) -> Array:
        """Where derivatives of some orders are cut between ends in deviations. Raises NotResolved."""
        key = (span, ends, orders)
        if key not in self._cuts:
            lo, hi = ends[0] * span.high, ends[1] * span.high
            parts = [[branch[k] for k in orders] for branch in self.own.parts]
            self._cuts[key] = features(parts, self.own.kinks, lo, hi, span.high)
        found = self._cuts[key]
        if found is None:
            raise NotResolved(f"{self.name} has too many features for variances near {span.high**2:.4g}")
        return np.array(found)

    def panels(
        self, span: Span, ends: Ends, orders: tuple[int, ...], widest: float, mirrored: bool = False
    ) -> tuple[Array, Array]:
        """Nodes (panels, n) and half widths of panels that resolve derivatives of some orders.

        ``widest`` is in the least of the deviations. ``mirrored``: and resolve it at -u.
        """
        cuts = self.cuts(span, ends, orders)
        lo, hi = ends[0] * span.high, ends[1] * span.high
        if mirrored:
            cuts, lo, hi = np.union1d(cuts, -cuts), min(lo, -hi), max(hi, -lo)
        x, half = nodes_between(ends_of(cuts, lo, hi, widest * span.low))
        return x, half

    def single(
        self, name: str, orders: tuple[int, ...], body: Body, q: Array, *, heat: bool = False,
        power: int = 2, mirrored: bool = False,
    ) -> tuple[Array, Array, Array]:  # fmt: skip
        """E body(f(u), ..) of derivatives of some orders, with error and size, for flat q.

        ``name`` is one for each body, which is homogeneous of degree ``power``. ``heat``: the slope of the
        mean in q. ``mirrored``: the body takes values at -u after those at u.
        """
        out = np.empty((3, len(q)))
        for span, here in self.groups(q, orders, power, False):
            x, half, values = self._kept(name, span, orders, body, power, mirrored)
            flat = x.reshape(-1)
            for part in np.array_split(here, max(1, len(here) * len(flat) // _HELD)):
                v = q[part, None]
                with np.errstate(all="ignore"):
                    bell = np.exp(-(flat**2) / 2 * (1 / v - span.high**-2)) / (ROOT * np.sqrt(v))
                    if heat:
                        bell *= (flat**2 / v - 1) / (2 * v)
                    terms = values * bell
                    out[:, part] = summed(terms.reshape(len(part), *x.shape), half)
                    out[1, part] += EPS * (np.abs(terms) @ (weights_of(half) * flat**2)) / q[part]
        return out[0], out[1], out[2]

    def _kept(
        self, name: str, span: Span, orders: tuple[int, ...], body: Body, power: int, mirrored: bool
    ) -> tuple[Array, Array, Array]:
        """Nodes, half widths, and values of a body times the bell of the greatest deviation."""
        key = (name, span)
        if key not in self._values:
            ends = self.window(span, orders, power, False)
            x, half = self.panels(span, ends, orders, _WIDEST, mirrored)
            flat = x.reshape(-1)
            with np.errstate(all="ignore"):
                # Its root at each factor: what grows like exp(x) has squares that no double holds.
                bell = np.exp(-((flat / span.high) ** 2) / (2 * power))
                at = [self.own.plain[k](flat) * bell for k in orders]
                if mirrored:
                    at += [self.own.plain[k](-flat) * bell for k in orders]
                self._values[key] = x, half, body(*at)
        return self._values[key]

    def given(self, order: int, at: float, q: Array, c: Array) -> Array:
        """E f(v) for u = at, flat arrays, |c| < 1; f the derivative of an order."""
        f, out = self.own.plain[order], np.empty(len(q))
        z = np.array([-8.6, -4.8, -2.4, 0.0, 2.4, 4.8, 8.6])
        for i, (v, corr) in enumerate(zip(q.tolist(), c.tolist(), strict=True)):
            (span,), _ = _spans(np.array([v]), 1)
            cuts = self.cuts(span, self.window(span, (order,)), (order,))
            wide = np.sqrt(v * (1 - corr) * (1 + corr))
            ends = np.concatenate([np.clip((cuts - corr * at) / wide, z[0], z[-1]), z])
            nodes, half = nodes_between(np.unique(ends))
            values = f((corr * at + wide * nodes).reshape(-1)).reshape(nodes.shape)
            out[i] = summed(values * np.exp(-(nodes**2) / 2) / ROOT, half)[0]
        return out
