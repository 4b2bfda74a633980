"""Difference gates with their thresholds in the order that leaves the lines the most room in their bounds.

A difference gate is L_1 + sum S_k J_k with the jumps J_k = L_(k+1) - L_k, so the order of its thresholds is
free, but the lines are partial sums of the jumps and bounded. Three thresholds that stand together with jumps
a, -2a, a are a second derivative of sigmoid. Its lines reach a in this order and 2a in the order a, a, -2a,
in which the bound keeps the thresholds further apart and the error larger.
"""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
from numpy.typing import NDArray

from gateproof.numerics.fits.gates import Array
from gateproof.numerics.fits.sampled import Sampled

#: All orders are tried of so many thresholds at the most.
MOST = 5
#: Lines within this share of their bounds have room enough; another order is worth it below this share.
ROOM, WORTH = 0.5, 0.9


def permuted(problem: Sampled, q: Array) -> Array | None:
    """The same gate with more room for its lines; None where it has enough or no order gives it more."""
    n, low, high = problem.gates.branches - 1, problem.low, problem.high
    if problem.gates.algebra != "difference" or not 1 < n <= MOST or low is None or high is None:
        return None
    bounded = ~problem.curved & np.isfinite(low) & np.isfinite(high)
    if not bounded.any():
        return None
    low, high = low[bounded], high[bounded]
    middle, half = (low + high) / 2, np.maximum((high - low) / 2, 1e-300)
    now = float(np.abs((q[bounded] - middle) / half).max())
    if now <= ROOM:
        return None
    trials = problem.gates.reordered(problem.full(q), _orders(n))
    within = problem.free(trials)
    # Bounds, ties and pinned ends still hold.
    kept = (np.abs(problem.full(within) - trials) <= 1e-12 * (1 + np.abs(trials))).all(axis=1)
    share = np.where(kept, np.abs((within[:, bounded] - middle) / half).max(axis=1), np.inf)
    best = int(np.argmin(share))
    return within[best] if share[best] < WORTH * now else None


@cache
def _orders(n: int) -> NDArray[np.intp]:
    """All orders of n thresholds, shape (n!, n)."""
    return np.array(list(itertools.permutations(range(n))), dtype=np.intp)
