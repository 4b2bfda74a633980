"""Rank correlations of few cases: Spearman's rho and Kendall's tau-b, with intervals and permutation p.

p is the share of orders of y whose correlation is at least as far from 0, all n! of them up to n = 8. The
interval is Fisher's z with the variances of Bonett and Wright (2000, Psychometrika 65): (1 + r^2/2)/(n - 3)
for rho and 0.437/(n - 4) for tau. Cases have to be independent: ten depths of one network are not ten.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from math import atanh, factorial, sqrt, tanh
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gateproof.kernels.runs.experiment import Cell, Interval
from gateproof.kernels.runs.statistics_inputs import Numbers, level_of, pairs

LEVEL = 0.95
EXACT = 8
DRAWN = 20_000
#: Beyond it tau's p is by the normal approximation, since each order takes n^2 comparisons.
MANY = 60
RESAMPLES = 10_000

Method = Literal["spearman", "kendall"]


@dataclass(frozen=True)
class Correlation:
    """A rank correlation, its interval, and two-sided p; p_smallest is the least p within reach."""

    method: str
    value: float
    interval: Interval
    p: float
    p_smallest: float
    p_method: str
    n: int
    notes: tuple[str, ...]

    def row(self) -> dict[str, Cell]:
        """The columns of a table: method, value, lo, hi, p, p_smallest, n."""
        return {
            "method": self.method,
            "value": self.value,
            "lo": self.interval.lo,
            "hi": self.interval.hi,
            "p": self.p,
            "p_smallest": self.p_smallest,
            "n": self.n,
        }


def rank_correlation(
    x: ArrayLike, y: ArrayLike, *, method: Method = "spearman", level: float = LEVEL, seed: int = 0
) -> Correlation:
    """The rank correlation of n >= 3 cases; ties get midranks (rho) or are tau-b's.

    ValueError where x or y is constant: the correlation is then 0/0.
    """
    first, second = pairs("rank_correlation", x, y, 3)
    level_of("rank_correlation", level)
    if method not in ("spearman", "kendall"):
        raise ValueError(f"rank_correlation: method = {method!r}: spearman or kendall is expected")
    for name, side in (("x", first), ("y", second)):
        if float(side.max()) == float(side.min()):
            raise ValueError(
                f"rank_correlation: all of {name} is {side[0]:g}: a constant has no rank correlation"
            )
    n = len(first)
    left, right = _scores(first, method), _scores(second, method)
    value = float(_correlations(left, right, np.arange(n)[None, :])[0])
    p, smallest, how = _p(value, left, right, seed)
    interval, notes = _interval(value, n, method, level)
    return Correlation(method, value, interval, p, smallest, how, n, notes)


def _p(value: float, left: Numbers, right: Numbers, seed: int) -> tuple[float, float, str]:
    """p of a correlation as far from 0, the smallest that could be, and how."""
    n = len(left)
    if left.ndim == 2 and n > MANY:
        from scipy import stats

        # A row's sum of signs is twice a centred midrank.
        found = stats.kendalltau(left.sum(axis=1), right.sum(axis=1), method="asymptotic")
        return float(found.pvalue), 0.0, "normal approximation"
    orders, how, more = _orders(n, seed)
    others = np.abs(_correlations(left, right, orders))
    hits = np.count_nonzero(others >= abs(value) - 1e-9) + more
    least = 1 if more else np.count_nonzero(others >= others.max() - 1e-9)
    return float(hits / (len(others) + more)), float(least / (len(others) + more)), how


def _scores(values: Numbers, method: str) -> Numbers:
    """What the correlation is a cosine of: centred midranks, or for tau the signs of all pairs (n, n)."""
    from scipy import stats

    if method == "spearman":
        ranks = stats.rankdata(values)
        return np.asarray(ranks - ranks.mean(), dtype=np.float64)
    return np.sign(values[:, None] - values[None, :])


def _correlations(left: Numbers, right: Numbers, orders: NDArray[np.intp]) -> Numbers:
    """The correlation of ``left`` with ``right`` in each order: shape (orders,)."""
    norm = sqrt(float((left**2).sum() * (right**2).sum()))
    if left.ndim == 1:
        return np.asarray(right[orders] @ left / norm, dtype=np.float64)
    found = [float((left * right[np.ix_(order, order)]).sum()) for order in orders]
    return np.array(found) / norm


def _orders(n: int, seed: int) -> tuple[NDArray[np.intp], str, int]:
    if n <= EXACT:
        return np.array(list(permutations(range(n))), dtype=np.intp), f"exact, all {factorial(n)} orders", 0
    rng = np.random.default_rng(seed)
    drawn = np.argsort(rng.random((DRAWN, n)), axis=1)
    return drawn, f"{DRAWN} orders drawn, seed {seed}", 1


def _interval(r: float, n: int, method: str, level: float) -> tuple[Interval, tuple[str, ...]]:
    from scipy import stats

    least = 4 if method == "spearman" else 5
    if n < least:
        words = f"{n} cases give no interval of {method}'s correlation ({least} are the fewest)"
        return Interval(-1.0, 1.0, level, "none", n), (words,)
    notes: tuple[str, ...] = ()
    # Fisher's z of +-1 is infinite; the interval is then that of the next value that n ranks can have.
    step = 12 / (n * (n * n - 1)) if method == "spearman" else 4 / (n * (n - 1))
    inner = r
    if abs(r) > 1 - step / 2:
        inner = (1 - step) * (1 if r > 0 else -1)
        notes = (f"a perfect order of {n} cases: the interval is that of the next lower value, up to 1",)
    error = sqrt((1 + inner * inner / 2) / (n - 3) if method == "spearman" else 0.437 / (n - 4))
    half = float(stats.norm.ppf((1 + level) / 2)) * error
    lo, hi = tanh(atanh(inner) - half), tanh(atanh(inner) + half)
    if notes:
        lo, hi = (lo, 1.0) if r > 0 else (-1.0, hi)
    return Interval(lo, hi, level, f"Fisher z (Bonett and Wright), {method}", n), notes


@dataclass(frozen=True)
class Better:
    """How much better x follows y than z does: |r(x, y)| - |r(z, y)|."""

    value: float
    first: float
    second: float
    interval: Interval
    p: float
    p_method: str
    notes: tuple[str, ...]


def better_predictor(
    x: ArrayLike, z: ArrayLike, y: ArrayLike, *, level: float = LEVEL, seed: int = 0
) -> Better:
    """Whether Spearman(x, y) exceeds Spearman(z, y) on the same n >= 4 cases.

    Signs count: both predictors are to be given so that they should rise with y, and one that falls with it
    predicts less than none. The interval is a percentile bootstrap of cases; p is two-sided, from exchanging
    the ranks of x and z within cases (all 2^n up to 2^12, else drawn).
    """
    first, outcome = pairs("better_predictor", x, y, 4)
    second, _ = pairs("better_predictor", z, y, 4)
    from scipy import stats

    a, b, c = (np.asarray(stats.rankdata(v), dtype=np.float64) for v in (first, second, outcome))
    r, s = _pearson(a, c), _pearson(b, c)
    if not (np.isfinite(r) and np.isfinite(s)):
        raise ValueError("better_predictor: a constant has no rank correlation")
    n = len(a)
    seen = float(r) - float(s)
    rng = np.random.default_rng(seed)
    if n <= 12:
        swap = ((np.arange(2**n)[:, None] >> np.arange(n)) & 1).astype(bool)
        how, more = f"exact, all {2**n} exchanges", 0
    else:
        swap = rng.integers(0, 2, (DRAWN, n)).astype(bool)
        how, more = f"{DRAWN} exchanges drawn, seed {seed}", 1
    with np.errstate(invalid="ignore", divide="ignore"):
        moved = _pearson(np.where(swap, b, a), c) - _pearson(np.where(swap, a, b), c)
        draws = rng.integers(0, n, (RESAMPLES, n))
        again = [stats.rankdata(v[draws], axis=1) for v in (a, b, c)]
        found = _pearson(again[0], again[2]) - _pearson(again[1], again[2])
    p = (np.count_nonzero(np.abs(np.nan_to_num(moved)) >= abs(seen) - 1e-9) + more) / (len(moved) + more)
    kept = found[np.isfinite(found)]
    lo, hi = np.quantile(kept, [(1 - level) / 2, (1 + level) / 2]).tolist()
    notes = (f"a percentile bootstrap of {n} cases covers too little",) if n < 20 else ()
    interval = Interval(lo, hi, level, f"bootstrap of cases, percentiles of {len(kept)}, seed {seed}", n)
    return Better(seen, float(r), float(s), interval, float(p), how, notes)


def _pearson(a: Numbers, b: Numbers) -> Numbers:
    """Along the last axis."""
    u, v = a - a.mean(axis=-1, keepdims=True), b - b.mean(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((u * v).sum(axis=-1) / np.sqrt((u * u).sum(axis=-1) * (v * v).sum(axis=-1)))
