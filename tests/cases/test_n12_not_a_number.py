"""N12: pytorch#187806: not-a-number and infinities go through gates as through modules."""

from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402 - after the library that it needs

from gateproof import convert  # noqa: E402
from gateproof.kernels.formula_kernel import compile_kernel  # noqa: E402 - after the library that it needs
from gateproof.kernels.functional import threshold_gate  # noqa: E402

NAN, INF = math.nan, math.inf
X = [NAN, INF, -INF, -0.0]
#: A kernel has the limit where a product is 0 times infinity (SiLU and GELU are 0 at -infinity); a converted
#: module has what the module had there.
RIGHT = {
    "relu(x)": [NAN, INF, 0, 0],
    "silu(x)": [NAN, INF, 0, 0],
    "gelu(x)": [NAN, INF, 0, 0],
    "sigmoid(x)": [NAN, 1, 0, 0.5],
    "tanh(x)": [NAN, 1, -1, 0],
}
GATES = {
    "relu(x)": (INF, [0.0], [0.0, 1.0], [0.0, 0.0]),
    "silu(x)": (1.0, [0.0], [0.0, 1.0], [0.0, 0.0]),
    "sigmoid(x)": (1.0, [0.0], [0.0, 0.0], [0.0, 1.0]),
    "tanh(x)": (2.0, [0.0], [0.0, 0.0], [-1.0, 1.0]),
}
SLOPES = {"relu(x)": [NAN, 1, 0], "silu(x)": [NAN, 1, 0], "sigmoid(x)": [NAN, 0, 0], "tanh(x)": [NAN, 0, 0]}


def same(found, right):
    return all((math.isnan(a) and math.isnan(b)) or a == b for a, b in zip(found, right, strict=True))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("text", RIGHT)
def test_formulas(text, dtype):
    assert same(compile_kernel(text)(torch.tensor(X, dtype=dtype)).tolist(), RIGHT[text])


@pytest.mark.parametrize("module", [nn.ReLU, nn.SiLU, nn.GELU, nn.Sigmoid, nn.Tanh])
def test_a_converted_module_answers_as_the_module(module):
    x, right = torch.tensor(X), module()(torch.tensor(X)).tolist()
    found = convert(module()).model(x).tolist()
    if module is nn.GELU:
        # F.gelu(inf) is not-a-number on this CPU and inf on others.
        assert found[1] == INF or math.isnan(found[1])
        found[1] = right[1]
    assert same(found, right)
    assert math.isnan(found[0])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("text", GATES)
def test_gates_and_their_gradients(text, dtype):
    x = torch.tensor(X, dtype=dtype, requires_grad=True)
    y = threshold_gate(x, *GATES[text])
    assert same(y.tolist(), RIGHT[text])
    (dx,) = torch.autograd.grad(y.sum(), x)
    assert same(dx.tolist()[:3], SLOPES[text])


@pytest.mark.parametrize("text", GATES)
def test_gradients_in_the_numbers_of_a_gate_are_not_numbers_either(text):
    numbers = [torch.tensor([v] if isinstance(v, float) else v).requires_grad_() for v in GATES[text]]
    y = threshold_gate(torch.tensor([NAN, 0.5]), *numbers)
    # Nothing moves with an infinite tau or its threshold, but what x is not known of stays unknown.
    for grad in torch.autograd.grad(y.sum(), numbers[1:]):
        assert grad.isnan().all()
