"""Sup errors against figures that others found, and against searches that take ten times as long."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest
from fits_planted import of_text

from gateproof.numerics.fits.driver import finish, fits, smallest, steps
from gateproof.numerics.fits.normal import normal
from gateproof.numerics.fits.search import Effort
from gateproof.numerics.fits.setting import Setting

#: No more than this times the best known.
CLOSE = 1.0005
#: Target, sharpness, and the error for each number of branches; both asymptotes exact. Errors of minimax fits
#: from a trial independent of this search; those marked "infimum" are approached only as lines run away.
KNOWN = [
    ("gelu(x)", "shared", {2: 1.39222e-2, 3: 3.84382e-3}),
    ("gelu(x)", "free", {4: 2.470e-4, 5: 1.1026e-5}),
    ("erf(x)", "shared", {3: 1.1508e-3}),
    ("erf(x)", "free", {4: 6.49e-5}),
    ("hardswish(x)", "shared", {3: 6.048e-2}),
    ("exp(-x**2)", "shared", {3: 7.439e-3}),
    ("mish(x)", "shared", {3: 3.5756e-3}),  # infimum
    ("elu(x)", "shared", {3: 1.932e-2}),  # infimum
]
ZOO = [
    "silu(x)", "gelu(x)", "gelu_tanh(x)", "mish(x)", "elu(x)", "selu(x)", "celu(x, 2)", "softplus(x)",
    "erf(x)", "tanh(x)", "log_sigmoid(x)", "hardswish(x)", "hardsigmoid(x)", "exp(-x**2)", "tanh(x)*sech(x)",
    "tanhshrink(x)", "isru(x)", "squareplus(x)", "smish(x)", "telu(x)", "softsign(x)", "x/(1 + x**2)",
]  # fmt: skip


@pytest.mark.parametrize(("text", "sharpness", "errors"), KNOWN)
def test_known_errors_are_reached(text, sharpness, errors):
    found = normal(of_text(text))
    reached = {
        f.setting.branches: f.error * found.height for f in steps(found, Setting(max(errors), sharpness))
    }
    for branches, right in errors.items():
        assert reached[branches] <= CLOSE * right
        # The figures are of optima (printed to three or four digits): nothing is far below them.
        assert reached[branches] >= 0.998 * right
    assert all(b <= a for a, b in itertools.pairwise(reached.values()))


def last_error(text, branches, sharpness, seed, ends="pinned", domain=(None, None)):
    found = normal(of_text(text, *domain))
    return fits(found, Setting(branches, sharpness, ends), seed=seed)[-1].error * found.height


#: Errors of long searches, the first two from thousands of starts of another kind (tau log-uniform up to 60,
#: thresholds as far as 4 widths). Of these gates two or three thresholds are close together.
HARD_TO_REACH = [
    ("selu(x)", 4, "free", 1.634787e-2),
    ("mish(x)", 5, "free", 2.237932e-6),
    # Three thresholds stand together and the bound of the lines holds them apart.
    ("elu(x)", 5, "free", 4.34466e-4),
    ("softplus(x)", 5, "free", 7.4987e-6),
]


@pytest.mark.parametrize(
    ("text", "branches", "sharpness", "right", "seed"),
    [
        pytest.param(*case, seed, marks=() if case is HARD_TO_REACH[0] and not seed else pytest.mark.deep)
        for case in HARD_TO_REACH
        for seed in range(6)
    ],
)
def test_every_seed_reaches_the_optimum(text, branches, sharpness, right, seed):
    error = last_error(text, branches, sharpness, seed)
    assert 0.9995 * right <= error <= CLOSE * right


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(2))
def test_six_branches_at_the_optimum(seed):
    # 1.08e-7 was the best of searches whose steps moved each threshold alone.
    assert last_error("mish(x)", 6, "free", seed) <= CLOSE * 8.241937e-8


def test_more_branches_are_no_worse_where_all_are_limits():
    # All of these gates flatten towards exp itself, more branches through longer lines.
    found = normal(of_text("exp(x)", -4, 4))
    errors = [f.error for f in steps(found, Setting(4, ends="free"), seed=1)]
    assert all(b <= a for a, b in itertools.pairwise(errors))


@pytest.mark.deep
@pytest.mark.parametrize("sharpness", ["shared", "free"])
def test_sixteen_branches(sharpness):
    started = time.process_time()
    errors = [f.error for f in steps(normal(of_text("gelu(x)")), Setting(16, sharpness))]
    assert time.process_time() - started < 120
    assert len(errors) == 15
    assert all(b <= a * (1 + 1e-9) + 1e-13 for a, b in itertools.pairwise(errors))
    assert errors[-1] < 1e-8


def test_more_sharpnesses_are_no_worse():
    found = normal(of_text("selu(x)"))
    shared, free = (fits(found, Setting(3, s))[-1].error for s in ("shared", "free"))
    assert free <= shared


def test_sticks_attain_what_differences_approach():
    found = normal(of_text("mish(x)"))
    stick = fits(found, Setting(3, algebra="stick"))[-1]
    assert stick.error * found.height == pytest.approx(3.5756e-3, rel=2e-4)
    assert np.abs(stick.full).max() < 10


def test_the_smallest_gate_within_a_tolerance():
    found = normal(of_text("gelu(x)"))
    one, reached = smallest(found, Setting(1), 4e-3)
    assert one.setting.branches == 3
    assert reached
    last, reached = smallest(found, Setting(1), 4e-3, most=2)
    assert last.setting.branches == 2
    assert not reached


def test_finishing_levels_the_peaks_on_all_points():
    found = normal(of_text("mish(x)"))
    one = finish(found, fits(found, Setting(2))[-1])
    u = np.linspace(-12, 12, 400_001)
    dense = np.abs(one.gates.values(one.full, u) - found.function(u)).max()
    assert dense == pytest.approx(one.error, rel=1e-9)


def test_a_weight_is_levelled_too():
    # With weight w the error is level where it is multiplied by w: peaks of w |error| have one height.
    target = of_text("gelu(x)", -4, 4)
    weighted = normal(type(target)(**{**vars(target), "weight": lambda x: 1 / (1 + x**2)}))
    one = fits(weighted, Setting(3, ends="free"))[-1]
    u = np.linspace(-4, 4, 200_001) / weighted.width
    error = one.gates.values(one.full, u) - weighted.function(u)
    scaled = np.abs(error / (1 + (weighted.width * u) ** 2))
    assert scaled.max() == pytest.approx(one.error, rel=1e-6)
    level = scaled[1:-1][(scaled[1:-1] >= scaled[2:]) & (scaled[1:-1] >= scaled[:-2])]
    # An optimum has parameters + 1 level peaks or, where the gate is curved, a few less.
    assert (level > 0.999 * one.error).sum() >= 5


@pytest.mark.deep
@pytest.mark.parametrize("sharpness", ["shared", "free"])
@pytest.mark.parametrize("text", ZOO)
def test_a_search_of_ten_times_the_effort_finds_nothing_better(text, sharpness, capsys):
    found = normal(of_text(text))
    usual = fits(found, Setting(6, sharpness))
    long = fits(found, Setting(6, sharpness), effort=Effort(960, 640, 50, 4, 20), seed=1)
    with capsys.disabled():
        for a, b in zip(usual, long, strict=True):
            ratio = a.error / b.error if b.error > 1e-11 else 1.0
            print(
                f"\n{text} {sharpness} K={a.setting.branches} {a.error * found.height:.6e} {ratio:.6f}",
                end="",
            )
    for a, b in zip(usual, long, strict=True):
        assert a.error <= CLOSE * b.error + 1e-10
