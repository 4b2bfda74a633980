"""Minimax descent: linear programmes on the peaks of the error, with corrections that follow its curvature.

Around parameters q with error r(x; q) the programme

    minimise e  subject to  |r(x_i) + r'(x_i) . d| <= e at the peaks x_i,  |d| <= D

gives a step d, its level e, and the peaks that hold it up. To first order that is all, but the level sets are
curved: at q + d the peaks are off by O(d^2), which makes steps tiny long before the optimum (a fit with fewer
level peaks than parameters + 1 stalls there). So the peaks are found again at q + d, and the shortest
correction is added that brings those which held the level back to it; two or three of these double the digits
like Newton's iteration. The trust region D, in the directions of :mod:`...fits.clusters`, follows the
ratio of what was gained to what was promised. Near the end Newton's iteration on the conditions of the
optimum takes over (:mod:`...fits.polish`).

Sources: sequential linear programming for minimax (Madsen 1975); second-order corrections (Fletcher,
"Practical Methods of Optimization").
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gateproof.numerics.fits.clusters import directions
from gateproof.numerics.fits.gates import Array
from gateproof.numerics.fits.lowest import lowest
from gateproof.numerics.fits.polish import polished
from gateproof.numerics.fits.sampled import Sampled, thinned

__all__ = ["Levelled", "Sampled", "level"]

#: Corrections for one step.
CORRECTIONS = 3
#: Steps below it are not taken; the widest one (in log tau, theta, and lines of a function of size 1).
SMALLEST, WIDEST = 1e-12, 1.0
#: What a breach of the constraints costs.
COST = 300.0
#: Lines of this size, of a function of size 1, cancel each other.
LARGE = 8.0
#: A fit is given up where it would need this many steps like the one promised.
HOPE = 20.0


@dataclass(frozen=True)
class Levelled:
    """Free parameters, their sup error on the grid and at its peaks, and the programmes solved.

    ``settled``: Newton's iteration confirmed a local optimum.
    """

    q: Array
    error: float
    programmes: int
    settled: bool = False


@dataclass(frozen=True)
class _State:
    size: float
    breach: float
    q: Array
    places: Array
    here: Array

    @property
    def merit(self) -> float:
        return self.size + COST * self.breach


def _state(problem: Sampled, q: Array) -> _State:
    error = problem.error(q)
    places, here = problem.peaks(q, error)
    size = max(np.abs(error).max(), np.abs(here).max(initial=0.0))
    breach = 0.0
    if problem.inequality is not None:
        breach = float(np.maximum(-problem.inequality(q, slopes=False)[0], 0.0).max(initial=0.0))
    return _State(float(size), breach, q, places, here)


@np.errstate(all="ignore")
def level(
    problem: Sampled, q: Array, *, steps: int, reach: float = 0.1, digits: int = 9, bar: float = np.inf
) -> Levelled:
    """Descend from q until a step promises less than a relative 10**-digits, or ``steps`` programmes.

    What promises to stay above ``bar`` is given up.
    """
    now, solved, settled = _state(problem, problem.clipped(q)), 0, False
    wait, due = 1, 0
    bends = problem.curved.any() and not problem.curved.all()
    thin = thinned(problem, 160) if bends else None
    while solved < steps and now.size > 0:
        solved += 1
        sign, slopes = np.sign(now.here), problem.slopes(now.q, now.places)
        turn = directions(problem, now.q)
        found = _programme(problem, now.q, sign * now.here, sign[:, None] * slopes, reach, turn)
        if found is None:
            reach /= 4
        else:
            part, target, share = found
            step = turn @ part
            promised = now.merit - target
            if now.merit - HOPE * promised > bar:
                break
            if solved >= due and promised <= 0.1 * now.merit and not now.breach:
                ended = polished(problem, now.q, now.places, now.here, share)
                if ended is not None and ended[1] <= now.size * (1 + 1e-11):
                    now, settled = _state(problem, ended[0]), True
                    break
                # Each failure makes the next trial wait longer.
                due, wait = solved + wait, 2 * wait
            if promised <= now.merit * 10.0**-digits:
                break
            holding = share > 1e-9
            straight = now.q + step if thin is None else _along(thin, now.q, step)
            trial = _corrected(problem, straight, target, now.places[holding], sign[holding], reach, turn)
            if now.merit - trial.merit < 0.5 * promised and _large_lines(problem, now.q):
                trial = min(trial, _relined(problem, now.q + step, now.places), key=lambda s: s.merit)
            gained = (now.merit - trial.merit) / promised
            if trial.merit < now.merit:
                now = trial
                reach = min(2 * reach, WIDEST) if gained > 0.6 else reach if gained > 0.2 else reach / 2
            else:
                reach = min(reach / 4, float((np.abs(part) / _span(problem, now.q)).max()) / 3)
        if reach < SMALLEST:
            break
    return Levelled(now.q, now.merit, solved, settled)


def _span(problem: Sampled, q: Array) -> Array:
    """How far a step of 1 goes in each parameter: as far as it is large in the lines."""
    return np.where(problem.curved, 1.0, np.maximum(1.0, np.abs(q)))


def _along(thin: Sampled, q: Array, step: Array) -> Array:
    """Q + step with other lines: those that bring the gate nearest to what the step promises of it.

    Where gates nearly cancel, lines follow thresholds along a valley that bends; a straight step leaves it.
    """
    wanted = thin.error(q) + thin.slopes(q, thin.x) @ step
    there, linear = thin.clipped(q + step), ~thin.curved
    rest = wanted - thin.error(there)
    slopes = thin.slopes(there, thin.x)[:, linear]
    if not (np.isfinite(rest).all() and np.isfinite(slopes).all()):
        return there
    there[linear] += np.linalg.lstsq(slopes, rest, rcond=1e-12)[0]
    return thin.clipped(there)


def _large_lines(problem: Sampled, q: Array) -> bool:
    """Whether terms of opposite sign cancel, as thresholds merge or leave an interval."""
    return bool(np.abs(q[~problem.curved]).max(initial=0.0) > LARGE)


def _relined(problem: Sampled, q: Array, places: Array) -> _State:
    """With the best lines for the sharpness and thresholds of q, as far as three programmes find them.

    Large lines that cancel make the error curve much with each threshold, but they are linear themselves.
    """
    best: _State | None = None
    for _ in range(3):
        there = _state(problem, problem.clipped(q))
        if best is None or there.merit < best.merit:
            best = there
        places = np.unique(np.concatenate([places, there.places]))
        here = problem.error_at(q, places) if problem.function is not None else None
        if here is None:
            places, here = there.places, there.here
        sign = np.sign(here)
        slopes, straight = sign[:, None] * problem.slopes(q, places), np.eye(len(q))
        found = _programme(problem, q, sign * here, slopes, 1.0, straight, lines_only=True)
        if found is None or there.merit - found[1] < 1e-3 * there.merit:
            break
        q = q + found[0]
    assert best is not None
    return best


def _programme(
    problem: Sampled,
    q: Array,
    height: Array,
    slopes: Array,
    reach: float,
    turn: Array,
    *,
    lines_only: bool = False,
) -> tuple[Array, float, Array] | None:
    """The step in directions ``turn``, its level, the share of each peak in holding it (they sum to 1)."""
    span = reach * _span(problem, q)
    if lines_only:
        span[problem.curved] = 0.0
    low = -span if problem.low is None else np.maximum(-span, np.minimum(problem.low - q, 0))
    high = span if problem.high is None else np.minimum(span, np.maximum(problem.high - q, 0))
    slopes = slopes @ turn
    scale = height.max(initial=0.0)
    if not 0 < scale < np.inf or not np.isfinite(slopes).all():
        return None
    conditions, cost = None, 0.0
    if problem.inequality is not None:
        # A breach u >= 0 is allowed and costs.
        values, by_q = problem.inequality(q)
        conditions, cost = (values, by_q @ turn), COST / scale
    found = lowest(slopes / scale, height / scale, low, high, conditions, cost)
    if found is None:
        return None
    step, target, share = found
    return step, target * scale, share


def _corrected(
    problem: Sampled,
    q: Array,
    target: float,
    places: Array,
    sign: NDArray[np.float64],
    reach: float,
    turn: Array,
) -> _State:
    """The best of the step and its corrections."""
    best: _State | None = None
    for round_ in range(CORRECTIONS + 1):
        there = _state(problem, q)
        found, here = there.places, there.here
        if best is None or there.merit < best.merit:
            best = there
        elif round_ > 1:
            break
        use = {int(k) for k in np.flatnonzero(np.abs(here) > target)}
        for x, s in zip(places, sign, strict=True):
            same = np.flatnonzero(np.sign(here) == s)
            if len(same):
                use.add(int(same[np.argmin(np.abs(found[same] - x))]))
        if not 0 < len(use) <= len(q) + 1:
            break
        at, span = sorted(use), _span(problem, q)
        slopes = np.sign(here[at])[:, None] * problem.slopes(q, found[at]) @ turn * span
        move = np.linalg.lstsq(slopes, target - np.abs(here[at]), rcond=1e-12)[0]
        longest = float(np.abs(move).max(initial=0.0))
        if not np.isfinite(longest):
            break
        move = span * move * min(1.0, reach / longest if longest else 1.0)
        q = problem.clipped(q + turn @ move)
    assert best is not None
    return best
