"""S02: the kink at 0. sympy#9907, sympy#11060, sympy#21452, sympy#24056, sympy#22532.

Heaviside(0) = 1/2 leaks into derivatives, Piecewise loses the jump. Here equal functions in
different spellings have equal facts, and kappa is refused at a kink.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from gateproof.proofs_check.engine import decide
from gateproof.proofs_check.records import Reading
from gateproof.theory.complexity import KINK, third_derivative
from gateproof.theory.facts import Kink, facts
from gateproof.theory.formula import expand, parse_expr

RELU = [
    "relu(x)",
    "max(0, x)",
    "x*step(x)",
    "where(x > 0, x, 0)",
    "(x + abs(x))/2",
    "-min(0, -x)",
    "x*(1 + sign(x))/2",
    "where(x >= 0, x, 0)",
    "(x + sqrt(x**2))/2",
    "x - min(x, 0)",
    "max(0, max(0, x))",
    "tg(x, tau=oo, theta=[0], slope=[0, 1], intercept=[0, 0])",
    "x*where(x >= 0, 1, 0)",
]
SHRINK = ["soft_threshold(x)", "sign(x)*max(abs(x) - 1/2, 0)", "x - max(-1/2, min(1/2, x))"]
ELU = ["elu(x)", "celu(x)", "max(x, 0) + min(0, exp(x) - 1)", "where(x <= 0, exp(x) - 1, x)"]


@pytest.mark.parametrize("spellings", [RELU, SHRINK, ELU], ids=["relu", "soft_threshold", "elu"])
def test_equal_functions_have_equal_facts(spellings: list[str]) -> None:
    first, *others = (facts(expand(parse_expr(text))) for text in spellings)
    assert all(other == first for other in others)


def test_other_functions_have_not() -> None:
    assert facts(expand(parse_expr("max(x, -x/100)"))) != facts(expand(parse_expr("relu(x)")))
    assert facts(expand(parse_expr("max(0, x - 1/9)"))) != facts(expand(parse_expr("relu(x)")))


@pytest.mark.parametrize("text", RELU)
def test_no_third_derivative_at_0(text: str) -> None:
    expr = expand(parse_expr(text))
    assert facts(expr).kinks == (Kink(Fraction(0), 0),)
    found = third_derivative(expr, parse_expr("0"))
    assert (found.refused, found.third, found.kappa) == (KINK, None, None)


@pytest.mark.parametrize("text", SHRINK)
@pytest.mark.parametrize("theta", ["1/2", "-1/2"])
def test_nor_at_the_thresholds(text: str, theta: str) -> None:
    assert third_derivative(expand(parse_expr(text)), parse_expr(theta)).refused == KINK


@pytest.mark.parametrize("text", RELU)
def test_the_slopes_on_both_sides(text: str) -> None:
    for side, slope in (("-", 0), ("+", 1)):
        assert decide(Reading("", f"limit(({text})/x, x, 0, {side}) == {slope}")).verdict == "proved"
    found = decide(Reading("", f"at(diff({text}, x), x=0) == 0")).verdict
    assert found == "ill-posed" or (found == "inconclusive" and "sqrt" in text)
