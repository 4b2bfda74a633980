"""Statistics of few seeds: what experiments call, in one place.

paired_difference, paired_percent, paired_ratio   means over pairs: Student's interval, exact permutation p
mean_interval, band                               one arm: a mean, curves
equivalence, power, seeds_needed, seeds_for       within a margin (TOST); how many seeds an effect needs
sign_flips, sign_test, smallest_p                 exact tests by signs
rank_correlation, better_predictor                Spearman and Kendall; which of two predictors follows better
first_reach, steps_ratio                          steps to a target, with runs that never reach it
holm, bonferroni                                  many comparisons
proportion                                        a share of cases (Clopper and Pearson)

Everything takes finite numbers and raises ValueError, in one line, at anything else.
"""

from __future__ import annotations

from gateproof.kernels.runs.experiment import Interval
from gateproof.kernels.runs.statistics_flips import SignFlips, SignTest, sign_flips, sign_test, smallest_p
from gateproof.kernels.runs.statistics_inputs import level_of
from gateproof.kernels.runs.statistics_many import Comparisons, bonferroni, holm
from gateproof.kernels.runs.statistics_paired import (
    Paired,
    band,
    mean_interval,
    paired_difference,
    paired_percent,
    paired_ratio,
)
from gateproof.kernels.runs.statistics_power import (
    Equivalence,
    Seeds,
    equivalence,
    power,
    seeds_for,
    seeds_needed,
)
from gateproof.kernels.runs.statistics_rank import Better, Correlation, better_predictor, rank_correlation
from gateproof.kernels.runs.statistics_steps import StepsRatio, first_reach, steps_ratio
from gateproof.numerics.binomial import share_interval

__all__ = [
    "Better",
    "Comparisons",
    "Correlation",
    "Equivalence",
    "Interval",
    "Paired",
    "Seeds",
    "SignFlips",
    "SignTest",
    "StepsRatio",
    "band",
    "better_predictor",
    "bonferroni",
    "equivalence",
    "first_reach",
    "holm",
    "mean_interval",
    "paired_difference",
    "paired_percent",
    "paired_ratio",
    "power",
    "proportion",
    "rank_correlation",
    "seeds_for",
    "seeds_needed",
    "sign_flips",
    "sign_test",
    "smallest_p",
    "steps_ratio",
]


def proportion(hits: int, n: int, *, level: float = 0.95) -> Interval:
    """The interval of a probability after ``hits`` of ``n`` independent cases (Clopper and Pearson 1934)."""
    if n < 1 or not 0 <= hits <= n:
        raise ValueError(f"proportion: 0 to n hits of n >= 1 cases are expected, found {hits} of {n}")
    lo, hi = share_interval(hits, n, level_of("proportion", level))
    return Interval(lo, hi, level, "Clopper-Pearson", n)
