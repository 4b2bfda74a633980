"""What lies beyond the last node: for functions that grow like exp(a x^2) no small part of a mean.

The integrand g(z) = |f(sqrt(q) z)| times the bell is taken to fall like exp(-r z) from REACH on, at the rate
r at which it fell before: what is beyond is g/r, infinite where it does not fall. For a bounded f that is
1e-19.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from gateproof.numerics.meanfield.fast_hermite import REACH

Array = NDArray[np.float64]

#: Deviations in front of REACH over which greatest values are taken, and how far apart the two groups are.
_WINDOW, _APART = np.linspace(0.0, 0.5, 5), 1.0
#: A fall that is slower than this for one deviation is none.
_SLOWEST = 0.05


def beyond(f: Callable[[Array], Array], q: Array) -> Array:
    """An estimate of the mean of |f(u)| over |u| > REACH sqrt(q), for flat q; infinite where f overflows."""
    total = np.zeros(len(q))
    root = np.sqrt(q)[:, None]
    with np.errstate(all="ignore"):
        for side in (1.0, -1.0):
            tops = []
            for z in (REACH - _WINDOW, REACH - _APART - _WINDOW):
                g = abs(np.asarray(f(side * root * z), np.float64)) * np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
                tops.append(np.where(np.isnan(g), np.inf, g).max(axis=1))
            last, before = tops
            rate = np.log(before / last) / _APART
            # Nothing before and something at the end: a kink in between.
            rate = np.where(before == 0, 1.0, rate)
            # Where it falls the greatest value of the last group is its first.
            tail = np.where(rate > _SLOWEST, last * np.exp(-rate * _WINDOW[-1]) / rate, np.inf)
            total += np.where(last == 0, 0.0, tail)
    return total
