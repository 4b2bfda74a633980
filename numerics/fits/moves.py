"""Starts of a search, at random and beside gates that were found."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gateproof.numerics.fits.gates import Array
from gateproof.numerics.fits.sampled import Sampled


def drawn(problem: Sampled, count: int, rng: np.random.Generator) -> Array:
    """Random sharpness and thresholds, each with its mirror image, shape (count, free); lines are 0."""
    gates, n = problem.gates, problem.gates.branches - 1
    full = np.zeros((count, gates.size))
    if n:
        half = (count + 1) // 2
        wide = rng.choice([0.6, 1.2, 2.5], half)[:, None]
        theta = np.sort(rng.normal(0.0, 1.0, (half, n)) * wide, axis=1)
        jitter = rng.choice([0.1, 0.6], half)[:, None]
        sharp = np.log(rng.uniform(0.7, 1.0, half) * rng.choice([1.0, 2.0, 4.0, 8.0], half))[:, None]
        sharp = sharp + rng.normal(0.0, 1.0, (half, n)) * jitter
        sharp = np.stack([sharp, sharp[:, ::-1]], axis=1).reshape(-1, n)[:count]
        theta = np.stack([theta, -theta[:, ::-1]], axis=1).reshape(-1, n)[:count]
        full[:, :n], full[:, n : 2 * n] = sharp, theta
    return problem.free(full)


def disturbed(problem: Sampled, best: Sequence[Array], count: int, rng: np.random.Generator) -> Array:
    """Gates beside those given, shape (count, free): thresholds and sharpness moved, or one put elsewhere."""
    gates, n = problem.gates, problem.gates.branches - 1
    found = []
    for k in range(count):
        full = problem.full(best[k % len(best)]).copy()
        kind = int(rng.integers(5))
        if kind == 0 and n > 1:
            full = _put_elsewhere(full, n, rng)
        elif kind == 1:
            full = _mirrored(full, n)
            full[: 2 * n] += 0.1 * rng.normal(size=2 * n)
        elif kind == 2 and n > 1:
            full = _drawn_together(full, n, rng)
        else:
            full[: 2 * n] += (0.5, 0.15, 0.5)[kind - 2] * rng.normal(size=2 * n)
        found.append(full)
    return problem.free(np.reshape(found, (count, gates.size)))


def _mirrored(full: Array, n: int) -> Array:
    """Branches in reverse order around 0; lines are to be found anew."""
    lines = [full[2 * n : 3 * n + 1][::-1], full[3 * n + 1 :][::-1]]
    return np.concatenate([full[:n][::-1], -full[n : 2 * n][::-1], -lines[0], lines[1]])


def _drawn_together(full: Array, n: int, rng: np.random.Generator) -> Array:
    """Two or three neighbouring thresholds nearer to each other, in place and sharpness."""
    found = full.copy()
    order = np.argsort(full[n : 2 * n])
    many = min(n, int(rng.integers(2, 4)))
    k = int(rng.integers(n - many + 1))
    group = order[k : k + many]
    share = float(rng.uniform(0.05, 0.7))
    for first in (0, n):
        middle = found[first + group].mean()
        found[first + group] = middle + share * (found[first + group] - middle)
    return found


def _put_elsewhere(full: Array, n: int, rng: np.random.Generator) -> Array:
    """One threshold taken out with the branch on one side of it, another put in."""
    out = int(rng.integers(n))
    parts = [np.delete(full[:n], out), np.delete(full[n : 2 * n], out)]
    parts += [np.delete(p, out + int(rng.integers(2))) for p in (full[2 * n : 3 * n + 1], full[3 * n + 1 :])]
    return inserted(
        *parts, at=float(rng.normal(0.0, 2.0)), log_sharp=float(parts[0].mean() + rng.normal(0, 0.5))
    )


def inserted(
    log_tau: Array, theta: Array, slope: Array, intercept: Array, *, at: float, log_sharp: float
) -> Array:
    """All parameters with one threshold more, which has the same line on both sides."""
    k = int(np.searchsorted(theta, at))
    return np.concatenate(
        [
            np.insert(log_tau, k, log_sharp),
            np.insert(theta, k, at),
            np.insert(slope, k, slope[min(k, len(slope) - 1)]),
            np.insert(intercept, k, intercept[min(k, len(intercept) - 1)]),
        ]
    )
