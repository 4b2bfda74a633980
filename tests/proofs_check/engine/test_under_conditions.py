"""Bounds and extrema under conditions: x y <= 1/4 where x + y <= 1, x + y <= sqrt(2) on a disc."""

from __future__ import annotations

import json

import pytest

from gateproof.proofs_check.checker import verify
from gateproof.proofs_check.engine import conditioned, decide, extremum_joint
from gateproof.proofs_check.records import Reading, Settings
from gateproof.theory.formula.serial import tree_hash


def verdict(formal: str) -> str:
    return decide(Reading("x", formal), Settings()).verdict


@pytest.mark.parametrize(
    "formal",
    [
        "for x in [0, 1], y in [0, 1], x + y <= 1: x*y <= 1/4",
        "for x in R, y in R, x**2 + y**2 <= 1: x + y <= 1.42",
        "sup(x*y, x in [0, 1], y in [0, 1], x + y <= 1) == 1/4",
        "max(x*y, x in [0, 1], y in [0, 1], x + y <= 1) == 1/4",
        "inf(x + y, x in [0, 1], y in [0, 1], x*y >= 1/4) >= 0.99",
        "sup(exp(x)*y, x in [0, 1], y in [0, 1], x + 2*y <= 1) < 1.2",
    ],
)
def test_true_ones_hold(formal: str) -> None:
    assert verdict(formal) in ("proved", "certified")


@pytest.mark.parametrize(
    "formal",
    [
        "for x in [0, 1], y in [0, 1], x + y <= 1: x*y <= 0.24",
        "for x in [0, 1], y in [0, 1], x + y <= 1: x*y < 1/4",
        "sup(x*y, x in [0, 1], y in [0, 1], x + y <= 1) == 1/2",
        "sup(x*y, x in [0, 1], y in [0, 1], x + y <= 1) <= 1/5",
        # Without the second condition the greatest value would be 1/4.
        "sup(x*y, x in [0, 1], y in [0, 1], x + y <= 1, x <= 1/4) == 1/4",
    ],
)
def test_false_ones_fail(formal: str) -> None:
    assert verdict(formal) == "refuted"


def test_another_limit_of_the_same_name_is_not_passed() -> None:
    # x = 1/2, y = 1/4 meets all conditions and has the value 1/4.
    formal = "for x in [0, 1], y in [0, 1], x + y <= 1, x**2 <= y: x*(1 - x) <= 0.24"
    assert verdict(formal) in ("refuted", "inconclusive")


@pytest.mark.parametrize(
    "formal",
    [
        "for x in R, y in R, x**2 + y**2 <= 1: x + y <= 1.42",
        "inf(x + y, x in [0, 1], y in [0, 1], x*y >= 1/4) >= 0.99",
        # Nothing but the bounds on several names.
        "sup(x*sigmoid(y) + exp(-x*y), x in [0, 1], y in [-1, 2]) < 2.99",
        "sup(x*sigmoid(y) + exp(-x*y), x in [0, 1], y in [-1, 2]) > 2.98",
        "sup(x*sigmoid(y) + exp(-x*y), x in [0, 1], y in [-1, 2]) <= 2.98",
    ],
)
def test_what_balls_decide_leaves_a_certificate(formal: str) -> None:
    found = decide(Reading("x", formal), Settings())
    assert found.verdict in ("certified", "refuted")
    assert "mpfr" in found.trust
    assert found.certificate is not None
    assert verify(dict(found.certificate)).accepted


def test_a_certificate_says_nothing_where_a_condition_fails() -> None:
    # Without the condition 1.42 is broken at (1, 1), so the core must hold it.
    found = decide(Reading("x", "for x in R, y in R, x**2 + y**2 <= 1: x + y <= 1.42"), Settings())
    assert found.certificate is not None
    document = json.loads(json.dumps(dict(found.certificate)))
    (part,) = [p for p in document.get("parts", [document]) if p["core"][0] == "where"]
    bare = {**part, "core": part["core"][2]}
    bare["formula_hash"] = tree_hash(bare["core"])
    assert verify(part).accepted
    assert not verify(bare).accepted


def test_trust_rests_on_an_accepted_certificate(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (conditioned, extremum_joint):
        monkeypatch.setattr(module, "accept", lambda document: "no")
    for formal in (
        "inf(x + y, x in [0, 1], y in [0, 1], x*y >= 1/4) >= 0.99",
        "sup(x*sigmoid(y) + exp(-x*y), x in [0, 1], y in [-1, 2]) < 2.99",
    ):
        found = decide(Reading("x", formal), Settings())
        assert found.verdict == "certified"
        assert "mpfr" not in found.trust
        assert found.certificate is None
