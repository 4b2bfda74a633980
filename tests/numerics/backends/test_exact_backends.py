"""Balls and mpmath: rigorous enclosures, and all digits right."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import flint
import mpmath as mp
import pytest
from flint import arb
from known_zoo import ZOO

from gateproof.numerics.backends.formula import formula
from gateproof.numerics.errors import MaybeUndefined, NumericsError, Undefined
from gateproof.numerics.precision import precision

POINTS = ["-30", "-14", "-2.5", "-0.125", "1e-12", "0.3", "1", "7", "41"]


def as_mpf(value: arb) -> mp.mpf:
    return mp.mpf(value.mid().str(60, radius=False))


@pytest.mark.parametrize("text", ZOO)
def test_the_zoo_to_thirty_digits(text: str) -> None:
    f = formula(text)
    for x in POINTS:
        with mp.workdps(1500):
            right = ZOO[text].value(mp.mpf(x))
        with mp.workdps(30):
            found = f.mp(x)
            assert abs(found - right) <= abs(right) * mp.mpf(10) ** -29, (text, x)
        with mp.workdps(80), precision(256):
            ball = f.ball(x)
            assert abs(as_mpf(ball) - right) <= mp.mpf(10) ** -55 * (1 + abs(right))
            assert abs(ball.rad()) <= abs(ball.mid()) * arb(2) ** -250


def test_a_cancelled_tail_in_mpmath() -> None:
    with mp.workdps(30):
        found = formula("tanh(x) - 1").mp(300)
        with mp.workdps(600):
            right = mp.tanh(300) - 1
        assert abs(found / right - 1) < mp.mpf(10) ** -28
        assert formula("x - x").mp(3) == 0
        assert formula("relu(x)").mp(-3) == 0
        assert mp.isnan(formula("log(x)").mp(-1))
        assert mp.isnan(formula("silu(x)").mp(mp.nan))
        assert formula("silu(x)").mp(-mp.inf) == 0
        assert formula("silu(x)").mp(mp.inf) == mp.inf


#: formula, point, digits that mpmath needs to carry for it, and the value by mpmath itself
HARD = [
    ("(1+1/x)**x", "1e300", 700, lambda x: (1 + 1 / x) ** x),
    ("log(x+sqrt(x**2+1))", "-1e15", 100, mp.asinh),
    ("log(x+sqrt(x**2+1))", "-1e300", 1300, mp.asinh),
    ("1-tanh(x)", "1e4", 9000, lambda x: 1 - mp.tanh(x)),
    ("log(1+exp(x))", "-1e5", 60, lambda x: mp.log1p(mp.exp(x))),
    ("exp(x)", "-1e300", 400, mp.exp),
    ("exp(x)", "1e13", 60, mp.exp),
    ("cosh(x)-1", "1e-400", 900, lambda x: mp.cosh(x) - 1),
    ("exp(x**2)*erfc(x)", "1000", 60, lambda x: mp.exp(x**2) * mp.erfc(x)),
    ("x/(1+abs(x)**3)**(1/3)", "1e200", 60, lambda x: x / mp.cbrt(1 + x**3)),
]


@pytest.mark.parametrize(("text", "x", "digits", "by_mpmath"), HARD)
def test_digits_where_two_precisions_agree_on_a_wrong_value(
    text: str, x: str, digits: int, by_mpmath: Callable[[mp.mpf], mp.mpf]
) -> None:
    with mp.workdps(digits):
        right = by_mpmath(mp.mpf(x))
    for wanted in (15, 40):
        with mp.workdps(wanted):
            found = formula(text).mp(x)
        with mp.workdps(60):
            assert abs(found / right - 1) < mp.mpf(10) ** (1 - wanted), (found, right)


@pytest.mark.parametrize("text", ["sin(x)**2+cos(x)**2-1", "exp(log(x))-x", "sin(x)-sin(x+2*pi)"])
def test_zero_is_proved_not_guessed(text: str) -> None:
    assert formula(text).mp(3) == 0
    with pytest.raises(MaybeUndefined, match="no digit"):
        formula(f"1/({text})").mp(3)


def test_rational_conditions_are_exact_in_mpmath() -> None:
    assert formula("where(3*x <= 1, 1, 2)").mp("1/3") == 1
    assert mp.isnan(formula("1/(3*x-1)").mp("1/3"))


@pytest.mark.parametrize("x", ["0.1", Fraction(1, 10), "1/10", arb(1) / 10, mp.mpf(1) / 10, 0.1])
def test_what_a_ball_is_taken_of(x: object) -> None:
    found = formula("exp(x)").ball(x)
    assert abs(found - arb(1.1051709180756477)) < 1e-14
    assert formula("x + y").ball(1, y="0.5") == arb(1.5)


def test_a_decimal_string_is_exact() -> None:
    with precision(300):
        assert formula("10*x").ball("0.1").contains(1)
        assert not formula("10*x").ball(0.1).contains(1)


def test_a_wide_ball_holds_every_value() -> None:
    wide = arb(1, 0.5)
    found = formula("x*exp(-x)").ball(wide)
    for k in range(11):
        assert found.contains(formula("x*exp(-x)").ball(Fraction(1, 2) + Fraction(k, 10)).mid())
    with pytest.raises(MaybeUndefined):
        formula("log(x)").ball(arb(0, 1))


@pytest.mark.parametrize(
    ("text", "x", "words"),
    [
        ("log(x)", -1, r"log\(x\) has no value at x = -1"),
        ("1/x", 0, "has no value at x = 0"),
        ("abs(x)/x", 0, "division"),
        ("sqrt(x)", "-0.5", "square root of a negative number"),
        ("acosh(x)", 0, "acosh"),
    ],
)
def test_no_value_is_said(text: str, x: object, words: str) -> None:
    with pytest.raises(Undefined, match=words):
        formula(text).ball(x)


@pytest.mark.parametrize("wrong", [True, None, [1], "one"])
def test_other_things_are_refused(wrong: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        formula("x").ball(wrong)
    with pytest.raises(ValueError, match="finite"):
        formula("x").ball(arb("inf"))


def test_precision_is_left_as_it_was() -> None:
    before = flint.ctx.prec
    formula("exp(x)").ball(1)
    with pytest.raises(NumericsError):
        formula("log(x)").ball(0)
    assert flint.ctx.prec == before


@pytest.mark.parametrize(
    ("text", "domain"),
    [
        ("silu(x)", "R"),
        ("log(1+x**2)", "R"),
        ("log(x)", "x > 0"),
        ("log(2-3*x)", "x < 2/3"),
        ("sqrt(x)", "x >= 0"),
        ("1/x", "x != 0"),
        ("acosh(x)", "x >= 1"),
        ("atanh(x)", "-1 < x < 1"),
        ("asin(x/2)", "-1 <= x/2 <= 1"),
        ("1/(1-x**2)", "1 - x**2 != 0"),
        ("x**0.5", "x >= 0"),
        ("x**a", "x > 0"),
        ("where(x > 0, log(x), 0)", "R"),
        ("where(x > 1, log(x-2), 1)", "(x > 1 => x > 2)"),
        ("log(x) + 1/(x-1)", "x > 0 and x != 1"),
        ("sqrt(x-y)", "x - y >= 0"),
    ],
)
def test_domains(text: str, domain: str) -> None:
    assert formula(text).domain == domain


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("x/(1+exp(-x))", r"\frac{x}{1 + e^{-x}}"),
        ("σ_1*x**2 - 1/2", r"\sigma_{1} \, x^{2} - \frac{1}{2}"),
        ("sqrt(2/pi)*abs(x)", r"\sqrt{\frac{2}{\pi}} \, \left|x\right|"),
        ("x*2*3", r"x \cdot 2 \cdot 3"),
        ("(x+1)*(x-1)", r"\left(x + 1\right) \, \left(x - 1\right)"),
        ("-(x+1)", r"-\left(x + 1\right)"),
        ("(-x)**2", r"\left(-x\right)^{2}"),
        ("(1/2)**x", r"\left(\frac{1}{2}\right)^{x}"),
        ("exp(x)**2", r"\left(e^{x}\right)^{2}"),
        ("1 - (x - 2)", r"1 - \left(x - 2\right)"),
        ("where(x > 0, x, 0)", r"\begin{cases} x & x > 0 \\ 0 & \text{otherwise} \end{cases}"),
        ("leaky_relu(x)", r"\operatorname{leaky\_relu}\left(x\right)"),
        ("diff(x**2, x)", r"\frac{\mathrm{d}}{\mathrm{d}x} \left(x^{2}\right)"),
    ],
)
def test_latex(text: str, latex: str) -> None:
    assert formula(text).latex == latex
