"""Activations written out over several calls: found, named, replaced where they are one, else left alone."""

from __future__ import annotations

import math
import re
from copy import deepcopy

import pytest
import torch
from torch import nn
from torch.nn import functional

from gateproof import convert
from gateproof.kernels.convert.nodes import POINTS
from gateproof.numerics.backends.formula import formula


def _hand(x):
    return torch.where(x > 0, x, 1.0 * (torch.exp(x) - 1))


#: What is written, its name, and what PyTorch has for it.
WRITTEN = {
    "silu": (lambda x: x * torch.sigmoid(x), functional.silu),
    "silu by exp": (lambda x: x / (1 + torch.exp(-x)), functional.silu),
    "sigmoid": (lambda x: 1 / (1 + torch.exp(-x)), torch.sigmoid),
    "gelu": (lambda x: 0.5 * x * (1 + torch.erf(x / math.sqrt(2))), functional.gelu),
    "gelu by parts": (lambda x: x * 0.5 * (1.0 + torch.erf(x / 2**0.5)), functional.gelu),
    "gelu_tanh": (
        lambda x: 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0)))),
        lambda x: functional.gelu(x, approximate="tanh"),
    ),
    "quick_gelu": (lambda x: x * torch.sigmoid(1.702 * x), lambda x: x * torch.sigmoid(1.702 * x)),
    "mish": (lambda x: x * torch.tanh(functional.softplus(x)), functional.mish),
    "leaky_relu": (lambda x: torch.where(x > 0, x, 0.01 * x), functional.leaky_relu),
    "relu": (lambda x: x * (x > 0), torch.relu),
    "relu by cast": (lambda x: x * (x > 0).to(x.dtype), torch.relu),
    "relu by fill": (lambda x: x.masked_fill(x < 0, 0.0), torch.relu),
    "squared relu": (lambda x: functional.relu(x) ** 2, lambda x: torch.relu(x) ** 2),
    "hardswish": (lambda x: x * functional.relu6(x + 3) / 6, functional.hardswish),
    "elu": (_hand, functional.elu),
    "selu": (lambda x: 1.0507009873554805 * torch.where(x > 0, x, 1.6732632423543772 * torch.expm1(x)),
             torch.selu),
}  # fmt: skip


class Net(nn.Module):
    """A function between two layers."""

    def __init__(self, function):
        super().__init__()
        self.a, self.b, self.function = nn.Linear(6, 6), nn.Linear(6, 2), function

    def forward(self, x):
        return self.b(self.function(self.a(x)))


