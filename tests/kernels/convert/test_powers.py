"""Powers have rows unless they are parts of norms or of formulas; several activations in one sum."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn
from torch.nn import functional

from gateproof import convert


class Calls(nn.Module):
    def __init__(self, call):
        super().__init__()
        self.call = call
        self.first, self.last = nn.Linear(8, 8).double(), nn.Linear(8, 8).double()

    def forward(self, x):
        return self.last(self.call(self.first(x)))


X = torch.linspace(-2, 3, 32, dtype=torch.float64).reshape(4, 8)


def _of(call, **options):
    torch.manual_seed(0)
    model = Calls(call)
    before = model(X)
    found = convert(model, inputs=X, **options)
    if not options:
        assert torch.allclose(model(X), before, rtol=1e-12, atol=1e-12)
    assert found.census.agrees, str(found.census)
    return found


@pytest.mark.parametrize(
    ("call", "kinds"),
    [
        (torch.square, ["power"]),
        (lambda x: x**2, ["power"]),
        (lambda x: x * x, ["power"]),
        (lambda x: x.pow(3) - x, ["power"]),
        (lambda x: functional.layer_norm(x**2, (8,)), ["power"]),
        (lambda x: 1 + 0.5 * x + 0.1 * x**2, ["power"]),
        (lambda x: 2.0**x, ["pow"]),
        (lambda x: functional.relu(x**2 - 1), ["relu", "power"]),
    ],
)
def test_a_power_that_is_the_activation(call, kinds):
    rows = list(_of(call).report)
    assert [r.kind for r in rows] == kinds
    assert [r.converted for r in rows] == [k == "relu" for k in kinds]


def test_a_power_that_is_the_result():
    class Squared(nn.Module):
        def forward(self, x):
            return x.square()

    (row,) = convert(Squared(), inputs=X).report
    assert (row.kind, row.converted) == ("power", False)
    assert row.reason.startswith("a power, not an activation, kept")


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6),
        lambda x: x / (x * x).sum(-1, keepdim=True).sqrt(),
        lambda x: (x - x.mean(-1, keepdim=True)) / (x - x.mean(-1, keepdim=True)).square().mean(-1, True),
        lambda x: torch.sqrt(x**2 + x.flip(-1) ** 2),
        lambda x: x + functional.mse_loss(x, x.flip(-1)),
        lambda x: x / x.norm(dim=-1, keepdim=True) ** 0.5,
    ],
)
def test_a_power_within_a_norm(call):
    assert not list(_of(call).report)


def _gelu_in_lines(x):
    cube = x * x * x
    inner = x + 0.044715 * cube
    inner = math.sqrt(2 / math.pi) * inner
    return 0.5 * x * (1 + torch.tanh(inner))


@pytest.mark.parametrize(
    ("call", "name"), [(_gelu_in_lines, "gelu_tanh"), (lambda x: functional.relu(x) ** 2, "squared relu")]
)
def test_a_power_within_a_formula(call, name):
    (row,) = _of(call).report
    assert row.group.startswith(name)


def test_each_activation_of_a_sum_has_a_row():
    def call(x):
        sloped = x / (1 + torch.exp(-x)) + torch.where(x > 0, x, 0.25 * x)
        return sloped + x * torch.tanh(functional.softplus(x)) - 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))

    assert {r.kind for r in _of(call, mode="fit").report} == {"silu", "group", "mish", "gelu"}
    rows = {r.kind: r.converted for r in _of(call).report}
    assert rows == {"silu": True, "group": True, "tanh": True, "erf": True, "softplus": False}


@pytest.mark.parametrize("layer", [None, nn.Linear(8, 8).double()])
def test_a_loop_is_one_row(layer):
    def call(x):
        for _ in range(5):
            x = x / (1 + torch.exp(-x))
            x = x if layer is None else layer(x)
        return x

    (row,) = _of(call).report
    # Two runs: the conversion's and the comparison's.
    assert (row.kind, row.calls) == ("silu", 10)
    found = _of(call, mode="trainable")
    assert [n for n, _ in found.model.named_parameters() if "gate" in n and n.endswith("tau")] == [
        "gate_0.log_tau"
    ]
    y = found.model(X)
    assert torch.allclose(y, found.revert()(X), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("unit", [nn.GLU(), nn.GLU(dim=0)])
def test_a_gated_linear_unit_is_one_row(unit):
    found = convert(nn.Sequential(nn.Linear(8, 8).double(), unit), inputs=X)
    assert [(r.kind, r.treatment) for r in found.report] == [("glu", "exact")]
    assert found.census.agrees


def test_a_group_on_a_device_without_autocast():
    model = Calls(lambda x: torch.where(x > 0, x, 0.25 * x))
    convert(model, inputs=X)
    assert model.to("meta")(X.to("meta")).shape == X.shape


def test_a_helper_module_of_pytorch_stands_where_it_is_called():
    class Sum(nn.Module):
        def __init__(self):
            super().__init__()
            self.f = torch.ao.nn.quantized.FloatFunctional()

        def forward(self, x):
            return self.f.add_relu(x, -1 * x.flip(0))

    found = convert(Sum(), inputs=X)
    assert [(r.kind, r.converted) for r in found.report] == [("relu", True)]
    assert found.census.agrees
