"""C05: state_dict keys, hooks, train flags, copies (edgeai#1, pytorch/rl#1593, Torch-Pruning#374)."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from gateproof import convert


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(2, 2), nn.SiLU(), nn.PReLU())


def test_keys_hooks_flags():
    model, fired, x = network(), [], torch.ones(1, 2)
    state = {k: v.clone() for k, v in model.state_dict().items()}
    model[1].register_forward_hook(lambda *_: fired.append("forward"))
    model[1].register_forward_pre_hook(lambda *_: fired.append("before"))
    model[1].register_full_backward_hook(lambda *_: fired.append("backward"))
    model[1].eval()
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    right = model(x)
    convert(model)
    fired.clear()
    y = model(x)
    y.sum().backward()
    assert torch.allclose(y, right, rtol=0, atol=1e-7)
    assert fired == ["before", "forward", "backward"]
    assert list(model.state_dict()) == ["0.weight", "0.bias", "2.weight"]
    assert model.load_state_dict(state, strict=True)
    assert [m.training for m in model] == [True, False, True]
    before = model[2].weight.detach().clone()
    optimiser.step()
    assert not torch.equal(model[2].weight, before)


def test_what_cannot_be_copied():
    model = network()
    model.cache = model(torch.ones(1, 2))
    with pytest.raises(ValueError, match=r"cannot be copied.*in place"):
        convert(model, inplace=False)
    assert type(model[1]) is nn.SiLU
    right = model(torch.ones(1, 2))
    assert torch.allclose(convert(model).model(torch.ones(1, 2)), right, rtol=0, atol=1e-7)
