"""F01: scipy#5980, #10652, symfit#373: known exact forms are found from any start, failures are told."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from gateproof import fit


def numbers(found):
    document = found.to_json()
    return {key: document[key] for key in ("tau", "theta", "slope", "intercept")}


@pytest.mark.parametrize("seed", [0, 1, 12345])
def test_silu_is_found_from_any_start(seed):
    found = fit("silu", 2, seed=seed)
    assert numbers(found) == {"tau": ["1"], "theta": ["0"], "slope": ["0", "1"], "intercept": ["0", "0"]}
    assert (found.error.lo, found.error.hi, found.status.value) == (0, 0, "exact")


def test_relu_is_a_hard_gate():
    found = fit("relu", 2)
    assert numbers(found) == {"tau": ["oo"], "theta": ["0"], "slope": ["0", "1"], "intercept": ["0", "0"]}
    assert (found.error.hi, found.status.value) == (0, "exact")


def test_a_step_is_a_hard_gate():
    found = fit("where(x > 0, 1, 0)", 2)
    assert numbers(found) == {"tau": ["oo"], "theta": ["0"], "slope": ["0", "0"], "intercept": ["0", "1"]}
    assert (found.error.hi, found.status.value) == (0, "exact")


def test_softplus_is_as_near_as_two_branches_can_be():
    # With both asymptotes the gate is x sigmoid(tau (x - theta)), which is 0 at 0, where softplus is log 2.
    found = fit("softplus", 2)
    assert float(found.error.hi) == pytest.approx(math.log(2), rel=1e-6)


def test_a_threshold_outside_of_the_window_is_told():
    found = fit("tanh(x - 20)", 2, domain="[-6, 6]")
    assert found.error.hi < Fraction(15, 10**13)
    assert "constant" in found.message or found.k == 1
