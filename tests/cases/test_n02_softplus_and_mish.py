"""N02: burn#5373, darknet#5452: softplus and mish typed as a formula overflow, and their gradient is NaN."""

from __future__ import annotations

import numpy as np
import pytest
from array_backends import ALL_SLOPES as SLOPES
from array_backends import ALL_VALUES as VALUES

MISH = "x*tanh(log(1+exp(x)))"
X = np.array([20, 50, 89, 1000, -20, -1000], dtype=np.float32)
VALUE = [19.99999999999999983, 50, 89, 1000, -4.1223072406287614006e-8, 0]
SLOPE = [1.0000000000000003314, 1, 1, 1, -3.9161918743489690753e-8, 0]


@pytest.mark.parametrize("backend", VALUES)
def test_mish(backend):
    np.testing.assert_allclose(VALUES[backend](MISH, X), VALUE, rtol=5e-7)
    np.testing.assert_allclose(SLOPES[backend](MISH, X), SLOPE, rtol=5e-7)


@pytest.mark.parametrize("backend", VALUES)
@pytest.mark.parametrize(
    "text", ["log(1+exp(x))", "log(exp(x)+1)", "-log(1/(1+exp(x)))", "x + log(1+exp(-x))"]
)
def test_softplus(backend, text):
    found = VALUES[backend](text, X)
    np.testing.assert_allclose(found, [20.000000002061153, 50, 89, 1000, 2.0611536181902037e-9, 0], rtol=5e-7)
    np.testing.assert_allclose(SLOPES[backend](text, X), [1, 1, 1, 1, 2.0611536e-9, 0], rtol=5e-7)


def test_plain_torch_fails_here():
    """What the case is about."""
    import torch

    x = torch.tensor([89.0, 1000.0], requires_grad=True)
    (x * torch.tanh(torch.log(1 + torch.exp(x)))).sum().backward()
    assert x.grad is not None
    assert x.grad.isnan().all()
