"""Means over a normal pair by panels, for any activation, where |c| is near 1: point by point.

v given u has the deviation s sqrt(q). Away from cuts its mean is that of a smooth function, taken by Gauss
and Hermite's rule; near one it is taken by panels that end at the cut, and in u by layers around kinks.
Where a mean lies far out v is not where its law given u has its mass: with K the density over the root of
those of u and v, which is a bell in v about 2 c u/(1 + c^2), f(u) f(v) is K between two functions that have
a square mean, so that nothing is lost where panels cover K.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from gateproof.numerics.meanfield.fast_chunks import Done
from gateproof.numerics.meanfield.fast_general import General
from gateproof.numerics.meanfield.fast_hermite import REACH
from gateproof.numerics.meanfield.fast_panels import EPS, ROOT, errors, nodes_between, summed, weights_of

Array = NDArray[np.float64]
Function = Callable[[Array], Array]
#: What the mean is of: u and v - u of one shape to values.
Body = Callable[[Array, Array], Array]

#: Ends of panels of v given u in deviations.
_INNER = np.array([-8.6, -4.8, -2.4, 0.0, 2.4, 4.8, 8.6])
#: The same of u, near a kink: in between the mean over v is smooth in u.
_LAYERS = np.array([-8.6, -4.8, -2.4, 0.0, 2.4, 4.8, 8.6])
_OUTER = np.array([-REACH, -6.5, -4.5, -3.0, -1.5, 0.0, 1.5, 3.0, 4.5, 6.5, REACH])
#: Nodes of two rules, whose difference is the error of the larger one: as a rule, and where v is close to u.
_NODES, _NODES_CLOSE = (24, 18), (8, 6)
#: Below this part of the narrowest panel a difference f(u) - f(v) is taken by f', with 5 nodes in between,
#: and below the next one with 3.
_CLOSE, _CLOSER = 0.02, 0.002
_BLOCK = 1 << 13


@lru_cache(maxsize=2)
def _hermite(counts: tuple[int, int]) -> tuple[Array, Array, Array]:
    """Nodes of both rules, and weights of each of them on all nodes."""
    (x, w), (y, v) = (np.polynomial.hermite_e.hermegauss(n) for n in counts)
    nodes = np.concatenate([x, y])
    return nodes, np.concatenate([w, 0 * v]) / ROOT, np.concatenate([0 * w, v]) / ROOT


def _blocked(f: Function) -> Function:
    """The same, by blocks that stay in the cache."""

    def value(x: Array) -> Array:
        flat = x.reshape(-1)
        if len(flat) <= _BLOCK:
            return f(x)
        parts = [f(flat[k : k + _BLOCK]) for k in range(0, len(flat), _BLOCK)]
        return np.concatenate(parts).reshape(x.shape)

    return value


def product(f: Function, sign: int, between: int) -> Body:  # noqa: ARG001 a product has no close form
    """f(u) f(sign v)."""
    f = _blocked(f)
    return lambda u, step: f(u) * f(sign * (u + step))


def half_square(f: Function, slope: Function, kinks: tuple[float, ...], between: int) -> Body:
    """(f(u) - f(v))^2/2, on one branch by the mean of the slope at some places ``between`` u and v."""
    t, w = np.polynomial.legendre.leggauss(max(1, between))
    t, w = (t + 1) / 2, w / 2
    f, slope = _blocked(f), _blocked(slope)

    def value(u: Array, step: Array) -> Array:
        if not between:
            return np.asarray((f(u + step) - f(u)) ** 2 / 2)
        u = np.broadcast_to(u, step.shape)
        apart = step * sum(w_k * slope(u + t_k * step) for t_k, w_k in zip(t, w, strict=True))
        other = np.searchsorted(kinks, u, side="right") != np.searchsorted(kinks, u + step, side="right")
        if other.any():
            apart[other] = f((u + step)[other]) - f(u[other])
        return np.asarray(apart**2 / 2)

    return value


class Narrow:
    """One activation's means over pairs at |c| = 1 - eps."""

    def __init__(self, general: General) -> None:
        self.general = general

    def pair(
        self, body: Callable[[int], Body], orders: tuple[int, ...], sign: int, q: Array, eps: Array,
        done: Done,
    ) -> tuple[Array, Array, Array]:  # fmt: skip
        """E body(u, v - u), eps in (0, 1); v is cut as the activation of sign * v.

        The body is asked with a number of places for points whose u and v are so close that f(u) - f(v)
        cancels, else with 0.
        """
        out = np.empty((3, len(q)))
        kinks = np.array(self.general.own.kinks)
        for span, here in self.general.groups(q, orders):
            ends = self.general.window(span, orders)
            cuts = self.general.cuts(span, ends, orders)
            every = np.concatenate([[ends[0] * span.high], cuts, [ends[1] * span.high]])
            narrow = float(np.diff(every).min())
            centres = kinks if len(kinks) else _centre(cuts)
            for i in here.tolist():
                wide = float(np.sqrt(q[i] * eps[i] * (2 - eps[i])))
                made = body(3 if wide <= _CLOSER * narrow else 5 if wide <= _CLOSE * narrow else 0)
                rule = _hermite(_NODES_CLOSE if wide <= _CLOSE * narrow else _NODES)
                inner, around = (
                    np.sort(sign * (cuts if wide * 4 > narrow else kinks)),
                    np.sort(sign * centres),
                )
                with np.errstate(all="ignore"):
                    out[:, i] = _point(made, rule, cuts, inner, around, ends, float(q[i]), float(eps[i]))
                done(1)
        return out[0], out[1], out[2]


