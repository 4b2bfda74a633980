"""Inputs at which operations in float32 are checked: tails, kinks, subnormal and infinite numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_SPECIAL = (
    0.0, -0.0, np.inf, -np.inf, np.nan, 1.1754943508222875e-38, -1.1754943508222875e-38,
    1.401298464324817e-45, -1.401298464324817e-45, 5e-40, -5e-40,
    3.4028234663852886e38, -3.4028234663852886e38, 1.0, -1.0,
)  # fmt: skip


def line(points: int, kinks: Sequence[float] = (), *, seed: int = 0) -> NDArray[np.float32]:
    """About ``points`` float32 numbers, and those next to each kink.

    A third each where gates turn (|x| <= 12), where exponentials end (|x| <= 110), and over all magnitudes.
    """
    rng = np.random.default_rng(seed)
    third = max(points // 3, 8)
    signs = rng.choice([-1.0, 1.0], third)
    near = np.linspace(-12, 12, third) + rng.uniform(-12, 12, third) / third
    far = np.linspace(-110, 110, third) + rng.uniform(-110, 110, third) / third
    every = signs * np.exp2(rng.uniform(-149, 127.9, third))
    here = []
    for kink in kinks:
        k = np.float32(kink)
        up, down = np.float32(np.inf), np.float32(-np.inf)
        here += [k, np.nextafter(k, up), np.nextafter(k, down), k + np.float32(1e-3), k - np.float32(1e-3)]
    with np.errstate(all="ignore"):
        return np.concatenate([near, far, every, np.array(here, dtype=np.float64), _SPECIAL]).astype(
            np.float32
        )


def beside(count: int, *, seed: int = 1) -> NDArray[np.float32]:
    """Second factors for ``count`` inputs: of either sign and sizes from 2**-6 to 2**6."""
    rng = np.random.default_rng(seed)
    return (rng.choice([-1.0, 1.0], count) * np.exp2(rng.uniform(-6, 6, count))).astype(np.float32)
