"""Directions of steps for thresholds that stand close together: all of them alike, and apart.

Two terms with lines M/h and -M/h and thresholds p and p + h (p stands for log tau and theta) are about M
times a derivative of sigmoid. A move of both by d changes it by M d, of one alone by M d/h, and to the second
order by M d^2/h^2: derivatives tell what happens for d up to about 1 in the former case, up to about h in the
latter. So a step is made of moves of whole clusters and of moves by which their halves part, in shares of
their distance; then one bound fits all of them.
"""

from __future__ import annotations

import numpy as np

from gateproof.numerics.fits.gates import Array
from gateproof.numerics.fits.sampled import Sampled

#: Thresholds closer than this, in log tau and in widths 1/tau, are a cluster.
CLOSE = 1.0
#: None has its log tau so near a bound.
BOUND = 1.5
#: The least share of a step.
LEAST = 1e-4


def directions(problem: Sampled, q: Array) -> Array:
    """Directions of steps as columns, (free, free)."""
    found = np.eye(len(q))
    if problem.gates.algebra != "difference":
        # Products and sticks do not grow as thresholds meet.
        return found
    theta, sharp = _free_parameters(problem, q)
    if len(theta) < 2:
        return found
    centre = np.array([[_log_tau(problem, q, k), q[j]] for k, j in theta.items()])
    groups, places = [[i] for i in range(len(theta))], list(theta.values())
    taus = [sharp.get(k) for k in theta]
    while len(groups) > 1:
        i, j, apart = _nearest(centre)
        if apart >= CLOSE:
            break
        one, other = groups[i], groups[j]
        share = len(other) / (len(one) + len(other))
        for columns in (places, taus):
            a, b = ([c for m in part if (c := columns[m]) is not None] for part in (one, other))
            if len(a) + len(b) == len(one) + len(other):
                # The columns of two means become those of their mean and their difference.
                found[:, a[0]] = found[:, b[0]] = 0.0
                found[[*a, *b], a[0]] = 1.0
                found[a, b[0]], found[b, b[0]] = -max(apart, LEAST) * share, max(apart, LEAST) * (1 - share)
        centre[i] = (1 - share) * centre[i] + share * centre[j]
        groups[i] = one + other
        del groups[j]
        centre = np.delete(centre, j, axis=0)
    return found


def _free_parameters(problem: Sampled, q: Array) -> tuple[dict[int, int], dict[int, int]]:
    """Which entries of q are the theta, and which the log tau of its own, of a threshold.

    Of thresholds that are bound to each other one is taken, of those beside a bound of log tau none.
    """
    n = problem.gates.branches - 1
    theta: dict[int, int] = {}
    sharp = {k: int(np.argmax(row != 0)) for k, row in enumerate(problem.basis[:n]) if row.any()}
    for k in range(n):
        row = problem.basis[n + k]
        j = int(np.argmax(row))
        # Of a threshold and its mirror image this is the one with a factor of 1.
        if row[j] == 1.0 and j not in theta.values() and _room(problem, q, sharp.get(k)) > BOUND:
            theta[k] = j
    own = [sharp.get(k) for k in theta]
    return theta, {k: s for k, s in sharp.items() if own.count(s) == 1 and k in theta}


def _room(problem: Sampled, q: Array, j: int | None) -> float:
    if j is None or problem.low is None or problem.high is None:
        return np.inf
    return float(min(q[j] - problem.low[j], problem.high[j] - q[j]))


def _log_tau(problem: Sampled, q: Array, k: int) -> float:
    return float(problem.base[k] + problem.basis[k] @ q)


def _nearest(centre: Array) -> tuple[int, int, float]:
    """The two clusters that are closest, i < j, and how close."""
    sharp = centre[:, None, 0] - centre[:, 0]
    middle = (centre[:, None, 0] + centre[:, 0]) / 2
    apart = np.hypot(sharp, np.exp(middle) * (centre[:, None, 1] - centre[:, 1]))
    apart[np.tril_indices(len(apart))] = np.inf
    i, j = divmod(int(np.argmin(apart)), len(apart))
    return i, j, float(apart[i, j])
