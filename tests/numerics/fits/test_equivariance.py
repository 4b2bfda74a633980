"""Scaling, shifting and reflecting a target does the same to its fit."""

from __future__ import annotations

import numpy as np
import pytest
from fits_planted import moved, of_text

from gateproof.numerics.fits.driver import fits
from gateproof.numerics.fits.normal import normal
from gateproof.numerics.fits.setting import Setting

#: y = c f(a x + b) + m x + d.
MOVES = [
    {"a": 1e6, "b": 0.0, "c": 1.0, "m": 0.0, "d": 0.0},
    {"a": 1e-6, "b": 0.0, "c": 1.0, "m": 0.0, "d": 0.0},
    {"a": 1.0, "b": -1e3, "c": 1.0, "m": 0.0, "d": 0.0},
    {"a": -1.0, "b": 0.5, "c": 1.0, "m": 0.0, "d": 0.0},
    {"a": -3.0, "b": 2.0, "c": -1e6, "m": 0.25, "d": -7.0},
    {"a": 0.7, "b": 0.1, "c": 1e-6, "m": 0.0, "d": 0.0},
]


def fit(target, branches, sharpness):
    found = normal(target)
    one = fits(found, Setting(branches, sharpness))[-1]
    return one.error * found.height, found.inverse(one.gates, one.full)


@pytest.fixture(scope="module")
def still():
    return {text: fit(of_text(text), k, s) for text, k, s in CASES}


CASES = [("mish(x)", 2, "shared"), ("gelu(x)", 3, "shared")]


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("case", CASES)
def test_the_fit_moves_with_the_target(case, move, still):
    text, branches, sharpness = case
    error, (tau, theta, slope, intercept) = still[text]
    there, found = fit(moved(of_text(text), **move), branches, sharpness)
    a, b, c, m, d = (move[k] for k in "abcmd")
    assert there == pytest.approx(abs(c) * error, rel=1e-7)
    right = [abs(a) * tau, (theta - b) / a, c * slope * a + m, c * (slope * b + intercept) + d]
    if a < 0:
        right = [part[::-1] for part in right]
    scale = [abs(a), 1 / abs(a), abs(c * a), abs(c)]
    for values, wanted, unit in zip(found, right, scale, strict=True):
        assert values == pytest.approx(wanted, rel=1e-5, abs=1e-5 * unit)


def test_a_symmetric_target_may_be_anywhere():
    target = of_text("gelu(x)")
    assert normal(moved(target, a=-2.0, b=1e3, c=1e6, m=0.0, d=0.0)).symmetry == "even"
    assert normal(moved(of_text("mish(x)"), a=1.0, b=5.0, c=1.0, m=0.0, d=0.0)).symmetry == ""


def test_a_fit_is_the_same_each_time():
    first, again = (fits(normal(of_text("elu(x)")), Setting(3), seed=5)[-1] for _ in range(2))
    assert np.array_equal(first.full, again.full)
