"""Limits of gates on an interval or half line: thresholds that leave it, sharpness that runs to 0.

Left of a threshold far out sigmoid(tau (x - theta)) is nearly exp(tau (x - theta)), so two branches with
lines like exp(tau theta) tend to

    a + b x + (c + d x) exp(tau x),

and these, as tau runs to 0, to all cubics. On a half line tau has the sign with which the exponential falls,
and a + b x is the line of the other end, as far as that is bound. More branches have these limits and
others: what is found here is an upper bound of the infimum, and the infimum where it is 0.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from gateproof.numerics.fits.gates import Array
from gateproof.numerics.fits.normal import Normal
from gateproof.numerics.fits.target import Target

#: Rates in normal coordinates, where an interval has length 6: from cubics to steep exponentials.
FALLING = tuple(np.geomspace(0.05, 12.0, 12))
RATES = (0.0, *(s * r for r in FALLING for s in (-1, 1)))
POINTS, NOTHING = 160, 1e-9
#: Smaller errors are looked at again by least squares: linear programmes are feasible to 1e-7 only.
SMALL = 1e-6


def half_line(target: Target) -> bool:
    """Whether one end of the domain is finite."""
    return (target.lo is None) != (target.hi is None)


def far_limit(found: Normal, ends: str = "free") -> float:
    """The least sup error of line + line * exp(tau x), in normal coordinates, on the target's domain.

    That is an interval, or a half line, where the first line is bound as ``ends`` says.
    """
    x = found.grid()
    y, weight = found.function(x), getattr(found.target, "weight", None)
    w = np.ones_like(x) if weight is None else np.asarray(weight(found.centre + found.width * x))
    if half_line(found.target):
        return _of_half_line(found, x, y, w, ends)
    middle, half = (x[0] + x[-1]) / 2, (x[-1] - x[0]) / 2
    nodes = middle + half * np.cos(np.linspace(0, np.pi, POINTS))
    few = np.unique(np.searchsorted(x, nodes).clip(0, len(x) - 1))

    def error(rate: float) -> float:
        basis = _basis((x - middle) / half, rate * half)
        return _least(basis, y, w, few)

    return _best_rate(error, RATES)


def _of_half_line(found: Normal, x: Array, y: Array, w: Array, ends: str) -> float:
    target = found.target
    left = target.lo is not None
    t = x - x[0] if left else x[-1] - x
    line = target.right if left else target.left
    rows = [np.ones_like(t), t]
    if ends != "free" and line is not None:
        slope, intercept = found.line(line.m, line.b)
        rows = [] if ends == "pinned" else rows[:1]
        y = y - slope * x - intercept
    few = np.unique(np.linspace(0, len(x) - 1, POINTS).round().astype(int))

    def error(rate: float) -> float:
        power = np.exp(-rate * t)
        return _least(np.vstack([*rows, power, rate * t * power]), y, w, few)

    return _best_rate(error, FALLING)


def _best_rate(error: Callable[[float], float], tried: tuple[float, ...]) -> float:
    seen = [error(r) for r in tried]
    best = int(np.argmin(seen))
    rates = np.sort(tried)
    k = int(np.searchsorted(rates, tried[best]))
    low, high = rates[max(k - 1, 0)], rates[min(k + 1, len(rates) - 1)]
    from scipy.optimize import minimize_scalar

    near = minimize_scalar(
        error, bounds=(low, high), method="bounded", options={"maxiter": 60, "xatol": 1e-10}
    )
    least = min(seen[best], float(near.fun))
    return 0.0 if least < NOTHING else least


def _basis(t: Array, rate: float) -> Array:
    """Functions that span 1, t, exp(rate t), t exp(rate t) for t in [-1, 1] and the cubics at rate 0."""
    if abs(rate) < 0.05:
        return np.vstack([np.ones_like(t), t, 2 * t**2 - 1, 4 * t**3 - 3 * t])
    rows = np.vstack([np.ones_like(t), t, np.exp(rate * t - abs(rate)), t * np.exp(rate * t - abs(rate))])
    return np.asarray(np.linalg.qr(rows.T)[0].T * np.sqrt(len(t)))


def _least(basis: Array, y: Array, w: Array, few: NDArray[np.intp]) -> float:
    """The sup error on all points of the best combination on few of them, exchanged thrice."""
    index = few
    worst = np.inf
    for _ in range(3):
        rows, rest = (basis[:, index] * w[index]).T, y[index] * w[index]
        size = float(np.abs(rest).max()) or 1.0
        ones = np.ones((len(index), 1))
        from scipy.optimize import linprog

        result = linprog(
            [*np.zeros(len(basis)), 1.0],
            A_ub=np.vstack([np.hstack([rows, -ones]), np.hstack([-rows, -ones])]),
            b_ub=np.concatenate([rest, -rest]) / size,
            bounds=[(None, None)] * len(basis) + [(0, None)],
            method="highs",
        )
        if result.x is None:
            return worst
        error = np.abs(w * (size * result.x[:-1] @ basis - y))
        worst = min(worst, float(error.max()))
        if worst <= size * result.x[-1] * (1 + 1e-3):
            break
        index = np.unique(np.append(index, np.argsort(-error)[:20]))
    if worst < SMALL:
        lines = np.linalg.lstsq((basis * w).T, y * w, rcond=1e-15)[0]
        worst = min(worst, float(np.abs(w * (lines @ basis - y)).max()))
    return worst
