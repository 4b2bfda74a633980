"""Confidence intervals of quantiles and shares, without a distribution assumed.

With B binomial(N, q) and X_(1) <= ... <= X_(N) a sample, the q-quantile lies in [X_(l), X_(u)] with
probability at least 1 - P(B < l) - P(B >= u). A share of which k of N were seen has the Clopper-Pearson
interval.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, fsum, lgamma, log

LEVEL = 0.95


def binomial_below(k: int, n: int, p: float) -> float:
    """P(B <= k) for B binomial(n, p)."""
    if k < 0:
        return 0.0
    if k >= n:
        return 1.0
    if p <= 0:
        return 1.0
    if p >= 1:
        return 0.0
    whole = lgamma(n + 1)
    terms = (
        exp(whole - lgamma(j + 1) - lgamma(n - j + 1) + j * log(p) + (n - j) * log(1 - p))
        for j in range(k + 1)
    )
    return min(1.0, fsum(terms))


def quantile_interval(n: int, q: float, level: float = LEVEL) -> tuple[int | None, int | None]:
    """Ranks (from 1) of the order statistics between which the q-quantile lies with that confidence.

    None where n is too small for an end.
    """
    tail = (1 - level) / 2
    low = _last(lambda r: binomial_below(r - 1, n, q) <= tail, 1, n)
    high = _last(lambda r: not 1 - binomial_below(r - 1, n, q) <= tail, 0, n)
    return low, None if high is None or high + 1 > n else high + 1


def _last(holds: Callable[[int], bool], lo: int, hi: int) -> int | None:
    """The last whole number of [lo, hi] for which a falling condition holds."""
    if not holds(lo):
        return None
    while lo < hi:
        middle = (lo + hi + 1) // 2
        lo, hi = (middle, hi) if holds(middle) else (lo, middle - 1)
    return lo


def share_interval(k: int, n: int, level: float = LEVEL) -> tuple[float, float]:
    """The Clopper-Pearson interval of a share of which k of n were seen."""
    tail = (1 - level) / 2
    low = 0.0 if k == 0 else _root(lambda p: 1 - binomial_below(k - 1, n, p) > tail)
    high = 1.0 if k == n else _root(lambda p: not binomial_below(k, n, p) > tail)
    return low, high


def _root(beyond: Callable[[float], bool]) -> float:
    lo, hi = 0.0, 1.0
    for _ in range(60):
        middle = (lo + hi) / 2
        lo, hi = (lo, middle) if beyond(middle) else (middle, hi)
    return (lo + hi) / 2
