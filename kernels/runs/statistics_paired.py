"""Paired differences over seeds: Student's interval, the exact permutation p, a bootstrap beside them.

Two arms that share seed and data order give one difference a seed; these are the sample. With the 3
to 10 pairs that training runs afford, Student's interval (Gosset 1908; exact for normal differences)
is the primary one. A percentile bootstrap of n values amounts to a normal interval with the sd divided
by n in place of n - 1, so it covers too little; how little for normal differences stands in its note.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, log, sqrt

import numpy as np
from numpy.typing import ArrayLike

from gateproof.kernels.runs.experiment import Cell, Interval
from gateproof.kernels.runs.statistics_flips import sign_flips
from gateproof.kernels.runs.statistics_inputs import Numbers, level_of, numbers, pairs

LEVEL = 0.95
RESAMPLES = 10_000
#: Below this many pairs the note on the bootstrap is given.
FEW = 20


@dataclass(frozen=True)
class Paired:
    """A mean over pairs with all that is known of it.

    mean, sd: of the n differences (for a ratio: the geometric mean, and the sd of the logarithms).
    interval: Student's, the primary one; from -oo to oo where all differences are equal.
    bootstrap: BCa, for comparison only.
    p, p_less, p_greater: exact by sign flips; p_smallest: the least two-sided p within reach of these pairs.
    """

    n: int
    mean: float
    sd: float
    interval: Interval
    bootstrap: Interval
    p: float
    p_less: float
    p_greater: float
    p_smallest: float
    p_method: str
    notes: tuple[str, ...]

    def row(self) -> dict[str, Cell]:
        """The columns of a table: mean, lo, hi, sd, p, p_smallest, n."""
        return {
            "mean": self.mean,
            "lo": self.interval.lo,
            "hi": self.interval.hi,
            "sd": self.sd,
            "p": self.p,
            "p_smallest": self.p_smallest,
            "n": self.n,
        }


def paired_difference(a: ArrayLike, b: ArrayLike, *, level: float = LEVEL, seed: int = 0) -> Paired:
    """The mean of a - b over pairs, in the unit of a and b."""
    first, second = pairs("paired_difference", a, b)
    return _paired(first - second, level, seed)


def paired_percent(a: ArrayLike, b: ArrayLike, *, level: float = LEVEL, seed: int = 0) -> Paired:
    """The mean of 100 (a - b)/b over pairs, in percent; b above 0.

    For a loss in nats this is the percentage of the loss; that of the perplexity is
    ``paired_percent(exp(a), exp(b))``.
    """
    first, second = pairs("paired_percent", a, b)
    if (second <= 0).any():
        raise ValueError(f"paired_percent: b holds {second.min()}: numbers above 0 are expected there")
    return _paired(100 * (first - second) / second, level, seed)


def paired_ratio(a: ArrayLike, b: ArrayLike, *, level: float = LEVEL, seed: int = 0) -> Paired:
    """The geometric mean of a/b over pairs, both above 0; intervals are those of log(a/b), exponentiated."""
    first, second = pairs("paired_ratio", a, b)
    if (first <= 0).any() or (second <= 0).any():
        raise ValueError(
            "paired_ratio: numbers above 0 are expected, since ratios are averaged as logarithms"
        )
    logs = _paired(np.log(first) - np.log(second), level, seed)
    return Paired(
        n=logs.n,
        mean=exp(logs.mean),
        sd=logs.sd,
        interval=exponentiated(logs.interval),
        bootstrap=exponentiated(logs.bootstrap),
        p=logs.p,
        p_less=logs.p_less,
        p_greater=logs.p_greater,
        p_smallest=logs.p_smallest,
        p_method=logs.p_method,
        notes=logs.notes,
    )


def exponentiated(found: Interval) -> Interval:
    """An interval of a logarithm as one of the number itself."""
    hi = exp(found.hi) if found.hi < log(np.finfo(float).max) else inf
    return Interval(exp(found.lo), hi, found.level, f"{found.method}, of logarithms", found.n)


def mean_interval(values: ArrayLike, *, level: float = LEVEL) -> Interval:
    """Student's interval of a mean over seeds; from -oo to oo where all values are equal."""
    return _student(numbers("mean_interval", values), level_of("mean_interval", level))


