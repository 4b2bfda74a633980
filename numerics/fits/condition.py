"""How sensitive a fit is to relative errors of its parameters, as when they are rounded to few bits."""

from __future__ import annotations

import numpy as np

from gateproof.numerics.fits.certified_sample import floats
from gateproof.numerics.fits.gates import Array, Gates
from gateproof.numerics.fits.normal import Normal
from gateproof.theory.gate import Gate

#: Largest relative errors of rounding to nearest, barring underflow: 8, 11, 24 significant bits.
UNIT = {"bf16": 2.0**-8, "fp16": 2.0**-11, "fp32": 2.0**-24}
#: A jump smaller than this share of the lines' values at a hard threshold is none.
_JUMP = 1e-9


def condition(gate: Gate, found: Normal) -> float:
    """The condition number of a gate's parameters p_1, p_2, ..

        sup over x in the domain of  sum_j |p_j dy/dp_j (x)| / max(height, |y(x)|),

    so that parameters rounded with relative errors of at most u (2**-8 for bfloat16, 2**-11 for half
    precision) change y(x) by at most condition * u * max(height, |y(x)|), to first order in u. ``height`` is
    the height of the target's features: how far it gets from the mean of its asymptotes (on an interval from
    its chord) near its centre. Parameters are tau, theta, slope and intercept; equal tau are one. The number
    is the same for scaled x or y; not for a shifted target, since relative errors of large thresholds move
    the gate farther. All parameters count, also those that rounding leaves alone, as 0 and 1. Infinite where
    a hard threshold other than 0 stands at a jump. Found on a dense sample of the domain, not certified.
    """
    tau, theta, slope, intercept = map(floats, (gate.tau, gate.theta, gate.slope, gate.intercept))
    return condition_of(tau, theta, slope, intercept, gate.algebra, found)


def condition_of(
    tau: Array, theta: Array, slope: Array, intercept: Array, algebra: str, found: Normal
) -> float:
    """The same for parameters in floats, in the target's coordinates; tau may be inf."""
    gates, x = Gates(len(slope), algebra), _points(tau, theta, found)
    hard = np.isinf(tau)
    jumps = 0.0
    if hard.any():
        # Beside a hard threshold: as steep as lets no sample point see it. The threshold's own part apart.
        tau, jumps = np.where(hard, 1e30 / found.width, tau), _of_hard(hard, theta, slope, intercept, found)
    full = np.concatenate([np.log(tau), theta, slope, intercept])
    with np.errstate(all="ignore"):
        by = gates.jacobian(full, x)
        y = gates.values(full, x)
    n = gates.branches - 1
    by[:n][hard] = by[n : 2 * n][hard] = 0.0
    size = np.abs(by[n:] * full[n:, None]).sum(axis=0)
    for value in np.unique(tau):
        size = size + np.abs(by[:n][tau == value].sum(axis=0))
    return float(np.nanmax(size / np.maximum(found.height, np.abs(y)))) + jumps


def _of_hard(hard: Array, theta: Array, slope: Array, intercept: Array, found: Normal) -> float:
    """What moved hard thresholds change beside them."""
    total = 0.0
    for k in np.flatnonzero(hard & (theta != 0)):
        left, right = (slope[i] * theta[k] + intercept[i] for i in (k, k + 1))
        if abs(left - right) > _JUMP * max(found.height, abs(left)):
            return float("inf")
        total += abs(theta[k] * (slope[k + 1] - slope[k])) / max(found.height, abs(left))
    return total


def _points(tau: Array, theta: Array, found: Normal) -> Array:
    """The target's grid, and one around each threshold, within the domain."""
    t = np.sinh(np.linspace(-6, 6, 481))
    u = found.grid()
    near = [h + t / (s if np.isfinite(s) else 1 / found.width) for s, h in zip(tau, theta, strict=True)]
    x = np.concatenate([found.centre + found.width * u, *near])
    low = -np.inf if found.target.lo is None else float(found.target.lo)
    high = np.inf if found.target.hi is None else float(found.target.hi)
    return np.asarray(x[(x >= low) & (x <= high)])
