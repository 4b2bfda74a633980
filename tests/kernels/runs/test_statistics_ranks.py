"""Rank correlations and steps to a target: exact tables, brute force, and coverage by simulation."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from gateproof.kernels.runs import statistics as st
from gateproof.kernels.runs import statistics_rank


@pytest.mark.parametrize("method", ["spearman", "kendall"])
@pytest.mark.parametrize("tied", [False, True])
def test_correlation_as_scipy_has_it(method, tied):
    rng = np.random.default_rng(7)
    other = stats.spearmanr if method == "spearman" else stats.kendalltau
    for n in (4, 7, 15):
        x, y = rng.normal(size=n), rng.normal(size=n)
        if tied:
            x, y = np.round(x), np.round(y)
        found = st.rank_correlation(x, y, method=method)
        assert found.value == pytest.approx(other(x, y).statistic)
        assert found.interval.lo <= found.value <= found.interval.hi
    if method == "kendall" and not tied:
        exact = stats.kendalltau(x, y, method="exact").pvalue
        assert found.p == pytest.approx(exact, abs=4 * math.sqrt(exact / 20_000))


#: Permutations of n by sum of squared rank differences 0, 2, 4, ... (Kendall, Rank Correlation Methods).
SQUARES = {4: [1, 3, 1, 4, 2, 2, 2, 4, 1, 3, 1], 5: [1, 4, 3, 6, 7, 6, 4, 10, 6, 10, 6]}
#: Permutations of n by inversions 0, 1, 2, ... (Mahonian numbers).
INVERSIONS = {4: [1, 3, 5, 6], 5: [1, 4, 9, 15, 20]}


@pytest.mark.parametrize("n", [4, 5])
def test_exact_p_of_small_tables(n):
    order, whole = list(range(n)), math.factorial(n)
    swapped = [1, 0, *order[2:]]  # one exchange of neighbours: sum of squares 2, one inversion
    rho, tau = (st.rank_correlation(order, swapped, method=m) for m in ("spearman", "kendall"))
    assert rho.p == pytest.approx(2 * sum(SQUARES[n][:2]) / whole)
    assert tau.p == pytest.approx(2 * sum(INVERSIONS[n][:2]) / whole)
    assert rho.p_smallest == tau.p_smallest == pytest.approx(2 / whole)
    twice = [1, 0, 3, 2, *order[4:]]  # sum of squares 4, two inversions
    assert st.rank_correlation(order, twice).p == pytest.approx(2 * sum(SQUARES[n][:3]) / whole)
    assert st.rank_correlation(order, twice, method="kendall").p == pytest.approx(
        2 * sum(INVERSIONS[n][:3]) / whole
    )
    # Turned round, the correlation changes its sign and p stays.
    assert st.rank_correlation(order, swapped[::-1]).value == pytest.approx(-rho.value)
    assert st.rank_correlation(order, swapped[::-1]).p == rho.p


def test_intervals_by_hand():
    x = np.arange(12)
    y = np.array([2, 0, 1, 5, 3, 4, 8, 6, 7, 11, 9, 10])
    rho = st.rank_correlation(x, y)
    assert rho.value == pytest.approx(1 - 6 * 24 / (12 * 143))  # each triple has 4 + 1 + 1
    z, error = math.atanh(rho.value), math.sqrt((1 + rho.value**2 / 2) / 9)
    ends = (math.tanh(z - 1.959963985 * error), math.tanh(z + 1.959963985 * error))
    assert (rho.interval.lo, rho.interval.hi) == pytest.approx(ends)
    tau = st.rank_correlation(x, y, method="kendall")
    assert tau.value == pytest.approx(1 - 2 * 8 / 66)
    z, error = math.atanh(tau.value), math.sqrt(0.437 / 8)
    assert tau.interval.lo == pytest.approx(math.tanh(z - 1.959963985 * error))


def test_perfect_and_tiny():
    perfect = st.rank_correlation(range(6), range(6))
    assert perfect.value == pytest.approx(1)
    assert perfect.interval.hi == 1
    next_lower = st.rank_correlation(range(6), [1, 0, 2, 3, 4, 5])
    assert perfect.interval.lo == pytest.approx(next_lower.interval.lo)
    assert perfect.notes
    upside = st.rank_correlation(range(6), range(5, -1, -1)).interval
    assert (upside.lo, upside.hi) == pytest.approx((-1, -perfect.interval.lo))
    three = st.rank_correlation([1, 2, 3], [1, 3, 2])
    assert (three.interval.lo, three.interval.hi, three.p) == (-1, 1, 1)
    four = st.rank_correlation([1, 2, 3, 4], [1, 3, 2, 4], method="kendall")
    assert (four.interval.lo, four.interval.hi) == (-1, 1)
    many = np.arange(80)
    assert st.rank_correlation(many, many, method="kendall").p == pytest.approx(
        stats.kendalltau(many, many, method="asymptotic").pvalue
    )
    for wrong in ([1, 1, 1], [1, 2], [1, 2, math.inf]):
        with pytest.raises(ValueError, match=r"constant|at least|leave"):
            st.rank_correlation(wrong, list(range(len(wrong))))


def test_better_predictor():
    y = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    good, poor = [1.0, 2.0, 3.0, 4.0, 6.0, 5.0], [6.0, 3.0, 4.0, 5.0, 1.0, 2.0]
    found = st.better_predictor(good, poor, y)
    assert (found.first, found.second) == pytest.approx(
        (stats.spearmanr(good, y).statistic, stats.spearmanr(poor, y).statistic)
    )
    # One that falls where it should rise predicts less than none.
    assert found.second < 0
    assert found.value == pytest.approx(found.first - found.second)
    assert found.value > st.better_predictor(good, np.negative(poor), y).value
    other = st.better_predictor(poor, good, y)
    assert other.value == pytest.approx(-found.value)
    assert other.p == found.p
    # All exchanges by hand, with numpy's correlation of the mixed ranks.
    a, b, c = (stats.rankdata(v) for v in (good, poor, y))
    hits = 0
    for swap in itertools.product((False, True), repeat=6):
        u, v = np.where(swap, b, a), np.where(swap, a, b)
        hits += abs(np.corrcoef(u, c)[0, 1] - np.corrcoef(v, c)[0, 1]) >= found.value - 1e-9
    assert found.p == hits / 64
    assert st.better_predictor(y, y, y).value == 0
    assert st.better_predictor(y, y, y).p == 1


def test_first_reach():
    steps, curve = [0, 10, 20, 30], [3.0, math.nan, 1.0, 2.0]
    assert st.first_reach(steps, curve, 1.5) == 20
    assert st.first_reach(steps, curve, 0.5) is None
    assert st.first_reach(steps, curve, 3.0, below=False) == 0
    assert st.first_reach(steps, curve, 1.0) == 20  # at the target is reached
    with pytest.raises(ValueError, match="rising"):
        st.first_reach([0, 0], [1.0, 2.0], 1.0)
    with pytest.raises(ValueError, match="one value a step"):
        st.first_reach([0], [1.0, 2.0], 1.0)


def test_steps_without_cuts_are_a_paired_ratio():
    a, b = [100, 240, 90, 300, 410, 220], [50, 100, 60, 120, 200, 90]
    found, plain = st.steps_ratio(a, b, 1000), st.paired_ratio(a, b)
    assert (found.ratio, found.interval, found.word) == (plain.mean, plain.interval, "equal")
    ratios = sorted(x / y for x, y in zip(a, b, strict=True))
    assert (found.median.lo, found.median.hi) == pytest.approx((ratios[0], ratios[-1]))  # n = 6: 1 - 2/64
    assert found.median.level == pytest.approx(62 / 64)
    assert st.steps_ratio(a[:5], b[:5], 1000).median.hi == math.inf  # five pairs have no 95 % interval


def test_steps_with_cuts():
    a, b = [None, 240, None, 300], [50, 100, 60, 120]
    found = st.steps_ratio(a, b, 400)
    assert (found.word, found.both, found.only_a, found.only_b, found.neither) == ("at least", 2, 0, 2, 0)
    assert found.ratio == pytest.approx(math.prod([8, 2.4, 400 / 60, 2.5]) ** 0.25)
    turned = st.steps_ratio(b, a, 400)
    assert turned.word == "at most"
    assert turned.ratio == pytest.approx(1 / found.ratio)
    assert turned.p == found.p == 2 / 16
    mixed = st.steps_ratio([None, 100], [100, None], 400)
    assert mixed.word == "restricted"
    assert any("in none" in note for note in mixed.notes)
    nothing = st.steps_ratio([None, None], [None, None], 400)
    assert (nothing.word, nothing.neither, nothing.p) == ("restricted", 2, 1)
    assert nothing.interval.hi == math.inf
    assert any("no spread" in note for note in nothing.notes)
    for wrong in ([0, 100], [500, 100], [math.nan, 100], [-1, 100]):
        with pytest.raises(ValueError, match="None where"):
            st.steps_ratio(wrong, [100, 100], 400)
    with pytest.raises(ValueError, match="2 pairs"):
        st.steps_ratio([100], [100], 400)


def test_gehan_by_pairwise_comparison():
    a, b = [None, 300, 120, None, 400], [100, 310, None, 90, None]  # 400 is reached, if just so
    runs = [*a, *b]

    def score(x):  # known to be later than, minus known to be earlier than
        later = sum(y is not None and (x is None or x > y) for y in runs)
        return later - sum(x is not None and (y is None or y > x) for y in runs)

    d = [score(x) - score(y) for x, y in zip(a, b, strict=True)]
    sums = [np.dot(s, d) for s in itertools.product((-1, 1), repeat=5)]
    assert st.steps_ratio(a, b, 400).p == np.mean([abs(v) >= abs(sum(d)) for v in sums])


@pytest.mark.deep
def test_at_least_holds():
    """With one arm cut off, the lower end stays below the true ratio as often as it says."""
    rng = np.random.default_rng(5)
    trials, missed, seen = 3000, 0, 0
    for _ in range(trials):
        b = np.exp(rng.normal(4.0, 0.2, 6))
        a = 3 * np.exp(rng.normal(4.0, 0.2, 6))
        found = st.steps_ratio([x if x <= 180 else None for x in a], b.tolist(), 180)
        seen += found.word == "at least"
        missed += found.interval.lo > 3
    assert seen > 0.9 * trials
    assert missed / trials <= 0.025 + 3 * math.sqrt(0.025 / trials)


@pytest.mark.deep
@pytest.mark.parametrize(("method", "truth"), [("spearman", 0.6), ("kendall", 0.45)])
def test_coverage_of_correlations(method, truth, monkeypatch):
    """Normal pairs: rho_s = 6/pi asin(r/2), tau = 2/pi asin(r); covered about as often as is said."""
    monkeypatch.setattr(statistics_rank, "_p", lambda *_: (1.0, 1.0, "none"))
    r = 2 * math.sin(math.pi * truth / 6) if method == "spearman" else math.sin(math.pi * truth / 2)
    rng = np.random.default_rng(2)
    for n in (8, 15):
        hits = 0
        for _ in range(1500):
            x = rng.normal(size=n)
            y = r * x + math.sqrt(1 - r * r) * rng.normal(size=n)
            found = st.rank_correlation(x, y, method=method).interval
            hits += found.lo <= truth <= found.hi
        assert 0.92 <= hits / 1500 <= 0.99