class Act(nn.Module):
    """A module that is a function."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


@pytest.fixture
def x():
    torch.manual_seed(0)
    return 3 * torch.randn(16, 6)


@pytest.mark.parametrize("name", WRITTEN)
def test_found_named_and_equal(name, x):
    net = Net(WRITTEN[name][0])
    want = net(x)
    net.function = WRITTEN[name][1]
    torch.testing.assert_close(net(x), want, rtol=1e-5, atol=1e-5)
    net.function = WRITTEN[name][0]
    found = convert(net, inputs=x)
    assert all(r.calls == 1 for r in found.report)
    torch.testing.assert_close(net(x), want, rtol=2e-6, atol=2e-6)
    named = name.partition(" by ")[0]
    assert {r.kind for r in found.report} | {r.group.partition(":")[0] for r in found.report} >= {named}
    kept = {"elu", "selu", "mish"}
    assert [bool(found.report.kept), len(found.report.kept) < 2] == [named in kept, True]
    torch.testing.assert_close(found.revert()(x), want, rtol=0, atol=0)


@pytest.mark.parametrize("name", ["silu", "gelu", "gelu_tanh", "relu", "hardswish"])
def test_a_fit_replaces_the_whole(name, x):
    net = Net(WRITTEN[name][0])
    found = convert(net, mode="fit", inputs=x)
    (row,) = found.report
    assert row.kind == name
    assert row.converted
    h = net.a(x).detach()
    gate = formula(re.search(r"tg\(.*?\]\)", row.reason)[0]).torch(h)
    exact = name in ("silu", "relu")
    assert row.treatment == ("exact" if exact else "fit")
    if not exact:
        lo, hi = map(float, row.error)
        assert 0 < lo <= hi
        assert (net.function(h) - gate).abs().max() <= hi + 1e-6
        own = formula(row.formula).numpy(POINTS) - formula(f"{name}(x)").numpy(POINTS)
        assert abs(own).max() < 1e-12
    torch.testing.assert_close(net(x), net.b(gate), rtol=1e-5, atol=1e-5)


def _operators(net, x):
    from torch.utils._python_dispatch import TorchDispatchMode

    seen = []

    class Seen(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(func._schema.name)
            return func(*args, **(kwargs or {}))

    with Seen():
        net(x)
    return set(seen)


def test_what_only_the_group_reads_is_not_computed(x):
    net = Net(WRITTEN["silu by exp"][0])
    assert "aten::exp" in _operators(net, x)
    convert(net, inputs=x)
    assert not {"aten::exp", "aten::reciprocal", "aten::neg", "aten::sigmoid"} & _operators(net, x)


def test_what_others_read_is_computed(x):
    class Both(nn.Module):
        def forward(self, x):
            e = torch.exp(-x)
            return x / (1 + e) + e.sum(), e

    net = Both()
    want = net(x)
    convert(net, inputs=x)
    for a, b in zip(net(x), want, strict=True):
        torch.testing.assert_close(a, b, rtol=2e-6, atol=2e-6)


class Annealed(nn.Module):
    """Its slope is a plain number that changes."""

    def __init__(self):
        super().__init__()
        self.slope = 0.25

    def forward(self, x):
        return torch.where(x > 0, x, self.slope * x)


class Product(nn.Module):
    """SiLU where both are one tensor only."""

    def forward(self, a, b):
        return a / (1 + torch.exp(-b))


class Branching(nn.Module):
    """Other calls for other inputs."""

    def forward(self, x, other=False):
        if other:
            x = torch.exp(x) * 2
        return x / (1 + torch.exp(-x))


@pytest.mark.parametrize("mode", ["exact", "fit"])
def test_what_is_not_the_same_any_more_is_left_as_it_is(mode, x):
    net = Annealed()
    found = convert(net, mode=mode, inputs=x)
    assert found.report.converted
    net.slope = 0.5
    torch.testing.assert_close(net(x), torch.where(x > 0, x, 0.5 * x))
    assert "left as it was" in str(found.report)
    pair = Product()
    convert(pair, mode=mode, inputs=(x, x))
    y = x.flip(0)
    torch.testing.assert_close(pair(x, y), x / (1 + torch.exp(-y)))
    torch.testing.assert_close(pair(x, x), functional.silu(x), rtol=2e-6, atol=2e-6)
    ways = Branching()
    convert(ways, mode=mode, inputs=x)
    torch.testing.assert_close(ways(x, other=True), Branching()(x, other=True))


def test_a_residual_and_a_gated_product_are_no_activation(x):
    class Block(nn.Module):
        def forward(self, x):
            y = x + 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))
            return torch.sigmoid(x) * y.mean(-1, keepdim=True)

    rows = {r.kind: r for r in convert(Block(), mode="fit", inputs=x).report}
    assert set(rows) == {"gelu", "sigmoid", "gate product"}


def test_masks_norms_and_lines_are_none(x):
    class Plain(nn.Module):
        def forward(self, x):
            h = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * 2 + 1
            mask = torch.ones(6, 6).tril().bool()
            return torch.where(mask, h[:6], -1e9) + (1 - h[:6]) * 3

    assert len(convert(Plain(), inputs=x).report) == 0


@pytest.mark.parametrize("name", ["relu", "leaky_relu", "silu by exp", "gelu"])
def test_gradients_and_kinks(name):
    net = Act(WRITTEN[name][0])
    x = torch.tensor([-2.0, -0.0, 0.0, 1.5], dtype=torch.float64, requires_grad=True)
    (want,) = torch.autograd.grad(net(x).sum(), x)
    convert(net, inputs=torch.ones(3, dtype=torch.float64))
    (got,) = torch.autograd.grad(net(x).sum(), x)
    torch.testing.assert_close(got, want)


@pytest.mark.parametrize("mode", ["exact", "fit"])
def test_modules_without_parameters_need_no_inputs(mode):
    net = nn.Sequential(nn.Linear(4, 4), Act(WRITTEN["leaky_relu"][0]), Act(WRITTEN["gelu"][0]))
    found = convert(net, mode=mode)
    named = {r.kind for r in found.report} | {r.group.partition(":")[0] for r in found.report}
    assert {"leaky_relu", "gelu"} <= named
    assert all(r.calls == 0 for r in found.report)


def test_in_place_products(x):
    net = Act(lambda x: (x + 0).mul_(torch.sigmoid(x)))
    same = Act(lambda x: x.mul_(torch.sigmoid(x)))
    for one in (net, same):
        convert(one, mode="fit", inputs=x)
        given = x.clone()
        torch.testing.assert_close(one(given), functional.silu(x), rtol=2e-6, atol=2e-6)
        assert torch.equal(given, x) is (one is net)


@pytest.mark.parametrize("name", ["silu by exp", "leaky_relu", "gelu"])
def test_types_and_autocast(name, x):
    net = Net(WRITTEN[name][0])
    found = convert(deepcopy(net), mode="fit", inputs=x).model
    for kind in (torch.bfloat16, torch.float64):
        assert deepcopy(found).to(kind)(x.to(kind)).dtype == kind
    with torch.autocast("cpu", torch.bfloat16):
        assert found(x).dtype == net(x).dtype
        tolerance = 0.05 if name != "gelu" else 0.1
        torch.testing.assert_close(found(x), net(x), rtol=tolerance, atol=tolerance)


def test_compiled(x):
    functions = [WRITTEN[n][0] for n in ("silu by exp", "gelu", "leaky_relu", "relu by cast", "squared relu")]
    net = nn.Sequential(*map(Net, functions[:1]), nn.Linear(2, 6), *[Act(f) for f in functions[1:]])
    convert(net, mode="fit", inputs=x)
    want = net(x)
    torch.testing.assert_close(torch.compile(net, fullgraph=True, backend="aot_eager")(x), want)
    assert torch.equal(deepcopy(net)(x), want)
