"""Normal means for all variances: the integrand or its even part under a polynomial.

silu(z)**2 has the even part z**2 (s**2 + (1 - s)**2)/2 with s = sigmoid(z), between z**2/4 and z**2/2.
"""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import pytest

from gateproof.proofs_check.checker import verify
from gateproof.proofs_check.engine import decide, variance_certificates
from gateproof.proofs_check.records import Reading, Settings
from gateproof.theory.formula import expand_node, parse_expr
from gateproof.theory.formula.nodes import Gauss


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


def test_boxes_of_variances_leave_certificates(monkeypatch: pytest.MonkeyPatch) -> None:
    formal = "for q in [1/2, 1]: gauss(silu(z)**2, z, q=q) < 3/5"
    controls = ("for q in [1/2, 1]: gauss(silu(z)**2, z, q=q) < 3/10",)
    found = decide(Reading("x", formal, controls=controls), Settings())
    assert (found.verdict, found.trust) == ("certified", ("arb", "mpfr"))
    assert found.certificate is not None
    assert verify(dict(found.certificate)).accepted
    monkeypatch.setattr(variance_certificates, "accept", lambda document: "no")
    found = decide(Reading("x", formal, controls=controls), Settings())
    assert (found.verdict, found.trust, found.certificate) == ("certified", ("arb",), None)


@pytest.mark.parametrize(
    ("text", "f", "mean"),
    [
        ("gauss(silu(z)**2, z, q=q)", lambda z: (z / (1 + mp.exp(-z))) ** 2, 0),
        ("gauss(z*tanh(z), z, q=q, mean=1/2)", lambda z: z * mp.tanh(z), 0.5),
    ],
)
def test_a_box_of_variances_holds_each_mean(text: str, f, mean: float) -> None:
    node = expand_node(parse_expr(text))
    assert isinstance(node, Gauss)
    ends = Fraction(1, 2), Fraction(3, 5)
    low, high = variance_certificates._over(node, "q", ends, variance_certificates._Evidence())
    for q in (0.5, 0.53, 0.56, 0.6):
        # The trapezoidal rule, exponentially exact.
        s, h = mp.sqrt(q), mp.mpf("0.1")
        right = h * mp.fsum(f(mean + s * h * k) * mp.npdf(h * k) for k in range(-100, 101))
        assert low <= Fraction(float(right)) <= high
    assert high - low < Fraction(1, 4)
