"""Wrong input to formulas is refused in one clear line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gateproof.numerics.backends.formula import formula
from gateproof.theory.formula import FormulaError


@pytest.mark.parametrize("text", [None, 3, b"x", ["x"]])
def test_a_text_is_a_string(text: Any) -> None:
    with pytest.raises(TypeError, match="a formula's text is expected, found"):
        formula(text)


@pytest.mark.parametrize(
    ("text", "value", "words"),
    [
        ("x*a", [1, 2], r"a = \[1, 2\] is not a number"),
        ("x*a", np.array([1.0, 2.0]), "is not a number"),
        ("x*a", None, "a = None is not a number"),
        ("x*a", True, "a = True is not a number"),
        ("x*a", float("inf"), "a = inf is not a finite number"),
        ("x*a", "b", "a = 'b' is not a number"),
        ("x*a", "1/0", "division by 0"),
        ("elu(x,a)", -1, r"a = -1: elu: the parameter a lies in \[0, oo\)"),
        ("log(a)*x", -1, "a = -1: .*log"),
    ],
)
def test_a_default_is_one_number_of_its_domain(text: str, value: Any, words: str) -> None:
    with pytest.raises(FormulaError, match=words) as caught:
        formula(text, a=value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("value", [np.float32(0.5), np.float64(0.5), "1/2", 0.5])
def test_numbers_that_are_taken(value: Any) -> None:
    assert formula("x*a", a=value).numpy(4.0) == 2
    assert formula("elu(x,a)", a=value).numpy(1.0) == 1
    assert formula("diff(x*a**2, a)", a=value).numpy(3.0) == 3


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (float("inf"), "a finite number is expected, found inf"),
        (float("nan"), "a finite number is expected, found nan"),
        ("inf", "a number such as '0.1' or '1/3' is expected, found 'inf'"),
        ("1/0", "found '1/0'"),
    ],
)
def test_balls_are_taken_of_finite_numbers(x: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        formula("x").ball(x)


def test_a_mean_in_brackets_has_its_hint() -> None:
    with pytest.raises(FormulaError, match="gauss"):
        formula("E[x]")
