"""Least squares under inequalities: monotone gates, bounded coefficients."""

from __future__ import annotations

import numpy as np

from gateproof.numerics.fits.gates import Array
from gateproof.numerics.fits.squares_descent import DAMPING, Squares

#: Steps for one penalty, and how far inside the inequalities the optimum is sought.
PENALISED, MARGINS = 60, (1e-9, 1e-7, 1e-5, 1e-3)


def constrained(squares: Squares, q: Array) -> tuple[Array, float]:
    """The least squares near q under the problem's inequalities, by growing penalties; at worst q itself."""
    problem = squares.problem
    assert problem.inequality is not None
    inequality = problem.inequality
    best, value = q, float(np.sqrt((squares.residual(q) ** 2).sum()))
    for margin in MARGINS:
        trial = q
        for power in range(7):
            trial = _penalised(squares, trial, value * 10.0 ** (2 * power), margin)
        if inequality(trial)[0].min(initial=0.0) >= 0:
            there = float(np.sqrt((squares.residual(trial) ** 2).sum()))
            best, value = (trial, there) if there < value else (best, value)
            break
    return best, value


def _penalised(squares: Squares, q: Array, factor: float, margin: float) -> Array:
    """Levenberg and Marquardt's steps in all parameters for the errors and factor * (margin - value)."""
    problem = squares.problem
    assert problem.inequality is not None
    inequality = problem.inequality

    def rows(p: Array) -> tuple[Array, Array]:
        values, slopes = inequality(p)
        short = values < margin
        rest = np.concatenate([squares.residual(p), factor * (margin - values[short])])
        return rest, np.vstack([squares.slopes(p), -factor * slopes[short]])

    rest, jacobian = rows(q)
    damping = DAMPING
    for _ in range(PENALISED):
        scale = np.sqrt((jacobian**2).sum(axis=0)) + 1e-12
        system = np.vstack([jacobian, np.sqrt(damping) * np.diag(scale)])
        move = np.linalg.lstsq(system, np.append(-rest, np.zeros(len(q))), rcond=1e-15)[0]
        trial = problem.clipped(q + np.clip(move, -2.0, 2.0))
        there, slopes = rows(trial)
        gain = float(rest @ rest - there @ there)
        if gain > 0:
            small = gain < 1e-12 * float(rest @ rest)
            q, rest, jacobian, damping = trial, there, slopes, damping / 5
            if small:
                break
        else:
            damping = max(damping, 1e-12) * 5
            if damping > 1e8:
                break
    return q
