"""Integrals of x**p for an exponent that is a name: 1/(p + 1) over [0, 1] for p > -1."""

from __future__ import annotations

import pytest

from gateproof.proofs_check.engine import decide
from gateproof.proofs_check.records import Reading, Settings


@pytest.mark.parametrize(
    ("formal", "verdicts"),
    [
        ("for n in N: integrate(x**n, x, 0, 1) == 1/(n + 1)", ("proved", "certified")),
        ("for p > -1: integrate(x**p, x, 0, 1) == 1/(p + 1)", ("proved", "certified")),
        ("for p > 0: integrate(3*x**p, x, 0, 2) == 3*2**(p + 1)/(p + 1)", ("proved", "certified")),
        ("for p > 1: integrate(x**(-p), x, 1, oo) == 1/(p - 1)", ("proved", "certified")),
        ("for n in N: integrate(x**n, x, 0, 1) == 1/(n + 2)", ("refuted",)),
        ("for p > 0: integrate(x**p, x, 0, 1) == 1/(2*p + 1)", ("refuted",)),
        # At p = -1 the right side has no value; for p < -1 the integral is infinite.
        ("for p in R: integrate(x**p, x, 0, 1) == 1/(p + 1)", ("ill-posed",)),
        ("for p < -1: integrate(x**p, x, 0, 1) == 1/(p + 1)", ("refuted", "inconclusive")),
    ],
)
def test_powers_with_a_name_in_the_exponent(formal: str, verdicts: tuple[str, ...]) -> None:
    assert decide(Reading("x", formal), Settings()).verdict in verdicts
