"""Statistics of few seeds against published examples, exact counts and other programs' formulas."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from gateproof.kernels.runs import statistics as st
from gateproof.kernels.runs import statistics_flips

#: Hours of sleep gained, Student (1908), from Cushny and Peebles (1905).
SLEEP_1 = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
SLEEP_2 = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
#: Darwin's maize, crossed minus self-fertilised, in eighths of an inch (Fisher 1935, section 17).
MAIZE = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]


def test_students_own_example():
    found = st.paired_difference(SLEEP_2, SLEEP_1)
    # R: t.test(extra ~ group, data = sleep, paired = TRUE): mean 1.58, 95 % from 0.7001142 to 2.4598858
    assert found.mean == pytest.approx(1.58)
    assert (found.interval.lo, found.interval.hi) == pytest.approx((0.7001142, 2.4598858), abs=1e-7)
    assert found.sd == pytest.approx(1.2299955, abs=1e-7)
    # Nine differences are above 0 and one is 0: only the pattern seen and its opposite are as far out.
    assert found.p == found.p_smallest == 2 / 2**9
    assert found.interval.method == "Student t"


def test_fishers_own_example():
    """Section 21 of The Design of Experiments: 863 of 32768 patterns have a sum of 314 or more."""
    flips = st.sign_flips(MAIZE)
    assert flips.p_greater == 863 / 32768
    assert flips.p == 2 * 863 / 32768
    assert flips.p_less == 1 - (863 - 28) / 32768  # 28 of them are equal to 314
    assert flips.p_smallest == 2 / 2**15


def test_flips_beyond_the_exact_ones_agree_with_them(monkeypatch):
    monkeypatch.setattr(statistics_flips, "EXACT", 10)
    drawn = st.sign_flips(MAIZE, seed=3)
    assert drawn.p == pytest.approx(2 * 863 / 32768, abs=5 * math.sqrt(0.0527 / 100_000))
    assert drawn.p == st.sign_flips(MAIZE, seed=3).p != st.sign_flips(MAIZE, seed=4).p
    # No p of drawn patterns is 0.
    assert st.sign_flips([1.0] * 40).p == 1 / 100_001


def test_no_p_is_below_what_few_pairs_can_show():
    for n in range(2, 8):
        rng = np.random.default_rng(n)
        d = rng.uniform(1, 2, n)
        found = st.paired_difference(d, np.zeros(n))
        assert found.p == found.p_smallest == st.smallest_p(n) == 2 / 2**n
        assert any("can not give p below" in note for note in found.notes) == (n < 6)


def test_flips_count_ties_by_value_and_not_by_rounding():
    # 0.1 + 0.2 - 0.3 is not 0 in floats, and in decimals no pattern is nearer to 0 than it.
    assert st.sign_flips([0.1, 0.2, -0.3]).p == 1
    assert st.sign_flips([0.1, 0.2, 0.3]).p == 2 / 8
    assert st.sign_flips([1, 1, 1, -1]).p == 10 / 16  # |sum| >= 2: all but the 6 patterns with sum 0


def test_percent_and_ratio():
    percent = st.paired_percent([1.1, 2.1, 3.3], [1.0, 2.0, 3.0])
    assert percent.mean == pytest.approx(25 / 3)
    ratio = st.paired_ratio([2.0, 8.0, 4.0], [1.0, 2.0, 2.0])
    assert ratio.mean == pytest.approx(2 ** (4 / 3))
    ends = stats.ttest_1samp(np.log([2, 4, 2]), 0).confidence_interval(0.95)
    assert (ratio.interval.lo, ratio.interval.hi) == pytest.approx((math.exp(ends.low), math.exp(ends.high)))
    assert ratio.interval.lo < ratio.mean < ratio.interval.hi


def test_no_interval_without_spread():
    for value in (0.0, 0.5, 0.1 + 0.2):
        found = st.paired_difference([value] * 4, [0.0] * 4)
        assert (found.interval.lo, found.interval.hi) == (-math.inf, math.inf)
        assert found.interval.method.startswith("none")
        assert any("no spread" in note for note in found.notes)
        assert not st.equivalence([value] * 4, [0.0] * 4, 10).equivalent
        with pytest.raises(ValueError, match="spread is unknown"):
            st.seeds_needed([value] * 4, 1.0)
    # Equal up to rounding is equal: 1.1 - 1.0 and 2.1 - 2.0 differ in the last digits.
    assert st.paired_difference([1.1, 2.1, 3.1], [1.0, 2.0, 3.0]).interval.lo == -math.inf
    assert st.paired_ratio([2.0, 4.0], [1.0, 2.0]).interval.lo == 0


def test_bootstrap_is_bca():
    found = st.paired_difference(SLEEP_2, SLEEP_1, seed=1).bootstrap
    d = np.subtract(SLEEP_2, SLEEP_1)
    other = stats.bootstrap((d,), np.mean, n_resamples=40_000, method="BCa", rng=5).confidence_interval
    assert (found.lo, found.hi) == pytest.approx((other.low, other.high), abs=0.04)
    plain = np.quantile(d[np.random.default_rng(1).integers(0, 10, (10_000, 10))].mean(1), [0.025, 0.975])
    assert found.hi - plain[1] > 0.1  # these differences are skew: percentiles are not BCa


def test_equivalence_is_two_one_sided_tests():
    d = np.subtract(SLEEP_2, SLEEP_1)
    for margin in (1.0, 2.2, 2.35, 3.0, (-1.0, 5.0)):
        lo, hi = margin if isinstance(margin, tuple) else (-margin, margin)
        found = st.equivalence(SLEEP_2, SLEEP_1, margin)
        above = stats.ttest_1samp(d, lo, alternative="greater").pvalue
        below = stats.ttest_1samp(d, hi, alternative="less").pvalue
        assert (found.p_above_lo, found.p_below_hi) == pytest.approx((above, below))
        assert found.p == max(found.p_above_lo, found.p_below_hi)
        inside = lo < found.interval.lo and found.interval.hi < hi
        assert found.equivalent == (found.p <= 0.05) == inside
        assert found.interval.level == pytest.approx(0.9)
    # Non-inferiority leaves one test: its p is the one-sided one.
    assert st.equivalence(SLEEP_1, SLEEP_2, (-math.inf, 0.0)).p == pytest.approx(0.002833 / 2, abs=1e-6)
    inside = st.equivalence([1.01, 2.0, 2.99], [1.0, 2.0, 3.0], 2.0, percent=True)
    assert inside.mean == pytest.approx((1 - 1 / 3) / 3)


@pytest.mark.parametrize(
    ("d", "sided", "n"),
    # Cohen's d_z at power 0.8, alpha 0.05: G*Power's and the textbooks' numbers of pairs.
    [(0.2, 2, 199), (0.5, 2, 34), (0.8, 2, 15), (0.5, 1, 27)],
)
def test_seeds_by_the_textbook(d, sided, n):
    assert st.seeds_for(d, 1.0, sided=sided) == n
    assert st.power(n, d, 1.0, sided=sided) >= 0.8 > st.power(n - 1, d, 1.0, sided=sided)


@pytest.mark.parametrize("n", [2, 3, 5, 10, 34, 1000])
@pytest.mark.parametrize("effect", [1e-6, 0.1, -0.5, 2.0])
def test_power_by_the_noncentral_t(n, effect):
    edge, delta = stats.t.isf(0.025, n - 1), abs(effect) * math.sqrt(n)
    wrong = stats.nct.cdf(-edge, n - 1, delta) if delta < 6 else 0.0  # it is NaN here and there
    assert st.power(n, effect, 1.0) == pytest.approx(stats.nct.sf(edge, n - 1, delta) + wrong, abs=1e-8)
    one = stats.nct.sf(stats.t.isf(0.05, n - 1), n - 1, delta)
    assert st.power(n, effect, 1.0, sided=1) == pytest.approx(one, abs=1e-8)


def test_power_where_scipys_noncentral_t_has_none():
    for n, effect, level in ((3, 5.8398, 0.95), (4, 3.89803, 0.99)):
        near = [st.power(n, effect + e, 1.0, level=level) for e in (-1e-3, 0.0, 1e-3)]
        assert near[0] < near[1] < near[2]
        assert near[1] == pytest.approx((near[0] + near[2]) / 2, abs=1e-6)
    assert st.power(2, 1e-9, 1.0, level=0.99999) == pytest.approx(1e-5, abs=1e-9)  # alpha, for no effect
    assert st.power(2, 1e9, 1.0, level=0.99999) == pytest.approx(1, abs=1e-12)


def test_seeds_say_how_poorly_the_spread_is_known():
    found = st.seeds_needed([0.0, 2.0, 4.0], 1.0)  # sd 2; chi-square of 2 degrees of freedom is exponential
    assert found.sd == 2
    assert (found.sd_lo, found.sd_hi) == pytest.approx(
        (2 / math.sqrt(-math.log(0.025)), 2 / math.sqrt(-math.log(0.975)))
    )
    assert found.n == st.seeds_for(0.5, 1.0) == 34
    assert found.n_lo == st.seeds_for(1.0, found.sd_lo)
    assert found.n_hi == st.seeds_for(1.0, found.sd_hi)
    assert found.n_flips == 6
    assert st.smallest_p(6) < 0.05 < st.smallest_p(5)
    assert st.seeds_needed([0.0, 1.0, 2.0], 1e-3).n_hi is None  # more than a million


def test_holm_and_bonferroni():
    ps = {"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005}
    # R's p.adjust: "holm" gives 0.03 0.06 0.06 0.02, "bonferroni" 0.04 0.16 0.12 0.02
    assert list(st.holm(ps).adjusted.values()) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert list(st.bonferroni(ps).adjusted.values()) == pytest.approx([0.04, 0.16, 0.12, 0.02])
    assert st.holm(ps).rejected == ("a", "d")
    assert st.holm(ps, level=0.975).rejected == ("d",)
    assert st.holm({"one": 0.05}).rejected == ("one",)
    assert st.holm(ps).rows()[1] == {
        "comparison": "b",
        "p": 0.04,
        "p_adjusted": 0.06,
        "rejected": False,
        "method": "Holm, 4 comparisons",
    }


def test_sign_test_and_proportion():
    nine = [1] * 9 + [-1]
    assert st.sign_test(nine).p == 22 / 1024
    assert st.sign_test(nine, alternative="greater").p == 11 / 1024
    assert st.sign_test(nine, alternative="less").p == 1023 / 1024
    odd = st.sign_test([math.inf, 0.0, -2.0, 3.0])
    assert (odd.above, odd.below, odd.ties, odd.p, odd.p_smallest) == (2, 1, 1, 1.0, 1 / 4)
    assert st.proportion(0, 10).hi == pytest.approx(1 - 0.025**0.1)
    assert st.proportion(0, 10).lo == 0


@pytest.mark.parametrize(
    "call",
    [
        lambda: st.paired_difference([1.0, math.nan], [1.0, 2.0]),
        lambda: st.paired_difference([1.0, 2.0], [1.0, math.inf]),
        lambda: st.paired_difference([1.0, 2.0], [1.0]),
        lambda: st.paired_difference([1.0], [1.0]),
        lambda: st.paired_difference([1.0, None], [1.0, 2.0]),
        lambda: st.paired_difference([[1.0, 2.0]], [[1.0, 2.0]]),
        lambda: st.paired_difference([1.0, 2.0], [1.0, 1.5], level=95),
        lambda: st.paired_percent([1.0, 2.0], [0.0, 1.5]),
        lambda: st.paired_ratio([1.0, -2.0], [1.0, 1.5]),
        lambda: st.equivalence([1.0, 2.0], [1.0, 1.5], (1.0, -1.0)),
        lambda: st.equivalence([1.0, 2.0], [1.0, 1.5], math.nan),
        lambda: st.equivalence([1.0, 2.0], [1.0, 1.5], 1.0, level=0.4),
        lambda: st.seeds_for(0.0, 1.0),
        lambda: st.seeds_for(1e-9, 1.0),
        lambda: st.seeds_for(1.0, 1.0, power=1.0),
        lambda: st.power(5, 1.0, 0.0),
        lambda: st.holm({}),
        lambda: st.holm({"a": math.nan}),
        lambda: st.sign_test([math.nan]),
        lambda: st.proportion(3, 2),
        lambda: st.band(np.zeros((1, 3))),
        lambda: st.mean_interval([3.0]),
    ],
)
def test_what_is_refused(call):
    with pytest.raises(ValueError, match=r"expected|needed|leave such|needs more") as refused:
        call()
    assert "\n" not in str(refused.value)


def test_bands():
    curves = np.array([[1.0, 2.0, math.nan], [1.0, 4.0, 1.0], [1.0, 9.0, 2.0]])
    mean, lo, hi = st.band(curves)
    ends = stats.ttest_1samp(curves[:, 1], 0).confidence_interval(0.95)
    assert (mean[1], lo[1], hi[1]) == pytest.approx((5.0, ends.low, ends.high))
    assert (mean[0], lo[0], hi[0]) == (1.0, 1.0, 1.0)
    assert np.isnan([mean[2], lo[2], hi[2]]).all()


@pytest.mark.deep
@pytest.mark.parametrize("n", [3, 5, 10])
def test_coverage(n):
    """Student's interval covers at its level, TOST errs at its, the bootstrap covers as little as noted."""
    rng = np.random.default_rng(n)
    trials = 3000
    mean = bootstrap = wrong = low = 0
    for _ in range(trials):
        d = rng.normal(size=n)
        found = st.paired_difference(d, np.zeros(n), seed=int(rng.integers(2**31)))
        mean += found.interval.lo <= 0 <= found.interval.hi
        bootstrap += found.bootstrap.lo <= 0 <= found.bootstrap.hi
        low += found.p <= 0.2
        wrong += st.equivalence(d, np.zeros(n), (0.0, math.inf)).equivalent
    three = 3 / math.sqrt(trials)
    assert mean / trials == pytest.approx(0.95, abs=three * 0.22)
    assert wrong / trials == pytest.approx(0.05, abs=three * 0.22)
    assert low / trials <= 0.2 + three * 0.4
    said = 1 - 2 * stats.t.sf(1.959964 * math.sqrt((n - 1) / n), n - 1)
    assert f"about {100 * said:.0f} %" in " ".join(found.notes)
    assert bootstrap / trials == pytest.approx(said, abs=0.05)
    assert bootstrap / trials < 0.93


def test_patterns_of_signs_by_listing_them():
    rng = np.random.default_rng(0)
    for n in (2, 3, 6):
        d = rng.normal(size=n)
        sums = [np.dot(s, d) for s in itertools.product((-1, 1), repeat=n)]
        assert st.sign_flips(d).p == np.mean([abs(v) >= abs(d.sum()) - 1e-12 for v in sums])
        assert st.sign_flips(d).p_less == np.mean([v <= d.sum() + 1e-12 for v in sums])
