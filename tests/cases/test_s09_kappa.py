"""S09: |f'''(0)| is 0 for GELU and SiLU, whose inflections lie elsewhere; the depth law divides by it.

Each value says which theta it was taken at. At a kink there is none.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from gateproof.numerics.kappa import GATE, GIVEN, INFLECTION, ZERO, Kappa, kappas
from gateproof.theory.complexity import KINK, NO_VALUE, third_derivative
from gateproof.theory.formula import expand, parse_expr
from gateproof.theory.formula.nodes import num
from gateproof.theory.zeros import order

AT_ZERO = [
    ("tanh(x)", "-2", True),
    ("sigmoid(x)", "-1/8", True),
    ("silu(x)", "0", False),
    ("gelu(x)", "0", False),
    ("tanh(x)*sech(x)", "-5", True),
]
#: theta and |f'''(theta)| at the positive inflection.
AT_INFLECTION = [
    ("gelu(x)", "1.41421356237309504880", "0.41510749742059470334"),
    ("silu(x)", "2.39935728051546766783", "0.09153052016419228387"),
    ("memglu(x)", "1.54448495242230150900", "0.68041381743977169394"),
]


def near(low: Fraction | None, high: Fraction | None, text: str, places: int = 20) -> bool:
    assert low is not None
    assert high is not None
    unit = Fraction(1, 10**places)
    return low - unit <= Fraction(text) <= high + unit and high - low <= unit


def reading(text: str, name: str, theta: str | None = None) -> list[Kappa]:
    point = None if theta is None else expand(parse_expr(theta))
    return [k for k in kappas(expand(parse_expr(text)), point).values if k.reading == name]


@pytest.mark.parametrize(("text", "third", "inflection"), AT_ZERO)
def test_at_the_gate_threshold(text: str, third: str, inflection: bool) -> None:
    found = third_derivative(expand(parse_expr(text)), num(0))
    assert found.third is not None
    assert order(found.third, expand(parse_expr(third))) == 0
    assert found.is_inflection is inflection
    (same,) = reading(text, GATE)
    assert same.exact_theta == num(0)
    assert same.lo == same.hi == abs(Fraction(third))
    assert same.is_inflection is inflection
    if third == "0":
        assert same.inverse_square() == ZERO
    else:
        assert same.inverse_square() == (1 / Fraction(third) ** 2,) * 2


@pytest.mark.parametrize(("text", "theta", "kappa"), AT_INFLECTION)
def test_at_the_inflection(text: str, theta: str, kappa: str) -> None:
    last = reading(text, INFLECTION)[-1]
    assert near(*last.theta, theta, 17)
    assert near(last.lo, last.hi, kappa)
    assert last.is_inflection is True
    low, high = last.inverse_square()
    assert Fraction(low) <= 1 / Fraction(kappa) ** 2 * (1 + Fraction(1, 10**15))
    assert Fraction(high) >= 1 / Fraction(kappa) ** 2 * (1 - Fraction(1, 10**15))


def test_the_closed_forms() -> None:
    """By hand: gelu'' = (2 - x**2) phi(x), so f'''(sqrt 2) = -2 sqrt 2 phi(sqrt 2); memglu: 5 sqrt(6)/18."""
    for text, theta, right in (
        ("gelu(x)", "sqrt(2)", "2*sqrt(2)*exp(-1)/sqrt(2*pi)"),
        ("memglu(x)", "asinh(sqrt(5))", "5*sqrt(6)/18"),
        ("memglu(x)", "asinh(1)", "3/sqrt(2)"),
    ):
        (found,) = reading(text, GIVEN, theta)
        assert found.exact is not None
        assert order(found.exact, expand(parse_expr(right))) == 0


@pytest.mark.parametrize(
    ("text", "theta", "reason"),
    [
        ("relu(x)", "0", KINK),
        ("elu(x)", "0", KINK),
        ("max(x, 0)**3", "0", KINK),
        ("soft_threshold(x)", "1/2", KINK),
        ("silu_positive_cap(x)", "asinh(1)", KINK),
        ("softsign(x)", "0", KINK),
        ("log(x)", "0", NO_VALUE),
        ("log(x)", "-1", NO_VALUE),
    ],
)
def test_refused_and_never_0(text: str, theta: str, reason: str) -> None:
    (found,) = reading(text, GIVEN, theta)
    assert found.refused == reason
    assert found.lo is None
    assert found.hi is None
    assert found.inverse_square() == reason


def test_infinitely_many_inflections_are_said_to_be() -> None:
    found = reading("sin(x)", INFLECTION)
    assert all(k.period is not None for k in found)
    assert [k.lo for k in found] == [1, 1]
