"""Many gates at once descend in the least-p norms of their errors, for p = 2 up to near the sup norm.

The p-norm's minimum moves continuously to the sup norm's as p grows, and its Gauss-Newton step

    d = -(J' W J + damping)^-1 J' W r / (p - 1),   W = diag(weight |r|^(p-2))

costs a few small products. All starts are held in one array, so that hundreds of them descend in the time
that one descent takes otherwise. Between the values of p the worse ones, and those that became alike, are
dropped; where p doubles each time, their order at the end is nearly that of the sup norm.

Sources: Polya's algorithm (least-p to Chebyshev, Rice 1964; Fletcher, Grant, Hebden 1971), damping after
Levenberg and Marquardt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gateproof.numerics.fits.gates import Array, Evaluated
from gateproof.numerics.fits.sampled import Sampled

#: The values of p and the steps taken for each.
ROUNDS = ((2, 50), (4, 15), (8, 15), (16, 15), (32, 15), (64, 15), (128, 15), (256, 15))
#: Gates whose errors are so near each other, as a share of the error, go the same way.
ALIKE = (0.05, 0.05, 0.05, 0.05, 0.05, 0.04, 0.03, 0.02)
#: The longest step in log tau and theta.
LONGEST = 0.7


@dataclass
class Crowd:
    """Free parameters (m, free), their errors on a thinned grid (m, points), and their gates there."""

    q: Array
    error: Array
    known: Evaluated

    @property
    def sup(self) -> Array:
        """The largest error of each, shape (m,)."""
        return np.asarray(np.abs(self.error).max(axis=-1, initial=0.0))

    def chosen(self, which: list[int]) -> Crowd:
        """Some of them."""
        return Crowd(self.q[which], self.error[which], Evaluated(*(part[which] for part in self.known)))


def descend(problem: Sampled, starts: Array, *, keep: Sequence[int]) -> Crowd:
    """The best of the starts (m, free) after all rounds, best first; ``keep`` of them go on after each."""
    spread = _spread(problem.x)
    crowd = lines_by_least_squares(problem, starts)
    damping = np.full(len(starts), 1e-3)
    for (p, steps), kept, alike in zip(ROUNDS, keep, ALIKE, strict=True):
        for _ in range(steps):
            _step(problem, crowd, damping, spread, p)
        order = _distinct(crowd, alike, kept)
        crowd, damping = crowd.chosen(order), np.minimum(damping[order], 1e-2)
    return crowd


def lines_by_least_squares(
    problem: Sampled, q: Array, spread: Array | None = None, wanted: Array | float = 0.0
) -> Crowd:
    """Free parameters (m, free) with those of the lines replaced by their least squares values.

    ``wanted``: errors (m, points) to come near to.
    """
    linear, many = ~problem.curved, q.copy()
    with np.errstate(all="ignore"):
        known = problem.gates.evaluated(problem.full(many), problem.x)
        error = _finite(problem.error_of(many, known))
    if not linear.any():
        return Crowd(many, error, known)
    slopes = problem.line_slopes(known)
    weighted = slopes if spread is None else slopes * spread
    normal = weighted @ slopes.swapaxes(-1, -2)
    index = np.arange(normal.shape[-1])
    normal[:, index, index] *= 1 + 1e-12
    normal[:, index, index] += 1e-14 * np.trace(normal, axis1=-2, axis2=-1)[:, None] + 1e-280
    # A correction, so that what the normal equations lose is lost of it, not of the lines.
    many[:, linear] += np.linalg.solve(normal, weighted @ (wanted - error)[..., None])[..., 0]
    many = problem.clipped(many)
    with np.errstate(all="ignore"):
        return Crowd(many, _finite(problem.error_of(many, known)), known)


def _finite(error: Array) -> Array:
    return np.nan_to_num(error, copy=False, nan=1e150, posinf=1e150, neginf=1e150)


def _spread(x: Array) -> Array:
    """The share of each point: lengths far out count like those at 1, since the error is a tail there."""
    s = np.arcsinh(x / 2)
    gaps = np.diff(s, prepend=s[0], append=s[-1]) if len(x) > 1 else np.ones(2)
    share = gaps[1:] + gaps[:-1]
    return np.asarray(share / share.sum() + 1e-6)


def _norm(error: Array, spread: Array, p: int) -> Array:
    top = np.maximum(np.abs(error).max(axis=-1), 1e-300)
    return np.asarray(top * ((np.abs(error) / top[:, None]) ** p @ spread) ** (1 / p))


@np.errstate(all="ignore")
def _step(problem: Sampled, crowd: Crowd, damping: Array, spread: Array, p: int) -> None:
    """One damped step of all; those that would grow stay and are damped more."""
    q, error = crowd.q, crowd.error
    slopes = problem.slopes_of_many(q, crowd.known)
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
    moved = np.clip(q + move, low, high)
    wanted = 0.0 if p == 2 else error + (move[:, None, :] @ slopes)[:, 0]
    trial = lines_by_least_squares(problem, moved, spread, wanted)
    better = _norm(trial.error, spread, p) < _norm(error, spread, p)
    for new, old in zip((trial.q, trial.error, *trial.known), (q, error, *crowd.known), strict=True):
        new[~better] = old[~better]
    crowd.q, crowd.error, crowd.known = trial.q, trial.error, trial.known
    damping *= np.where(better, 0.3, 5.0)
    np.clip(damping, 1e-12, 1e8, out=damping)


def _distinct(crowd: Crowd, alike: float, most: int) -> list[int]:
    """Indices, best first, one of each cluster of nearly equal errors."""
    sup = crowd.sup
    kept = list[int]()
    for k in np.argsort(sup, kind="stable"):
        if not np.isfinite(sup[k]):
            continue
        if kept and np.abs(crowd.error[kept] - crowd.error[k]).max(axis=-1).min() <= alike * sup[k]:
            continue
        kept.append(int(k))
        if len(kept) == most:
            break
    return kept
