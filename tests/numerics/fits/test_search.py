"""Fits against figures from elsewhere: proved lower bounds, published optima, gates that were planted."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from gateproof.numerics.backends.formula import formula
from gateproof.numerics.certify import certify
from gateproof.numerics.fits.driver import fits
from gateproof.numerics.fits.normal import normal
from gateproof.numerics.fits.setting import Setting
from gateproof.numerics.fits.target import of_formula
from gateproof.theory.formula import expand, parse_expr


def target(text):
    return of_formula(formula(text), expand(parse_expr(text)), None, None)


def best(text, setting):
    found = normal(target(text))
    last = fits(found, setting)[-1]
    return found, last, last.error * found.height


def test_the_error_is_the_certified_supremum():
    found, last, error = best("gelu(x)", Setting(3))
    tau, theta, slope, intercept = ([repr(float(v)) for v in p] for p in found.inverse(last.gates, last.full))
    gate = f"tg(x, tau=[{', '.join(tau)}], theta=[{', '.join(theta)}], slope=[{', '.join(slope)}], "
    certified = certify(parse_expr(f"sup(abs({gate}intercept=[{', '.join(intercept)}]) - gelu(x)), x in R)"))
    assert float(certified["value"]["lo"]) == pytest.approx(error, rel=1e-6)


@pytest.mark.parametrize("text", ["gelu(3*x - 2)", "gelu(-x)", "1000*gelu(x/1000)", "gelu(x) + x/3 - 7"])
def test_a_moved_target_has_the_moved_fit(text):
    scale = 1000 if text.startswith("1000") else 1
    _, _, error = best(text, Setting(3))
    assert error == pytest.approx(scale * 3.8438e-3, rel=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_a_planted_gate_is_found(seed):
    rng = np.random.default_rng(seed)
    tau, theta = rng.uniform(0.7, 3), np.sort(rng.normal(0, 1.5, 2))
    a, b = rng.normal(size=2)
    text = (
        f"tg(x, tau={tau:.4f}, theta=[{theta[0]:.4f}, {theta[1]:.4f}], slope=[0, {a:.4f}, 1], "
        f"intercept=[0, {b:.4f}, 0])"
    )
    assert best(text, Setting(3))[2] < 1e-9


def test_more_branches_do_no_worse():
    found = normal(target("mish(x)"))
    errors = [f.error for f in fits(found, Setting(4))]
    assert all(b <= a * (1 + 1e-9) for a, b in itertools.pairwise(errors))


@pytest.mark.parametrize(
    ("text", "symmetry", "centre"),
    [
        ("gelu(x)", "even", 0),
        ("gelu(x - 5)", "even", 5),
        ("tanh(x - 20)", "odd", 20),
        ("erf(3*x)", "odd", 0),
        ("exp(-(x + 1)**2)", "even", -1),
        ("mish(x)", "", None),
        ("elu(x)", "", None),
    ],
)
def test_symmetries_of_targets(text, symmetry, centre):
    found = normal(target(text))
    assert found.symmetry == symmetry
    if centre is not None:
        assert found.centre == pytest.approx(centre, abs=1e-9)


def test_the_peak_beside_a_kink_is_seen():
    # sup |relu(x) - x sigmoid(t x)| = W(1/e)/t, 1.28/t from the kink (W: Lambert's).
    found = normal(target("relu(x)"))
    last = fits(found, Setting(2))[-1]
    (tau,), _, _, _ = found.inverse(last.gates, last.full)
    assert tau > 100
    assert last.error * found.height * tau == pytest.approx(0.2784645, rel=1e-3)


def test_of_equal_errors_the_softer_gate():
    # At x = -alpha both asymptotes of selu meet, and all gates of two branches are off by the same there.
    found = normal(target("selu(x)"))
    last = fits(found, Setting(2))[-1]
    (tau,), _, _, _ = found.inverse(last.gates, last.full)
    assert last.error * found.height == pytest.approx(
        1.0507009873554805 * 1.6732632423543772 * np.exp(-1.6732632423543772)
    )
    assert tau < 30
