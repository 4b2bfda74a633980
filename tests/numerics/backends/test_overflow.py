"""Logarithms whose argument overflows, against mpmath."""

from __future__ import annotations

import mpmath as mp
import numpy as np

from gateproof.numerics.backends.formula import formula

POINTS = (1e-30, -1e-8, 0.3, -2.0, 1e7, -3e8, 1e30, -1e30, -1e200, 1e308)


def test_asinh_by_its_logarithm() -> None:
    for text in ("log(x+sqrt(x**2+1))", "log(sqrt(1+x**2) + x)", "-log(sqrt(x**2+1) - x)"):
        f = formula(text)
        for x in POINTS:
            with mp.workdps(40):
                assert abs(f.numpy(x) / mp.asinh(mp.mpf(x)) - 1) < 1e-15, (text, x)


def test_the_logarithm_of_one_plus_a_square() -> None:
    import torch

    f = formula("log(1+x**2)")
    for x in POINTS:
        with mp.workdps(40):
            right = mp.log1p(mp.mpf(x) ** 2)
            assert abs(f.numpy(x) / right - 1) < 1e-15, x
    large = f.torch(torch.tensor([1e30, -1e30, 3.0]))
    assert np.allclose(large.numpy(), [2 * np.log(1e30), 2 * np.log(1e30), np.log(10)], rtol=1e-6)
    assert f.numpy(np.array([np.inf, -np.inf])).tolist() == [np.inf, np.inf]
    assert np.isnan(f.numpy(np.nan))
