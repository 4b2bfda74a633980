"""Where a target may have features too narrow for the points that it is first looked at on."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from gateproof.numerics.fits.gates import Array
from gateproof.numerics.fits.target import Target
from gateproof.theory.formula.nodes import App, Expr, Num

#: Numbers of a formula that are looked at, and places that are returned.
NUMBERS, PLACES = 12, 6
#: Offsets at which the target near a number is compared with its surroundings.
_NEAR = np.concatenate([s * np.geomspace(1e-7, 1.0, 29) for s in (-1.0, 1.0)])


def narrow_places(target: Target, x: Array) -> list[float]:
    """Where the target goes over from near one asymptote to near the other between two of the points x.

    And where, beside a number of its formula or a quotient of two, it is far from both asymptotes although it
    is near them at the next of the points.
    """
    if target.left is None or target.right is None:
        return []
    found = [_switch(target, float(a), float(b)) for a, b in _switches(target, x)]
    numbers = sorted(set(_numbers(target.expr)))[:NUMBERS] if target.expr is not None else []
    places = {s * a / b for a in numbers for b in (1.0, *numbers) for s in (-1.0, 1.0) if b}
    for place in sorted(places, key=abs):
        k = int(np.searchsorted(x, place))
        if 0 < k < len(x):
            around = _distance(target, x[k - 1 : k + 1]).max()
            here = _distance(target, place + (x[k] - x[k - 1]) * _NEAR).max()
            if here > 1e-3 and here > 10 * around:
                found.append(place)
    return found[:PLACES]


def _distance(target: Target, x: Array) -> Array:
    assert target.left is not None
    assert target.right is not None
    with np.errstate(all="ignore"):
        y = target.function(x)
    apart = [np.abs(y - e.m * x - e.b) / (1 + np.abs(y)) for e in (target.left, target.right)]
    return np.asarray(np.nan_to_num(np.minimum(*apart)))


def _is_left(target: Target, x: Array) -> NDArray[np.bool_]:
    assert target.left is not None
    assert target.right is not None
    with np.errstate(all="ignore"):
        y = target.function(x)
    apart = [np.abs(y - e.m * x - e.b) for e in (target.left, target.right)]
    return np.asarray(apart[0] < apart[1], dtype=np.bool_)


def _switches(target: Target, x: Array) -> list[tuple[float, float]]:
    near = _is_left(target, x)
    at = np.flatnonzero(near[1:] != near[:-1])[:PLACES]
    return [(float(x[k]), float(x[k + 1])) for k in at]


def _switch(target: Target, a: float, b: float) -> float:
    start = bool(_is_left(target, np.array([a]))[0])
    for _ in range(60):
        middle = (a + b) / 2
        a, b = (middle, b) if bool(_is_left(target, np.array([middle]))[0]) == start else (a, middle)
    return (a + b) / 2


def _numbers(expr: Expr) -> Iterator[float]:
    if isinstance(expr, Num):
        yield abs(float(expr.value))
    elif isinstance(expr, App):
        for arg in expr.args:
            yield from _numbers(arg)
