"""Conditions on a fit that are inequalities, c(q) >= 0: monotone gates, bounded intercepts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from gateproof.numerics.fits.gates import Array, Gates
from gateproof.numerics.fits.normal import Normal

Inequality = Callable[[Array], tuple[Array, Array]]
#: A monotone gate's slope is kept above this share of what it is made of, so that rounded parameters keep it.
MARGIN = 1e-7
#: Slopes above this share are far from binding and left out; step of the difference quotients.
FAR, STEP = 0.5, 1e-6


def together(parts: Sequence[Inequality]) -> Inequality:
    """All conditions as one."""

    def both(q: Array) -> tuple[Array, Array]:
        found = [part(q) for part in parts]
        return np.concatenate([v for v, _ in found]), np.vstack([j for _, j in found])

    return both


def bounded_intercepts(found: Normal, gates: Gates, base: Array, basis: Array, most: float) -> Inequality:
    """|intercept| <= most in the target's coordinates: intercept = b + height (c' - s' centre/width)."""
    first, second = gates.place("slope", 0), gates.place("intercept", 0)
    turn = found.centre / found.width
    rows = basis[second:] - turn * basis[first:second]
    at = base[second:] - turn * base[first:second] + found.b / found.height
    bound = most / found.height
    size = max(bound, 1e-300)

    def condition(q: Array) -> tuple[Array, Array]:
        value = at + rows @ q
        return np.concatenate([bound - value, bound + value]) / size, np.vstack([-rows, rows]) / size

    return condition


def rising(found: Normal, gates: Gates, base: Array, basis: Array, x: Array, sign: int) -> Inequality:
    """sign * dy/dx >= 0 at the lowest places of the slope among the points x and between them.

    The slope is taken relative to the sum of the sizes of its parts, which decays as it does far out: there
    the condition is one on the leading exponential.
    """
    tilt = found.m * found.width / found.height
    free = basis.shape[1]

    def relative(q: Array, at: Array) -> Array:
        return sign * _relative_slope(gates, base + basis @ q, at, tilt)

    def condition(q: Array) -> tuple[Array, Array]:
        value = relative(q, x)
        before = np.concatenate([[True], value[1:] <= value[:-1]])
        after = np.concatenate([value[:-1] < value[1:], [True]])
        lowest = np.flatnonzero(before & after & (value < FAR))
        places = x[lowest].copy()
        k = lowest[(lowest > 0) & (lowest < len(x) - 1)]
        if len(k):
            left, right = x[k] - x[k - 1], x[k + 1] - x[k]
            rise, fall = (value[k] - value[k - 1]) / left, (value[k + 1] - value[k]) / right
            bend = (fall - rise) / (left + right)
            move = -(rise * right + fall * left) / (left + right) / (2 * np.where(bend == 0, np.inf, bend))
            places = np.concatenate([places, x[k] + np.clip(move, -left, right)])
        jacobian = np.empty((len(places), free))
        for j in range(free):
            ahead, behind = q.copy(), q.copy()
            ahead[j] += STEP
            behind[j] -= STEP
            jacobian[:, j] = (relative(ahead, places) - relative(behind, places)) / (2 * STEP)
        return relative(q, places) - MARGIN, jacobian

    return condition


def _relative_slope(gates: Gates, full: Array, x: Array, tilt: float) -> Array:
    """The slope of the gate plus tilt times x, over the sum of the sizes of its parts, in [-1, 1].

    1 where it underflows.
    """
    tau, theta, slope, intercept = gates.parts(full)
    # The tilt takes back what normal coordinates took off: an outer slope of 0 is 0 again, not its rounding.
    slope = np.where(np.abs(slope + tilt) < 1e-13 * abs(tilt), 0.0, slope + tilt)
    if gates.branches == 1:
        return np.sign(slope[0]) * np.ones_like(x)
    jacobian = gates.jacobian(full, x)
    # dy/dx = sum g_k slope_k + sum tau_k dy/dz_k, and dy/dtheta_k = -tau_k dy/dz_k.
    n = gates.branches
    by_place = -jacobian[n - 1 : 2 * n - 2]
    weighted = jacobian[gates.place("intercept", 0) :] * slope[:, None]
    z = tau[:, None] * (x - theta[:, None])
    size = (tau[:, None] * (1 + np.abs(z)) / (2 * np.cosh(np.clip(z / 2, -350, 350))) ** 2).sum(axis=0)
    size = size * float(np.abs(slope).max() / tau.min() + np.abs(intercept).max() + 1e-9)
    whole = size + np.abs(weighted).sum(axis=0) + np.abs(by_place).sum(axis=0)
    # Softmax gates lose digits in a tail.
    seen = whole > (1e-11 if gates.algebra == "softmax" else 1e-250) * whole.max()
    total = by_place.sum(axis=0) + weighted.sum(axis=0)
    return np.where(seen, total / np.where(seen, whole, 1.0), 1.0)
