"""From many starts to the best fit: thresholds at random, lines by least squares, then levelling.

The lines are linear for given gates (variable projection, Golub and Pereyra 1973), so a start is a choice of
sharpness and thresholds only. All functions here live in normal coordinates (:mod:`...fits.normal`): the
function's features are of width and height about 1 around 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gateproof.numerics.fits.gates import Array
from gateproof.numerics.fits.levelling import Levelled, Sampled, level

#: Programmes for all starts, for the better third, and for the best ones.
ROUNDS, LAST = (6, 20), 200


@dataclass(frozen=True)
class Effort:
    """Starts levelled, candidates looked at for each, and how many of the best are finished."""

    starts: int = 40
    candidates: int = 6
    finished: int = 6


def lines_by_least_squares(problem: Sampled, q: Array) -> Array:
    """The free parameters with those of the lines replaced by their least squares values."""
    gates = problem.gates
    first = gates.place("slope", 0)
    linear = np.abs(problem.basis[first:]).sum(axis=0) > 0
    if not linear.any():
        return q
    q = np.where(linear, 0.0, q)
    slopes, rest = problem.slopes(q, problem.x)[:, linear], -problem.error(q)
    found = np.linalg.lstsq(slopes, rest, rcond=1e-9)[0]
    q = q.copy()
    q[linear] = found
    return q


def starts(problem: Sampled, count: int, rng: np.random.Generator) -> list[Array]:
    """Random starts with their mirror images, best first."""
    gates, n = problem.gates, problem.gates.branches - 1
    found = []
    for k in range(count):
        full = np.zeros(gates.size)
        theta = np.sort(rng.normal(0.0, 1.5, n))
        full[:n] = np.log(rng.uniform(0.8, 4.0)) + rng.normal(0.0, 0.15, n)
        for mirrored in (False, True):
            full[n : 2 * n] = -theta[::-1] if mirrored else theta
            q = lines_by_least_squares(problem, problem.free(full))
            found.append((float(np.abs(problem.error(q)).max()), k, mirrored, q))
            full[:n] = full[:n][::-1].copy()
    found.sort(key=lambda entry: entry[:3])
    return [q for *_, q in found]


def search(problem: Sampled, effort: Effort, seeds: list[Array], seed: int = 0) -> list[Levelled]:
    """Fits from the given seeds and from random starts, best first."""
    rng = np.random.default_rng(seed)
    fresh = starts(problem, effort.starts * effort.candidates // 2, rng)[: effort.starts]
    rough = [level(problem, q, steps=ROUNDS[0]) for q in (*seeds, *fresh)]
    rough = _different(rough)[: max(effort.finished, len(rough) // 3)]
    rough = _different([level(problem, r.q, steps=ROUNDS[1]) for r in rough])[: effort.finished]
    done = [level(problem, r.q, steps=LAST, reach=0.05) for r in rough]
    return sorted(done, key=lambda r: r.error)


def _different(found: list[Levelled]) -> list[Levelled]:
    """Best first, one of each cluster of nearly equal fits."""
    kept: list[Levelled] = []
    for r in sorted(found, key=lambda r: r.error):
        if all(abs(r.error - k.error) > 1e-6 * k.error or np.abs(r.q - k.q).max() > 1e-3 for k in kept):
            kept.append(r)
    return kept
