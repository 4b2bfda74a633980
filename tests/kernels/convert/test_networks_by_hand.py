"""Blocks as networks have them, written by hand: values, gradients, rows, the census, and the way back."""

from __future__ import annotations

import functools
import math
from copy import deepcopy

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.nn.functional import gelu as alias

from gateproof import convert


class WindowAttention(nn.Module):
    """Swin's: a table of relative positions and a mask of shifted windows."""

    shape, kinds = (2, 16, 8), ("softmax",)

    def __init__(self):
        super().__init__()
        self.qkv, self.softmax = nn.Linear(8, 24), nn.Softmax(dim=-1)
        self.table = nn.Parameter(torch.randn(49, 2))
        at = torch.stack(torch.meshgrid(torch.arange(4), torch.arange(4), indexing="ij")).flatten(1)
        apart = (at[:, :, None] - at[:, None] + 3).permute(1, 2, 0)
        self.register_buffer("index", (apart[..., 0] * 7 + apart[..., 1]).flatten())
        mask = torch.zeros(2, 16, 16)
        mask[1, :8, 8:] = mask[1, 8:, :8] = -100
        self.register_buffer("mask", mask)

    def forward(self, x):
        b, n, c = x.shape
        q, k, v = self.qkv(x).reshape(b, n, 3, 2, 4).permute(2, 0, 3, 1, 4)
        score = q @ k.transpose(-2, -1) / 2 + self.table[self.index].view(n, n, 2).permute(2, 0, 1)
        score = score.view(1, 2, 2, n, n) + self.mask[:, None].to(score.dtype)
        return (self.softmax(score.view(-1, 2, n, n)) @ v).transpose(1, 2).reshape(b, n, c)


class Experts(nn.Module):
    """A router of softmax and top-k."""

    shape, kinds = (6, 8), ("softmax", "silu", "silu", "silu", "gate product")

    def __init__(self):
        super().__init__()
        self.router = nn.Linear(8, 3)
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(8, 8), nn.SiLU()) for _ in range(3))

    def forward(self, x):
        weights, chosen = self.router(x).softmax(-1).topk(2)
        weights = weights / weights.sum(-1, keepdim=True)
        out = torch.zeros_like(x)
        for k, expert in enumerate(self.experts):
            row, place = torch.where(chosen == k)
            out.index_add_(0, row, expert(x[row]) * weights[row, place, None])
        return out


class Scan(nn.Module):
    """A selective scan: softplus steps, exponential decays, a SiLU gate."""

    shape = (2, 5, 8)
    kinds = ("silu", "softplus", "gate product", "gate product", "silu", "gate product", "group", "group")

    def __init__(self):
        super().__init__()
        self.both, self.step = nn.Linear(8, 16), nn.Linear(8, 8)
        self.decay = nn.Parameter(torch.arange(1.0, 9).log())

    def forward(self, x):
        u, z = self.both(x).chunk(2, -1)
        u = functional.silu(u)
        step = functional.softplus(self.step(u))
        decay = -torch.exp(self.decay)
        h, found = u.new_zeros(2, 8), []
        for t in range(x.shape[1]):
            h = torch.exp(step[:, t] * decay) * h + step[:, t] * u[:, t]
            found.append(h)
        return torch.stack(found, 1) * functional.silu(z)


class Stored(nn.Module):
    """Functions as attributes, in lists, mappings and partials, and under another name."""

    shape, kinds = (4, 8), ("relu", "tanh", "gelu", "leaky_relu", "sigmoid", "gelu")

    def __init__(self):
        super().__init__()
        self.l, self.f, self.several = nn.Linear(8, 8), torch.relu, [torch.tanh, functional.gelu]
        self.by = {"a": functools.partial(functional.leaky_relu, negative_slope=0.3)}
        self.quick = lambda t: t * torch.sigmoid(1.702 * t)

    def forward(self, x):
        x = self.several[1](self.several[0](self.f(self.l(x)) - 0.3))
        return alias(self.quick(self.by["a"](x - 0.05)))


class InPlace(nn.Module):
    """Methods in place, with skips."""

    shape, kinds = (4, 8), ("relu", "sigmoid", "clamp", "leaky_relu")

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x):
        y = self.a(x)
        z = y + 1
        z.relu_()
        w = self.b(z + y.clone().sigmoid_())
        w.clamp_(-1, 1).mul_(2)
        return functional.leaky_relu_(w - z, 0.2) + y


