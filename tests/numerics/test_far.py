"""Suprema that are approached like exp(-x**2) and faster: exact limits, not attained, with certificates."""

from __future__ import annotations

from fractions import Fraction

import pytest

from gateproof.numerics.extrema import extremum
from gateproof.proofs_check.checker import verify
from gateproof.theory.formula import expand, parse_expr


@pytest.mark.parametrize(
    ("text", "which", "value", "attained"),
    [
        ("erf(x)", "sup", 1, False),
        ("exp(-x**2)", "inf", 0, False),
        ("exp(-x**2)", "sup", 1, True),
        ("tanh(x**3)", "inf", -1, False),
        ("1 - erfc(-x)/2", "sup", 1, False),
        ("erfc(x) + exp(-x**4)/8", "inf", 0, False),
        ("sigmoid(x**3 + x)", "sup", 1, False),
    ],
)
def test_the_value_at_infinity(text, which, value, attained):
    found = extremum(expand(parse_expr(text)), "x", None, None, which, 20)
    assert found.status == "ok"
    assert found.value == (value, value)
    assert found.attained is attained
    assert found.certificate is not None
    assert verify(found.certificate).accepted


def test_a_wave_is_no_limit_from_one_side():
    found = extremum(expand(parse_expr("exp(-x**2)*sin(x)")), "x", Fraction(8), None, "sup", 10)
    assert found.status != "ok" or found.value[1] > 0
