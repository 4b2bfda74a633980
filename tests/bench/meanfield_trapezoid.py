"""A baseline for means over a normal pair: NumPy alone, the trapezoid rule in two variables.

u = sqrt(q) x and v = sqrt(q) (c x + s y), s^2 = 1 - c^2, x and y independent normal. In each variable the
step is the largest for which a function that is analytic in |Im| < strip is off by 1e-16: the transform of
f times the bell falls like exp(-strip k + strip^2/2). ``plain`` is told the strip, in units of x;
``doubled`` is not, and doubles its nodes until two values agree to half of the digits, each doubling
doubling those, as it has to where nothing is known of f.
``both`` is the same rule with one grid for all points, for f and its slope together.
``rotated`` is the same in m = (u + v)/2 and d = (u - v)/2, whose product is even in d: half of the nodes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Function = Callable[[Array], Array]

REACH = 8.6
_DIGITS = 42.0


def _nodes(deviation: float, strip: float, half: bool = False) -> tuple[Array, Array]:
    """Nodes and weights of N(0, deviation^2); one node where the deviation is 0."""
    if deviation == 0.0:
        return np.zeros(1), np.ones(1)
    own = strip / deviation
    rate = _DIGITS / own + own / 2 if own < np.sqrt(2 * _DIGITS) else np.sqrt(2 * _DIGITS)
    step = 2 * np.pi / rate
    count = int(np.ceil(REACH / step))
    z = np.arange(0 if half else -count, count + 1) * step
    w = np.exp(-(z**2) / 2) * step / np.sqrt(2 * np.pi)
    if half:
        w[1:] *= 2
    return z * deviation, w


def plain(f: Function, q: float, c: float, strip: float) -> float:
    """E f(u) f(v)."""
    s = np.sqrt((1 - c) * (1 + c))
    x, outer = _nodes(np.sqrt(q), strip)
    y, inner = _nodes(s * np.sqrt(q), strip)
    return float((outer * f(x)) @ (f(c * x[:, None] + y) @ inner))


def rotated(f: Function, q: float, c: float, strip: float) -> float:
    """E f(u) f(v)."""
    m, outer = _nodes(np.sqrt(q * (1 + c) / 2), strip)
    d, inner = _nodes(np.sqrt(q * (1 - c) / 2), strip, half=True)
    return float(outer @ ((f(m[:, None] + d) * f(m[:, None] - d)) @ inner))


def doubled(f: Function, q: float, c: float, strip: float) -> float:
    """E f(u) f(v)."""
    s, before = np.sqrt((1 - c) * (1 + c)), np.inf
    for count in (8, 16, 32, 64, 128, 256, 512, 1024):
        z = np.arange(-count, count + 1) * (REACH / count)
        w = np.exp(-(z**2) / 2) * (REACH / count) / np.sqrt(2 * np.pi)
        outer = w * f(np.sqrt(q) * z)
        value = float(outer @ (f(np.sqrt(q) * (c * z[:, None] + s * z)) @ w))
        if abs(value - before) <= 1e-8 * abs(outer @ f(np.sqrt(q) * z)):
            break
        before = value
    return value


def both(f: Function, slope: Function, q: Array, c: Array, strip: float) -> Array:
    """E f(u) f(v) and E f'(u) f'(v), (2, P), on one grid for all points: that of the largest variance."""
    deviation = float(np.sqrt(q.max()))
    z, w = (a / k for a, k in zip(_nodes(deviation, strip), (deviation, 1.0), strict=True))
    out = np.empty((2, len(q)))
    for i, (a, b) in enumerate(zip(q.tolist(), c.tolist(), strict=True)):
        u = np.sqrt(a) * z
        v = np.sqrt(a) * (b * z[:, None] + np.sqrt((1 - b) * (1 + b)) * z)
        out[:, i] = (w * f(u)) @ (f(v) @ w), (w * slope(u)) @ (slope(v) @ w)
    return out


def correlation(rule: Callable[..., float], f: Function, q: Array, c: Array, strip: float) -> Array:
    """One of the two at flat arrays of points."""
    return np.array([rule(f, a, b, strip) for a, b in zip(q.tolist(), c.tolist(), strict=True)])
