"""torch.compile of models that hold an operation more than once, with sizes left open, and in inference."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402 - after the library that it needs

from gateproof.kernels import functional  # noqa: E402
from gateproof.kernels.choice import use  # noqa: E402
from gateproof.kernels.formula_kernel import compile_kernel  # noqa: E402
from gateproof.kernels.soft_threshold_module import SoftThreshold  # noqa: E402

SILU = (1.0, [0.0], [0.0, 1.0], [0.0, 0.0])
PRODUCT = compile_kernel("x*tanh(softplus(u))")
CALLS = {
    "swiglu": functional.swiglu,
    "packed": lambda x, u: functional.swiglu_packed(torch.cat([x, u], -1)),
    "memglu": lambda x, u: functional.memglu(x, u, 1.3),
    "tg_glu": lambda x, u: functional.tg_glu(x, u, *SILU),
    "formula": PRODUCT,
    "softmax": lambda x, u: functional.tg_softmax(x + u),
    "attention": lambda x, u: functional.tg_attention(x, u, x),
}


class Layer(nn.Module):
    def __init__(self, call) -> None:
        super().__init__()
        self.call, self.map = call, nn.Linear(4, 4)

    def forward(self, x):
        return self.call(x, self.map(x))


def agree(model, x, compiled, grad=True):
    """The compiled model has the value of the model, and its gradients."""
    with torch.set_grad_enabled(grad):
        pairs = [(f(x), f) for f in (compiled, model)]
    torch.testing.assert_close(pairs[0][0], pairs[1][0])
    if grad:
        found, right = (torch.autograd.grad(y.square().sum(), list(model.parameters())) for y, _ in pairs)
        torch.testing.assert_close(found, right)


def some_deep(names, first):
    return [n if n == first else pytest.param(n, marks=pytest.mark.deep) for n in names]


@pytest.mark.parametrize("name", some_deep(CALLS, "swiglu"))
def test_twice_with_open_sizes_and_in_inference(name):
    torch._dynamo.reset()
    torch.manual_seed(0)
    model = nn.Sequential(Layer(CALLS[name]), Layer(CALLS[name]))
    compiled = torch.compile(model, dynamic=True, fullgraph=True, backend="eager")
    agree(model, torch.randn(3, 4), compiled)
    agree(model, torch.randn(3, 4), compiled, grad=False)


@pytest.mark.parametrize("gradient", some_deep(["surrogate", "exact", "debiased"], "exact"))
def test_soft_thresholds_in_a_larger_model(gradient):
    torch._dynamo.reset()
    torch.manual_seed(0)
    gates = (
        SoftThreshold(0.3, 4.0, gradient),
        SoftThreshold(torch.full((4,), 0.1), 3.0, gradient),
    )
    model = nn.Sequential(nn.Linear(4, 4), gates[0], nn.Linear(4, 4), gates[1], nn.Linear(4, 2))
    compiled = torch.compile(model, dynamic=True, fullgraph=True, backend="eager")
    agree(model, torch.randn(3, 4), compiled)
    agree(model, torch.randn(3, 4), compiled, grad=False)


@pytest.mark.deep
def test_large_tensors_use_several_threads_whatever_came_first(monkeypatch):
    # A compiler makes serial loops for a first tensor of 16 elements, and would keep them for 16 million.
    from torch._inductor.utils import fresh_cache, run_and_get_code

    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    function = compile_kernel("max(x, 0) + 3/64")
    with use("compiled"), fresh_cache():
        found = [run_and_get_code(function, torch.ones(n))[1] for n in (16, 2**16)]
    assert ["#pragma omp parallel" in "".join(code) for code in found] == [False, True]
