"""Fits of targets in large and small units and of shifted ones are certified like the plain target."""

from __future__ import annotations

from fractions import Fraction

import pytest

import gateproof

#: gelu's certified errors and proved lower bounds at scale 1 are in tests/numerics.
TWO, HARD = 0.01392224597, 0.1612369277


@pytest.mark.parametrize("s", ["1000000", "0.000001", "0.00000001"])
def test_the_error_scales_with_the_target(s):
    found = gateproof.fit(f"{s}*gelu(x/{s})", k=2)
    assert found.error.evidence == "certified"
    assert found.certificate is not None
    assert float(found.error.hi / Fraction(s)) == pytest.approx(TWO, rel=1e-6)
    assert found.lower_bound is not None
    assert 0.999 < found.lower_bound / found.error.hi < 1


def test_a_shifted_target_has_its_error_and_bound():
    found = gateproof.fit("gelu(x - 1000)", k=2)
    assert found.error.evidence == "certified"
    assert float(found.error.hi) == pytest.approx(TWO, rel=1e-6)
    assert found.lower_bound is not None
    assert 0.999 < found.lower_bound / found.error.hi < 1


def test_hard_gates_of_a_shifted_target_are_certified():
    found = gateproof.fit("gelu(x - 1000)", k=3, sharpness="hard")
    assert found.error.evidence == "certified"
    assert float(found.error.hi) == pytest.approx(HARD, rel=1e-6)
