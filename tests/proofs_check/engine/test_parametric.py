"""Extrema that depend on other names, and conditions that no value meets."""

from __future__ import annotations

import pytest
from deciding import cases, check, verdict

from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.sign_points import in_factors, zeros_of_factors
from gateproof.theory.formula import expand, parse_expr, to_text
from gateproof.theory.formula.nodes import num

TRUE = [
    "for t in [1,2]: sup(abs(x*sigmoid(t*x)-relu(x)), x in R) <= 0.2785/t",
    "for t > 0: sup(abs(x*sigmoid(t*x)-relu(x)), x in R) <= 0.2785/t",
    "for t > 0: sup(abs(x*sigmoid(t*x)-relu(x)), x in R) < 0.279/t",
    "for a > 0: argmax(x*exp(-a*x), x in [0,oo)) == 1/a",
    "for a > 0: max(x*exp(-a*x), x in [0,oo)) == 1/(a*e)",
    "for a in R: min((x-a)**2 + 1, x in R) == 1",
    "for a in R: argmin((x-a)**2 + 1, x in R) == a",
    "for a in R: zeros(x - a, x in R) == a",
    "for a in R: zeros(exp(x)*(x - a), x in R) == a",
    "for t > 0: sup(x, x in [0,t]) == t",
    "for t > 0: sup(tanh(t*x), x in R) == 1",
    "for t > 0: inf(exp(t*x), x in R) == 0",
    "for t in R: sup(t*x, x in [0,1]) >= t",
    "for t in R: sup(t*x, x in [-1,1]) == abs(t)",
    "for t > 0: sup(t*x**2, x in R) == oo",
    "for y in R: sup(sin(x + y), x in R) <= 1",
    "for t in [1, 2]: sup(abs(x*sigmoid(t*x) - gelu(x)), x in R) >= 0.0139",
    "for b in R: inf((x - b)**2 + x**2, x in R) == b**2/2",
    "for q > 0: argmax(x*(q - x), x in R) == q/2",
    "for x in R, y in R, x < y, y <= 0: x < 0",
]
FALSE = [
    "for t in [1,2]: sup(abs(x*sigmoid(t*x)-relu(x)), x in R) <= 0.278/t",
    "for t > 0: sup(abs(x*sigmoid(t*x)-relu(x)), x in R) <= 0.2784/t",
    "for a > 0: argmax(x*exp(-a*x), x in [0,oo)) == 1.001/a",
    "for a > 0: argmax(x*exp(-a*x), x in [0,oo)) == a",
    "for a > 0: max(x*exp(-a*x), x in [0,oo)) == 1/a",
    "for a in R: argmin((x-a)**2 + 1, x in R) == a + 1",
    "for a in R: zeros(x**2 - a**2, x in R) == a",
    "for t > 0: sup(x, x in [0,t]) < t",
    "for t in [1, 2]: sup(abs(x*sigmoid(t*x) - gelu(x)), x in R) >= 0.014",
    "for b in R: inf((x - b)**2 + x**2, x in R) == b**2/3",
]
ILL_POSED = [
    "for t > 0: max(tanh(t*x), x in R) == 1",
    "for a in R: argmax(x*exp(-a*x), x in [0,oo)) == 1/a",
    "for a in R: sup(log(x-a), x in [0,1]) >= 0",
    "for x in R, y in R, x < y, y < x: x == y",
    "for x in R, x > 1, x < 0: x == 5",
    "for x in R, y in R, x**2 + y**2 < 0: x == y",
]


@pytest.mark.parametrize(("text", "allowed"), cases(TRUE, FALSE, ILL_POSED))
def test_verdict(text: str, allowed: tuple[str, ...]) -> None:
    check(text, allowed)


@pytest.mark.parametrize(
    "text",
    [
        "for t > 0: 2*sup(x, x in [0, t]) == 2*t",
        "for t > 0: sup(sin(t*x)/x, x in [1, 2]) <= t*0.99999",
        "for t > 0: argmax(x*exp(-x) + sin(t)*0*x, x in [0, 1]) == {1/2, 1}",
    ],
)
def test_what_is_not_known_is_not_guessed(text):
    assert verdict(text).verdict in ("inconclusive", "refuted")
    assert verdict(text).verdict != "proved"


def test_zeros_in_other_names():
    given = Assumptions({"a": Domain(num(0)), "x": Domain()})
    slope = expand(parse_expr("exp(-a*x)*(1 - a*x)"))
    assert [to_text(z) for z in zeros_of_factors(slope, "x", given)] == ["1/a"]
    assert zeros_of_factors(expand(parse_expr("exp(x*a) + 1")), "x", given) == ()


def test_factors_have_the_zeros_of_the_whole():
    given = Assumptions({"x": Domain()})
    whole = expand(parse_expr("(x**3 - x)*exp(x)/(1 + x**2)"))
    texts = {to_text(f) for f in in_factors(whole, given) or ()}
    assert any("exp" not in t and "x" in t for t in texts)
    # 1/x has no factor with a zero, but a denominator with one.
    assert in_factors(expand(parse_expr("1/x")), given) is None
