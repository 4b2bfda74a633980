"""Equivalence within a margin, and how many seeds an effect needs.

Equivalence is two one-sided Student tests (Schuirmann 1987): both 'mean <= lo' and 'mean >= hi' are
rejected at alpha, which is the same as the interval of level 1 - 2 alpha lying inside (lo, hi). Power
is that of Student's test of n paired differences: with delta = effect sqrt(n)/sd, t has the noncentral
t distribution of n - 1 degrees of freedom (Johnson and Welch 1940): t = (Z + delta)/S with S^2 a chi-square
over its n - 1 degrees of freedom.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf, isfinite, log2, sqrt

import numpy as np
from numpy.typing import ArrayLike

from gateproof.kernels.runs.experiment import Cell, Interval
from gateproof.kernels.runs.statistics_inputs import level_of, numbers, pairs, positive
from gateproof.kernels.runs.statistics_paired import LEVEL, spread

MOST = 1_000_000


@dataclass(frozen=True)
class Equivalence:
    """Whether a mean difference is shown to lie inside (lo, hi).

    p: the larger of the two one-sided p; equivalent: p <= 1 - level. interval: of level 2 level - 1.
    """

    equivalent: bool
    p: float
    p_above_lo: float
    p_below_hi: float
    lo: float
    hi: float
    mean: float
    interval: Interval
    notes: tuple[str, ...]

    def row(self) -> dict[str, Cell]:
        """The columns of a table: equivalent, mean, margin_lo, margin_hi, lo, hi, p, n."""
        return {
            "equivalent": self.equivalent,
            "mean": self.mean,
            "margin_lo": self.lo,
            "margin_hi": self.hi,
            "lo": self.interval.lo,
            "hi": self.interval.hi,
            "p": self.p,
            "n": self.interval.n,
        }


def equivalence(
    a: ArrayLike,
    b: ArrayLike,
    margin: float | tuple[float, float],
    *,
    percent: bool = False,
    level: float = LEVEL,
) -> Equivalence:
    """Whether the mean of a - b (with ``percent``: of 100 (a - b)/b) is within the margin, by TOST.

    margin: m for (-m, m), or (lo, hi); -oo or oo on one side gives the test of non-inferiority. Fix it
    before the runs. Differences without spread decide nothing: not equivalent, p = 1, with a note.
    """
    first, second = pairs("equivalence", a, b)
    level_of("equivalence", level)
    if level <= 0.5:
        raise ValueError(f"equivalence: level = {level}: more than 0.5 is expected")
    lo, hi = margin if isinstance(margin, tuple) else (-margin, margin)
    if not lo < hi:
        raise ValueError(f"equivalence: margin ({lo}, {hi}): a lower end below the upper one is expected")
    if percent and (second <= 0).any():
        raise ValueError(
            f"equivalence: b holds {second.min()}: numbers above 0 are expected for percent of b"
        )
    d = 100 * (first - second) / second if percent else first - second
    return _tost(d, float(lo), float(hi), level)


def _tost(d: np.ndarray, lo: float, hi: float, level: float) -> Equivalence:
    from scipy import stats

    n, mean, sd = len(d), float(d.mean()), spread(d)
    alpha = 1 - level
    if sd == 0:
        note = f"all {n} differences equal {mean:.6g}: no spread was seen, so nothing is decided"
        interval = Interval(-inf, inf, 1 - 2 * alpha, f"none: all {n} values are equal", n)
        return Equivalence(False, 1.0, 1.0, 1.0, lo, hi, mean, interval, (note,))
    error = sd / sqrt(n)
    above = 0.0 if lo == -inf else float(stats.t.sf((mean - lo) / error, n - 1))
    below = 0.0 if hi == inf else float(stats.t.cdf((mean - hi) / error, n - 1))
    half = float(stats.t.ppf(level, n - 1)) * error
    interval = Interval(mean - half, mean + half, 1 - 2 * alpha, "Student t (TOST)", n)
    p = max(above, below)
    return Equivalence(p <= alpha, p, above, below, lo, hi, mean, interval, ())


def power(n: int, effect: float, sd: float, *, level: float = LEVEL, sided: int = 2) -> float:
    """The probability that Student's test of n paired differences finds a mean of ``effect``.

    effect and sd > 0: in one unit, sd that of a single difference. sided: 1 or 2.
    """
    from scipy import integrate, special, stats

    if n < 2:
        return 0.0
    _effect("power", effect, sided)
    positive("power", "sd", sd)
    delta, nu = abs(effect) * sqrt(n) / sd, n - 1
    alpha = 1 - level_of("power", level)
    edge = float(stats.t.isf(alpha / sided, nu))

    def found(s: float) -> float:
        """P(|Z + delta| > edge s), or without the absolute value, times the density of s."""
        beyond = special.ndtr(delta - edge * s) + (special.ndtr(-delta - edge * s) if sided == 2 else 0.0)
        return float(beyond * 2 * nu * s * stats.chi2.pdf(nu * s * s, nu))

    # SciPy's own noncentral t has NaN holes (n = 4, delta = 7.8, alpha = 0.01), so S is integrated over.
    ends = [sqrt(float(q) / nu) for q in (stats.chi2.ppf(1e-15, nu), stats.chi2.isf(1e-15, nu))]
    # The integrand falls from 1 to 0 around s = delta/edge, over some 8/edge to either side.
    steep = [at / edge for at in (delta - 8, delta, delta + 8) if ends[0] * edge < at < ends[1] * edge]
    return min(1.0, float(integrate.quad(found, *ends, points=steep or None, epsabs=1e-11, limit=500)[0]))


@dataclass(frozen=True)
class Seeds:
    """How many pairs an effect needs.

    n: at the spread seen; n_lo, n_hi: at the ends of the spread's own chi-square interval; None for more
    than MOST. n_flips: the fewest pairs with which sign flips can reach 1 - level at all.
    """

    n: int | None
    n_lo: int | None
    n_hi: int | None
    n_flips: int
    effect: float
    power: float
    sd: float
    sd_lo: float
    sd_hi: float
    method: str

    def row(self) -> dict[str, Cell]:
        """The columns of a table: effect, power, sd, sd_lo, sd_hi, seeds, seeds_lo, seeds_hi."""
        return {
            "effect": self.effect,
            "power": self.power,
            "sd": self.sd,
            "sd_lo": self.sd_lo,
            "sd_hi": self.sd_hi,
            "seeds": self.n,
            "seeds_lo": self.n_lo,
            "seeds_hi": self.n_hi,
        }


def seeds_needed(
    differences: ArrayLike, effect: float, *, power: float = 0.8, level: float = LEVEL, sided: int = 2
) -> Seeds:
    """The fewest pairs with which Student's test finds ``effect`` with that power, at the spread seen.

    The spread of few pairs is itself poorly known (of three, the 95 % interval of the sd spans a factor of
    12), so read n with n_lo and n_hi. ValueError where all differences are equal.
    """
    from scipy import stats

    d = numbers("seeds_needed", differences)
    sd, n = spread(d), len(d)
    if sd == 0:
        raise ValueError(f"seeds_needed: all {n} differences are equal, so their spread is unknown")
    tail = (1 - level_of("seeds_needed", level)) / 2
    low = sd * sqrt((n - 1) / float(stats.chi2.isf(tail, n - 1)))
    high = sd * sqrt((n - 1) / float(stats.chi2.ppf(tail, n - 1)))
    _effect("seeds_needed", effect, sided)
    _chance("seeds_needed", power)
    counts = [_fewest(effect, s, power, level, sided) for s in (sd, low, high)]
    return Seeds(
        n=counts[0],
        n_lo=counts[1],
        n_hi=counts[2],
        n_flips=ceil(log2(sided / (1 - level)) - 1e-9),
        effect=effect,
        power=power,
        sd=sd,
        sd_lo=low,
        sd_hi=high,
        method=f"noncentral t, {sided}-sided at {1 - level:.3g}, power {power:g}; spread of {n} pairs",
    )


def seeds_for(effect: float, sd: float, *, power: float = 0.8, level: float = LEVEL, sided: int = 2) -> int:
    """The fewest pairs for an effect at a known sd of the differences; at most MOST, else ValueError."""
    _effect("seeds_for", effect, sided)
    positive("seeds_for", "sd", sd)
    _chance("seeds_for", power)
    found = _fewest(effect, sd, power, level, sided)
    if found is None:
        raise ValueError(f"seeds_for: an effect of {effect:g} at sd {sd:g} needs more than {MOST} pairs")
    return found


def _fewest(effect: float, sd: float, wanted: float, level: float, sided: int) -> int | None:
    low, high = 1, 2
    while power(high, effect, sd, level=level, sided=sided) < wanted:
        low, high = high, 2 * high
        if low > MOST:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        reached = power(middle, effect, sd, level=level, sided=sided) >= wanted
        low, high = (low, middle) if reached else (middle, high)
    return high


def _chance(what: str, value: float) -> None:
    if not 0 < value < 1:
        raise ValueError(f"{what}: power = {value}: a probability in (0, 1) is expected")


def _effect(what: str, effect: float, sided: int) -> None:
    if not isfinite(effect) or effect == 0:
        raise ValueError(f"{what}: effect = {effect}: a finite difference other than 0 is expected")
    if sided not in (1, 2):
        raise ValueError(f"{what}: sided = {sided}: 1 or 2 is expected")
