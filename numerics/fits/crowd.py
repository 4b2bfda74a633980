"""Many gates at once descend in the least-p norms of their errors, for p = 2 up to near the sup norm.

The p-norm's minimum moves continuously to the sup norm's as p grows, and its Gauss-Newton step

    d = -(J' W J + damping)^-1 J' W r / (p - 1),   W = diag(weight |r|^(p-2))

costs a few small products. All starts are held in one array, so that hundreds of them descend in the time
that one descent takes otherwise. Between the values of p the worse ones, and those that became equal, are
dropped.

Sources: Polya's algorithm (least-p to Chebyshev, Rice 1964; Fletcher, Grant, Hebden 1971), damping after
Levenberg and Marquardt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gateproof.numerics.fits.gates import Array
from gateproof.numerics.fits.sampled import Sampled

#: Steps taken for each p.
ROUNDS = ((2, 40), (4, 10), (10, 12), (30, 15))
#: The longest step in log tau and theta.
LONGEST = 0.7


@dataclass
class Crowd:
    """Free parameters (m, free) and their errors on a thinned grid (m, points)."""

    q: Array
    error: Array

    @property
    def sup(self) -> Array:
        """The largest error of each, shape (m,)."""
        return np.asarray(np.abs(self.error).max(axis=-1, initial=0.0))


def descend(problem: Sampled, starts: Array, *, keep: Sequence[int]) -> Crowd:
    """The best of the starts (m, free) after all rounds, best first; ``keep`` of them go on after each."""
    crowd = Crowd(starts, _errors(problem, starts))
    spread = _spread(problem.x)
    damping = np.full(len(starts), 1e-3)
    for (p, steps), kept in zip(ROUNDS, keep, strict=True):
        for _ in range(steps):
            _step(problem, crowd, damping, spread, p)
        order = _distinct(crowd)[:kept]
        crowd, damping = Crowd(crowd.q[order], crowd.error[order]), np.minimum(damping[order], 1e-2)
    return crowd


def lines_by_least_squares(
    problem: Sampled, q: Array, spread: Array | None = None, wanted: Array | float = 0.0
) -> Array:
    """The free parameters (m, free) with those of the lines replaced by their least squares values.

    ``wanted``: errors (m, points) to come near to.
    """
    linear = ~problem.curved
    if not linear.any():
        return q
    many = q.copy()
    gates = problem.weights * problem.gates.lines_jacobian(problem.full(many), problem.x)
    first = problem.gates.place("slope", 0)
    slopes = problem.basis[first:, linear].T @ gates
    weighted = slopes if spread is None else slopes * spread
    normal = weighted @ slopes.swapaxes(-1, -2)
    index = np.arange(normal.shape[-1])
    normal[:, index, index] *= 1 + 1e-12
    normal[:, index, index] += 1e-14 * np.trace(normal, axis1=-2, axis2=-1)[:, None] + 1e-280
    # A correction, so that what the normal equations lose is lost of it, not of the lines.
    rest = wanted - _errors(problem, many)
    many[:, linear] += np.linalg.solve(normal, weighted @ rest[..., None])[..., 0]
    return problem.clipped(many)


def _errors(problem: Sampled, q: Array) -> Array:
    with np.errstate(all="ignore"):
        values = problem.scale(problem.x) * (problem.gates.values(problem.full(q), problem.x) - problem.y)
    return np.nan_to_num(values, nan=1e150, posinf=1e150, neginf=1e150)


def _spread(x: Array) -> Array:
    """The share of each point: lengths far out count like those at 1, since the error is a tail there."""
    s = np.arcsinh(x / 2)
    gaps = np.diff(s, prepend=s[0], append=s[-1]) if len(x) > 1 else np.ones(2)
    share = gaps[1:] + gaps[:-1]
    return np.asarray(share / share.sum() + 1e-6)


def _norm(error: Array, spread: Array, p: int) -> Array:
    top = np.maximum(np.abs(error).max(axis=-1), 1e-300)
    return np.asarray(top * ((np.abs(error) / top[:, None]) ** p @ spread) ** (1 / p))


def _step(problem: Sampled, crowd: Crowd, damping: Array, spread: Array, p: int) -> None:
    """One damped step of all; those that would grow stay and are damped more."""
    q, error = crowd.q, crowd.error
    slopes = problem.slopes_of_many(q)
    top = np.maximum(np.abs(error).max(axis=-1, keepdims=True), 1e-300)
    weight = spread * (np.abs(error) / top) ** (p - 2)
    weighted = slopes * weight[:, None, :]
    normal = weighted @ slopes.swapaxes(-1, -2)
    gradient = (weighted @ error[..., None])[..., 0]
    n = q.shape[1]
    low = -np.inf if problem.low is None else problem.low
    high = np.inf if problem.high is None else problem.high
    held = ((q <= low) & (gradient > 0)) | ((q >= high) & (gradient < 0))
    free = ~held
    normal = normal * (free[:, :, None] & free[:, None, :])
    gradient = gradient * free
    diagonal = np.diagonal(normal, axis1=-2, axis2=-1)
    floor = 1e-12 * diagonal.max(axis=-1, keepdims=True) + 1e-280
    index = np.arange(n)
    # Lines are not damped: the step is that of the sharpness and thresholds with the best lines for them
    # (variable projection), which valleys of nearly dependent gates do not slow down.
    normal[:, index, index] += damping[:, None] * diagonal * problem.curved + floor + held
    with np.errstate(all="ignore"):
        move = -np.linalg.solve(normal, gradient[..., None])[..., 0] / (p - 1)
    move = np.nan_to_num(move, nan=0.0, posinf=0.0, neginf=0.0)
    longest = np.abs(move[:, problem.curved]).max(axis=-1, initial=0.0)
    move *= np.minimum(1.0, LONGEST / np.maximum(longest, 1e-300))[:, None]
    trial = np.clip(q + move, low, high)
    if p == 2:
        trial = lines_by_least_squares(problem, trial, spread)
    else:
        wanted = error + (move[:, None, :] @ slopes)[:, 0]
        trial = lines_by_least_squares(problem, trial, spread, wanted)
    there = _errors(problem, trial)
    better = _norm(there, spread, p) < _norm(error, spread, p)
    crowd.q = np.where(better[:, None], trial, q)
    crowd.error = np.where(better[:, None], there, error)
    damping *= np.where(better, 0.3, 5.0)
    np.clip(damping, 1e-12, 1e8, out=damping)


def _distinct(crowd: Crowd) -> list[int]:
    """Indices, best first, one of each cluster of nearly equal errors."""
    sup = crowd.sup
    order, kept = np.argsort(sup, kind="stable"), list[int]()
    for k in order:
        if not np.isfinite(sup[k]):
            continue
        twin = any(
            abs(sup[k] - sup[j]) <= 1e-5 * sup[j]
            and np.abs(crowd.error[k] - crowd.error[j]).max() <= 1e-3 * sup[j]
            for j in kept[-4:]
        )
        if not twin:
            kept.append(int(k))
    return kept
