"""Statements on nested extrema: true ones, and near misses that must be refuted."""

from __future__ import annotations

import pytest
from deciding import cases, check, verdict

from gateproof.numerics.bounds import Budget
from gateproof.numerics.certify import certify
from gateproof.proofs_check.checker import verify
from gateproof.theory.formula import parse_expr

SILU = "sup(abs(x*sigmoid(t*x) - gelu(x)), x in R)"
GATE = "sup(abs(tg(x, tau=t, theta=[h], slope=[0, 1], intercept=[0, 0]) - gelu(x)), x in R)"
# The sup norm distances of x**2 from lines on [-1, 1] (1/2), of exp from lines on [0, 1] (0.10593..).
TRUE = [
    f"inf({SILU}, t > 0) >= 0.0139",
    f"inf({GATE}, t > 0, h in R) >= 0.0139",
    f"0.013922245 < inf({SILU}, t > 0) < 0.013922246",
    f"inf({SILU}, t > 0) < oo",
    "sup(inf(-abs(x*sigmoid(t*x) - gelu(x)), x in R), t > 0) <= -0.0139",
    "inf(sup(abs(x - a), x in [0, 1]), a in R) == 1/2",
    "inf(sup(abs(x**2 - a*x - b), x in [-1, 1]), a in R, b in R) > 0.4999",
    "0.10593 < inf(sup(abs(exp(x) - a - b*x), x in [0, 1]), a in R, b in R) < 0.10594",
    "sup(sup(x + y, x in [0, 1]), y in [0, 1]) == 2",
    "sup(x + y, x in [0, 1], y in [0, 1]) == 2",
    "inf(x + y, x in [0, 1], y in (1, 2]) >= 1",
]
TRUE += [
    # The best multiple of x for x**2 on [0, 1] is off by 3 - 2 sqrt(2).
    "0.17157 < inf(sup(abs(t*x - x**2), x in [0, 1]), t in R) < 0.17158",
    "sup(inf(x*t, x in [1, 2]), t in [0, 1]) == 1",
    "sup(max(x*(q - x), x in R), q in [0, 2]) == 1",
    f"exists t > 0: ({SILU} <= 0.014)",
    "inf(sup(sin(x - t), x in R), t in R) <= 1",
    # cos(1) = 0.540302.. and exp(-2) = 0.135335..
    "sup(sin(x) + cos(y), x in [0, 3], y in [1, 4]) >= 1.5403",
    "sup(x*y*exp(-x - y), x in [0, 5], y in [0, 5]) <= 0.136",
    "sup(x - y, x in (0, 1), y in (0, 1)) <= 1",
]
FALSE = [
    "inf(sup(abs(t*x - x**2), x in [0, 1]), t in R) >= 0.17158",
    "sup(inf(x*t, x in [1, 2]), t in [0, 1]) == 2",
    f"exists t > 0: ({SILU} <= 0.0139)",
    "sup(sin(x) + cos(y), x in [0, 3], y in [1, 4]) >= 1.5404",
    "sup(x*y*exp(-x - y), x in [0, 5], y in [0, 5]) <= 0.135",
    "sup(x - y, x in (0, 1), y in (0, 1)) < 0.999",
    f"inf({SILU}, t > 0) >= 0.014",
    f"inf({GATE}, t > 0, h in R) >= 0.014",
    f"inf({GATE}, t > 0, h in R) <= 0.0139",
    f"inf({SILU}, t > 0) >= 0.013922246",
    f"inf({SILU}, t > 0) <= 0.013922245",
    f"inf({SILU}, t in [1, 1.7]) <= 0.0139225",
    "inf(sup(abs(x - a), x in [0, 1]), a in R) == 0.5000001",
    "inf(sup(abs(x**2 - a*x - b), x in [-1, 1]), a in R, b in R) > 0.5001",
    "inf(sup(abs(exp(x) - a - b*x), x in [0, 1]), a in R, b in R) < 0.10593",
    "sup(x + y, x in [0, 1], y in [0, 1]) == 2.0001",
    "sup(x + y, x in [0, 1], y in [0, 1]) == 1.9999",
]
ILL_POSED = [
    "inf(sup(log(x*t), x in R), t > 0) >= 0",
    "inf(sup(x/t, x in [0, 1]), t in [0, 1]) >= 0",
    "sup(x/y, x in [0, 1], y in [0, 1]) >= 0",
    "sup(x + y, x in [1, 0], y in [0, 1]) >= 0",
]


@pytest.mark.parametrize(("text", "allowed"), cases(TRUE, FALSE, ILL_POSED))
def test_verdict(text: str, allowed: tuple[str, ...]) -> None:
    check(text, allowed)


def test_one_point_of_the_parameters_leaves_a_certificate():
    decision = verdict(f"inf({SILU}, t > 0) >= 0.014")
    assert decision.certificate["kind"] == "range"
    assert "mpfr" in decision.trust
    assert set(decision.witness) == {"t"}


@pytest.mark.parametrize(
    ("text", "holds", "family"),
    [
        ("inf(sup(abs(exp(x) - a - b*x), x in [0, 1]), a in [0, 2], b in [0, 3]) > 0.1059", True, False),
        ("inf(sup(abs(exp(x) - a - b*x), x in [0, 1]), a in [0, 2], b in [0, 3]) <= 0.1059", False, False),
        ("sup(inf(-abs(x - a), x in [0, 1]), a in [-3, 2]) <= -0.4999", True, False),
        (f"inf({SILU}, t > 0) >= 0.0139", True, True),
    ],
)
def test_a_bound_for_all_parameters_leaves_a_certificate(text, holds, family):
    decision = verdict(text)
    assert decision.verdict == ("certified" if holds else "refuted")
    assert decision.trust == ("arb", "mpfr")
    assert decision.certificate["kind"] == "parameter-lower-bound"
    assert (decision.certificate["family"] is not None) is family
    assert verify(decision.certificate).accepted


def test_equal_bounds_leave_both_certificates():
    decision = verdict("inf(sup(abs(x - a), x in [0, 1]), a in [-1, 1]) == 1/2")
    assert decision.verdict == "certified"
    assert [p["kind"] for p in decision.certificate["parts"]] == ["parameter-lower-bound", "range"]
    assert verify(decision.certificate).accepted


def test_certify_gives_the_value():
    found = certify(parse_expr(f"inf({SILU}, t > 0)"), 6, Budget())
    assert found["kind"] == "value"
    assert found["digits"] >= 6
    assert found["value"]["lo"][:9] == "0.0139222"


@pytest.mark.parametrize(
    "text", ["inf(sup(x*t, x in [0, 1])**2, t > 0) >= 0", "inf(2*sup(x*t, x in [0, 1]), t > 0) >= 1"]
)
def test_other_nests_are_not_guessed(text):
    assert verdict(text).verdict == "inconclusive"
