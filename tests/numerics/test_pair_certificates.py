"""Certificates of means over two correlated normals hold the values of the trapezoidal rule."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from gateproof.numerics.pair_certificate import _hermite, pair_certificate
from gateproof.proofs_check import api
from gateproof.proofs_check.checker import verify
from gateproof.proofs_check.engine import decide, integral_certificates
from gateproof.proofs_check.records import Reading, Settings
from gateproof.theory.formula import expand_node, parse_expr
from gateproof.theory.formula.nodes import Gauss2


def read(text: str) -> Gauss2:
    node = expand_node(parse_expr(text))
    assert isinstance(node, Gauss2)
    return node


def pair(f, q: float, c: float, h: float = 0.1) -> float:
    """The trapezoidal rule in independent directions, exponentially exact for analytic functions."""
    s, d = math.sqrt(q), math.sqrt(1 - c * c)
    grid = [h * k for k in range(-90, 91)]
    w = [h * math.exp(-x * x / 2) / math.sqrt(2 * math.pi) for x in grid]
    return math.fsum(
        f(s * x, s * (c * x + d * y)) * a * b
        for x, a in zip(grid, w, strict=True)
        for y, b in zip(grid, w, strict=True)
    )


def silu(x: float) -> float:
    return x / (1 + math.exp(-x))


def right_of_relus() -> float:
    """Arc cosine kernel of order 1 at c = 3/5 and q = 2: q (sqrt(1 - c^2) + c (pi - acos c))/(2 pi)."""
    return 2 * (0.8 + 0.6 * (math.pi - math.acos(0.6))) / (2 * math.pi)


CASES = [
    (
        "gauss2(tanh(u)*tanh(v), u, v, q=1, c=1/2)",
        lambda: pair(lambda u, v: math.tanh(u) * math.tanh(v), 1, 0.5),
    ),
    (
        "gauss2(silu(u)*tanh(v) + 2*silu(v), u, v, q=1/2, c=-9/10)",
        lambda: pair(lambda u, v: silu(u) * math.tanh(v) + 2 * silu(v), 0.5, -0.9),
    ),
    (
        "gauss2(tanh(u)*silu(v), u, v, q=2, c=sqrt(2)/2)",
        lambda: pair(lambda u, v: math.tanh(u) * silu(v), 2, math.sqrt(0.5)),
    ),
    ("gauss2(relu(u)*relu(v), u, v, q=2, c=3/5)", right_of_relus),
    ("gauss2(silu(u)*silu(v), u, v, q=1, c=0)", lambda: pair(lambda u, v: silu(u) * silu(v), 1, 0)),
]


@pytest.mark.parametrize(("text", "right"), CASES, ids=[text for text, _ in CASES])
def test_they_hold_the_mean(text, right):
    value, tolerance = Fraction(right()), Fraction(1, 50)
    found = pair_certificate(read(text), tolerance, text)
    assert found is not None
    document, (low, high) = found
    told = verify(document)
    assert told.accepted, told.reason
    assert low - Fraction(1, 10**10) <= value <= high + Fraction(1, 10**10)
    assert high - low <= 2 * tolerance


def test_hermite_polynomials():
    assert [_hermite(n) for n in range(5)] == [(1,), (0, 1), (-1, 0, 1), (0, -3, 0, 1), (3, 0, -6, 0, 1)]


def test_the_digits_that_a_certificate_states_are_said():
    found = api.certify("gauss2(relu(u)*relu(v), u, v, q=1, c=1/3)", 8)
    assert found["digits"] == 8
    assert found["reason"] == "the certificate states 4 of the digits"
    assert verify(found["certificate"]).accepted


def test_verdicts(monkeypatch):
    formal = "gauss2(tanh(u)*silu(v), u, v, q=1, c=1/2) < 0.2"
    found = decide(
        Reading("x", formal, controls=("gauss2(tanh(u)*silu(v), u, v, q=1, c=1/2) < 0.1",)), Settings()
    )
    assert (found.verdict, found.trust) == ("certified", ("arb", "mpfr"))
    assert found.certificate is not None
    integral_certificates._accepted.cache_clear()
    monkeypatch.setattr(integral_certificates, "accept", lambda document: "no")
    found = decide(
        Reading("x", formal, controls=("gauss2(tanh(u)*silu(v), u, v, q=1, c=1/2) < 0.1",)), Settings()
    )
    integral_certificates._accepted.cache_clear()
    assert (found.verdict, found.trust, found.certificate) == ("certified", ("arb",), None)
