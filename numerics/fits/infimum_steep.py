"""Sharpness that runs to infinity (towards hard thresholds) or to 0 (towards polynomials)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gateproof.numerics.fits.driver import Found
from gateproof.numerics.fits.gates import Array
from gateproof.numerics.fits.levelling import level
from gateproof.numerics.fits.normal import Normal
from gateproof.numerics.fits.setting import FLAT, problem

#: Log tau of a threshold that stands for a hard one: it moves nothing by more than about 1e-10.
HARD = float(np.log(1e10))
#: Sharpness from which it is asked whether a hard threshold does better.
STEEP = float(np.log(300.0))
#: A hard threshold belongs to a kink of the target within this distance, in widths; errors that are none.
NEAR, NOTHING = 1e-2, 1e-8


def is_steep(found: Found) -> bool:
    """Whether a sharpness is so large that its threshold may want to be hard."""
    return bool(steep(found).any())


def steep(found: Found) -> NDArray[np.bool_]:
    """Which thresholds are."""
    return np.asarray(_log_tau(found) > STEEP)


def is_flat(found: Found) -> bool:
    """Whether a sharpness is at the lower end of the search."""
    return bool((_log_tau(found) < FLAT + 0.05).any())


def _log_tau(found: Found) -> Array:
    return found.full[: found.gates.branches - 1]


def hardened(normal: Normal, found: Found) -> float | None:
    """The error, in normal coordinates, with the steep thresholds hard and all else levelled again.

    Hard thresholds stand at the target's kinks. Where one does not, its best place is not found by
    derivatives: then None, unless the error is 0.
    """
    kinks = (np.array([float(k) for k in normal.target.kinks]) - normal.centre) / normal.width
    sampled = problem(normal, found.setting, normal.grid())
    full, first = found.full.copy(), found.gates.place("theta", 0)
    fixed, known = [], True
    for k in np.flatnonzero(steep(found)):
        near = kinks[np.abs(kinks - full[first + k]) < NEAR] if len(kinks) else kinks
        if len(near):
            full[first + k] = near[np.argmin(np.abs(near - full[first + k]))]
        known, full[k] = known and len(near) > 0, HARD
        fixed += [int(k), first + int(k)]
    # The free parameters that none of the fixed numbers depends on go on.
    q = (full - sampled.base) @ sampled.basis / np.maximum(1.0, (sampled.basis**2).sum(axis=0))
    held = np.abs(sampled.basis[fixed]).sum(axis=0) > 0
    base = sampled.base + sampled.basis[:, held] @ q[held]
    rest = replace(
        sampled,
        base=base,
        basis=sampled.basis[:, ~held],
        low=None if sampled.low is None else sampled.low[~held],
        high=None if sampled.high is None else sampled.high[~held],
    )
    if not rest.basis.shape[1]:
        error = float(np.abs(rest.error(np.zeros(0))).max())
    else:
        error = level(rest, rest.free(full), steps=200, reach=0.05, digits=9).error
    if error < NOTHING:
        return 0.0
    return error if known else None
