"""Normal means for all variances: the integrand or its even part under a polynomial.

silu(z)**2 has the even part z**2 (s**2 + (1 - s)**2)/2 with s = sigmoid(z), between z**2/4 and z**2/2.
"""

from __future__ import annotations

import pytest

from gateproof.proofs_check.engine import decide
from gateproof.proofs_check.records import Reading, Settings


def verdict(formal: str) -> str:
    return decide(Reading("x", formal), Settings()).verdict


@pytest.mark.parametrize(
    "formal",
    [
        "for q > 0: gauss(tanh(z)**2, z, q=q) < q",
        "for q > 0: gauss(tanh(z)**2, z, q=q) < 1",
        "for q >= 0: gauss(tanh(z)**2, z, q=q) <= q",
        "for q > 0: gauss(relu(z), z, q=q) > 0",
        "for q > 0: gauss(silu(z), z, q=q) > 0",
        "for q > 0: q/4 < gauss(silu(z)**2, z, q=q) < q/2",
    ],
)
def test_true_bounds_hold(formal: str) -> None:
    assert verdict(formal) in ("proved", "certified")


@pytest.mark.parametrize(
    "formal",
    [
        "for q > 0: gauss(tanh(z)**2, z, q=q) < 1/2",
        "for q >= 0: gauss(tanh(z)**2, z, q=q) < q",
        "for q >= 0: gauss(silu(z), z, q=q) > 0",
        "for q > 0: gauss(silu(z)**2, z, q=q) < 0.4*q",
        "for q > 0: gauss(gelu(z), z, q=q) < 0",
    ],
)
def test_false_bounds_fail(formal: str) -> None:
    assert verdict(formal) == "refuted"


def test_an_odd_part_without_a_mean_is_not_dropped() -> None:
    assert verdict("for q > 0: gauss(z*exp(z**2), z, q=q) <= 1") == "ill-posed"
