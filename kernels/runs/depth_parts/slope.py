"""The exponent of a power law, with Student's interval of the slope of the logarithms."""

from __future__ import annotations

from collections.abc import Sequence
from math import log, sqrt

from gateproof.kernels.runs.experiment import Interval


def log_slope(x: Sequence[float], y: Sequence[float], level: float = 0.95) -> Interval:
    """Least squares of log y on log x, n >= 3 cases, all > 0: the interval of the exponent.

    Raises ValueError for fewer, and where x is constant.
    """
    from scipy import stats

    n = len(x)
    if n < 3 or len(y) != n or len(set(x)) < 2:
        raise ValueError(f"log_slope: at least three cases that differ in x are expected, found {n}")
    u, v = [log(a) for a in x], [log(b) for b in y]
    mean_u, mean_v = sum(u) / n, sum(v) / n
    spread = sum((a - mean_u) ** 2 for a in u)
    slope = sum((a - mean_u) * (b - mean_v) for a, b in zip(u, v, strict=True)) / spread
    left = sum((b - mean_v - slope * (a - mean_u)) ** 2 for a, b in zip(u, v, strict=True))
    half = float(stats.t.ppf((1 + level) / 2, n - 2)) * sqrt(left / (n - 2) / spread)
    return Interval(slope - half, slope + half, level, "Student t of the slope of the logarithms", n)
