"""Noisy devices: errors with a closed form, seeds, and binomial intervals against exact sums."""

from __future__ import annotations

import random
from fractions import Fraction
from math import comb

import mpmath as mp
import pytest

from gateproof.numerics.binomial import binomial_below, quantile_interval, share_interval
from gateproof.numerics.device_noise import noisy, sample
from gateproof.numerics.float_lists import Columns
from gateproof.numerics.tolerance import Tolerance, ToleranceError
from gateproof.theory.formula import expand, parse_expr

F = Fraction
R = (None, None)
GATE = "tg(x, tau={tau}, theta=[0], slope=[0, 1], intercept=[0, 0])"


def devices(text, count, seed=0, ends=R, **given):
    noise = {
        key: Tolerance(F(size[:-1]) / 100, True) if size.endswith("%") else Tolerance(F(size), False)
        for key, size in given.items()
    }
    return sample(noisy(parse_expr(text), noise), "x", ends, count, seed)


def test_every_device_has_the_error_that_calculus_gives():
    # sup of |x sigmoid(t x) - relu(x)| is W(1/e)/t for each drawn t.
    found = devices(f"abs({GATE.format(tau=2)} - relu(x))", 40, seed=7, tau="10%")
    drawn = [random.Random(f"7:{k}").gauss(2, 0.2) for k in range(40)]
    right = sorted(float(mp.lambertw(mp.exp(-1)).real) / t for t in drawn)
    assert found.redrawn == found.crossed == 0
    assert all(
        abs(a / b - 1) < 1e-6 and a <= b * (1 + 1e-12) for a, b in zip(found.values, right, strict=True)
    )


def test_intercepts_show_far_out():
    # Both branches at once: the error is the larger deviation, reached as x goes to infinity.
    text = "abs(tg(x, tau=1, theta=[0], slope=[0, 1], intercept=[0, 0]) - silu(x))"
    found = devices(text, 20, seed=3, intercept="0.5")
    right = []
    for k in range(20):
        rng = random.Random(f"3:{k}")
        right.append(max(abs(rng.gauss(0, 0.5)), abs(rng.gauss(0, 0.5))))
    assert found.values == pytest.approx(sorted(right), rel=1e-9)


def test_a_seed_is_a_sample_and_a_longer_one_goes_on():
    text = f"abs({GATE.format(tau=1.702)} - gelu(x))"
    short, again, other = (devices(text, 12, seed=s, tau="5%", theta="0.01") for s in (1, 1, 2))
    assert short == again
    assert short.values != other.values
    assert set(short.values) < set(devices(text, 20, seed=1, tau="5%", theta="0.01").values)


def test_sharpnesses_below_0_are_drawn_again_and_crossings_counted():
    found = devices(f"abs({GATE.format(tau=1)} - relu(x))", 60, tau="80%")
    assert found.redrawn > 0
    pair = "abs(tg(x, tau=3, theta=[-1, 1], slope=[0, 1/2, 1], intercept=[0, 0, 0]) - gelu(x))"
    assert devices(pair, 60, theta="2").crossed > 5
    assert devices(pair, 60, theta="0.01").crossed == 0


def test_equal_gates_are_one_device():
    gate = GATE.format(tau=2)
    assert devices(f"abs({gate} - ({gate}))", 5, tau="10%").values == (0.0,) * 5
    assert min(devices(f"abs({gate} - ({GATE.format(tau=3)}))", 5, tau="10%").values) > 0


@pytest.mark.parametrize(
    ("text", "given", "part"),
    [
        ("abs(silu(x) - gelu(x))", {"tau": "5%"}, "none in the formula"),
        (f"abs({GATE.format(tau=1)} - relu(x))", {"theta": "5%"}, "nothing varies"),
        (f"abs({GATE.format(tau='t')} - relu(x))", {"tau": "5%"}, "not names"),
        (f"abs({GATE.format(tau=-1)} - relu(x))", {"tau": "0.001"}, "no positive sharpness"),
    ],
)
def test_noise_that_means_nothing(text, given, part):
    with pytest.raises(ToleranceError, match=part):
        devices(text, 3, **given)


@pytest.mark.parametrize(("n", "p"), [(10, 0.5), (100, 0.95), (400, 0.99)])
def test_binomial_sums_against_exact_ones(n, p):
    exact, q = F(0), F(str(p))
    for k in range(n + 1):
        exact += comb(n, k) * q**k * (1 - q) ** (n - k)
        assert binomial_below(k, n, p) == pytest.approx(float(exact), abs=1e-12)


def test_ranks_of_quantiles():
    # Conover, Practical Nonparametric Statistics: n = 16, median: X_(4) and X_(13) with 97.9 %.
    assert quantile_interval(16, 0.5) == (4, 13)
    # The largest of n lies above the 99 % quantile with 97.5 % only for n >= log(0.025)/log(0.99) = 367.04.
    assert quantile_interval(367, 0.99)[1] is None
    assert quantile_interval(368, 0.99)[1] == 368
    low, high = quantile_interval(1000, 0.95)
    covered = binomial_below(high - 1, 1000, 0.95) - binomial_below(low - 1, 1000, 0.95)
    assert 0.95 <= covered < 0.965


def test_shares():
    # Clopper and Pearson: 0 of n is at most 1 - 0.025**(1/n); 5 of 100 is [0.0164, 0.1128].
    assert share_interval(0, 100) == pytest.approx((0, 1 - 0.025 ** (1 / 100)), abs=1e-9)
    assert share_interval(5, 100) == pytest.approx((0.0164, 0.1128), abs=1e-4)
    low, high = share_interval(95, 100)
    assert (1 - high, 1 - low) == pytest.approx(share_interval(5, 100), abs=1e-9)


@pytest.mark.parametrize(
    "text", ["gelu(x)", "mish(x)", "relu6(x)", "where(x > 1, exp(x), sech(x))", "softplus(x)"]
)
def test_floats_against_mpmath(text):
    core = expand(parse_expr(text))
    points = [-700.0, -3.5, -1.0, 0.0, 0.25, 1.0, 2.5, 30.0]
    run = Columns(core, "x", ())
    from gateproof import formula

    right = [float(formula(text).mp(mp.mpf(x))) for x in points]
    assert run.values(run.prepared(points), {}) == pytest.approx(right, rel=1e-13, abs=1e-300)
