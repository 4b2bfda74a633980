"""Bounds over several names with one infinite range: proved with a certificate, or not at all."""

from __future__ import annotations

from fractions import Fraction

import pytest

from gateproof.numerics.bounds import prove_bounds
from gateproof.numerics.certificate import Bounds
from gateproof.numerics.joint_bounds import joint_bounds
from gateproof.proofs_check.checker import verify
from gateproof.theory.formula import expand, parse_expr

F = Fraction
R = (None, None)
SWISH = "x*sigmoid(t*x) - relu(x)"


@pytest.mark.parametrize(
    ("text", "limits", "lower", "upper"),
    [
        # W(1/e)/1.6 = 0.17404033922...
        (SWISH, {"x": R, "t": (F(8, 5), F(2))}, F("-0.174041"), F("0.000001")),
        (f"abs({SWISH})", {"x": R, "t": (F(8, 5), F(2))}, None, F("0.174041")),
        # sup of t tanh x is 3, approached far out.
        ("t*tanh(x)", {"x": R, "t": (F(1), F(3))}, F("-3.0001"), F("3.0001")),
        ("x*y*exp(-x**2 - y**2)", {"x": (F(0), None), "y": (F(0), F(9))}, F(-1, 10**6), F("0.18394")),
    ],
)
def test_bounds_that_hold_and_that_just_do_not(text, limits, lower, upper):
    core = expand(parse_expr(text))
    found = prove_bounds(core, limits, lower=lower, upper=upper)
    assert found.status == "proved"
    verdict = verify(found.certificate)
    assert verdict.accepted, verdict.reason
    # A little below the supremum the bound is broken, or not proved.
    tight = {
        F("0.000001"): F("-0.000001"),
        F("0.174041"): F("0.174040"),
        F("3.0001"): F("2.9999"),
        F("0.18394"): F("0.18393"),
    }
    below = prove_bounds(core, limits, upper=tight[upper])
    assert below.status != "proved"


def test_what_is_no_question_for_it():
    core = expand(parse_expr("exp(-x**2 - y**2)"))
    assert joint_bounds(core, {"x": R, "y": R}, Bounds(None, F(2))) == "more than one infinite range"
    assert joint_bounds(core, {"x": R, "y": (F(0), F(1))}, Bounds()) == "no bound"
    # 1 is reached at (0, 0): no room.
    assert isinstance(joint_bounds(core, {"x": R, "y": (F(-1), F(1))}, Bounds(None, F(1))), str)
    undefined = expand(parse_expr("y/x"))
    assert isinstance(
        joint_bounds(undefined, {"x": (F(-1), F(1)), "y": (F(0), F(1))}, Bounds(None, F(9))), str
    )
