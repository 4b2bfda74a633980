"""Difference gates of one sharpness by way of coordinates in which merged thresholds are like others.

A sequence of difference gates whose thresholds merge may have a limit while its lines run away like
1/distance, and local optima are often such limits. In the coordinates of :class:`...infimum_gates.Products`
they are regular points. So the search runs there; what it finds becomes a difference gate, thresholds that
are too close for the bound of the lines being held apart as little as that allows.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gateproof.numerics.fits.gates import Array, Gates
from gateproof.numerics.fits.infimum_gates import to_differences

#: Distances of thresholds tried, in widths 1/tau.
APART = (0.0, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3)
#: Places and sharpness of merged pairs that searches begin from, in normal coordinates.
PLACES, SHARP = (0.5, 1.0, 1.75, 3.0), (0.35, 0.9, 2.2)


def together(gates: Gates, symmetry: str) -> list[Array]:
    """Starts with a pair of thresholds at one place, the others around 0; lines are to be found.

    On one side of 0 where the target is symmetric.
    """
    n, found = gates.branches - 1, list[Array]()
    for place in PLACES if symmetry else (*PLACES, *(-p for p in PLACES)):
        for sharp in SHARP:
            full = np.zeros(gates.size)
            full[:n] = np.log(sharp)
            full[n : 2 * n] = np.sort([place, place, *np.linspace(-1.5, 1.5, n)[1 : n - 1]])
            found.append(full)
    return found


def separated(gates: Gates, full: Array, largest: float) -> Iterator[Array]:
    """Difference gates near the product gate ``full``, the nearest first, whose lines are within the bound.

    At most three: beyond the nearest, those with thresholds further apart.
    """
    tau, theta, _, _ = gates.parts(full)
    first, n, given = gates.place("theta", 0), gates.branches - 1, 0
    lines = gates.place("slope", 0)
    for apart in APART:
        trial = full.copy()
        trial[first : first + n] = _spread(theta, apart / float(tau[0]))
        try:
            found = to_differences(gates, trial)
        except ZeroDivisionError:
            continue
        if np.isfinite(found).all() and np.abs(found[lines:]).max() <= largest:
            yield found
            given += 1
            if given == 3:
                return


def _spread(theta: Array, apart: float) -> Array:
    """Thresholds at least ``apart`` from each other, in their order, clusters around their means."""
    order = np.argsort(theta, kind="stable")
    value = theta[order].copy()
    groups = [[float(v)] for v in value]
    centres = [float(v) for v in value]
    k = 0
    while k + 1 < len(groups):
        room = apart * (len(groups[k]) + len(groups[k + 1])) / 2
        if centres[k + 1] - centres[k] < room * (1 - 1e-12):
            groups[k : k + 2] = [groups[k] + groups[k + 1]]
            centres[k : k + 2] = [float(np.mean(groups[k]))]
            k = max(k - 1, 0)
        else:
            k += 1
    spread = np.concatenate(
        [c + apart * (np.arange(len(g)) - (len(g) - 1) / 2) if len(g) > 1 else np.array([c])
         for g, c in zip(groups, centres, strict=True)]
    )  # fmt: skip
    found = np.empty_like(theta)
    found[order] = spread
    return found
