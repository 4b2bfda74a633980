"""A value that a statement asks for counts although nothing of it is left in the formula."""

from __future__ import annotations

import math

import numpy as np
import pytest

import gateproof
from gateproof.proofs_check.engine import decide
from gateproof.proofs_check.records import Reading, Settings
from gateproof.theory.formula import parse_expr
from gateproof.theory.formula.undropped import is_everywhere, undropped


def verdict(text: str, **define: str) -> str:
    return decide(Reading("x", text, define=define), Settings()).verdict


@pytest.mark.parametrize(
    "text",
    [
        "at(1, x=log(0)) == 1",
        "at(1, x=1/0) == 1",
        "for x in R: at(1, t=log(x)) == 1",
        "for x in R: at(diff(3*t, t), t=log(x)) == 3",
        "at(diff(t**2, t, 3), t=log(-1)) == 0",
        "for x in R: taylor(1, x, log(-1), 2) == 1",
        "for y in R: limit(1, x, log(y)) == 1",
        "for x in R: tg(x, tau=log(-1), theta=[0], slope=[0, 0], intercept=[0, 0]) == 0",
        "for x in R: tg(log(x), tau=1, theta=[0], slope=[0, 0], intercept=[0, 0]) == 0",
        "exists t in R: (at(1, x=log(t)) == 1)",
        "for x in R: constant(sqrt(x)) == 1",
    ],
)
def test_dropped_values_are_missed(text: str) -> None:
    assert verdict(text, constant="1") == "ill-posed"


@pytest.mark.parametrize(
    "text",
    [
        "at(1, x=log(2)) == 1",
        "for x > 0: at(1, t=log(x)) == 1",
        "for x > 0: at(diff(3*t, t), t=log(x)) == 3",
        "for y > 0: limit(1, x, log(y)) == 1",
        "limit(1, x, oo) == 1",
        "for x > 0: constant(sqrt(x)) == 1",
        "for x in R: tg(x, tau=oo, theta=[0], slope=[0, 0], intercept=[1, 1]) == 1",
    ],
)
def test_values_that_exist_change_nothing(text: str) -> None:
    assert verdict(text, constant="1") == "proved"


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("at(1, t=log(x))", 1),
        ("at(diff(3*t, t), t=log(x))", 3),
        ("limit(5, t, log(x))", 5),
        ("[[1, log(x)], [0, 4]][2, 2]", 4),
    ],
)
def test_arrays_are_nan_where_the_dropped_value_is(text: str, right: float) -> None:
    values = gateproof.formula(text).numpy(np.array([-1.0, 2.0]))
    assert math.isnan(values[0])
    assert values[1] == right


def test_only_doubtful_values_are_kept() -> None:
    one, log, tanh = (parse_expr(t) for t in ("1", "log(x)", "tanh(x)/2"))
    assert is_everywhere(tanh)
    assert undropped(one, (tanh,)) == one
    assert undropped(log, (log,)) == log
    assert undropped(one, (log,)) != one
