"""Correct rounding to a floating type, of float64 values that are exact to far more digits than it has.

PyTorch's own conversion from float64 to bfloat16 goes through float32 and so rounds twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Format:
    """Significant bits and the exponents of the smallest and largest normal powers of two."""

    name: str
    bits: int
    lowest: int
    highest: int

    @property
    def largest(self) -> float:
        """The largest finite number."""
        return (2.0 - 2.0 ** (1 - self.bits)) * 2.0**self.highest

    @property
    def normal(self) -> float:
        """The smallest normal number."""
        return 2.0**self.lowest


FORMATS = {
    "bfloat16": Format("bfloat16", 8, -126, 127),
    "float16": Format("float16", 11, -14, 15),
    "float32": Format("float32", 24, -126, 127),
}


def unit(values: Array, form: Format) -> Array:
    """One unit in the last place at each value; that of the smallest normal number below it."""
    with np.errstate(all="ignore"):
        exponent = np.frexp(np.abs(values))[1] - 1
    exponent = np.where(values == 0, form.lowest, np.maximum(exponent, form.lowest))
    return np.asarray(np.ldexp(1.0, exponent - form.bits + 1), dtype=np.float64)


def rounded(values: Array, form: Format) -> Array:
    """The nearest number of the format, ties to even, overflow to infinity."""
    with np.errstate(all="ignore"):
        step = unit(values, form)
        found = np.where(np.isfinite(values), np.rint(values / step) * step, values)
        return np.where(np.abs(found) > form.largest, np.copysign(np.inf, found), found)


def near_tie(values: Array, form: Format, relative: float) -> NDArray[np.bool_]:
    """Where an error of this relative size could change the rounding."""
    with np.errstate(all="ignore"):
        step = unit(values, form)
        scaled = values / step
        distance = np.abs(np.abs(scaled - np.floor(scaled)) - 0.5)
        found: Any = np.isfinite(values) & (distance <= np.abs(scaled) * relative)
    return np.asarray(found, dtype=np.bool_)


def every_input(form: Format) -> Array:
    """The values of all 65,536 codes of a 16-bit format, not-a-numbers too."""
    if form.bits == 8:
        codes = np.arange(2**16, dtype=np.uint32) << 16
        with np.errstate(invalid="ignore"):
            return codes.view(np.float32).astype(np.float64)
    return np.arange(2**16, dtype=np.uint16).view(np.float16).astype(np.float64)
