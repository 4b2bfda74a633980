"""Weighted least squares for gates: variable projection with Levenberg and Marquardt's damping.

For given sharpness and thresholds the lines solve a linear problem, so that only the former are searched
(Golub and Pereyra 1973; derivative of the projection as shortened by Kaufman 1975): a step solves

    (J'J + damping D) d = -J'r,   J: derivatives by the curved parameters less those by the lines in them,

and the lines are solved for anew after it. Many starts go at once by normal equations on few points; the
best are settled one by one by orthogonal factors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gateproof.numerics.fits.gates import Array
from gateproof.numerics.fits.sampled import Sampled

Mask = NDArray[np.bool_]
#: Damping at first; steps of a crowd between cullings, of one gate; gains that end a descent.
DAMPING, ROUNDS, STEPS, GAIN, ROUNDING = 1e-2, (8, 12, 20), 300, 1e-13, 1e-15


@dataclass(frozen=True)
class Squares:
    """A sampled problem whose points have the square roots of their weights (which sum to 1)."""

    problem: Sampled
    root: Array

    def residual(self, q: Array) -> Array:
        """Errors times the roots, shape (..., points): their squares sum to the mean square."""
        return np.asarray(self.root * self.problem.error(q))

    def slopes(self, q: Array) -> Array:
        """Their derivatives, shape (points, free)."""
        return np.asarray(self.root[:, None] * self.problem.slopes(q, self.problem.x))


def crowd(squares: Squares, q: Array, keep: int) -> Array:
    """The best of many starts (m, free) after some steps each, best first, ``keep`` of them."""
    if not q.shape[1]:
        # Given lines only, as of one branch that is pinned.
        return q[:1]
    damping = np.full(len(q), DAMPING)
    q = _lines_of_many(squares, q)
    value = (squares.residual(q) ** 2).sum(axis=-1)
    for steps in ROUNDS:
        for _ in range(steps):
            trial = _lines_of_many(squares, squares.problem.clipped(q + _steps(squares, q, damping)))
            there = (squares.residual(trial) ** 2).sum(axis=-1)
            better = there < value
            q, value = np.where(better[:, None], trial, q), np.where(better, there, value)
            damping = np.clip(np.where(better, damping / 4, damping * 5), 1e-12, 1e8)
        order = np.argsort(value, kind="stable")[: max(keep, len(q) // 2)]
        q, value, damping = q[order], value[order], damping[order]
    return q[:keep]


def _steps(squares: Squares, q: Array, damping: Array) -> Array:
    """Steps of all parameters, damped in the curved ones."""
    problem = squares.problem
    slopes = squares.root * problem.slopes_of_many(q)
    normal = slopes @ slopes.swapaxes(-1, -2)
    index = np.arange(normal.shape[-1])
    size = normal[:, index, index]
    normal[:, index, index] += np.where(problem.curved, damping[:, None] * (size + 1e-6 * size.max()), 0)
    normal[:, index, index] += 1e-12 * size.sum(axis=1)[:, None] + 1e-280
    gradient = slopes @ squares.residual(q)[..., None]
    move = np.nan_to_num(-np.linalg.solve(normal, gradient)[..., 0])
    return np.asarray(np.clip(move, -2.0, 2.0), dtype=np.float64)


def _lines_of_many(squares: Squares, q: Array) -> Array:
    linear = ~squares.problem.curved
    if not linear.any():
        return q
    many = np.where(linear, 0.0, q)
    slopes = squares.root * squares.problem.slopes_of_many(many)[:, linear]
    normal = slopes @ slopes.swapaxes(-1, -2)
    index = np.arange(normal.shape[-1])
    trace = normal[:, index, index].sum(axis=1)[:, None]
    normal[:, index, index] += 1e-13 * trace + 1e-280
    many[:, linear] = -np.linalg.solve(normal, slopes @ squares.residual(many)[..., None])[..., 0]
    return squares.problem.clipped(many)


def settle(squares: Squares, q: Array) -> tuple[Array, float, int]:
    """One descent to the end: free parameters, the root mean square, and steps."""
    problem = squares.problem
    curved = problem.curved
    q = _lines(squares, problem.clipped(q))
    rest = squares.residual(q)
    value, damping, taken, idle = float(rest @ rest), DAMPING, 0, 0
    while taken < STEPS and idle < 6 and damping < 1e12 and curved.any() and value > 0:
        taken += 1
        jacobian = _projected(squares, q)
        size = np.sqrt((jacobian**2).sum(axis=0))
        scale = np.maximum(size, 1e-3 * max(float(size.max()), 1e-280))
        free = _movable(problem, q, jacobian.T @ rest)
        rows = np.vstack([jacobian[:, free], np.sqrt(damping) * np.diag(scale[free])])
        move = np.linalg.lstsq(rows, np.append(-rest, np.zeros(int(free.sum()))), rcond=1e-15)[0]
        trial = q.copy()
        trial[np.flatnonzero(curved)[free]] += np.clip(move, -2.0, 2.0)
        trial = _lines(squares, problem.clipped(trial))
        there = squares.residual(trial)
        new = float(there @ there)
        if new <= value * (1 + ROUNDING):
            # The gradient has more digits than the value: steps go on when the latter says nothing any more.
            idle = idle + 1 if value - new <= GAIN * value else 0
            q, rest, value, damping = trial, there, new, damping / 5
            if float(np.abs(move).max(initial=0.0)) < 1e-13:
                break
        else:
            damping = max(damping, 1e-12) * 4
    return q, float(np.sqrt(value)), taken


def _projected(squares: Squares, q: Array) -> Array:
    """Derivatives by the curved parameters, less their projection on those by lines not at a bound."""
    slopes, curved = squares.slopes(q), squares.problem.curved
    inside = ~curved & ~_at_bound(squares.problem, q)
    if not inside.any():
        return slopes[:, curved]
    basis, factor = np.linalg.qr(slopes[:, inside])
    size = np.abs(np.diag(factor))
    basis = basis[:, size > 1e-13 * size.max(initial=0.0)]
    return np.asarray(slopes[:, curved] - basis @ (basis.T @ slopes[:, curved]))


def _at_bound(problem: Sampled, q: Array) -> Mask:
    low = -np.inf if problem.low is None else problem.low
    high = np.inf if problem.high is None else problem.high
    return np.asarray((q <= low) | (q >= high))


def _movable(problem: Sampled, q: Array, gradient: Array) -> Mask:
    """The curved parameters that are not held at a bound by the gradient."""
    at, curved = q[problem.curved], problem.curved
    low = np.full(len(at), -np.inf) if problem.low is None else problem.low[curved]
    high = np.full(len(at), np.inf) if problem.high is None else problem.high[curved]
    return np.asarray(~((at <= low) & (gradient > 0)) & ~((at >= high) & (gradient < 0)))


def _lines(squares: Squares, q: Array) -> Array:
    """The lines by least squares within their bounds."""
    problem, linear = squares.problem, ~squares.problem.curved
    if not linear.any():
        return q
    q = np.where(linear, 0.0, q)
    slopes, rest = squares.slopes(q)[:, linear], -squares.residual(q)
    found = np.linalg.lstsq(slopes, rest, rcond=1e-14)[0]
    low = np.full(linear.sum(), -np.inf) if problem.low is None else problem.low[linear]
    high = np.full(linear.sum(), np.inf) if problem.high is None else problem.high[linear]
    if (found < low).any() or (found > high).any():
        size = np.sqrt((slopes**2).sum(axis=0)) + 1e-280
        wide = np.maximum(high - low, 1e-12)
        from scipy.optimize import lsq_linear

        scaled = lsq_linear(slopes / size, rest, (low * size, (low + wide) * size), method="bvls")
        found = np.clip(scaled.x / size, low, high)
    q[linear] = found
    return q
