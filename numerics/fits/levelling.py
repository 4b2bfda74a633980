"""Minimax descent: linear programmes on the peaks of the error, with corrections that follow its curvature.

Around parameters q with error r(x; q) the programme

    minimise e  subject to  |r(x_i) + r'(x_i) . d| <= e at the peaks x_i,  |d| <= D

gives a step d, its level e, and the peaks that hold it up. To first order that is all, but the level sets are
curved: at q + d the peaks are off by O(d^2), which makes steps tiny long before the optimum (a fit with fewer
level peaks than parameters + 1 stalls there). So the peaks are found again at q + d, and the shortest
correction is added that brings those which held the level back to it; two or three of these double the digits
like Newton's iteration. The trust region D follows the ratio of what was gained to what was promised.

Sources: sequential linear programming for minimax (Madsen 1975); second-order corrections (Fletcher,
"Practical Methods of Optimization").
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from gateproof.numerics.fits.gates import Array, Gates

#: Peaks below this share of the error are left out; corrections for one step.
FOLLOWED, CORRECTIONS = 0.2, 3
#: Steps below it are not taken; the widest one (in log tau, theta, and lines of a function of size 1).
SMALLEST, WIDEST = 1e-12, 1.0


@dataclass(frozen=True)
class Sampled:
    """The error of a gate on a grid, ``weight * (gate - function)``; free parameters q in base + basis q.

    ``function`` is None for data, whose peaks are then those of the grid. ``low`` and ``high`` bound q.
    """

    gates: Gates
    base: Array
    basis: Array
    x: Array
    y: Array
    function: Callable[[Array], Array] | None = None
    weight: Callable[[Array], Array] | None = None
    low: Array | None = None
    high: Array | None = None

    def full(self, q: Array) -> Array:
        """All parameters."""
        return np.asarray(self.base + self.basis @ q)

    def free(self, full: Array) -> Array:
        """The free parameters nearest to all parameters."""
        return np.asarray(self.basis.T @ (full - self.base) / np.maximum(1.0, (self.basis**2).sum(axis=0)))

    def scale(self, x: Array) -> Array:
        """The weight at x."""
        return np.ones_like(x) if self.weight is None else self.weight(x)

    def error(self, q: Array) -> Array:
        """The error on the grid."""
        return np.asarray(self.scale(self.x) * (self.gates.values(self.full(q), self.x) - self.y))

    def slopes(self, q: Array, x: Array) -> Array:
        """Derivatives of the error at x by the free parameters, shape (points, free)."""
        return np.asarray((self.scale(x) * self.gates.jacobian(self.full(q), x)).T @ self.basis)

    def peaks(self, q: Array, error: Array) -> tuple[Array, Array]:
        """The places of the peaks of |error| and the errors there, between grid points by parabolas."""
        size = np.abs(error)
        before = np.concatenate([[True], size[1:] >= size[:-1]])
        after = np.concatenate([size[:-1] > size[1:], [True]])
        at = np.flatnonzero(before & after & (size > FOLLOWED * size.max()))
        if self.function is None:
            return self.x[at], error[at]
        places = self.x[at].copy()
        inner = (at > 0) & (at < len(self.x) - 1)
        k = at[inner]
        left, right = self.x[k] - self.x[k - 1], self.x[k + 1] - self.x[k]
        rise, fall = (error[k] - error[k - 1]) / left, (error[k + 1] - error[k]) / right
        bend = (fall - rise) / (left + right)
        move = -(rise * right + fall * left) / (left + right) / (2 * np.where(bend == 0, np.inf, bend))
        places[inner] += np.clip(move, -left, right)
        here = self.gates.values(self.full(q), places) - self.function(places)
        return places, np.asarray(self.scale(places) * here)


@dataclass(frozen=True)
class Levelled:
    """Free parameters, their sup error on the grid and at its peaks, and the programmes solved."""

    q: Array
    error: float
    programmes: int


def level(problem: Sampled, q: Array, *, steps: int, reach: float = 0.1, digits: int = 9) -> Levelled:
    """Descend from q until a step promises less than a relative 10**-digits, or ``steps`` programmes."""
    error = problem.error(q)
    places, here = problem.peaks(q, error)
    best, solved = max(np.abs(error).max(), np.abs(here).max(initial=0.0)), 0
    while solved < steps:
        solved += 1
        sign, slopes = np.sign(here), problem.slopes(q, places)
        found = _programme(problem, q, sign, sign * here, sign[:, None] * slopes, reach)
        if found is None:
            reach /= 4
        else:
            step, target, holding = found
            promised = best - target
            if promised <= best * 10.0**-digits:
                break
            trial = _corrected(problem, q + step, target, places[holding], sign[holding], reach)
            gained = (best - trial[0]) / promised
            if trial[0] < best:
                best, q, places, here = trial
                reach = min(2 * reach, WIDEST) if gained > 0.6 else reach if gained > 0.2 else reach / 2
            else:
                reach = min(reach / 4, float(np.abs(step).max()) / 3)
        if reach < SMALLEST or best == 0:
            break
    return Levelled(q, float(best), solved)


def _programme(
    problem: Sampled, q: Array, sign: Array, height: Array, slopes: Array, reach: float
) -> tuple[Array, float, NDArray[np.bool_]] | None:
    """The step, its level, and which peaks hold it."""
    n = len(q)
    low = np.full(n, -reach) if problem.low is None else np.maximum(-reach, np.minimum(problem.low - q, 0))
    high = np.full(n, reach) if problem.high is None else np.minimum(reach, np.maximum(problem.high - q, 0))
    scale = height.max(initial=0.0)
    if not 0 < scale < np.inf:
        return None
    result = linprog(
        np.append(np.zeros(n), 1.0),
        A_ub=np.hstack([slopes / scale, -np.ones((len(sign), 1))]),
        b_ub=-height / scale,
        bounds=[*zip(low, high, strict=True), (None, None)],
        method="highs",
    )
    if result.x is None:
        return None
    return (
        result.x[:n],
        float(result.x[n]) * scale,
        np.asarray(result.ineqlin.marginals < -1e-9, dtype=np.bool_),
    )


def _corrected(
    problem: Sampled, q: Array, target: float, places: Array, sign: Array, reach: float
) -> tuple[float, Array, Array, Array]:
    """The best of the step and its corrections: error, parameters, peaks and their errors."""
    best: tuple[float, Array, Array, Array] | None = None
    for round_ in range(CORRECTIONS + 1):
        error = problem.error(q)
        found, here = problem.peaks(q, error)
        size = max(np.abs(error).max(), np.abs(here).max(initial=0.0))
        if best is None or size < best[0]:
            best = (float(size), q, found, here)
        elif round_ > 1:
            break
        use = {int(k) for k in np.flatnonzero(np.abs(here) > target)}
        for x, s in zip(places, sign, strict=True):
            same = np.flatnonzero(np.sign(here) == s)
            if len(same):
                use.add(int(same[np.argmin(np.abs(found[same] - x))]))
        if not 0 < len(use) <= len(q) + 1:
            break
        at = sorted(use)
        slopes = problem.slopes(q, found[at]) * np.sign(here[at])[:, None]
        move = np.linalg.lstsq(slopes, target - np.abs(here[at]), rcond=1e-12)[0]
        longest = float(np.abs(move).max(initial=0.0))
        if not np.isfinite(longest):
            break
        q = q + move * min(1.0, reach / longest if longest else 1.0)
        if problem.low is not None:
            q = np.maximum(q, problem.low)
        if problem.high is not None:
            q = np.minimum(q, problem.high)
    assert best is not None
    return best
