"""N05, N09, N12 for converted networks: which GELU, the gradient at kinks, NaN and infinities."""

from __future__ import annotations

from math import inf, nan

import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - as the code of networks has it

from gateproof import convert


class Quick(nn.Module):
    """What transformers calls QuickGELUActivation."""

    def forward(self, x):
        return x * torch.sigmoid(1.702 * x)


def converted(module):
    return convert(nn.Sequential(module))


#: From the analysis of the three functions (jax#4428, gemma_pytorch#33): largest difference and where.
APART = [("tanh", "none", 4.7323552e-4, 2.69894139), ("quick", "none", 0.020334872, 2.2703974)]


@pytest.mark.parametrize(("one", "other", "size", "at"), APART)
def test_gelus_stay_apart(one, other, size, at):
    made = {"tanh": nn.GELU("tanh"), "none": nn.GELU(), "quick": Quick()}
    a, b = converted(made[one]), converted(made[other])
    x = torch.tensor([at, -at], dtype=torch.float64)
    gap = (a.model(x) - b.model(x)).abs()
    torch.testing.assert_close(gap, torch.full((2,), size, dtype=torch.float64), rtol=1e-6, atol=0)


def test_the_approximation_is_kept():
    x = torch.linspace(-10, 10, 4001)
    for how in ("tanh", "none"):
        found = converted(nn.GELU(how))
        torch.testing.assert_close(found.model(x), F.gelu(x, approximate=how), rtol=0, atol=1e-6)
        (row,) = found.report
        # Lossless is said of a gate of the normal distribution function, never of tau = 1.702.
        assert row.treatment == "link"
        assert "1.702" not in str(row.gate)


CLAMPS = {
    "clamp": (lambda x: x.clamp(-1, 1), [-1, 1], [1, 1]),
    "clamp_min": (lambda x: torch.clamp_min(x, 0), [0], [1]),
    "maximum": (lambda x: torch.maximum(x, torch.zeros_like(x)), [0], [0.5]),
}
KINKS = {
    "relu": (nn.ReLU(), [0], [0]),
    "relu6": (nn.ReLU6(), [0, 6], [0, 0]),
    "hardtanh": (nn.Hardtanh(), [-1, 1], [0, 0]),
    "hardsigmoid": (nn.Hardsigmoid(), [-3, 3], [0, 0]),
    "hardswish": (nn.Hardswish(), [-3, 0, 3], [0, 0.5, 1]),
    "leaky_relu": (nn.LeakyReLU(), [0], [0.01]),
    "prelu": (nn.PReLU(), [0], [0.25]),
    "elu": (nn.ELU(), [0], [1]),
    "softshrink": (nn.Softshrink(), [-0.5, 0, 0.5], [0, 0, 0]),
    **CLAMPS,
}


class Calls(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body = body

    def forward(self, x):
        return self.body(x)


@pytest.mark.parametrize("name", KINKS)
def test_gradient_at_kinks(name):
    body, points, right = KINKS[name]
    found = convert(nn.Sequential(body if isinstance(body, nn.Module) else Calls(body)), inputs=torch.ones(1))
    x = torch.tensor(points, dtype=torch.float32).requires_grad_()
    (slope,) = torch.autograd.grad(found.model(x).sum(), x)
    torch.testing.assert_close(slope, torch.tensor(right, dtype=torch.float32), rtol=1e-6, atol=0)


@pytest.mark.parametrize(
    ("module", "right"),
    [
        (nn.ReLU(), [nan, inf, 0, 0]),
        (nn.SiLU(), [nan, inf, nan, 0]),
        (nn.Sigmoid(), [nan, 1, 0, 0.5]),
        (nn.Tanh(), [nan, 1, -1, 0]),
    ],
    ids=lambda p: type(p).__name__,
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_not_a_number(module, right, dtype):
    y = converted(module).model(torch.tensor([nan, inf, -inf, -0.0], dtype=dtype))
    assert torch.equal(y.isnan(), torch.tensor(right).isnan())
    torch.testing.assert_close(y, torch.tensor(right, dtype=dtype), rtol=0, atol=0, equal_nan=True)


def test_gelu_keeps_nan():
    x = torch.tensor([nan, inf])
    for how in ("none", "tanh"):
        y, own = converted(nn.GELU(how)).model(x), F.gelu(x, approximate=how)
        assert y[0].isnan()
        assert y[1] == inf or (y[1].isnan() and own[1].isnan())
