"""PyTorch's own means: gradcheck, second derivatives, forward mode, vmap, tracing without graph breaks."""

from __future__ import annotations

import pytest
import torch

from gateproof.numerics.backends.formula import formula

SMOOTH = [
    "silu(x)",
    "gelu(x)",
    "x*tanh(log(1+exp(x)))",
    "tanh(x)*sech(x)",
    "sin(x)/x",
    "x - tanh(x)",
    "exp(-x**2/3)",
]


@pytest.mark.parametrize("text", SMOOTH)
def test_gradcheck_to_second_order(text: str) -> None:
    f = formula(text).torch
    x = torch.tensor([-2.3, -0.4, 0.0, 0.6, 1.9], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(f, (x,), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(f, (x,))


def test_gradcheck_in_several_names_with_broadcasting() -> None:
    f = formula("a*x*sigmoid(b*x)").torch
    x = torch.randn(3, 1, dtype=torch.float64, requires_grad=True)
    a = torch.randn(4, dtype=torch.float64, requires_grad=True)
    b = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(f, (x, a, b))
    assert torch.autograd.gradgradcheck(f, (x, a, b))


def test_a_gradient_that_is_not_asked_for_is_not_computed() -> None:
    """d/da x**a has log(x): no value at x = -2, and nobody asks for it."""
    x = torch.tensor([-2.0], requires_grad=True)
    formula("x**a").torch(x, 3.0).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [12.0]


@pytest.mark.parametrize("text", ["silu(x)", "soft_threshold(x)", "gelu(x)", "x/tanh(x)"])
def test_functional_transforms(text: str) -> None:
    f = formula(text).torch
    x = torch.tensor([-1.3, -0.2, 0.4, 2.5], dtype=torch.float64)
    one = torch.func.vmap(torch.func.grad(lambda t: f(t)))(x)
    _, tangent = torch.func.jvp(f, (x,), (torch.ones_like(x),))
    torch.testing.assert_close(one, tangent, rtol=0, atol=0)
    torch.testing.assert_close(torch.func.vmap(f)(x), f(x), rtol=0, atol=0)


@pytest.mark.parametrize("text", ["gelu(x)", "soft_threshold(x)", "x/tanh(x)", "a*x*sigmoid(x)"])
def test_compile_without_graph_breaks(text: str) -> None:
    f = formula(text, **({"a": 2} if "a*" in text else {})).torch
    torch._dynamo.reset()
    traced = torch.compile(f, fullgraph=True, backend="aot_eager")
    x = torch.linspace(-3, 3, 9, requires_grad=True)
    z = x.detach().clone().requires_grad_()
    y, w = f(x), traced(z)
    torch.testing.assert_close(w, y, rtol=1e-6, atol=1e-7)
    y.sum().backward()
    w.sum().backward()
    torch.testing.assert_close(z.grad, x.grad, rtol=1e-6, atol=1e-7)


def test_inputs_and_upstream_gradients_are_left_alone() -> None:
    x = torch.linspace(-3, 3, 9, requires_grad=True)
    before = x.detach().clone()
    y = formula("silu(x)").torch(x)
    y.sum().backward(retain_graph=True)
    first = x.grad.clone() if x.grad is not None else None
    x.grad = None
    y.sum().backward()
    assert torch.equal(x.detach(), before)
    assert first is not None
    assert x.grad is not None
    assert torch.equal(first, x.grad)


def test_the_identity_is_no_view_of_its_input() -> None:
    x = torch.ones(3)
    y = formula("x").torch(x)
    y += 1
    assert x.tolist() == [1, 1, 1]


def test_in_a_module() -> None:
    class Gate(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.b = torch.nn.Parameter(torch.tensor(1.0))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            found: torch.Tensor = formula("x*sigmoid(b*x)").torch(x, self.b)
            return found

    gate = Gate()
    gate(torch.tensor([1.0, 2.0])).sum().backward()
    assert gate.b.grad is not None
    assert gate.b.grad.shape == ()
    # x**2*sigmoid(x)*sigmoid(-x) at 1 and 2
    assert abs(gate.b.grad.item() - (0.19661193324148185 + 4 * 0.10499358540350652)) < 1e-6
