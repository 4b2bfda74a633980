"""Gates that were planted are found again, in every scale."""

from __future__ import annotations

import numpy as np
import pytest
from fits_planted import planted

from gateproof.numerics.fits.driver import fits
from gateproof.numerics.fits.normal import normal
from gateproof.numerics.fits.setting import Setting

#: Stretched, moved, and high.
MOVED = [(1, 0, 1), (1e6, 0, 1), (1e-6, 0, 1), (1, 1e3, 1), (1, 0, 1e6), (1, 0, 1e-6)]


def recovered(branches, sharpness, seed):
    scale, shift, height = MOVED[seed % len(MOVED)]
    rng = np.random.default_rng(1000 * branches + seed)
    found = normal(planted(branches, sharpness, rng, scale=scale, shift=shift, height=height))
    return fits(found, Setting(branches, sharpness))[-1].error


@pytest.mark.parametrize("seed", range(6))
def test_two_branches_are_recovered(seed):
    assert recovered(2, "shared", seed) < 1e-9


@pytest.mark.parametrize(("sharpness", "seed"), [("shared", 0), ("shared", 3), ("free", 1), ("free", 4)])
def test_three_branches_are_recovered(sharpness, seed):
    assert recovered(3, sharpness, seed) < 1e-9


def test_four_branches_are_recovered():
    assert recovered(4, "free", 0) < 1e-9


def test_three_branches_are_not_two():
    rng = np.random.default_rng(3000)
    found = normal(planted(3, "shared", rng))
    assert fits(found, Setting(2))[-1].error > 1e-6


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("sharpness", ["shared", "free"])
@pytest.mark.parametrize("branches", [3, 4])
def test_many_are_recovered(branches, sharpness, seed):
    assert recovered(branches, sharpness, seed) < 1e-9
