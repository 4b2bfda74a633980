"""Elementary functions of the numbers that engines give: floats (and arrays), mpmath numbers, balls."""

from __future__ import annotations

import math
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from flint import arb


def log(x: Any) -> Any:
    """The natural logarithm; -oo at 0."""
    if isinstance(x, arb):
        return x.log()
    if hasattr(x, "_mpf_"):
        from mpmath import mp

        return mp.log(x)
    value = float(x)
    return math.log(value) if value > 0 else -math.inf if value == 0 else math.nan


def sqrt(x: Any) -> Any:
    """The square root of a number >= 0."""
    if isinstance(x, arb):
        return x.sqrt()
    if hasattr(x, "_mpf_"):
        from mpmath import mp

        return mp.sqrt(x)
    return math.sqrt(float(x))


def exp(x: Any) -> Any:
    """The exponential."""
    if isinstance(x, arb):
        return x.exp()
    if hasattr(x, "_mpf_"):
        from mpmath import mp

        return mp.exp(x)
    return math.exp(float(x))


def pi_like(x: Any) -> Any:
    """pi as a number of the same kind."""
    if isinstance(x, arb):
        return arb.pi()
    if hasattr(x, "_mpf_"):
        from mpmath import mp

        return +mp.pi
    return math.pi


def middle(x: Any) -> float:
    """The number, or the middle of a ball, as a float."""
    return float(x.mid()) if isinstance(x, arb) else float(x)


def is_infinite(x: Any) -> bool:
    """Whether a mean does not exist; a ball that is not finite says so too."""
    return not x.is_finite() if isinstance(x, arb) else math.isinf(float(x))


def working(engine: Any) -> AbstractContextManager[Any]:
    """The precision that an engine's numbers are worked with, where it has one."""
    context = getattr(engine, "context", None)
    return nullcontext() if context is None else context()
