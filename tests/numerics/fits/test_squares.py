"""Least squares gates: the optimum of mpmath, planted gates, and two minimisers that must not do better."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy import optimize, special

from gateproof.numerics.fits.measure import measure_of
from gateproof.numerics.fits.normal import normal
from gateproof.numerics.fits.setting import Setting
from gateproof.numerics.fits.squares import squares
from gateproof.numerics.fits.target_any import target_of
from gateproof.theory.formula.nodes import num
from gateproof.theory.gate import Gate

X, W = np.polynomial.hermite_e.hermegauss(90)
W = W / W.sum()


def gelu(x):
    return x * special.ndtr(x)


def three(p, x):
    """Pinned gelu gate of three branches, one sharpness."""
    tau, a, b, slope, intercept = p
    up, down = special.expit(np.exp(tau) * (x - a)), special.expit(np.exp(tau) * (x - b))
    return (up - down) * (slope * x + intercept) + down * x


def fit(given, branches, *options, domain=None, limits=(), **measure):
    target = target_of(given, domain)
    found = normal(target)
    fits = list(squares(found, Setting(branches, *options, **dict(limits)), measure_of(target, **measure)))
    return found, fits


def parts(found, one):
    return found.inverse(one.gates, one.full)


def test_the_optimum_of_gelu():
    # The root of d/dtau of the mean, found by mpmath at 30 digits. 1.711913 and 6.8412e-3 are published.
    found, fits = fit("gelu", 2)
    tau, theta, slope, intercept = parts(found, fits[-1])
    assert tau == pytest.approx([1.71191304899274132], abs=1e-10)
    assert fits[-1].error * found.height == pytest.approx(6.84119935990794250e-3, rel=1e-12)
    assert [*theta, *slope, *intercept] == pytest.approx([0, 0, 1, 0, 0], abs=1e-9)


def test_neither_least_squares_nor_nelder_mead_does_better():
    found, fits = fit("gelu", 3)
    ours = fits[-1].error * found.height

    def residual(p):
        return np.sqrt(W) * (three(p, X) - gelu(X))

    rng = np.random.default_rng(0)
    others = []
    for _ in range(40):
        start = [rng.normal(0.5, 0.5), *np.sort(rng.normal(0, 1.5, 2)), rng.normal(), rng.normal()]
        others.append((2 * optimize.least_squares(residual, start).cost) ** 0.5)
    start = [0.5, -1.0, 1.0, 0.5, 0.2]
    options = {"maxiter": 20000, "maxfev": 20000, "xatol": 1e-12, "fatol": 1e-22}
    simplex = optimize.minimize(
        lambda p: (residual(p) ** 2).sum(), start, method="Nelder-Mead", options=options
    )
    others.append(simplex.fun**0.5)
    assert ours <= min(others) * (1 + 1e-7)
    assert ours >= min(others) * 0.9


@pytest.mark.parametrize("algebra", ["difference", "stick", "softmax"])
def test_planted_gates_are_found(algebra):
    a, b = (num(Fraction(f"{v:.3f}")) for v in np.random.default_rng(5).normal(size=2))
    planted = Gate((num(2), num(2)), (num(-1), num(1)), (num(0), a, num(1)), (num(0), b, num(0)), algebra)
    found, fits = fit(planted, 3, "shared", "pinned", algebra)
    assert fits[-1].error * found.height < 1e-9


def test_more_branches_do_no_worse():
    errors = [f.error for f in fit("mish", 4)[1]]
    assert len(errors) == 3
    assert all(b <= a for a, b in pairwise(errors))


@pytest.mark.parametrize(
    ("text", "options", "scale"),
    [
        ("1e6*gelu(x/1e6)", {"sigma": 10**6}, 1e6),
        ("1e-6*gelu(1e6*x)", {"sigma": 1e-6}, 1e-6),
        ("gelu(x - 7)", {"mu": 7, "sigma": 1}, 1),
        ("gelu(-x)", {}, 1),
        ("gelu(x) + x/3 - 7", {}, 1),
    ],
)
def test_a_moved_target_has_the_moved_fit(text, options, scale):
    found, fits = fit(text, 2, **options)
    assert fits[-1].error * found.height == pytest.approx(6.841199359e-3 * scale, rel=1e-8)


def test_free_ends_on_an_interval():
    # One branch is the least squares line of gelu on [-1, 1]: slope 1/2, as gelu(x) = x/2 + an even function.
    found, fits = fit("gelu", 2, "shared", "free", domain=(-1, 1))
    _, _, slope, intercept = parts(found, fits[0])
    t, w = np.polynomial.legendre.leggauss(60)
    level = (w * gelu(t)).sum() / 2
    assert (slope[0], intercept[0]) == pytest.approx((0.5, level), abs=1e-12)
    right = np.sqrt((w * (gelu(t) - t / 2 - level) ** 2).sum() / 2)
    assert fits[0].error * found.height == pytest.approx(right, rel=1e-11)
    assert fits[1].error < 1e-2 * fits[0].error


def test_noisy_data_by_standard_errors():
    rng = np.random.default_rng(3)
    x = np.sort(rng.uniform(-6, 6, 400))
    se = np.where(rng.random(400) < 0.2, 1.0, 0.01)
    found, fits = fit((x, np.tanh(x) + se * rng.normal(size=400), se), 2, "shared", "free")
    tau, theta, slope, intercept = parts(found, fits[-1])
    assert fits[-1].gates.values(fits[-1].full, (x - found.centre) / found.width).shape == (400,)
    t = np.linspace(-5, 5, 50)
    up = special.expit(tau[0] * (t - theta[0]))
    values = (1 - up) * (slope[0] * t + intercept[0]) + up * (slope[1] * t + intercept[1])
    # tanh is such a gate, and what noise of 0.01 leaves of it at 320 points is less.
    assert np.abs(values - np.tanh(t)).max() < 0.01


def test_samples_and_their_distribution_agree():
    rng = np.random.default_rng(4)
    found, fits = fit("gelu", 2, histogram=rng.normal(size=200_000))
    tau, *_ = parts(found, fits[-1])
    assert tau[0] == pytest.approx(1.7119, abs=0.02)
    assert fits[-1].error * found.height == pytest.approx(6.8412e-3, rel=0.01)


def test_a_monotone_gate_is_monotone():
    found, fits = fit("tanh(x) + x/9", 3, limits={"monotone": 1})
    u = np.linspace(-20, 20, 4001)
    for one in fits:
        y = one.gates.values(one.full, u) * found.height + found.m * found.width * u
        assert (np.diff(y) >= -1e-12).all()


def test_a_bound_of_coefficients_holds():
    found, fits = fit("mish", 3, limits={"max_coefficient": 5.0})
    assert max(np.abs(p).max() for p in parts(found, fits[-1])[2:]) <= 5
    free = fit("mish", 3)[1][-1].error
    assert free < fits[-1].error < 1.5 * free


def test_a_seed_decides_everything():
    first, again = (fit("elu", 3)[1][-1].full for _ in range(2))
    assert np.array_equal(first, again)
