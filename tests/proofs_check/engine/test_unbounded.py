"""Infinite suprema and bounds against oo leave certificates, and only true ones do."""

from __future__ import annotations

import pytest

from gateproof.proofs_check.checker import verify
from gateproof.proofs_check.engine import decide, unbounded
from gateproof.proofs_check.engine.unbounded import unbounded_certificate
from gateproof.proofs_check.records import Reading, Settings
from gateproof.theory.exact.domain import Domain
from gateproof.theory.formula import expand_node, parse_expr
from gateproof.theory.formula.nodes import Expr, num


def read(text: str) -> Expr:
    node = expand_node(parse_expr(text))
    assert isinstance(node, Expr)
    return node


@pytest.mark.parametrize(
    ("formal", "verdict"),
    [
        ("sup(celu(x, 2), x in R) == oo", "certified"),
        ("inf(tanhshrink(x), x in R) == -oo", "certified"),
        ("sup(x/1000, x in R) == oo", "certified"),
        ("sup(silu(x) - x, x in R) < oo", "refuted"),
        ("inf(gelu(x), x in R) > -oo", "certified"),
        ("sup(gelu(x), x in (-oo, 2]) < oo", "certified"),
    ],
)
def test_they_are_checked_again(formal, verdict, monkeypatch):
    found = decide(Reading("x", formal), Settings())
    assert found.verdict == verdict
    assert "mpfr" in found.trust
    assert found.certificate is not None
    assert verify(dict(found.certificate)).accepted
    if "oo" in formal.split()[-1] and "== " in formal:
        monkeypatch.setattr(unbounded, "accept", lambda document: "no")
        found = decide(Reading("x", formal), Settings())
        assert (found.verdict, found.trust, found.certificate) == (verdict, ("arb",), None)


def test_bounded_functions_have_none():
    assert unbounded_certificate(read("tanh(x)"), "x", Domain(), up=True) is None
    assert unbounded_certificate(read("x"), "x", Domain(None, num(3)), up=True) is None
    assert unbounded_certificate(read("x"), "x", Domain(None, num(3)), up=False) is not None
    assert unbounded_certificate(read("silu(x)"), "x", Domain(), up=False) is None
    assert unbounded_certificate(read("log(1 + x**2)"), "x", Domain(), up=True) is None


@pytest.mark.parametrize(
    ("formal", "verdict"),
    [("limit(1/x, x, 0, +) >= 5", "proved"), ("limit(1/x, x, 0, +) <= 5", "refuted")],
)
def test_an_infinite_limit_against_a_number(formal, verdict):
    assert decide(Reading("", formal), Settings()).verdict == verdict
