"""N09: pytorch#184574, #49922: the gradient exactly at a kink, as torch.nn's modules have it."""

from __future__ import annotations

import numpy as np
import pytest
from array_backends import ALL_SLOPES as SLOPES

#: Formula -> (points, what torch.nn's module gives there).
TABLE = {
    "relu(x)": ([0], [0]),
    "relu6(x)": ([0, 6], [0, 0]),
    "min(max(0, x), 6)": ([0, 6], [0, 0]),
    "hardtanh(x)": ([-1, 1], [0, 0]),
    "max(-1, min(1, x))": ([-1, 1], [0, 0]),
    "hardsigmoid(x)": ([-3, 3], [0, 0]),
    "hardswish(x)": ([-3, 0, 3], [0, 0.5, 1]),
    "x*max(0, min(1, x/6 + 1/2))": ([-3, 0, 3], [0, 0.5, 1]),
    "leaky_relu(x)": ([0], [0.01]),
    "max(x, x/100)": ([0], [0.01]),
    "prelu(x)": ([0], [0.25]),
    "elu(x)": ([0], [1]),
    "soft_threshold(x)": ([-0.5, 0, 0.5], [0, 0, 0]),
}


@pytest.mark.parametrize("backend", SLOPES)
@pytest.mark.parametrize("text", TABLE)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_at_the_kink(backend, text, dtype):
    points, right = TABLE[text]
    np.testing.assert_allclose(
        SLOPES[backend](text, np.array(points, dtype=dtype)), right, rtol=3e-7, atol=1e-7
    )


def test_torch_has_these_gradients():
    import torch

    modules = {
        "relu(x)": torch.nn.ReLU(),
        "relu6(x)": torch.nn.ReLU6(),
        "hardtanh(x)": torch.nn.Hardtanh(),
        "hardsigmoid(x)": torch.nn.Hardsigmoid(),
        "hardswish(x)": torch.nn.Hardswish(),
        "leaky_relu(x)": torch.nn.LeakyReLU(),
        "elu(x)": torch.nn.ELU(),
        "soft_threshold(x)": torch.nn.Softshrink(),
    }
    for text, module in modules.items():
        points, right = TABLE[text]
        x = torch.tensor(points, dtype=torch.float64, requires_grad=True)
        module(x).sum().backward()
        assert x.grad is not None
        np.testing.assert_allclose(x.grad.numpy(), right, rtol=1e-12)
