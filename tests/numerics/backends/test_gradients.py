"""Gradients at flat joints and where mirrored gates cancel."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from gateproof.numerics.backends.formula import formula

BUMPS = ["where(abs(x)<1, exp(-1/(1-x**2)), 0)", "where(abs(x)<1, exp(1-1/(1-x**2)), 0)"]


@pytest.mark.parametrize("text", BUMPS)
def test_a_bump_is_flat_at_its_ends(text: str) -> None:
    """All derivatives of exp(-1/(1-x**2)) tend to 0 at its ends."""
    import torch

    f = formula(text)
    ends = np.array([-1.0, 1.0, 1 - 1e-9, 1.5])
    assert f.numpy(ends).tolist() == [0, 0, 0, 0]
    assert f.gradient().numpy(ends).tolist() == [0, 0, 0, 0]
    t = torch.tensor(ends, requires_grad=True)
    f.torch(t).sum().backward()
    assert t.grad.tolist() == [0, 0, 0, 0]
    inside = -2 * 0.5 / 0.75**2 * float(f.mp(0.5))
    assert abs(f.gradient().numpy(0.5) / inside - 1) < 1e-14


def test_a_one_sided_flat_joint() -> None:
    f = formula("where(x > 0, exp(-1/x), 0)")
    xs = np.array([-1.0, 0.0, 1e-300, 1e-3])
    assert f.gradient().numpy(xs).tolist() == [0, 0, 0, 0]
    assert formula("exp(1/x)/x**2").numpy(1e-3) == np.inf


@pytest.mark.parametrize(
    "text", ["sigmoid(x)*(1-sigmoid(x))", "sigmoid(x)*sigmoid(-x)", "diff(sigmoid(x),x)"]
)
def test_the_gradient_of_a_gate_times_its_mirror_keeps_its_digits(text: str) -> None:
    slope = formula(text).gradient()
    for x in (1e-20, -1e-20, 1e-9, -1e-5, 0.01, 2.0, -30.0):
        with mp.workdps(60):
            s = 1 / (1 + mp.exp(-mp.mpf(x)))
            right = s * (1 - s) * (1 - 2 * s)
            assert abs(slope.numpy(x) / right - 1) < 2e-15, x
