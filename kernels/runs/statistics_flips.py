"""Exact tests of paired differences by their signs: sign flips and the sign test.

If the two arms of a pair could be exchanged, each of the 2^n patterns of signs of the differences d_i
is as likely as any other (Fisher 1935, The Design of Experiments, section 21). p is the share of
patterns whose statistic is at least as far out as the one seen, so that no two-sided p of n pairs is
below 2/2^n: five pairs can not show p < 0.05.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from gateproof.kernels.runs.statistics_inputs import Numbers, numbers

#: All sign patterns are counted up to this many differences that are not 0; beyond it, patterns are drawn.
EXACT = 20
DRAWN = 100_000


@dataclass(frozen=True)
class SignFlips:
    """p values of sum(d) among the patterns of signs.

    p: two-sided, of |sum|; p_less, p_greater: of a sum as low, as high as seen.
    p_smallest: the least two-sided p that so many differences other than 0 can give.
    """

    p: float
    p_less: float
    p_greater: float
    p_smallest: float
    method: str


def smallest_p(n: int) -> float:
    """The least two-sided p that n pairs can give: 2/2^n, and 1 for n = 0."""
    return min(1.0, 2.0 ** (1 - n))


def sign_flips(d: ArrayLike, *, seed: int = 0) -> SignFlips:
    """The permutation test of paired differences, all of them finite.

    Sums within rounding of each other count as equal, which can only raise p. With more than EXACT
    differences other than 0, DRAWN patterns are drawn from ``seed``, and p = (1 + hits)/(1 + drawn) stays a
    valid p (Phipson and Smyth 2010).
    """
    given = numbers("sign_flips", d, 1)
    moved = given[given != 0]
    n, seen, near = len(moved), float(moved.sum()), _rounding(moved)
    if n <= EXACT:
        sums, more = _all_sums(moved), 0
        method = f"exact, all {2**n} sign flips"
    else:
        sums, more = _drawn_sums(moved, seed), 1
        method = f"{DRAWN} sign flips drawn, seed {seed}"

    def share(hits: int) -> float:
        return (hits + more) / (len(sums) + more)

    return SignFlips(
        p=share(int(np.count_nonzero(np.abs(sums) >= abs(seen) - near))),
        p_less=share(int(np.count_nonzero(sums <= seen + near))),
        p_greater=share(int(np.count_nonzero(sums >= seen - near))),
        p_smallest=smallest_p(n) if not more else 1 / (1 + DRAWN),
        method=method,
    )


def _all_sums(d: Numbers) -> Numbers:
    sums = np.zeros(1)
    for value in d.tolist():
        sums = np.concatenate([sums + value, sums - value])
    return sums


def _drawn_sums(d: Numbers, seed: int) -> Numbers:
    rng = np.random.default_rng(seed)
    block = max(1, 2**22 // len(d))  # 32 MB of signs at a time
    counts = [min(block, DRAWN - i) for i in range(0, DRAWN, block)]
    drawn = [(2.0 * rng.integers(0, 2, (k, len(d)), dtype=np.int8) - 1.0) @ d for k in counts]
    return np.concatenate(drawn)


def _rounding(d: Numbers) -> float:
    return float(4 * max(len(d), 1) * np.finfo(np.float64).eps * np.abs(d).sum())


@dataclass(frozen=True)
class SignTest:
    """How many differences are above and below 0, and the exact binomial p of that."""

    above: int
    below: int
    ties: int
    p: float
    p_smallest: float
    method: str


def sign_test(
    d: ArrayLike, *, alternative: Literal["two-sided", "greater", "less"] = "two-sided"
) -> SignTest:
    """The sign test of paired differences; ties are left out (Dixon and Mood 1946).

    ``greater``: differences tend to be above 0. Infinite differences are allowed here, since only the
    sign counts (a run that never reached its target); NaN is not.
    """
    given = np.asarray(d, dtype=np.float64)
    if given.ndim != 1 or not len(given) or bool(np.isnan(given).any()):
        raise ValueError("sign_test: a sequence of numbers without NaN is expected")
    above, below = int((given > 0).sum()), int((given < 0).sum())
    n = above + below
    tails = {"greater": _upper(above, n), "less": _upper(below, n)}
    if alternative not in ("two-sided", "greater", "less"):
        raise ValueError(f"sign_test: alternative = {alternative!r}: two-sided, greater or less is expected")
    both = alternative == "two-sided"
    return SignTest(
        above=above,
        below=below,
        ties=len(given) - n,
        p=min(1.0, 2 * min(tails.values())) if both else tails[alternative],
        p_smallest=smallest_p(n) if both else 2.0**-n,
        method=f"sign test, exact, {alternative}",
    )


def _upper(hits: int, n: int) -> float:
    """P(B >= hits) for B binomial(n, 1/2), as an exact fraction rounded once."""
    return sum(comb(n, k) for k in range(hits, n + 1)) / (1 << n)