class Sum(nn.Module):
    """Hand-written activations in one sum."""

    shape, kinds = (4, 8), ("tanh", "relu", "silu", "elu")

    def __init__(self):
        super().__init__()
        self.l = nn.Linear(8, 8)

    def forward(self, x):
        h = self.l(x)
        a = 0.5 * h * (1 + torch.tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * torch.pow(h, 3))))
        return a + h / (1 + torch.exp(-h)) + torch.where(h > 0, h, torch.expm1(h)) + torch.relu(h) ** 2


class Parametrized(nn.Module):
    """Weights that are functions of parameters, one of them with a ReLU."""

    shape, kinds = (4, 8), ("relu", "mish", "sigmoid")

    def __init__(self):
        super().__init__()
        self.a = nn.utils.parametrizations.weight_norm(nn.Linear(8, 8))
        self.b = nn.Linear(8, 8)
        nn.utils.parametrize.register_parametrization(self.b, "weight", nn.ReLU())

    def forward(self, x):
        return torch.special.expit(self.b(functional.mish(self.a(x))))


class Exchange(nn.Module):
    """Squeeze and excitation, GLUs of three kinds, on features with channels last."""

    shape, kinds = (2, 4, 6, 6), ("relu", "hardsigmoid", "gate product", "gelu", "gate product", "glu")

    def __init__(self):
        super().__init__()
        self.c, self.d = nn.Conv2d(4, 16, 1), nn.Conv2d(8, 8, 1)
        self.down, self.up = nn.Linear(8, 2), nn.Linear(2, 8)

    def forward(self, x):
        a, b = self.c(x.to(memory_format=torch.channels_last)).chunk(2, 1)
        s = functional.hardsigmoid(self.up(functional.relu(self.down(b.mean((2, 3))), inplace=True)))
        return functional.glu(functional.gelu(a) * (self.d(b) * s[..., None, None]), 1)


NETWORKS = [WindowAttention, Experts, Scan, Stored, InPlace, Sum, Parametrized, Exchange]


def _run(model, x):
    x = x.clone().requires_grad_()
    y = model(x)
    torch.manual_seed(5)
    return [y.detach(), *torch.autograd.grad((y * torch.randn_like(y)).sum(), [x, *model.parameters()])]


@pytest.mark.parametrize("kind", NETWORKS)
def test_converted(kind):
    torch.manual_seed(1)
    model, x = kind().double().eval(), 1.5 * torch.randn(*kind.shape, dtype=torch.float64)
    keys, classes = list(model.state_dict()), [type(m) for m in model.modules()]
    before = _run(model, x)
    found = convert(model, inputs=x)
    assert sorted(r.kind for r in found.report) == sorted(kind.kinds)
    assert found.census.agrees, str(found.census)
    assert list(model.state_dict()) == keys
    # PyTorch's hardsigmoid has 1/6 in float32 for its gradient.
    bars = [1e-12] + [1e-7 if kind is Exchange else 1e-12] * (len(before) - 1)
    for a, b, bar in zip(before, _run(model, x), bars, strict=True):
        assert float((a - b).abs().max()) <= bar * float(a.abs().max())
    assert torch.equal(deepcopy(model)(x), model(x))
    found.revert()
    assert [type(m) for m in model.modules()] == classes
    assert all(torch.equal(a, b) for a, b in zip(before, _run(model, x), strict=True))


@pytest.mark.parametrize("mode", ["fit", "trainable"])
@pytest.mark.parametrize("kind", NETWORKS)
def test_the_way_back_from_other_modes(kind, mode):
    torch.manual_seed(1)
    model, x = kind().eval(), torch.randn(*kind.shape)
    keys, before = list(model.state_dict()), _run(model, x)
    found = convert(model, mode=mode, inputs=x)
    assert found.census.agrees, str(found.census)
    assert all(torch.isfinite(t).all() for t in _run(model, x))
    found.revert()
    assert list(model.state_dict()) == keys
    assert all(torch.equal(a, b) for a, b in zip(before, _run(model, x), strict=True))
