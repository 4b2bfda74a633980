"""Digits near 0 of sums whose leading terms cancel, against mpmath in 400 digits."""

from __future__ import annotations

from collections.abc import Callable

import mpmath as mp
import numpy as np
import pytest

from gateproof.numerics.backends.formula import formula

CASES: dict[str, Callable[[mp.mpf], mp.mpf]] = {
    "sqrt(x**2+1)-1": lambda x: mp.sqrt(x**2 + 1) - 1,
    "(sqrt(x**2+1)-1)/2 + x": lambda x: (mp.sqrt(x**2 + 1) - 1) / 2 + x,
    "sqrt(1+x)-1": lambda x: mp.sqrt(1 + x) - 1,
    "1/(1+x)-1": lambda x: 1 / (1 + x) - 1,
    "sqrt(1+x)-sqrt(1-x)": lambda x: mp.sqrt(1 + x) - mp.sqrt(1 - x),
    "sqrt(1+x**2)-1-x**2/2": lambda x: mp.sqrt(1 + x**2) - 1 - x**2 / 2,
    "(1+x)**3-1": lambda x: (1 + x) ** 3 - 1,
    "(1+x)**(1/3)-1": lambda x: mp.cbrt(1 + x) - 1,
    "x/sqrt(1+x**2)-x": lambda x: x / mp.sqrt(1 + x**2) - x,
    "1-1/sqrt(1+x**2)": lambda x: 1 - 1 / mp.sqrt(1 + x**2),
}
POINTS = (1e-30, 1e-12, -1e-12, 1e-5, -1e-5, 1e-3, -0.02, 0.3)


@pytest.mark.parametrize("text", CASES)
def test_algebraic_functions_keep_their_digits_near_0(text: str) -> None:
    f = formula(text)
    for x in POINTS:
        with mp.workdps(400):
            right = CASES[text](mp.mpf(x))
            slope = (CASES[text](mp.mpf(x) + mp.mpf(10) ** -200) - right) / mp.mpf(10) ** -200
            assert abs(f.numpy(x) / right - 1) < 2e-15, (text, x)
            if slope:
                assert abs(f.gradient().numpy(x) / slope - 1) < 4e-15, (text, x)


def test_a_naive_form_would_fail() -> None:
    assert np.sqrt(1e-12**2 + 1) - 1 == 0
