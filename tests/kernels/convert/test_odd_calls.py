"""Numbers and tensors that few calls have: they agree with PyTorch, gradients with a graph too."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode

from gateproof import convert
from gateproof.kernels.convert import forms

X = (-3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0)


class _Called(nn.Module):
    def __init__(self, f: Callable[..., Any]) -> None:
        super().__init__()
        self.f = f

    def forward(self, *args: Any) -> Any:
        return self.f(*args)


# Derivatives by hand: |x|, x (half of each at a tie of equals), and -x where the bound -x is the result.
@pytest.mark.parametrize(
    ("f", "wanted"),
    [
        (lambda x: torch.maximum(x, -x), (-1.0, 0.0, 1.0)),
        (lambda x: torch.minimum(x, -x), (1.0, 0.0, -1.0)),
        (lambda x: torch.maximum(x, x), (1.0, 1.0, 1.0)),
        (lambda x: torch.clamp(x, max=-x), (1.0, 1.0, -1.0)),
    ],
    ids=["maximum", "minimum", "twice the same", "clamp"],
)
def test_gradients_of_tensors_that_depend_on_each_other(
    f: Callable[[torch.Tensor], torch.Tensor], wanted: tuple[float, ...]
) -> None:
    found = convert(_Called(f))
    for graph in (False, True):
        x = torch.tensor([-2.0, 0.0, 3.0], requires_grad=True)
        (g,) = torch.autograd.grad(found.model(x).sum(), x, create_graph=graph)
        assert tuple(g.tolist()) == wanted


@pytest.mark.parametrize("mode", ["exact", "fit"])
@pytest.mark.parametrize(
    "f",
    [
        lambda x: x.clamp(-math.inf, math.inf),
        lambda x: x.clamp(0, math.nan),
        lambda x: x.clamp(min=math.inf),
        lambda x: functional.threshold(x, 0.0, -math.inf),
        lambda x: functional.softshrink(x, 0.0),
        lambda x: functional.hardshrink(x, 0.0),
        lambda x: functional.leaky_relu(x, 1.0),
    ],
    ids=["no bounds", "NaN", "bound oo", "value -oo", "softshrink 0", "hardshrink 0", "slope 1"],
)
def test_numbers_of_no_gate_are_kept(f: Callable[[torch.Tensor], torch.Tensor], mode: str) -> None:
    found = convert(_Called(f), mode=mode, inputs=torch.tensor(X))
    (row,) = found.report
    assert row.treatment == "kept"
    a, b = (torch.tensor(X, requires_grad=True) for _ in range(2))
    y, z = f(a), found.model(b)
    y.sum().backward()
    z.sum().backward()
    assert a.grad is not None
    assert b.grad is not None
    torch.testing.assert_close(z, y, rtol=0, atol=0, equal_nan=True)
    torch.testing.assert_close(b.grad, a.grad, rtol=0, atol=0, equal_nan=True)


def test_a_softplus_that_turns_early_is_not_softplus() -> None:
    # At x = 0.51 > 0.5 PyTorch gives x; softplus(0.51) is 0.98 there.
    early = _Called(lambda x: functional.softplus(x, threshold=0.5))
    found = convert(early, mode="fit", branches=3, inputs=torch.tensor(X))
    (row,) = found.report
    x = torch.tensor([0.51], dtype=torch.float64)
    worst = abs(found.model(x).item() - 0.51)
    assert row.treatment == "kept" or (row.error is not None and worst <= float(row.error[1]))


def test_what_is_no_dense_tensor_keeps_its_own_rule() -> None:
    class Like:
        def __init__(self, held: torch.Tensor) -> None:
            self.held = held

        @classmethod
        def __torch_function__(cls, f: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            del types
            return cls(f(*(a.held if isinstance(a, Like) else a for a in args), **(kwargs or {})))

    x = torch.tensor(X)
    for f in (torch.tanh, functional.relu, functional.glu):
        given = x[:6]
        assert torch.equal(convert(_Called(lambda v, f=f: f(Like(v)).held)).model(given), f(given))
    found = convert(_Called(lambda v: functional.relu(torch.nested.nested_tensor([v, v[:2]]))[1]))
    assert torch.equal(found.model(x), functional.relu(x[:2]))
    assert [row.treatment for row in found.report] == ["kept"]


def test_a_given_gate_has_its_own_kinks() -> None:
    # The ramp (x + 1)/2 on [-1, 1], with 0 left and x right of it, is 1/2 above relu at 0.
    ramp = {"relu": ("oo", (-1, 1), (0, 0.5, 1), (0, 0.5, 0))}
    (row,) = convert(nn.Sequential(nn.ReLU()), mode="fit", inputs=torch.tensor(X), gates=ramp).report
    assert row.error is not None
    assert float(row.error[0]) <= 0.5 <= float(row.error[1])


@pytest.mark.parametrize("kind", ["relu", "hardtanh", "silu", "gelu", "sigmoid", "tanh", "hardswish"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_a_bare_call_is_the_operation(kind, dtype):
    numbers = {"hardtanh": (-1.0, 1.0), "gelu": ("none",)}
    form = forms.exact_form(kind, numbers.get(kind, ()))
    x = torch.linspace(-6, 6, 96, dtype=dtype).reshape(2, 3, 4, 4)
    odd = torch.tensor([math.nan, math.inf, -math.inf, -0.0], dtype=dtype)
    for given in (x, x.to(memory_format=torch.channels_last), x[..., ::2], odd):
        bare, operation = forms.run(form, given), forms.RUNS[form[0]](*form[1:])(given)
        assert torch.equal(bare.nan_to_num(9), operation.nan_to_num(9))
        assert bare.stride() == operation.stride()
    seen = []

    class Sees(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(func.namespace)
            return func(*args, **(kwargs or {}))

    with Sees():
        forms.run(form, x)
    assert seen == ["gateproof"]
