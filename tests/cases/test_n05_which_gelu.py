"""Which GELU? The three forms and their distances, certified over all of R."""

from __future__ import annotations

from fractions import Fraction

import pytest

from gateproof.numerics.certify import certify
from gateproof.proofs_check.engine import decide
from gateproof.proofs_check.records import Reading
from gateproof.theory.formula import parse_expr

#: Right values, from mpmath at high precision, outside of this project.
DISTANCES = [
    ("gelu_tanh(x) - gelu(x)", "4.7323552068728487711e-4", "2.6989413863772703"),
    ("x*sigmoid(1.702*x) - gelu(x)", "0.020334872209239230", "2.27039773719661"),
]


@pytest.mark.parametrize(("text", "size", "at"), DISTANCES)
def test_the_largest_distance_and_where(text: str, size: str, at: str) -> None:
    found = certify(parse_expr(f"sup(abs({text}), x in R)"), 20)
    assert found["kind"] == "value"
    lo, hi = (Fraction(found["value"][k]) for k in ("lo", "hi"))
    unit = Fraction(1, 10 ** (len(size.partition("e")[0]) - 3)) * (Fraction(1, 10**4) if "e" in size else 1)
    assert lo - unit <= Fraction(size) <= hi + unit
    assert hi - lo < Fraction(1, 10**18)
    places = certify(parse_expr(f"argmax(abs({text}), x in R)"), 16)
    assert places["kind"] == "set"
    found_at = [(Fraction(p["lo"]) + Fraction(p["hi"])) / 2 for p in places["points"]]
    assert len(found_at) == 2
    for sign, x in zip((-1, 1), found_at, strict=True):
        assert abs(x - sign * Fraction(at)) < Fraction(1, 10**13)


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("sup(abs(x*sigmoid(1.702*x) - gelu(x)), x in R) == 0.0203349~", {"proved", "certified"}),
        ("sup(abs(x*sigmoid(1.702*x) - gelu(x)), x in R) == 0.0203348~", {"refuted"}),
        ("sup(abs(x*sigmoid(1.77293397*x) - gelu(x)), x in R) == 0.01392225~", {"proved", "certified"}),
        ("sup(abs(gelu_tanh(x) - gelu(x)), x in R) == 0.000473236~", {"proved", "certified"}),
        ("for x in R: x*sigmoid(1.702*x) == gelu(x)", {"refuted"}),
        ("for x in R: gelu_tanh(x) == gelu(x)", {"refuted"}),
        ("for x in R: gelu_tanh(x) == x*(1 + tanh(sqrt(2/pi)*(x + 0.044715*x**3)))/2", {"proved"}),
        ("for x in R: gelu(x) == x*(1 + erf(x/sqrt(2)))/2", {"proved"}),
    ],
)
def test_lossless_is_said_of_none_but_the_equal_ones(text: str, verdict: set[str]) -> None:
    assert decide(Reading("", text)).verdict in verdict
