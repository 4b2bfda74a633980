"""Steps to a target, of which some runs never reach it within their budget.

Where a run is cut off at the budget L, only min(steps, L) is known. The ratio of the geometric means of
these *restricted* steps is a well defined number for any share of runs cut off (Royston and Parmar 2013,
for means); where only one arm is cut off, the ratio of the true steps is at least, or at most, that. p is by
sign flips of the differences of Gehan's scores (1965), which for one budget are the midranks of all runs
with those cut off on top.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, inf, isfinite, log
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from gateproof.kernels.runs.experiment import Cell, Interval
from gateproof.kernels.runs.statistics_flips import sign_flips
from gateproof.kernels.runs.statistics_inputs import level_of, positive
from gateproof.kernels.runs.statistics_paired import paired_ratio
from gateproof.numerics.binomial import binomial_below, quantile_interval

LEVEL = 0.95

Word = Literal["equal", "at least", "at most", "restricted"]


def first_reach(steps: ArrayLike, values: ArrayLike, target: float, *, below: bool = True) -> float | None:
    """The first step at which a curve is at the target or beyond it; None where it never is.

    steps: rising; values: of the same length; NaN never reaches. below: smaller is better (a loss).
    """
    at, curve = np.asarray(steps, dtype=np.float64), np.asarray(values, dtype=np.float64)
    if at.ndim != 1 or at.shape != curve.shape or not len(at):
        raise ValueError(f"first_reach: one value a step is expected, found {at.shape} and {curve.shape}")
    if not isfinite(target) or not bool((np.diff(at) > 0).all()):
        raise ValueError("first_reach: rising steps and a finite target are expected")
    hit = np.flatnonzero(curve <= target if below else curve >= target)
    return float(at[hit[0]]) if len(hit) else None


@dataclass(frozen=True)
class StepsRatio:
    """steps(a)/steps(b) over pairs, with what is known where runs were cut off.

    ratio: of the geometric means of restricted steps; word: how the true ratio stands to it ('equal',
    'at least', 'at most', or 'restricted' where both arms were cut off in some pairs). interval: Student's,
    of logarithms. median: of the median ratio, by order statistics and without any assumption; 0 to oo
    where n is too small (5 at 95 %), else with the level that it has in truth. p, p_smallest: two-sided
    sign flips of Gehan's scores.
    """

    ratio: float
    word: Word
    interval: Interval
    median: Interval
    p: float
    p_smallest: float
    both: int
    only_a: int
    only_b: int
    neither: int
    notes: tuple[str, ...]

    def row(self) -> dict[str, Cell]:
        """The columns of a table: word, ratio, lo, hi, p, p_smallest, both, only_a, only_b, neither."""
        return {
            "word": self.word,
            "ratio": self.ratio,
            "lo": self.interval.lo,
            "hi": self.interval.hi,
            "p": self.p,
            "p_smallest": self.p_smallest,
            "both": self.both,
            "only_a": self.only_a,
            "only_b": self.only_b,
            "neither": self.neither,
        }


def steps_ratio(
    a: Sequence[float | None],
    b: Sequence[float | None],
    budget: float,
    *,
    level: float = LEVEL,
    seed: int = 0,
) -> StepsRatio:
    """Compare steps to a target over pairs; None for a run that did not reach it within ``budget``."""
    if len(a) != len(b) or len(a) < 2:
        raise ValueError(f"steps_ratio: 2 pairs or more are expected, found {len(a)} and {len(b)} runs")
    level_of("steps_ratio", level)
    positive("steps_ratio", "budget", budget)
    for name, side in (("a", a), ("b", b)):
        for i, s in enumerate(side):
            if s is not None and not 0 < s <= budget:
                raise ValueError(
                    f"steps_ratio: {name}[{i}] = {s}: steps of (0, {budget:g}] are expected, "
                    "None where the target was not reached"
                )
    cut = [(s is None, t is None) for s, t in zip(a, b, strict=True)]
    only_b, only_a = cut.count((True, False)), cut.count((False, True))
    neither, both = cut.count((True, True)), cut.count((False, False))
    restricted = paired_ratio(_cut_at(a, budget), _cut_at(b, budget), level=level, seed=seed)
    word: Word = "equal"
    if both < len(a):
        a_cut, b_cut = only_b + neither, only_a + neither
        word = "at least" if not b_cut else "at most" if not a_cut else "restricted"
    notes = []
    if restricted.sd == 0:
        notes.append(f"all {len(a)} ratios are equal: no spread was seen, so no interval can be given")
    if word != "equal":
        notes.append(
            f"within {budget:g} steps {both} of {len(a)} pairs reached the target in both arms, "
            f"{only_a} in a only, {only_b} in b only, {neither} in none: the ratio is of steps cut off there"
        )
    gehan = _midranks([inf if s is None else s for s in (*a, *b)])
    flips = sign_flips(gehan[: len(a)] - gehan[len(a) :], seed=seed)
    if flips.p_smallest > 1 - level:
        notes.append(
            f"these {len(a)} pairs can not give p below {flips.p_smallest:.3g} (two-sided sign flips)"
        )
    return StepsRatio(
        ratio=restricted.mean,
        word=word,
        interval=restricted.interval,
        median=_median(a, b, budget, level),
        p=flips.p,
        p_smallest=flips.p_smallest,
        both=both,
        only_a=only_a,
        only_b=only_b,
        neither=neither,
        notes=tuple(notes),
    )


def _cut_at(steps: Sequence[float | None], budget: float) -> list[float]:
    return [budget if s is None else float(s) for s in steps]


def _midranks(values: Sequence[float]) -> np.ndarray:
    from scipy import stats

    return np.asarray(stats.rankdata(np.array(values, dtype=np.float64)), dtype=np.float64)


def _median(a: Sequence[float | None], b: Sequence[float | None], budget: float, level: float) -> Interval:
    """By order statistics of the lower and of the upper ends of what is known of each log ratio."""
    n = len(a)
    least, most = [], []
    for s, t in zip(a, b, strict=True):
        least.append(-inf if t is None else log((budget if s is None else s) / t))
        most.append(inf if s is None else log(s / (budget if t is None else t)))
    low, high = quantile_interval(n, 0.5, level)
    if low is None or high is None:
        return Interval(0.0, inf, level, f"none: {n} pairs are too few for order statistics", n)
    covered = 1 - 2 * binomial_below(low - 1, n, 0.5)
    lo, hi = exp(sorted(least)[low - 1]), exp(sorted(most)[high - 1])
    return Interval(lo, hi, covered, "order statistics, median", n)
