"""From many starts to the best fit: a crowd in least-p norms, the best of it levelled, then disturbed.

The lines are linear for given gates (variable projection, Golub and Pereyra 1973), so a start is a choice of
sharpness and thresholds only. The best few are disturbed and descend again (basin hopping, Wales and Doye
1997) until that gains nothing. All functions here live in normal coordinates (:mod:`...fits.normal`): the
function's features are of width and height about 1 around 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from gateproof.numerics.fits.crowd import ROUNDS, descend, thinned
from gateproof.numerics.fits.gates import Array
from gateproof.numerics.fits.levelling import Levelled, level
from gateproof.numerics.fits.moves import disturbed, drawn
from gateproof.numerics.fits.sampled import Sampled

#: Programmes for a candidate, and for the last one.
TRIED, LAST = 40, 200
#: Gains below it are rounding.
GAIN = 1e-7


@dataclass(frozen=True)
class Effort:
    """Gates in the first crowd, in those of the disturbed, how many of a crowd are levelled, idle rounds."""

    starts: int = 96
    disturbed: int = 48
    levelled: int = 5
    idle: int = 2
    most: int = 8


def lines_by_least_squares(problem: Sampled, q: Array) -> Array:
    """The free parameters (..., free) with those of the lines replaced by their least squares values."""
    linear = ~problem.curved
    if not linear.any():
        return q
    many = np.atleast_2d(np.where(linear, 0.0, q))
    slopes = problem.slopes_of_many(many)[:, linear]
    rest = -problem.error(many)
    normal = slopes @ slopes.swapaxes(-1, -2)
    index = np.arange(normal.shape[-1])
    normal[:, index, index] *= 1 + 1e-10
    normal[:, index, index] += 1e-12 * np.trace(normal, axis1=-2, axis2=-1)[:, None] + 1e-280
    many[:, linear] = np.linalg.solve(normal, slopes @ rest[..., None])[..., 0]
    return problem.clipped(many).reshape(np.shape(q))


def search(
    problem: Sampled,
    effort: Effort,
    seeds: Sequence[Array],
    seed: int = 0,
    watch: Callable[[Levelled], None] | None = None,
) -> list[Levelled]:
    """Fits from the given seeds and from random starts, best first. ``watch`` is told of each better one."""
    rng, coarse = np.random.default_rng(seed), thinned(problem)
    found: list[Levelled] = []
    fresh = lines_by_least_squares(coarse, drawn(problem, effort.starts, rng))
    given = np.reshape(np.asarray(seeds, dtype=np.float64), (len(seeds), fresh.shape[1]))
    starts = np.concatenate([given, lines_by_least_squares(coarse, given), fresh])
    for q in seeds[:1]:
        _add(problem, q, found, watch)
    idle, rounds = 0, 0
    while True:
        before = found[0].error if found else np.inf
        for q in _best(coarse, starts, effort):
            _add(problem, q, found, watch)
        rounds += 1
        idle = 0 if found[0].error < before * (1 - GAIN) else idle + 1
        # Errors at which rounding rules are not worth another round.
        if idle >= effort.idle or rounds >= effort.most or found[0].error < 1e-13 or not problem.curved.any():
            return found
        moved = disturbed(problem, [f.q for f in found[:4]], effort.disturbed, rng)
        starts = np.concatenate([moved, lines_by_least_squares(coarse, moved)])


def _best(coarse: Sampled, starts: Array, effort: Effort) -> Array:
    m = len(starts)
    shares = (0.5, 0.25, 0.15, 0.0)
    keep = [max(effort.levelled, int(m * share)) for share in shares[: len(ROUNDS)]]
    return descend(coarse, starts, keep=keep).q


def _add(problem: Sampled, q: Array, found: list[Levelled], watch: Callable[[Levelled], None] | None) -> None:
    """Level q and put it in its place, unless it is there; what stays far above the best is not finished."""
    bar = found[0].error if found else np.inf
    one = level(problem, q, steps=TRIED, bar=bar)
    if one.error < bar:
        if not one.settled:
            one = level(problem, one.q, steps=LAST, reach=0.05)
        if watch is not None:
            watch(one)
    for k, other in enumerate(found):
        same = abs(one.error - other.error) <= 1e-6 * other.error
        if same and np.abs(one.q - other.q).max(initial=0) < 1e-3:
            if one.error >= other.error:
                return
            del found[k]
            break
    found.append(one)
    found.sort(key=lambda f: f.error)
    del found[12:]
