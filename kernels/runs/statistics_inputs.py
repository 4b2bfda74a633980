"""What the statistics take: finite numbers, in pairs of one length; anything else is one clear line."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

import numpy as np
from numpy.typing import ArrayLike, NDArray

Numbers = NDArray[np.float64]


def numbers(what: str, values: ArrayLike, least: int = 2) -> Numbers:
    """A one-dimensional array of finite floats, ``least`` of them or more."""
    try:
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{what}: a sequence of numbers is expected, without None or text") from None
    if found.ndim != 1:
        raise ValueError(f"{what}: one dimension is expected, found shape {found.shape}")
    if len(found) < least:
        raise ValueError(f"{what}: at least {least} numbers are needed, found {len(found)}")
    for i, value in enumerate(found.tolist()):
        if not isfinite(value):
            raise ValueError(f"{what}[{i}] is {value}: leave such runs out and say how many they were")
    return found


def pairs(what: str, a: ArrayLike, b: ArrayLike, least: int = 2) -> tuple[Numbers, Numbers]:
    """Two arrays of one length, the i-th of each belonging together."""
    first, second = numbers(f"{what}: a", a, least), numbers(f"{what}: b", b, least)
    if len(first) != len(second):
        raise ValueError(f"{what}: pairs are expected, found {len(first)} and {len(second)} numbers")
    return first, second


def level_of(what: str, level: float) -> float:
    """A level of confidence inside (0, 1)."""
    if not 0 < level < 1:
        raise ValueError(f"{what}: level = {level}: a confidence in (0, 1) is expected, such as 0.95")
    return level


def positive(what: str, name: str, value: float) -> float:
    """A finite number above 0."""
    if not (isfinite(value) and value > 0):
        raise ValueError(f"{what}: {name} = {value}: a finite number above 0 is expected")
    return float(value)


def listed(names: Sequence[str]) -> str:
    """Names with commas, or 'none'."""
    return ", ".join(names) or "none"
