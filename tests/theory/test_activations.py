"""Every activation against mpmath's own functions, and its facts against calculus."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import pytest
from known_zoo import ZOO

from gateproof.numerics.points import at_point, rational_bounds
from gateproof.theory.activations import zoo
from gateproof.theory.facts import Asymptote, Kink, facts
from gateproof.theory.formula import expand, parse_expr

POINTS = [Fraction(n, 60) for n in (-1800, -540, -150, -60, -30, -20, 0, 1, 30, 60, 135, 180, 720, 2400)]


def test_every_activation_is_in_the_table() -> None:
    named = {text.partition("(")[0] for text in ZOO}
    assert set(zoo()) <= named


@pytest.mark.parametrize("text", ZOO)
def test_values_agree_with_mpmath_to_40_digits(text: str) -> None:
    expr = expand(parse_expr(text))
    # 1000 digits: the textbook forms of the table cancel in the left tail (1e-868 at -30).
    with mp.workdps(1000):
        for point in POINTS:
            lo, hi = rational_bounds(at_point(expr, {"x": point}, 320))
            right = ZOO[text].value(mp.mpf(point.numerator) / point.denominator)
            slack = mp.mpf(10) ** -42 * max(abs(right), mp.mpf(10) ** -200)
            assert mp.mpf(lo.numerator) / lo.denominator <= right + slack
            assert right - slack <= mp.mpf(hi.numerator) / hi.denominator
            assert hi - lo <= abs(hi) * Fraction(1, 10**40)


@pytest.mark.parametrize("text", ZOO)
def test_facts_are_those_of_calculus(text: str) -> None:
    known = ZOO[text]
    found = facts(expand(parse_expr(text)))
    assert found.parity == known.parity
    assert found.kinks == tuple(Kink(at, order) for at, order in known.kinks)
    assert found.left == Asymptote(*known.left)
    assert found.right == Asymptote(*known.right)


def test_the_decimal_of_the_tanh_form_is_exact() -> None:
    """40 digits of gelu_tanh(1); a double of 0.044715 would give ...670431..."""
    lo, hi = rational_bounds(at_point(expand(parse_expr("gelu_tanh(1)")), {}, 400))
    right = Fraction("0.8411919906082767047819957770451838608258")
    assert abs(lo - right) < Fraction(1, 10**40)
    assert abs(hi - right) < Fraction(1, 10**40)


@pytest.mark.parametrize(
    ("text", "kink"),
    [
        ("abs(x - 1/3)", Kink(Fraction(1, 3), 0)),
        ("x*abs(x)", Kink(Fraction(0), 1)),
        ("sign(x)", Kink(Fraction(0), -1)),
    ],
)
def test_the_order_of_a_kink(text: str, kink: Kink) -> None:
    assert facts(expand(parse_expr(text))).kinks == (kink,)


def test_a_changed_formula_changes_its_facts() -> None:
    assert facts(expand(parse_expr("x*sigmoid(x) + 1"))).left == Asymptote(Fraction(0), Fraction(1))
    assert facts(expand(parse_expr("max(x, 0) - 2*x"))).right == Asymptote(Fraction(-1), Fraction(0))
    assert facts(expand(parse_expr("tanh(x) + 1/10**9"))).parity is None
