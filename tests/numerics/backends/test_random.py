"""Random formulas: values and gradients of the backends against mpmath, which evaluates the plain text."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from array_backends import SLOPES, VALUES

from gateproof.numerics.backends.formula import formula
from gateproof.theory.formula import FormulaError

ATOMS = ["x", "x", "x", "1", "2", "1/2", "-x", "2*x", "x**2", "0.3", "pi", "-1"]
FUNCTIONS = [
    "exp",
    "sin",
    "cos",
    "tanh",
    "sech",
    "sigmoid",
    "softplus",
    "erf",
    "erfc",
    "abs",
    "cosh",
    "sinh",
    "atan",
]
FUNCTIONS += ["asinh", "relu", "silu", "gelu", "mish"]
POINTS = [0.0, 1e-9, -1e-9, 1e-3, 0.5, -0.5, 1.0, -1.0, 1.7, -2.3, 5.0, -5.0, 12.0, -12.0]


def text_of(r: random.Random, depth: int) -> str:
    if depth == 0 or r.random() < 0.15:
        return r.choice(ATOMS)
    a, b = (text_of(r, depth - 1) for _ in range(2))
    shape = r.choices(["f", "+", "-", "*", "/", "max", "min", "**", "where"], [8, 3, 2, 4, 3, 1, 1, 1, 1])[0]
    if shape == "f":
        return f"{r.choice(FUNCTIONS)}({a})"
    if shape in ("max", "min"):
        return f"{shape}({a}, {b})"
    if shape == "**":
        return f"({a})**{r.choice([2, 3, -1])}"
    if shape == "where":
        return f"where(x {r.choice(['<', '>', '>=', '<='])} {r.choice(['0', '1', '-1/2'])}, {a}, {b})"
    return f"({a}) {shape} ({b})"


def spread(f: Callable[[Any], Any], x: Any, value: Any) -> Any:
    """How far values of a neighbourhood of 8 roundings lie apart."""
    e = mp.mpf(2) ** -50 * max(abs(x), mp.mpf(2) ** -20)
    near = [f(x + e), f(x - e)]
    return mp.inf if any(mp.isnan(v) for v in near) else 100 * max(abs(v - value) for v in near)


@pytest.mark.parametrize("seed", range(30))
def test_values_and_gradients(seed: int) -> None:
    r = random.Random(seed)
    text = text_of(r, r.choice([2, 3]))
    try:
        f = formula(text)
    except FormulaError:
        return
    if f.names != ("x",):
        return
    xs = np.array(POINTS)
    backend = r.choice(sorted(VALUES))
    values, slopes = VALUES[backend](text, xs), SLOPES[backend](text, xs)
    with mp.workdps(400):
        h = mp.mpf(10) ** -120
        for at, y, slope in zip(POINTS, values, slopes, strict=True):
            x = mp.mpf(at)
            want = f.mp(x)
            if mp.isnan(want) or abs(want) > 1e200:
                continue
            assert abs(y - want) <= 1e-11 * abs(want) + spread(f.mp, x, want) + 1e-250, (text, at)
            right, left = (f.mp(x + h) - want) / h, (want - f.mp(x - h)) / h
            if mp.isnan(right) or mp.isnan(left) or abs(right) > 1e200:
                continue
            smooth = abs(right - left) <= mp.mpf(10) ** -80 * (1 + abs(right))
            least = right if smooth else mp.mpf(0) if right * left <= 0 else min(right, left, key=abs)
            close = spread(lambda v: (f.mp(v + h) - f.mp(v - h)) / (2 * h), x, least)
            assert abs(slope - least) <= 1e-9 * abs(least) + close + 1e-200, (text, at)
