"""The paper's tiers: they start as the layer behind the activation; their parameters are those counted."""

from __future__ import annotations

from math import prod

import pytest
import torch
from torch import nn
from torch.nn import functional

from gateproof.kernels.convert.tiers import TG_A, TG_S, TG_W, General, shape_of
from gateproof.theory.cost_ladder import cost
from gateproof.theory.networks import all_networks

TIERS = (General, TG_S, TG_W, TG_A)
LAYERS = [
    (lambda: nn.Linear(5, 3), (2, 7, 5)),
    (lambda: nn.Linear(5, 3, bias=False), (5,)),
    (lambda: nn.Conv2d(4, 6, 3, padding=1, stride=2, groups=2), (2, 4, 9, 8)),
    (lambda: nn.Conv1d(3, 4, 3, padding=2, dilation=2), (2, 3, 11)),
    (lambda: nn.Conv2d(4, 4, (3, 1), groups=4, padding=(1, 0), bias=False), (2, 4, 6, 5)),
]
ACTIVATIONS = {
    "silu": functional.silu,
    "tanh": torch.tanh,
    "0.5*x + sigmoid(3*x)": lambda x: x / 2 + torch.sigmoid(3 * x),
}


def _numbers(module):
    return sum(p.numel() for p in module.parameters())


@pytest.mark.parametrize("scope", ["layer", "channel"])
@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize(("layer", "size"), LAYERS)
def test_starts_as_the_layer_behind_its_activation(layer, size, tier, scope):
    torch.manual_seed(0)
    layer, x = layer().double(), torch.randn(size, dtype=torch.float64)
    for name, function in ACTIVATIONS.items():
        if tier is TG_W and name != "silu":
            with pytest.raises(ValueError, match="TG_S has them"):
                tier.from_linear(layer, name)
            continue
        made = tier.from_linear(layer, name, scope=scope)
        torch.testing.assert_close(made(x), layer(function(x)), rtol=1e-12, atol=1e-12)
        counted = cost(shape_of(layer), tier.__name__, 2, "layer" if tier is General else scope)
        assert _numbers(made) == counted.parameters
        made(x).square().sum().backward()
        assert all(p.grad is not None and p.grad.isfinite().all() for p in made.parameters())


def test_by_hand():
    """Three inputs, two outputs, K = 2: six weights, two biases (as in theory's own test)."""
    layer = nn.Linear(3, 2)
    assert [_numbers(t.from_linear(layer, "silu")) for t in TIERS] == [
        6 * 6 + 2,
        6 * 4 + 2,
        6 * 2 + 2 + 2,
        6 + 2 + 6,
    ]
    assert _numbers(TG_A.from_linear(layer, "silu", families="kept")) == 6 + 2 + 4
    assert _numbers(TG_S.from_linear(layer, "tanh", families="kept")) == 6 * 2 + 2
    assert _numbers(TG_A.from_linear(layer, "gelu", branches=3, sharpness="separate")) == 6 + 2 + 2 + 2 + 6


def test_a_hard_gate_begins_with_a_finite_sharpness():
    layer, x = nn.Linear(4, 1).double(), torch.randn(50, 4, dtype=torch.float64)
    with pytest.raises(ValueError, match=r"no sharpness to learn: give a finite tau"):
        TG_A.from_linear(layer, "relu")
    made = TG_A.from_linear(layer, "relu", tau=50)
    # |x sigmoid(tau x) - relu(x)| <= W(1/e)/tau, W(1/e) = 0.27846454...
    bound = float(layer.weight.abs().sum()) * 0.2784645428 / 50
    assert 0 < (made(x) - layer(x.relu())).abs().max() <= bound


def test_what_has_no_such_form_is_refused():
    with pytest.raises(ValueError, match="grows faster than any line"):
        TG_A.from_linear(nn.Linear(2, 2), "x**2")
    with pytest.raises(ValueError, match="found Embedding"):
        TG_A.from_linear(nn.Embedding(2, 2), "silu")
    with pytest.raises(ValueError, match="padding mode 'reflect'"):
        TG_W.from_linear(nn.Conv1d(2, 2, 3, padding=1, padding_mode="reflect"), "silu")
    with pytest.raises(ValueError, match="no tap is always inside"):
        TG_S.from_linear(nn.Conv1d(2, 2, 3, padding=2), "silu")
    with pytest.raises(ValueError, match="scope is layer or channel"):
        TG_A.from_linear(nn.Linear(2, 2), "silu", scope="weight")


def _layer(shape):
    """A layer of the shape on the device without numbers."""
    with torch.device("meta"):
        if shape.taps == shape.groups == 1:
            return nn.Linear(shape.inputs, shape.outputs, shape.bias)
        k = round(shape.taps**0.5)
        return nn.Conv2d(shape.inputs, shape.outputs, k, groups=shape.groups, bias=shape.bias)


@pytest.mark.parametrize("network", all_networks(), ids=lambda n: n.name)
def test_published_networks(network):
    """Every layer that reads an activation, built as each tier: the paper's K x, 2K x, 3K x, at most 1 %."""
    gated = network.gated
    assert bool(gated) is not network.name.startswith(("Smol", "Tiny"))
    total = dict.fromkeys(TIERS, 0)
    for shape in gated:
        layer = _layer(shape)
        assert _numbers(layer) == shape.parameters
        for tier in TIERS:
            made = tier.from_linear(layer, "silu")
            assert _numbers(made) == cost(shape, tier.__name__).parameters
            assert prod(made.weight.shape) == (shape.weights if tier is TG_A else 2 * shape.weights)
            total[tier] += _numbers(made) - shape.parameters
    weights, biases = sum(s.weights for s in gated), sum(s.outputs for s in gated if s.bias)
    assert total[General] == 5 * weights
    assert total[TG_S] == 3 * weights - biases + 2 * len(gated)
    assert total[TG_W] == weights + 2 * len(gated)
    assert total[TG_A] == 6 * len(gated)
    assert 100 * total[TG_A] <= network.parameters
