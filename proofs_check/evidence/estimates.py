"""Intervals of what was sampled: a share of cases, a statistic of paired samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from gateproof.numerics.decimals import decimal_enclosure

LEVEL = 0.95
RESAMPLES = 10_000


def _interval(lo: float, hi: float, method: str, n: int) -> dict[str, Any]:
    ends = decimal_enclosure(Fraction(lo), Fraction(hi), 6)
    return {**ends, "level": str(LEVEL), "method": method, "n": n}


def share(hits: int, n: int) -> dict[str, Any]:
    """The interval of a probability after ``hits`` of ``n`` independent cases (Clopper and Pearson 1934)."""
    from scipy import stats

    if not 0 <= hits <= n or n == 0:
        raise ValueError(f"share: 0 to n of n > 0 cases, found {hits} of {n}")
    tail = (1 - LEVEL) / 2
    lo = float(stats.beta.ppf(tail, hits, n - hits + 1)) if hits else 0.0
    hi = float(stats.beta.ppf(1 - tail, hits + 1, n - hits)) if hits < n else 1.0
    return _interval(lo, hi, "Clopper-Pearson", n)


def bootstrap(
    seed: int, statistic: Callable[[Sequence[Any]], Any], *samples: Sequence[float]
) -> dict[str, Any]:
    """The interval of a statistic of samples that are drawn again together, by percentiles.

    ``statistic`` takes the samples as arrays of shape (..., n) and gives an array of shape (...).
    """
    import numpy as np

    given = [np.asarray(s, dtype=float) for s in samples]
    n = len(given[0])
    if n < 2 or any(len(g) != n for g in given):
        raise ValueError("bootstrap: samples of one length, at least 2")
    draws = np.random.default_rng(seed).integers(0, n, (RESAMPLES, n))
    found = statistic([g[draws] for g in given])
    lo, hi = np.quantile(found, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return _interval(float(lo), float(hi), f"bootstrap, percentiles of {RESAMPLES}", n)