def band(curves: ArrayLike, *, level: float = LEVEL) -> tuple[Numbers, Numbers, Numbers]:
    """(mean, lo, hi) at each step of curves of shape (seeds, steps): Student's interval, step by step.

    Pointwise: a whole curve leaves its band more often than one point does. NaN where a curve is not
    finite; width 0 where all seeds agree (before training, say), since it is drawn and not decided upon.
    """
    from scipy import stats

    given = np.asarray(curves, dtype=np.float64)
    if given.ndim != 2 or len(given) < 2:
        raise ValueError(f"band: shape (seeds, steps) with 2 seeds or more is expected, found {given.shape}")
    n = len(given)
    with np.errstate(invalid="ignore"):
        mean = given.mean(axis=0)
        half = (
            given.std(axis=0, ddof=1) * float(stats.t.ppf((1 + level_of("band", level)) / 2, n - 1)) / sqrt(n)
        )
    bad = ~np.isfinite(given).all(axis=0)
    mean[bad], half[bad] = np.nan, np.nan
    return mean, mean - half, mean + half


def _paired(d: Numbers, level: float, seed: int) -> Paired:
    n, mean, sd = len(d), float(d.mean()), spread(d)
    flips = sign_flips(d, seed=seed)
    notes: list[str] = []
    if sd == 0:
        notes.append(f"all {n} differences equal {mean:.6g}: no spread was seen, so no interval can be given")
    elif n < FEW:
        notes.append(bootstrap_note(n, level))
    distinct = len(np.unique(d))
    if sd > 0 and n > 2 and distinct == 2:
        notes.append(
            f"the {n} differences take 2 values only: Student's interval supposes a continuous spread"
        )
    if flips.p_smallest > 1 - level:
        notes.append(f"{n} pairs can not give p below {flips.p_smallest:.3g} (two-sided sign flips)")
    return Paired(
        n=n,
        mean=mean,
        sd=sd,
        interval=_student(d, level_of("paired", level)),
        bootstrap=bca(d, level, seed),
        p=flips.p,
        p_less=flips.p_less,
        p_greater=flips.p_greater,
        p_smallest=flips.p_smallest,
        p_method=flips.method,
        notes=tuple(notes),
    )


def spread(d: Numbers) -> float:
    """The sd with n - 1; 0 where all values agree to within rounding of the largest."""
    size = float(np.abs(d).max())
    if float(d.max() - d.min()) <= 8 * np.finfo(np.float64).eps * size:
        return 0.0
    return float(d.std(ddof=1))


def _student(d: Numbers, level: float) -> Interval:
    from scipy import stats

    n, sd = len(d), spread(d)
    if sd == 0:
        return Interval(-inf, inf, level, f"none: all {n} values are equal", n)
    half = float(stats.t.ppf((1 + level) / 2, n - 1)) * sd / sqrt(n)
    mean = float(d.mean())
    return Interval(mean - half, mean + half, level, "Student t", n)


def bca(d: Numbers, level: float = LEVEL, seed: int = 0) -> Interval:
    """The bias-corrected and accelerated bootstrap interval of a mean (Efron 1987)."""
    from scipy import stats

    n = len(d)
    if spread(d) == 0:
        return Interval(-inf, inf, level, f"none: all {n} values are equal", n)
    draws = np.random.default_rng(seed).integers(0, n, (RESAMPLES, n))
    means, mean = np.sort(d[draws].mean(axis=1)), float(d.mean())
    near = 8 * np.finfo(np.float64).eps * float(np.abs(d).max())
    below = (np.count_nonzero(means < mean - near) + np.count_nonzero(means <= mean + near)) / (2 * RESAMPLES)
    bias = float(stats.norm.ppf(below))
    leave_one = mean - d  # (n - 1) times what leaving one out does to the mean
    faster = float((-(leave_one**3)).sum() / (6 * (leave_one**2).sum() ** 1.5))
    ends = []
    for z in stats.norm.ppf([(1 - level) / 2, (1 + level) / 2]).tolist():
        moved = bias + (bias + z) / (1 - faster * (bias + z))
        ends.append(float(np.quantile(means, float(stats.norm.cdf(moved)))))
    return Interval(ends[0], ends[1], level, f"bootstrap BCa of {RESAMPLES}, seed {seed}", n)


def bootstrap_note(n: int, level: float) -> str:
    """How often a percentile bootstrap of n normal differences would cover: P(|t| < z sqrt((n - 1)/n))."""
    from scipy import stats

    z = float(stats.norm.ppf((1 + level) / 2))
    covered = 1 - 2 * float(stats.t.sf(z * sqrt((n - 1) / n), n - 1))
    return (
        f"a bootstrap of {n} pairs covers about {100 * covered:.0f} %, not {100 * level:g} %, "
        "were the differences normal: read Student's interval"
    )
