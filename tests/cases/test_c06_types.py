"""C06: bf16, fp16 and autocast (pytorch#123911, transformers#7052): types stay, and one rounding."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from gateproof import convert

MODULES = [
    nn.SiLU(),
    nn.GELU(),
    nn.GELU("tanh"),
    nn.Sigmoid(),
    nn.Tanh(),
    nn.ReLU(),
    nn.Hardswish(),
    nn.Mish(),
]
MODULES += [nn.Softmax(-1), nn.LogSoftmax(-1), nn.GLU(), nn.PReLU(), nn.Softshrink()]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("module", MODULES, ids=lambda m: type(m).__name__)
def test_type_stays(module, dtype):
    model = nn.Sequential(module).to(dtype)
    x = torch.linspace(-8, 8, 4096).reshape(8, -1).to(dtype)
    wanted = model(x).dtype
    found = convert(model)
    assert model(x).dtype == wanted == dtype
    found.revert()


def test_silu_is_rounded_once():
    x = torch.linspace(-8, 8, 4097).bfloat16()
    model = nn.Sequential(nn.SiLU())
    convert(model)
    # The float32 result rounded once, by arithmetic of its own.
    wide = x.double()
    once = (wide / (1 + torch.exp(-wide))).float().bfloat16()
    assert torch.equal(model(x), once)
    twice = x * torch.sigmoid(x)
    assert not torch.equal(twice, once)


def test_autocast():
    torch.manual_seed(0)
    model, x = nn.Sequential(nn.Linear(8, 8), nn.SiLU(), nn.Linear(8, 8), nn.Softmax(-1)), torch.randn(4, 8)
    with torch.autocast("cpu", torch.bfloat16):
        right = model(x)
        convert(model)
        y = model(x)
    assert y.dtype == right.dtype
    torch.testing.assert_close(y, right, rtol=2**-7, atol=2**-9)
