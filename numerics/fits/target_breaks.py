"""Kinks and jumps of a function without a formula, found by zooming in.

Between a and b with the middle m, bend = |f(m) - (f(a) + f(b))/2| shrinks like the square of the width
where f is smooth, like the width at a kink, and not at all at a jump.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from gateproof.numerics.fits.gates import Array
from gateproof.numerics.fits.target import DOUBLE

#: A change of slope below this share of the steepest slope is none.
LEAST = 1e-6
#: Grid points, places looked at, and the width (of the place's size) at which they are told apart.
POINTS, MOST, NARROW = 2001, 24, 1e-8


def breaks(
    function: Callable[[Array], Array], lo: Fraction | None, hi: Fraction | None, resolution: float = DOUBLE
) -> tuple[Fraction, ...]:
    """The places where a kink or jump is seen, ascending, as short decimals where these fit."""
    x = _grid(lo, hi)
    y = function(x)
    slopes = np.diff(y) / np.diff(x)
    bend = np.abs(np.diff(slopes))
    noise = 64 * resolution * np.abs(y[1:-1]) / np.minimum(np.diff(x)[:-1], np.diff(x)[1:])
    around = np.concatenate([[0.0], bend, [0.0]])
    peak = np.flatnonzero(
        (bend >= around[:-2]) & (bend > around[2:]) & (bend > noise + LEAST * np.abs(slopes).max())
    )
    peak = peak[np.argsort(-bend[peak])][:MOST]
    found = [_zoom(function, float(x[k]), float(x[k + 2]), resolution) for k in peak]
    inside = (f for f in found if f is not None and (lo is None or f > lo) and (hi is None or f < hi))
    return tuple(sorted(set(inside)))


def _grid(lo: Fraction | None, hi: Fraction | None) -> Array:
    if lo is not None and hi is not None:
        return np.linspace(float(lo), float(hi), POINTS)
    far = 1e-3 * np.sinh(np.linspace(0.0, np.log(2e9), POINTS))
    if lo is not None:
        return float(lo) + far
    if hi is not None:
        return np.asarray(float(hi) - far[::-1])
    return np.concatenate([-far[:0:-1], far])


def _zoom(function: Callable[[Array], Array], a: float, b: float, resolution: float) -> Fraction | None:
    """The kink or jump between a and b, if there is one."""
    sharpest, width = 0.0, b - a
    size = max(abs(a), abs(b), width)
    while b - a > NARROW * size:
        x = np.linspace(a, b, 17)
        y = function(x)
        bend = np.abs(y[2:] - 2 * y[1:-1] + y[:-2])
        k = int(np.argmax(bend))
        if bend[k] <= 64 * resolution * np.abs(y).max():
            # Nothing is seen any more below the rounding of the values.
            return Fraction(_shortest(a, b)) if b - a < 1e-3 * width else None
        sharp = float(bend[k] / (x[1] - x[0]))
        sharpest = max(sharpest, sharp)
        if not sharp > 0.2 * sharpest:
            return None
        a, b = float(x[k]), float(x[k + 2])
    return Fraction(_shortest(a, b))


def _shortest(a: float, b: float) -> str:
    """The shortest decimal in [a, b], at a width of 1e-8 the one that was meant."""
    middle = (a + b) / 2
    for digits in range(1, 17):
        text = f"{middle:.{digits}g}"
        if a <= float(text) <= b or (a <= 0.0 <= b and digits == 1):
            return "0" if a <= 0.0 <= b else text
    return repr(middle)
