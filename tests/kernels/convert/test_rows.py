"""Nothing is left silently: products of gates, elementary and integer functions, steps, methods, scripts."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn
from torch.masked import masked_tensor
from torch.nn import functional

from gateproof.kernels.convert.api import convert


class Calls(nn.Module):
    def __init__(self, call):
        super().__init__()
        self.call = call
        self.scale = nn.Parameter(torch.full((8,), 1.5, dtype=torch.float64))

    def forward(self, x):
        return self.call(x * self.scale)


def of(call, x=None, **options):
    x = torch.linspace(-2, 3, 32, dtype=torch.float64).reshape(4, 8) if x is None else x
    model = Calls(call)
    with torch.no_grad():
        before = model(x)
        found = convert(model, inputs=x, **options)
        torch.testing.assert_close(model(x), before, rtol=1e-15, atol=1e-15)
    return found


def halves(x):
    return x.chunk(2, -1)


PRODUCTS = {
    "swiglu": (lambda x: functional.silu(halves(x)[0]) * halves(x)[1], "exact", 2),
    "geglu": (lambda x: halves(x)[1].mul(functional.gelu(halves(x)[0])), "link", 2),
    "by hand": (lambda x: (lambda a, b: a * torch.sigmoid(a) * b)(*halves(x)), "exact", 2),
    "wavenet": (lambda x: (lambda a, b: torch.tanh(a) * torch.sigmoid(b))(*halves(x)), "exact", 3),
    "excitation": (lambda x: x * torch.sigmoid(x.mean(0))[None].expand(4, 8), "exact", 2),
    "in place": (lambda x: torch.relu(x).mul_(x.flip(0)), "exact", 2),
    "of none": (lambda x: functional.softplus(x) * x.flip(0), "kept", 2),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_a_product_with_another_tensor_has_a_row(name):
    call, treatment, rows = PRODUCTS[name]
    found = of(call)
    (row,) = [r for r in found.report if r.kind == "gate product"]
    assert (row.treatment, len(found.report)) == (treatment, rows)
    assert {r.calls for r in found.report} == {2}
    assert found.census.agrees
    assert [line.rpartition(": ")[2] for line in found.census.products] == ["1 mul"]


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x * torch.sigmoid(x),
        lambda x: 0.5 * x * (1 + torch.erf(x / math.sqrt(2))),
        lambda x: functional.silu(x) * 2,
        lambda x: functional.relu(x) * torch.ones(8, dtype=torch.float64)[0],
        lambda x: x * x.flip(0),
        lambda x: x * torch.rsqrt(x.square().mean(-1, keepdim=True)),
    ],
)
def test_a_scaled_activation_is_no_product(call):
    found = of(call)
    assert not [r for r in found.report if r.kind == "gate product"]
    assert found.census.products == ()


def test_a_parameter_is_a_slope_of_the_gate_and_no_other_factor():
    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.gamma = nn.Parameter(torch.ones(8))

        def forward(self, x):
            return self.gamma * functional.gelu(x)

    found = convert(Scaled(), inputs=torch.randn(2, 8))
    assert [r.kind for r in found.report] == ["gelu"]
    assert found.census.products == ()


def test_a_wrong_product_shows():
    class Unit(nn.Module):
        def forward(self, x):
            a, b = x.chunk(2, -1)
            return functional.silu(a) * b

    x = torch.linspace(-2, 3, 16).reshape(2, 8)
    proof = convert(nn.Sequential(nn.Linear(8, 8), Unit()), inputs=x).proof(dtypes=("float32",))
    (kind,) = proof.types
    assert [(c.kind, c.seen) for c in kind.controls] == [("silu", True), ("gate product", True)]


def test_a_shared_activation_is_a_factor_in_each_place():
    class Unit(nn.Module):
        def __init__(self, act):
            super().__init__()
            self.act = act

        def forward(self, x):
            return self.act(x) * x.flip(-1)

    act = nn.SiLU()
    found = convert(nn.Sequential(Unit(act), Unit(act)), inputs=torch.randn(3, 4))
    assert [(r.kind, r.calls) for r in found.report] == [
        ("silu", 2),
        ("gate product", 1),
        ("gate product", 1),
    ]


CONVERTED = {
    "fmax": lambda x: torch.fmax(x, torch.full_like(x, 0.5)),
    "fmin by name": lambda x: torch.fmin(x, other=torch.full_like(x, 0.5)),
    "mixed types": lambda x: torch.maximum(x.float(), torch.zeros(8, dtype=torch.float64)),
    "erfc": lambda x: 0.5 * x * torch.erfc(-x / math.sqrt(2)),
    "ndtr": lambda x: x * torch.special.ndtr(x),
    "step": lambda x: torch.heaviside(x, torch.tensor(0.5, dtype=x.dtype)),
    "where": lambda x: x.where(x > 0, 0.0),
    "index": lambda x: x.clone().__setitem__(0, 0) or torch.relu(x),
    "list": lambda x: torch._foreach_maximum([x, -x], 0.25)[1],
}


@pytest.mark.parametrize("name", CONVERTED)
def test_further_spellings_are_gates(name):
    found = of(CONVERTED[name])
    assert found.report.converted
    assert not found.report.kept
    assert found.census.agrees


def test_a_mask_of_a_comparison_stored_by_index():
    def call(x):
        x = x.clone()
        x[x < 0] = 0
        return x

    found = of(call)
    assert [(r.kind, r.treatment) for r in found.report] == [("relu", "exact")]
    x = torch.tensor([[-1.0, 0.0, 2.0]], dtype=torch.float64).repeat(1, 3)[:, :8].requires_grad_()
    found.model(x).sum().backward()
    assert x.grad[0, :3].tolist() == [0.0, 1.5, 1.5]


@pytest.mark.parametrize("name", ["fmax", "fmin"])
def test_fmax_passes_numbers_by_nan_and_the_gradient_of_ties(name):
    a = torch.tensor([1.0, 1.0, math.nan, 2.0, math.nan, -math.inf], requires_grad=True)
    b = torch.tensor([1.0, math.nan, 3.0, -1.0, math.nan, 0.0], requires_grad=True)

    class Two(nn.Module):
        def forward(self, a, b):
            return getattr(torch, name)(a, b)

    results = []
    for model in (Two(), convert(Two()).model):
        y = model(a, b)
        results.append((y.detach(), *torch.autograd.grad(y.sum(), (a, b))))
    for own, gate in zip(*results, strict=True):
        torch.testing.assert_close(gate, own, rtol=0, atol=0, equal_nan=True)


KEPT = {
    "sin": (lambda x: x + torch.sin(x) ** 2, "elementary, kept"),
    "log": (lambda x: torch.log(x * x + 1), "elementary, kept"),
    "relu": (lambda x: x + torch.relu(x.int()), "integer, kept"),
    "clamp": (lambda x: x + x.long().clamp(0, 3), "integer, kept"),
    "maximum": (lambda x: x + torch.maximum(x.long(), -x.long()), "integer, kept"),
    "abs": (lambda x: torch.fft.fft(x).abs(), "complex, kept"),
    "log_sigmoid": (lambda x: functional.binary_cross_entropy_with_logits(x, x.detach()), "a loss"),
    "logsumexp": (lambda x: x.logsumexp(-1), "no gate"),
    "group": (lambda x: torch.sqrt(x * x), "its gradient at a kink is that of neither line"),
}


@pytest.mark.parametrize("kind", KEPT)
def test_what_is_kept_has_one_row_with_the_reason(kind):
    call, reason = KEPT[kind]
    (row,) = of(call).report
    assert (row.kind, row.converted) == (kind, False)
    assert row.reason.startswith(reason)


def test_positions_and_norms_have_no_row():
    class Rotary(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("frequencies", torch.tensor([1.0, 0.1]))

        def forward(self, x):
            angles = torch.arange(x.shape[0])[:, None] * self.frequencies
            return x * angles.cos() + x.flip(-1) * angles.sin()

    assert len(convert(Rotary(), inputs=torch.randn(3, 2)).report) == 0


class WithMethods(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.Linear(4, 4)

    def encode(self, x):
        return torch.tanh(self.line(x))

    def forward(self, x):
        return functional.silu(self.encode(x))


def test_methods_called_from_outside_are_converted():
    model, x = WithMethods().eval(), torch.randn(3, 4)
    before = model.encode(x).detach()
    found = convert(model)
    assert len(found.report) == 0
    torch.testing.assert_close(model.encode(x), before)
    assert [(r.kind, r.converted) for r in found.report] == [("tanh", True)]
    model(x)
    assert [r.kind for r in found.report] == ["tanh", "silu"]
    assert found.revert().encode.__func__ is WithMethods.encode


def test_a_script_lists_what_has_not_run():
    class Branches(nn.Module):
        def forward(self, x, other: bool = False):
            return torch.tanh(x) * x.flip(0) if other else torch.relu(x)

    model, x = torch.jit.script(Branches()), torch.randn(3, 4)
    found = convert(model, inputs=x)
    assert [(r.kind, r.converted) for r in found.report] == [("relu", True), ("tanh", False)]
    assert "has not run" in found.report.kept[0].reason
    torch.testing.assert_close(model(x, True), torch.tanh(x) * x.flip(0))
    assert [(r.kind, r.converted) for r in found.report] == [("relu", True), ("tanh", True)]


class Logged(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return super().__torch_function__(func, types, args, kwargs or {})


def test_classes_of_tensors_with_rules_of_their_own():
    found = convert(nn.ReLU(), inputs=torch.randn(3).as_subclass(Logged))
    assert [(r.kind, r.converted) for r in found.report] == [("relu", True)]
    assert found.census.agrees
    masked = masked_tensor(torch.randn(3), torch.tensor([True, False, True]))
    found = convert(nn.Sigmoid())
    assert found.model(masked).get_mask().tolist() == [True, False, True]
    assert "MaskedTensor" in found.report.kept[0].reason


def test_clamped_to_one_number_keeps_its_gradient():
    x = torch.tensor([0.0, 1.0, 2.0], requires_grad=True)
    found = convert(nn.Hardtanh())

    class Clamped(nn.Module):
        def forward(self, x):
            return x.clamp(1, 1)

    found = convert(Clamped())
    y = found.model(x)
    assert y.tolist() == [1, 1, 1]
    assert torch.autograd.grad(y.sum(), x)[0].tolist() == [0, 1, 0]
    assert [r.treatment for r in found.report] == ["exact"]
