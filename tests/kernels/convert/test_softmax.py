"""The converted softmax family beside PyTorch's: spellings, row kinds, gradients, types, compiled code."""

from __future__ import annotations

import mpmath as mp
import pytest
import torch
from torch import nn
from torch.nn import functional

from gateproof import convert
from gateproof.kernels import attention_chunks
from gateproof.kernels.convert.softmax_form import gate_softmax

INF, NAN = float("inf"), float("nan")


class Calls(nn.Module):
    def __init__(self, call):
        super().__init__()
        self.call = call

    def forward(self, *x):
        return self.call(*x)


SPELLED = {
    "functional": lambda x: functional.softmax(x, -1),
    "torch": lambda x: torch.softmax(input=x, dim=0),
    "method": lambda x: x.softmax(1),
    "type": lambda x: x.bfloat16().softmax(dim=-1, dtype=torch.float32),
    "narrower": lambda x: functional.softmax(x, -1, dtype=torch.float16),
    "integers": lambda x: functional.softmax((x * 3).int(), -1, dtype=torch.float64),
    "special": lambda x: torch.special.softmax(x, 1),
    "aten": lambda x: torch.ops.aten._softmax(x, 1, False),
    "overload": lambda x: torch.ops.aten.softmax.int(x, 0),
    "safe": lambda x: torch._safe_softmax(x, 1),
    "out": lambda x: torch.softmax(x, 1, out=torch.empty(3, 5)),
    "min": lambda x: functional.softmin(x, 0),
    "log": lambda x: functional.log_softmax(x, 0),
    "log method": lambda x: x.log_softmax(1, torch.float64),
    "log aten": lambda x: torch.ops.aten._log_softmax.default(x, 1, False),
    "gumbel": lambda x: functional.gumbel_softmax(x, 0.5),
    "hard gumbel": lambda x: functional.gumbel_softmax(x, hard=True),
    "0 dimensions": lambda x: x[0, 0].softmax(-1),
    "transposed": lambda x: x.t().softmax(-1),
    "channels": lambda x: nn.Softmax2d()(x.repeat(2, 4, 3, 8).contiguous(memory_format=torch.channels_last)),
}


@pytest.mark.parametrize("name", SPELLED)
def test_every_spelling(name, monkeypatch):
    # Several blocks even of these.
    monkeypatch.setattr(attention_chunks, "CHUNK", 4)
    x = torch.randn(3, 5, generator=torch.Generator().manual_seed(0))
    torch.manual_seed(1)
    right = SPELLED[name](x)
    found = convert(Calls(SPELLED[name]))
    torch.manual_seed(1)
    y = found.model(x)
    assert y.dtype == right.dtype
    torch.testing.assert_close(y, right, rtol=0.001 if y.dtype == torch.float16 else 5e-7, atol=2e-7)
    assert [(r.kind, r.converted) for r in found.report] == [
        ("log_softmax" if "log" in name else "softmax", True)
    ]


def test_what_is_no_softmax_is_left_and_a_loss_is_listed():
    x = torch.randn(3, 5)
    found = convert(Calls(lambda x: x.logsumexp(1) + functional.cross_entropy(x, torch.tensor([0, 1, 2]))))
    found.model(x)
    assert [(r.kind, r.converted) for r in found.report] == [
        ("logsumexp", False), ("log_softmax", False)
    ]  # fmt: skip


ROWS = [[0, -INF, -INF], [-INF] * 3, [1, 2, -INF], [INF, 0, 1], [NAN, 0, 1], [3e38, -3e38, 0], [90, 0, -90]]
ROWS += [[torch.finfo(torch.float32).min] * 3]


@pytest.mark.parametrize("dim", [-1, 0])
@pytest.mark.parametrize("log", [False, True])
def test_row_kinds(log, dim, monkeypatch):
    monkeypatch.setattr(attention_chunks, "CHUNK", 4)
    x = torch.tensor(ROWS) if dim == -1 else torch.tensor(ROWS).t()
    right = (torch.log_softmax if log else torch.softmax)(x.double(), dim)
    for compiled in (False, True):

        def call(z):
            return gate_softmax(z, dim, log=log)

        call = torch.compile(call, backend="aot_eager", fullgraph=True) if compiled else call
        z = x.clone().requires_grad_()
        y = call(z)
        # In float32's range, as PyTorch's.
        near = right.float()
        torch.testing.assert_close(y, near, rtol=1e-5, atol=1e-45, equal_nan=True)
        weights = torch.tensor([1.0, 2.0, 3.0]) if dim == -1 else torch.tensor([[1.0], [2.0], [3.0]])
        if log:
            continue
        (g,) = torch.autograd.grad((y * weights).sum(), z)
        wide = x.double().requires_grad_()
        (expected,) = torch.autograd.grad((torch.softmax(wide, dim) * weights).sum(), wide)
        torch.testing.assert_close(g.double(), expected, rtol=1e-5, atol=1e-38, equal_nan=True)


def test_a_logit_that_dominates_keeps_its_gradient_and_its_logarithm():
    z = torch.tensor([30.0, 0.0], requires_grad=True)
    e = mp.exp(-30)
    (g,) = torch.autograd.grad(gate_softmax(z, 0)[1], z)
    assert g.tolist() == pytest.approx([float(-e / (1 + e) ** 2), float(e / (1 + e) ** 2)], rel=4e-6, abs=0)
    assert torch.autograd.grad(torch.softmax(z, 0) @ torch.tensor([1.0, 2.0]), z)[0][0].item() == 0
    # log p of the largest within 1e-16, where PyTorch's float32 leaves 6e-8.
    log = gate_softmax(torch.tensor([20.0, 0.0]), 0, log=True)[0].item()
    assert log == pytest.approx(float(-mp.log1p(mp.exp(-20))), rel=0, abs=4e-16 + 2e-6 * 2.1e-9)
    assert torch.log_softmax(torch.tensor([20.0, 0.0]), 0)[0].item() == 0


@pytest.mark.parametrize("dim", [0, -1])
def test_all_orders(dim):
    x = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    for log in (False, True):

        def call(x, log=log):
            return gate_softmax(x, dim, log=log)

        assert torch.autograd.gradcheck(call, x, check_forward_ad=True, check_batched_grad=True)
        assert torch.autograd.gradgradcheck(call, x)
        place = dim if dim < 0 else dim - 2
        torch.library.opcheck(torch.ops.gateproof.gate_softmax.default, (x.detach(), place, log, False))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_narrow_types_are_rounded_once(dtype):
    x = (3 * torch.randn(40, 33, generator=torch.Generator().manual_seed(0))).to(dtype)
    half = torch.finfo(dtype).eps / 2
    for log in (False, True):
        right = (torch.log_softmax if log else torch.softmax)(x.double(), -1)
        y = gate_softmax(x, -1, log=log)
        assert ((y.double() - right).abs() <= 1.01 * half * right.abs() + 4e-8).all()


def test_exported():
    model = convert(nn.Sequential(nn.Softmax(-1), nn.LogSoftmax(0))).model
    x = torch.randn(3, 4)
    torch.testing.assert_close(torch.export.export(model, (x,)).module()(x), x.softmax(-1).log_softmax(0))
