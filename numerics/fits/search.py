"""From many starts to the best fit: a crowd in least-p norms, the best of it levelled, then disturbed.

The lines are linear for given gates (variable projection, Golub and Pereyra 1973), so a start is a choice of
sharpness and thresholds only. The best few are disturbed and descend again (basin hopping, Wales and Doye
1997) until that gains nothing. All functions here live in normal coordinates (:mod:`...fits.normal`): the
function's features are of width and height about 1 around 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gateproof.numerics.fits.crowd import descend
from gateproof.numerics.fits.evened import evened
from gateproof.numerics.fits.gates import Array
from gateproof.numerics.fits.levelling import Levelled, level
from gateproof.numerics.fits.moves import disturbed, drawn
from gateproof.numerics.fits.permuted import permuted
from gateproof.numerics.fits.sampled import Sampled, thinned

#: Programmes for a candidate, and for the last one.
TRIED, LAST = 25, 300
#: Errors closer than this are equal: where one point decides, gates of any sharpness may be as good.
EQUAL = 1e-9
#: Gates sharper than this, for a function of width 1, are made softer where that costs at most so much rms.
SHARP, SOFTER = 16.0, 0.05
#: Below it, of a function of size 1, rounding rules: the target is such a gate.
EXACT = 1e-11
#: Shares of a crowd that go on to the next p; twice, or four times, as many as are levelled at the least.
SHARES = (0.5, 0.35, 0.25, 0.2, 0.15, 0.12, 0.1, 0.1)
#: Gains below it are those of a valley without end; descents whose errors are so near each other are one.
GAIN, NEAR = 1e-5, 0.02
#: Seeds that are levelled as they are.
DIRECT = 2
#: So many others whose errors are so near that of the best are levelled further.
FINALISTS, CLOSE = 3, 0.02
#: So many times three close thresholds of a finalist are evened at the most.
EVENED = 6


@dataclass(frozen=True)
class Effort:
    """Gates in the first crowd, in those of the disturbed, how many of a crowd are levelled, idle rounds."""

    starts: int = 96
    disturbed: int = 64
    levelled: int = 5
    idle: int = 2
    most: int = 8


def search(
    problem: Sampled,
    effort: Effort,
    seeds: Sequence[Array],
    seed: int = 0,
    watch: Callable[[Levelled], None] | None = None,
    least: float = EXACT,
) -> list[Levelled]:
    """Fits from the given seeds and from random starts, best first. ``watch`` is told of each better one.

    The first seeds are levelled as they are too, so that nothing worse is returned. It ends where an error of
    ``least`` is reached.
    """
    rng, ranking = np.random.default_rng(seed), _Ranking(problem, watch)
    given = np.reshape(np.asarray(seeds, dtype=np.float64), (len(seeds), problem.basis.shape[1]))
    starts = np.concatenate([given, drawn(problem, effort.starts, rng)])
    for q in seeds[:DIRECT]:
        ranking.add(q)
    idle, rounds = 0, 0
    while ranking.bar > max(least * (1 + EQUAL), EXACT):
        before = ranking.bar
        ranking.add_best(starts, effort)
        rounds += 1
        idle = 0 if ranking.bar < before * (1 - GAIN) else idle + 1
        if not problem.curved.any() or idle >= effort.idle or rounds >= effort.most:
            break
        starts = disturbed(problem, [f.q for f in ranking.found[:4]], effort.disturbed, rng)
    return ranking.finished()


def _levelled(problem: Sampled, q: Array, bar: float) -> Levelled:
    """Level q; go on from where lines are at their bounds with its thresholds in another order."""
    free = permuted(problem, q)
    one = level(problem, q if free is None else free, steps=TRIED, bar=bar)
    free = permuted(problem, one.q)
    if free is None:
        return one
    last = level(problem, free, steps=TRIED, bar=bar)
    return last if last.error < one.error else one


def _evenly(problem: Sampled, best: Levelled) -> Levelled:
    """The best of levelling with three close thresholds evened, until that gains nothing."""
    for _ in range(EVENED):
        trials = [level(problem, q, steps=TRIED) for q in evened(problem, best.q)]
        last = min(trials, key=lambda f: f.error, default=best)
        if last.error >= best.error * (1 - GAIN):
            break
        best = last
    return best


class _Ranking:
    """Levelled fits, best first, and where descents have ended."""

    def __init__(self, problem: Sampled, watch: Callable[[Levelled], None] | None) -> None:
        self.problem, self.coarse, self.watch = problem, thinned(problem), watch
        self.found: list[Levelled] = []
        self._ends: list[Array] = []

    @property
    def bar(self) -> float:
        """The least error so far."""
        return self.found[0].error if self.found else np.inf

    def add_best(self, starts: Array, effort: Effort) -> None:
        """Let a crowd descend from the starts, and level the best ends that are new."""
        keep = [max(3 * effort.levelled, int(len(starts) * share)) for share in SHARES]
        crowd = descend(self.coarse, starts, keep=keep)
        added = 0
        for q, error, sup in zip(crowd.q, crowd.error, crowd.sup, strict=True):
            if added == effort.levelled:
                break
            if any(np.abs(error - end).max() <= NEAR * sup for end in self._ends):
                continue
            self._ends.append(error)
            self.add(q)
            added += 1

    def add(self, q: Array) -> None:
        """Level q and put it in its place, unless it is there; what stays far above the best is given up."""
        one = _levelled(self.problem, q, self.bar)
        if one.error < self.bar and self.watch is not None:
            self.watch(one)
        for k, other in enumerate(self.found):
            same = abs(one.error - other.error) <= 1e-6 * other.error
            if same and np.abs(one.q - other.q).max(initial=0) < 1e-3:
                if one.error >= other.error:
                    return
                del self.found[k]
                break
        self.found.append(one)
        self.found.sort(key=lambda f: f.error)
        del self.found[12:]

    def finished(self) -> list[Levelled]:
        """All, the best one levelled to the end; of equally good ones the nearest in the mean comes first."""
        equal = [f for f in self.found if f.error <= self.bar * (1 + EQUAL)]
        best = min(equal, key=lambda f: self._mean(f.q))
        others = [f for f in self.found if f is not best]
        for one in [best, *others[: FINALISTS - 1]]:
            if not one.settled and one.error <= best.error * (1 + CLOSE):
                last = _evenly(self.problem, one)
                if last.error < best.error * (1 - EQUAL):
                    best = last
                    if self.watch is not None:
                        self.watch(last)
        for other in others[:FINALISTS]:
            if not other.settled and other.error <= best.error * (1 + CLOSE):
                last = level(self.problem, other.q, steps=2 * TRIED, reach=0.05, bar=best.error)
                best = min(best, last, key=lambda f: f.error)
        if not best.settled:
            last = level(self.problem, best.q, steps=LAST, reach=0.05)
            if last.error < best.error:
                best = last
                if self.watch is not None:
                    self.watch(last)
        self.found = [self._softer(best), *others]
        return self.found

    def _mean(self, q: Array) -> float:
        return float((self.coarse.error(q) ** 2).mean())

    def _softer(self, best: Levelled) -> Levelled:
        """A gate with less sharpness that is as good, or nearly so in the mean."""
        problem, n = self.problem, self.problem.gates.branches - 1
        sharp = problem.basis[:n]
        moved = np.abs(sharp).sum(axis=0) > 0
        step = np.log(2.0) * np.sign(sharp.sum(axis=0)) * moved
        limit, kept = (1 + SOFTER) ** 2 * self._mean(best.q), best
        if not n or problem.full(best.q)[:n].max() < np.log(SHARP):
            return best
        for _ in range(20):
            q = problem.clipped(kept.q - step)
            trial = level(problem, q, steps=0)
            if trial.error > best.error * (1 + EQUAL):
                # The same sharpness with other thresholds.
                trial = level(_holding(problem, q, moved), q, steps=TRIED)
            if trial.error > best.error * (1 + EQUAL) or self._mean(trial.q) > limit:
                step = step / 2
                if np.abs(step).max(initial=0.0) < 0.1:
                    break
                continue
            kept = Levelled(trial.q, trial.error, best.programmes, best.settled)
        return kept


def _holding(problem: Sampled, q: Array, held: NDArray[np.bool_]) -> Sampled:
    """The problem with some of its parameters held at q."""
    low = np.full(len(q), -np.inf) if problem.low is None else problem.low
    high = np.full(len(q), np.inf) if problem.high is None else problem.high
    return replace(problem, low=np.where(held, q, low), high=np.where(held, q, high))
