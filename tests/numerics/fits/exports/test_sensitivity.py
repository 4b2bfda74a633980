"""Sensitivities of the hardware table against finite differences of the definitions in mpmath."""

from __future__ import annotations

import copy

import mpmath as mp
import numpy as np
import pytest
from gates_to_export import DIGITS, OO, Exact, drawn, named

from gateproof.numerics.fits.exports.arrays import Evaluated
from gateproof.numerics.fits.exports.sensitivity import KEYS, SHARED, sensitivities
from gateproof.theory.gate import Gate

#: Far below what a second derivative matters to, far above the rounding of DIGITS.
STEP = mp.mpf(10) ** -15
#: Points to begin with, and steps of golden section beside the largest.
GRID, SECTIONS = 161, 12
GOLDEN = (5**0.5 - 1) / 2


def changed(exact: Exact, key: str, places: list[int], by: mp.mpf) -> Exact:
    made = copy.copy(exact)
    values = list(getattr(exact, key))
    for k in places:
        values[k] = values[k] + by
    setattr(made, key, values)
    return made


def largest(f, grid) -> float:
    """The maximum of a function, from a grid refined beside its largest value."""
    values = [f(x) for x in grid]
    k = int(np.argmax([float(v) for v in values]))
    a, b = grid[max(0, k - 1)], grid[min(len(grid) - 1, k + 1)]
    best = values[k]
    for _ in range(SECTIONS):
        c, d = b - GOLDEN * (b - a), a + GOLDEN * (b - a)
        fc, fd = f(c), f(d)
        best = max(best, fc, fd)
        a, b = (a, d) if fc > fd else (c, b)
    return float(best)


def faults(one: Gate, off: float = 0.0) -> list[str]:
    """What is wrong with the sensitivities of a gate of soft thresholds; ``off`` spoils them."""
    exact = Exact(one)
    theta = [float(t) for t in exact.theta]
    widths = [float(1 / t) for t in exact.tau]
    lo, hi = min(theta) - 6 * max(widths), max(theta) + 6 * max(widths)
    near = np.concatenate(
        [
            np.linspace(lo, hi, GRID),
            *(t + np.linspace(-6, 6, 49) * w for t, w in zip(theta, widths, strict=True)),
        ]
    )
    grid = np.unique(near[(near >= lo) & (near <= hi)])
    found = sensitivities(Evaluated.of(one), lo, hi)
    rows = [(key, [k], s) for key in KEYS for k, s in enumerate(found[key])]
    rows += [("tau", list(range(len(theta))), s) for s in found[SHARED]]
    said = []
    with mp.workdps(DIGITS):
        for key, places, s in rows:
            p = getattr(exact, key)[places[0]]
            ahead, behind = (changed(exact, key, places, sign * STEP) for sign in (1, -1))
            wide = [changed(exact, key, places, sign * p / 100) for sign in (1, -1)]

            def slope(x, ahead=ahead, behind=behind):
                return abs(ahead(x) - behind(x)) / (2 * STEP)

            def change(x, wide=wide):
                return max(abs(w(x) - exact(x)) for w in wide)

            wanted = largest(slope, grid), largest(change, grid) if p else 0.0
            got = s.derivative * (1 + off), s.percent * (1 + off)
            good = np.allclose(got, wanted, rtol=2e-3, atol=1e-9 * float(exact.size(hi)))
            at = float(change(s.where) if p else slope(s.where))
            there = np.isclose(
                at, s.percent if p else s.derivative, rtol=1e-4, atol=1e-9 * float(exact.size(hi))
            )
            said += [f"{key} {places}: {got}, not {wanted}; {at} at {s.where}"] * (not good or not there)
    return said


NAMES = ("silu", "symbolic", "free", "crossing", "unordered", "stick", "softmax", "wide", "narrow")


@pytest.mark.parametrize("name", NAMES)
def test_sensitivities_are_those_of_finite_differences(name):
    assert faults(named()[name]) == []


def test_a_sensitivity_that_is_off_is_seen():
    assert len(faults(named()["silu"], 0.01)) >= 4


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(40))
def test_of_many_gates(seed):
    one = drawn(seed)
    if OO in one.tau or one.branches == 1:
        pytest.skip("hard thresholds have tests of their own")
    assert faults(one) == []


def test_a_shared_sharpness_is_one_parameter_more():
    found = sensitivities(Evaluated.of(named()["symbolic"]))
    assert len(found[SHARED]) == 1
    # Every single one moves y by less than all together, or the two oppose; at most their sum.
    singles = [s.derivative for s in found["tau"]]
    assert found[SHARED][0].derivative <= sum(singles) * (1 + 1e-9)
    for name in ("free", "silu", "mixed", "relu", "line", "hard_tanh"):
        assert sensitivities(Evaluated.of(named()[name]))[SHARED] == [], name