def _point(
    body: Body, rule: tuple[Array, Array, Array], cuts: Array, inner: Array, centres: Array,
    window: tuple[float, float], q: float, eps: float,
) -> tuple[float, float, float]:  # fmt: skip
    """The sum of the parts of R that are nearest to one of the centres each."""
    sigma = float(np.sqrt(q))
    wide = sigma * float(np.sqrt(eps * (2 - eps)))
    lo, hi = window[0] * sigma, window[1] * sigma
    far = window != (-REACH, REACH)
    base = np.append(np.arange(window[0], window[1]), window[1]) if far else _OUTER
    every = np.unique(np.clip(np.concatenate([cuts, base * sigma]), lo, hi))
    middles = np.clip([lo, *(centres[1:] + centres[:-1]) / 2, hi], lo, hi)
    total = np.zeros(3)
    for k, left, right in zip(centres, middles, middles[1:], strict=False):
        if left == right:
            continue
        # Places near a kink relative to it: their rounding would show where wide is below 1e-4.
        layers = (eps * k + _LAYERS * wide) / (1 - eps)
        ends = np.unique(np.clip(np.concatenate([every - k, layers, [0.0]]), left - k, right - k))
        t, half = nodes_between(ends)
        offsets = ((inner - k) - t.reshape(-1, 1) + eps * (k + t.reshape(-1, 1))) / wide
        u = (k + t).reshape(-1)
        mean, lost, size = _given(body, rule, u, offsets, wide, q, eps, far)
        z = u / sigma
        bell = np.exp(-(z**2) / 2) / (ROOT * sigma)
        weights = weights_of(half) * bell
        error = errors((mean * bell).reshape(t.shape)) @ half + lost @ weights + EPS * (size * weights) @ z**2
        total += mean @ weights, error, size @ weights
    return float(total[0]), float(total[1]), float(total[2])


def _given(
    body: Body, rule: tuple[Array, Array, Array], u: Array, offsets: Array, wide: float, q: float, eps: float,
    far: bool,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """Means over v given each u, with errors and sizes; ``offsets``: cuts in deviations from v's mean."""
    out = np.empty((3, len(u)))
    shift, stretch = 0.0, 1.0
    if far:
        c = 1 - eps
        shift, stretch = c * wide / (q * (1 + c * c)), float(np.sqrt(2 / (1 + c * c)))
        near = np.ones(len(u), bool)
    else:
        # Gauss and Hermite's nodes end before.
        near = np.asarray((np.abs(offsets) < 8.65).any(axis=1))
    away = ~near
    if away.any():
        out[:, away] = _smooth(body, rule, u[away, None], wide, eps)
    if near.any():
        out[:, near] = _cut(body, u[near], offsets[near], wide, eps, shift, stretch)
    return out[0], out[1], out[2]


def _centre(cuts: Array) -> Array:
    """The middle of the narrowest panels, for a function without kinks."""
    if len(cuts) < 2:
        return np.array([0.0])
    widths = np.diff(cuts)
    i = int(np.median(np.nonzero(widths <= widths.min() * (1 + 1e-9))[0]))
    return np.array([(cuts[i] + cuts[i + 1]) / 2])


def _smooth(
    body: Body, rule: tuple[Array, Array, Array], u: Array, wide: float, eps: float
) -> tuple[Array, Array, Array]:
    """Means over v given each u (P, 1), no cut near."""
    nodes, weights, others = rule
    found = body(u, wide * nodes - eps * u)
    mean, other = found @ weights, found @ others
    return mean, np.abs(mean - other), np.abs(found) @ weights


def _cut(
    body: Body, u: Array, offsets: Array, wide: float, eps: float, shift: float, stretch: float
) -> tuple[Array, Array, Array]:
    """Means over v given each u, by panels that end at cuts."""
    base = shift * u[:, None] + stretch * _INNER
    offsets = np.clip(offsets, base[:, :1], base[:, -1:])
    z, half = nodes_between(np.sort(np.concatenate([offsets, base], axis=1), axis=1))
    step = wide * z - eps * u[:, None, None]
    found = body(u[:, None, None], step)
    return summed(found * np.exp(-(z**2) / 2) / ROOT, half)
