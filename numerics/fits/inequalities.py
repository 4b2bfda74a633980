"""Conditions on a fit that are inequalities, c(q) >= 0: monotone gates, bounded intercepts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from gateproof.numerics.fits.gates import Array, Gates
from gateproof.numerics.fits.normal import Normal

#: Values and derivatives at q; with ``slopes`` False the latter are left out.
Inequality = Callable[..., tuple[Array, Array]]
#: A monotone gate's slope is kept above this share of what it is made of, so that rounded parameters keep it.
MARGIN = 1e-7
#: Slopes above this share are far from binding and left out; step of the difference quotients.
FAR, STEP = 0.5, 1e-6
#: Sharpness that differs by more than a share 1/FURTHEST is different in a tail.
FURTHEST = 1e4


def together(parts: Sequence[Inequality]) -> Inequality:
    """All conditions as one."""

    def both(q: Array, *, slopes: bool = True) -> tuple[Array, Array]:
        found = [part(q, slopes=slopes) for part in parts]
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

    def condition(q: Array, *, slopes: bool = True) -> tuple[Array, Array]:
        value, by_q = at + rows @ q, rows if slopes else rows[:, :0]
        return np.concatenate([bound - value, bound + value]) / size, np.vstack([-by_q, by_q]) / size

    return condition


def rising(found: Normal, gates: Gates, base: Array, basis: Array, x: Array, sign: int) -> Inequality:
    """sign * dy/dx >= 0 at the lowest places of the slope among the points x and between them, and far out.

    The slope is taken relative to bumps tau sigmoid'(z), which decay as it does far out. Where an outer line
    is level, y tends to it like exp(-tau |x|) (A x + B), which is monotone only if sign * A <= 0; with one
    tau that and the slope where the tail begins decide the whole tail.
    """
    tilt = found.m * found.width / found.height
    free = basis.shape[1]
    sides = [
        side
        for side, end in ((-1, found.target.lo), (1, found.target.hi))
        if end is None and _has_tail(gates, base, basis, side, tilt)
    ]

    def values(q: Array, at: Array) -> Array:
        full = base + basis @ q
        tails = [_tail(gates, full, side, tilt) for side in sides]
        slopes = _relative_slope(gates, full, at, tilt, sign)
        return np.concatenate([slopes, -sign * np.array(tails)]) - MARGIN

    def condition(q: Array, *, slopes: bool = True) -> tuple[Array, Array]:
        places = _lowest(x, _relative_slope(gates, base + basis @ q, x, tilt, sign))
        jacobian = np.empty((len(places) + len(sides), free if slopes else 0))
        for j in range(jacobian.shape[1]):
            ahead, behind = q.copy(), q.copy()
            ahead[j] += STEP
            behind[j] -= STEP
            jacobian[:, j] = (values(ahead, places) - values(behind, places)) / (2 * STEP)
        return values(q, places), jacobian

    return condition


def _has_tail(gates: Gates, base: Array, basis: Array, side: int, tilt: float) -> bool:
    """Whether the outer line is level and another one need not be."""
    first, n = gates.place("slope", 0), gates.branches
    outer = first if side < 0 else first + n - 1
    slopes = _user_slopes(base[first : first + n], tilt)
    moving = np.abs(basis[first : first + n]).sum(axis=1) > 0
    level = not moving[outer - first] and slopes[outer - first] == 0
    return bool(n > 1 and level and (moving | (slopes != 0)).any())


def _lowest(x: Array, value: Array) -> Array:
    """The minima of sampled values, on the grid and between its points by parabolas."""
    before = np.concatenate([[True], value[1:] <= value[:-1]])
    after = np.concatenate([value[:-1] < value[1:], [True]])
    lowest = np.flatnonzero(before & after & (value < FAR))
    k = lowest[(lowest > 0) & (lowest < len(x) - 1)]
    left, right = x[k] - x[k - 1], x[k + 1] - x[k]
    rise, fall = (value[k] - value[k - 1]) / left, (value[k + 1] - value[k]) / right
    bend = (fall - rise) / (left + right)
    move = -(rise * right + fall * left) / (left + right) / (2 * np.where(bend == 0, np.inf, bend))
    return np.concatenate([x[lowest], x[k] + np.clip(move, -left, right)])


def _user_slopes(slope: Array, tilt: float) -> Array:
    """Slopes with the tilt that normal coordinates took off; 0 is 0 again, not its rounding."""
    return np.asarray(np.where(np.abs(slope + tilt) < 1e-13 * abs(tilt), 0.0, slope + tilt))


def _tail(gates: Gates, full: Array, side: int, tilt: float) -> float:
    """A of the tail on a side, for slopes beyond 1 relative to them."""
    tau, theta, slope, _ = gates.parts(full)
    slope = _user_slopes(slope, tilt)
    size = max(1.0, float(np.abs(slope).max()))
    # y - outer line = sum_k exp(-|z_k|) (line_k - ..): what each threshold contributes there.
    if gates.algebra == "difference":
        parts = slope[1:] - slope[:-1] if side < 0 else slope[:-1] - slope[1:]
    elif gates.algebra == "softmax" or side < 0:
        return float(slope[1] if side < 0 else slope[-2]) / size
    else:
        parts = slope[:-1]
    # The smallest tau decides; e ** (side * tau * theta) tells equal ones apart.
    power = side * tau * theta - FURTHEST * (tau - tau.min()) / tau.min()
    weight = np.exp(power - power.max())
    return float((weight * parts).sum() / weight.sum()) / size


def _relative_slope(gates: Gates, full: Array, x: Array, tilt: float, sign: int) -> Array:
    """The slope of sign times the tilted gate, relative to bumps at thresholds; FAR where these are lost."""
    tau, theta, slope, _ = gates.parts(full)
    slope = _user_slopes(slope, tilt)
    if gates.branches == 1:
        return np.full_like(x, sign * np.sign(slope[0]))
    jacobian = gates.jacobian(full, x)
    # dy/dx = sum g_k slope_k + sum tau_k dy/dz_k, and dy/dtheta_k = -tau_k dy/dz_k.
    n = gates.branches
    by_place = -jacobian[n - 1 : 2 * n - 2]
    weighted = jacobian[gates.place("intercept", 0) :] * slope[:, None]
    z = tau[:, None] * (x - theta[:, None])
    bumps = (tau[:, None] * (1 + np.abs(z)) / (2 * np.cosh(np.clip(z / 2, -350, 350))) ** 2).sum(axis=0)
    # Softmax gates lose digits in a tail.
    seen = bumps > (1e-11 if gates.algebra == "softmax" else 1e-20)
    total = by_place.sum(axis=0) + weighted.sum(axis=0)
    return np.asarray(np.where(seen, sign * total / np.where(seen, bumps, 1.0), FAR))
