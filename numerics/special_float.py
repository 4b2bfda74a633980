"""Special functions of one double, from balls."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import isfinite, nan

from flint import arb

from gateproof.numerics.precision import precision
from gateproof.theory.special import find

_BITS = 80


@lru_cache(maxsize=512)
def special_float(head: str) -> Callable[[float], float] | None:
    """The function of a double, nan where it has no value; None for no special function."""
    found = find(head)
    if found is None:
        return None

    def value(x: float) -> float:
        if not isfinite(x):
            return nan
        with precision(_BITS):
            ball = found.ball(arb(x))
        return float(ball.mid()) if ball.is_finite() else nan

    return value
