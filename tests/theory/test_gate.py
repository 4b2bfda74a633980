"""Gates with exact numbers in three algebras: their formula by mpmath, what is refused, their text."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath as mp
import pytest

from gateproof.numerics.points import at_point
from gateproof.theory.formula import expand, parse_expr
from gateproof.theory.formula.nodes import Const, Expr, Num
from gateproof.theory.gate import ALGEBRAS, Gate

OO = Const("oo")
TAU, THETA = ("1/2", "3", "2"), ("-1", "1/3", "2")
SLOPE, INTERCEPT = ("0", "2", "-1/2", "1"), ("1", "0", "-3", "1/4")


def numbers(*texts: str) -> tuple[Expr, ...]:
    return tuple(Num(Fraction(t)) for t in texts)


def exact(algebra: str) -> Gate:
    return Gate(numbers(*TAU), numbers(*THETA), numbers(*SLOPE), numbers(*INTERCEPT), algebra)


def q(text: str) -> Any:
    value = Fraction(text)
    return mp.mpf(value.numerator) / value.denominator


def weights(algebra: str, x: Any) -> list[Any]:
    """The definitions, one by one."""
    z = [q(t) * (x - q(h)) for t, h in zip(TAU, THETA, strict=True)]
    s = [1 / (1 + mp.exp(-v)) for v in z]
    if algebra == "difference":
        return [1 - s[0], s[0] - s[1], s[1] - s[2], s[2]]
    if algebra == "stick":
        return [1 - s[0], s[0] * (1 - s[1]), s[0] * s[1] * (1 - s[2]), s[0] * s[1] * s[2]]
    powers = [mp.mpf(1), mp.exp(z[0]), mp.exp(z[0] + z[1]), mp.exp(z[0] + z[1] + z[2])]
    return [p / sum(powers) for p in powers]


@pytest.mark.parametrize("algebra", ALGEBRAS)
def test_the_formula_is_the_definition(algebra: str) -> None:
    formula = exact(algebra).expression()
    for x in ("-7", "-1", "0", "1/2", "3", "11"):
        right = sum(
            w * (q(a) * q(x) + q(b)) for w, a, b in zip(weights(algebra, q(x)), SLOPE, INTERCEPT, strict=True)
        )
        assert abs(float(at_point(formula, {"x": Fraction(x)}, 128).mid()) - float(right)) < 1e-13


@pytest.mark.parametrize("algebra", ALGEBRAS)
def test_the_text_reads_back(algebra: str) -> None:
    gate = exact(algebra)
    again = expand(parse_expr(gate.text))
    for x in (Fraction(-2), Fraction(1, 3), Fraction(5)):
        values = [float(at_point(e, {"x": x}, 128).mid()) for e in (again, gate.expression())]
        assert values[0] == pytest.approx(values[1], abs=1e-14)


def test_one_sharpness_is_written_once() -> None:
    gate = Gate((OO, OO), numbers("-1", "1"), numbers("0", "1", "0"), numbers("-1", "0", "1"))
    assert gate.text == "tg(x, tau=oo, theta=[-1, 1], slope=[0, 1, 0], intercept=[-1, 0, 1])"
    assert exact("difference").text.startswith("tg(x, tau=[0.5, 3, 2], ")


@pytest.mark.parametrize("algebra", ["difference", "stick"])
def test_hard_gates_of_both_algebras_are_the_line_of_their_interval(algebra: str) -> None:
    gate = Gate((OO, OO), numbers("-1", "1"), numbers("0", "1", "0"), numbers("-2", "0", "1"), algebra)
    formula = gate.expression()
    for x, y in (("-3", -2), ("-1", -2), ("-1/2", -0.5), ("1", 1), ("1.01", 1), ("9", 1)):
        assert float(at_point(formula, {"x": Fraction(x)}, 64).mid()) == y


def test_refused() -> None:
    with pytest.raises(ValueError, match="hard limit"):
        Gate((OO,), numbers("0"), numbers("0", "1"), numbers("0", "0"), "softmax")
    with pytest.raises(ValueError, match="are known"):
        Gate((), (), numbers("1"), numbers("0"), "ladder")
    with pytest.raises(ValueError, match="K branches"):
        Gate(numbers("1"), numbers("0"), numbers("1"), numbers("0", "0"))
