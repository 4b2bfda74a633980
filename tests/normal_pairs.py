"""Right values for means over a normal pair of analytic functions: mpmath and the trapezoid rule on R^2.

u = m + d, v = m - d with independent m ~ N(0, q (1 + c)/2) and d ~ N(0, q (1 - c)/2). For a function that is
analytic in |Im x| < strip both steps are chosen for the digits asked for. Where one step serves both, f is
evaluated on one line only, and the sum over pairs runs in integers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp

Function = Callable[[Any], Any]


def _step(deviation: Any, strip: float, digits: int) -> Any:
    """By the transform of f times the bell, exp(-strip k + strip^2/2), at the frequency 2 pi/step."""
    if deviation == 0:
        return mp.inf
    digits_off = mp.log(10) * (digits + 2)
    own = strip / deviation
    rate = digits_off / own + own / 2 if own < mp.sqrt(2 * digits_off) else mp.sqrt(2 * digits_off)
    return 2 * mp.pi / rate * deviation


def pair(f: Function, q: Any, c: Any, strip: float, digits: int = 30) -> Any:
    """E f(u) f(v)."""
    with mp.workdps(digits + 15):
        q, c = mp.mpf(q), mp.mpf(c)
        sum_, difference = mp.sqrt(q * (1 + c) / 2), mp.sqrt(q * (1 - c) / 2)
        h = min(_step(sum_, strip, digits), _step(difference, strip, digits))
        reach = mp.sqrt(2 * mp.log(10) * (digits + 3))
        first, second = int(reach * sum_ / h) + 1, int(reach * difference / h) + 1
        bits = mp.mp.prec
        values = [int(mp.ldexp(f(k * h), bits)) for k in range(-first - second, first + second + 1)]
        outer, inner = _weights(h, sum_, first), _weights(h, difference, second)
        fixed = [int(mp.ldexp(w, bits)) for w in inner]
        total = mp.mpf(0)
        middle = first + second
        for i in range(-first, first + 1):
            at = middle + i
            line = fixed[0] * values[at] ** 2
            for j in range(1, second + 1):
                line += 2 * fixed[j] * values[at + j] * values[at - j]
            total += outer[abs(i)] * mp.ldexp(mp.mpf(line), -3 * bits)
    return +total


def _weights(h: Any, deviation: Any, count: int) -> list[Any]:
    if deviation == 0:
        return [mp.mpf(1)] + [mp.mpf(0)] * count
    scale = h / deviation / mp.sqrt(2 * mp.pi)
    return [scale * mp.exp(-((k * h / deviation) ** 2) / 2) for k in range(count + 1)]


def gap(f: Function, q: Any, eps: Any, strip: float, digits: int = 20) -> Any:
    """E (f(u) - f(v))^2/2 at c = 1 - eps, to digits of its own."""
    with mp.workdps(2 * digits + 10 + int(-mp.log10(mp.mpf(eps)))):
        q, eps = mp.mpf(q), mp.mpf(eps)
        sum_, difference = mp.sqrt(q * (2 - eps) / 2), mp.sqrt(q * eps / 2)
        reach = mp.sqrt(2 * mp.log(10) * (digits + 3))
        total = mp.mpf(0)
        h, k = _step(sum_, strip, digits), _step(difference, strip, digits)
        outer = _weights(h, sum_, int(reach * sum_ / h) + 1)
        inner = _weights(k, difference, int(reach * difference / k) + 1)
        for i in range(-len(outer) + 1, len(outer)):
            for j in range(1, len(inner)):
                total += outer[abs(i)] * inner[j] * (f(i * h + j * k) - f(i * h - j * k)) ** 2
    return +total


def line(f: Function, q: Any, strip: float, digits: int = 30) -> Any:
    """E f(u) for u ~ N(0, q)."""
    with mp.workdps(digits + 10):
        deviation = mp.sqrt(mp.mpf(q))
        h = _step(deviation, strip, digits)
        weights = _weights(h, deviation, int(mp.sqrt(2 * mp.log(10) * (digits + 3)) * deviation / h) + 1)
        total = weights[0] * f(mp.mpf(0))
        total += sum(w * (f(k * h) + f(-k * h)) for k, w in enumerate(weights) if k)
    return +total
