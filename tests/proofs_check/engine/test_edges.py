"""Closed numbers at the edge of a domain: ill-posed only where it is proved that there is no value."""

from __future__ import annotations

import pytest

from gateproof.proofs_check.api import decide_text

#: 1 in disguises that balls cannot tell from what lies beyond.
ONE = ("sin(1)**2 + cos(1)**2", "sqrt(2)*sqrt(3)/sqrt(6)", "gamma(1/2)**2/pi", "erf(1/2) + erfc(1/2)")


@pytest.mark.parametrize("one", ONE)
@pytest.mark.parametrize("true", ["asin({}) > 1", "acosh({}) < 1", "sqrt({} - 1) < 1", "asin({}) == pi/2"])
def test_a_value_at_the_edge_is_not_called_ill_posed(one, true):
    assert decide_text(true.format(one)).verdict in ("proved", "certified", "inconclusive")


def test_the_branch_point_of_lambertw_is_not_called_ill_posed():
    assert decide_text("lambertw(-1/e) == -1").verdict in ("proved", "certified", "inconclusive")


@pytest.mark.parametrize("zero", ["sin(1)**2 + cos(1)**2 - 1", "sqrt(2)*sqrt(3) - sqrt(6)", "cos(pi/2)"])
@pytest.mark.parametrize("part", ["1/({})", "log({})", "({})**(-1/3)", "atanh(1 - ({}))"])
def test_what_is_proved_to_have_no_value_is_ill_posed(zero, part):
    found = decide_text(f"{part.format(zero)} < 1")
    assert found.verdict == "ill-posed"
    assert "has no value" in found.reason


def test_a_limit_of_a_special_function_ends_without_a_fault():
    assert decide_text("limit(zeta(s) - 1/(s - 1), s, 1) == 1/2").verdict in ("inconclusive", "refuted")
    assert decide_text("limit(besselj(0, x), x, 0) == 1").verdict in ("inconclusive", "proved")
