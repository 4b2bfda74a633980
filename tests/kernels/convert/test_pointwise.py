"""Converted activations beside PyTorch's own: values, gradients, kinks, NaN and infinities, types."""

from __future__ import annotations

from copy import deepcopy

import pytest
import torch
from torch import nn
from torch.nn import functional

from gateproof import convert
from gateproof.kernels.convert.kinds import KINDS
from gateproof.kernels.convert.links import LINKS
from gateproof.kernels.convert.pieces import EVEN, LEFT, RIGHT, Pieces
from gateproof.kernels.convert.softmax_branches import mish
from gateproof.kernels.convert.two_branches import TwoBranches
from gateproof.proofs_check.api import decide_text

#: Hard gates, soft gates, and what is no gate.
EXACT = [nn.ReLU(), nn.ReLU6(), nn.Hardtanh(-2, 0.5), nn.LeakyReLU(0.01), nn.PReLU(init=0.25), nn.PReLU(3)]
EXACT += [
    nn.Softshrink(0.5),
    nn.Hardshrink(0.5),
    nn.Threshold(0.25, -3.0),
    nn.Hardsigmoid(),
    nn.RReLU().eval(),
]
CLOSE = [nn.SiLU(), nn.GELU(), nn.GELU("tanh"), nn.Hardswish(), nn.Sigmoid(), nn.Tanh(), nn.Mish()]
CLOSE += [nn.Tanhshrink(), nn.GLU()]
KEPT = [nn.ELU(), nn.SELU(), nn.CELU(0.7), nn.Softplus(), nn.LogSigmoid(), nn.Softsign()]
DTYPES = (torch.float32, torch.float64, torch.bfloat16, torch.float16)
SPECIAL = [
    float("inf"),
    -float("inf"),
    -0.0,
    0.0,
    -3,
    3,
    -1,
    1,
    6,
    0.5,
    -0.5,
    0.2,
    1e-40,
    -1e-40,
    88,
    -88,
    -100,
]


def _x(module, dtype):
    x = torch.cat([torch.tensor(SPECIAL), torch.linspace(-9, 9, 2000)]).to(dtype)
    return (
        x[: len(x) // 6 * 6].reshape(-1, 3)
        if getattr(module, "num_parameters", 1) == 3
        else x[: len(x) // 2 * 2]
    )


def _both(module, x):
    x = x.clone().requires_grad_()
    y = module(x)
    (g,) = torch.autograd.grad(y.sum(), x)
    return y.detach(), g


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("module", [*EXACT, *CLOSE, *KEPT], ids=str)
def test_is_what_it_replaced(module, dtype):
    module = deepcopy(module).to(dtype)
    x = _x(module, dtype)
    value, slope = _both(module, x)
    found = convert(deepcopy(module))
    y, g = _both(found.model, x)
    assert y.dtype == value.dtype
    kept = str(module) in map(str, KEPT)
    assert [r.converted for r in found.report] == [not kept]
    if kept:
        torch.testing.assert_close(y, value, rtol=0, atol=0, equal_nan=True)
        torch.testing.assert_close(g, slope, rtol=0, atol=0, equal_nan=True)
        return
    # Truth is the module itself in float64; in float64 PyTorch's own error is of the same size.
    true, steep = _both(deepcopy(module).double(), x.double())
    unit = torch.finfo(dtype).eps * (2 if dtype == torch.float64 else 1)
    scale = unit * (1 + (x if y.shape == x.shape else x.chunk(2, -1)[0]).double().abs())
    number = true.isfinite() & value.isfinite()
    assert bool(((y.double() - true).abs() <= 4 * scale)[number].all())
    assert not bool((y.isnan() & ~value.isnan()).any())
    number = steep.isfinite() & slope.isfinite()
    size = x.double().abs().nan_to_num(posinf=0)
    size = size.max() if isinstance(module, nn.GLU) else size
    # PyTorch's gradient of Hardsigmoid has 1/6 as a float32, in float64 too.
    unit = max(unit, torch.finfo(torch.float32).eps) if isinstance(module, nn.Hardsigmoid) else unit
    assert bool(((g.double() - steep).abs() <= 4 * unit * (1 + size))[number].all())
    assert not bool((g.isnan() & ~slope.isnan()).any())


@pytest.mark.parametrize("module", [*EXACT, *CLOSE], ids=str)
def test_nan_stays_nan(module):
    x = torch.full((4, 6), float("nan"))
    x = x[:, :3] if getattr(module, "num_parameters", 1) == 3 else x
    assert convert(deepcopy(module)).model(x).isnan().all()


def test_infinities_as_in_pytorch():
    ends = torch.tensor([float("inf"), -float("inf")])
    for module in (nn.ReLU(), nn.SiLU(), nn.Sigmoid(), nn.Tanh(), nn.Hardswish(), nn.GELU("tanh")):
        right = module(ends)
        assert torch.equal(convert(module).model(ends).nan_to_num(7.0), right.nan_to_num(7.0)), module


#: N09: PyTorch's gradients at kinks, by spelling.
AT_KINKS = {
    "ReLU": (nn.ReLU(), [0], [0]),
    "ReLU6": (nn.ReLU6(), [0, 6], [0, 0]),
    "Hardtanh": (nn.Hardtanh(), [-1, 1], [0, 0]),
    "Hardsigmoid": (nn.Hardsigmoid(), [-3, 3], [0, 0]),
    "Hardswish": (nn.Hardswish(), [-3, 0, 3], [0, 0.5, 1]),
    "LeakyReLU": (nn.LeakyReLU(0.01), [0], [0.01]),
    "PReLU": (nn.PReLU(), [0], [0.25]),
    "ELU": (nn.ELU(), [0], [1]),
    "Softshrink": (nn.Softshrink(0.5), [-0.5, 0, 0.5], [0, 0, 0]),
    "clamp": (lambda x: x.clamp(-1, 1), [-1, 1], [1, 1]),
    "clamp_min": (lambda x: x.clamp_min(0), [0], [1]),
    "maximum": (lambda x: torch.maximum(x, torch.zeros_like(x)), [0], [0.5]),
    "abs": (lambda x: x.abs(), [0], [0]),
}


class Calls(nn.Module):
    def __init__(self, call):
        super().__init__()
        self.call = call

    def forward(self, *x):
        return self.call(*x)


@pytest.mark.parametrize("name", AT_KINKS)
def test_gradient_at_the_kink(name):
    module, points, right = AT_KINKS[name]
    module = deepcopy(module) if isinstance(module, nn.Module) else Calls(module)
    x = torch.tensor(points, dtype=torch.float32, requires_grad=True)
    found = convert(module)
    found.model(x).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == pytest.approx(right, abs=1e-7)
    assert len(found.report) == 1


CALLS = {
    "relu": [
        functional.relu,
        torch.relu,
        torch.Tensor.relu,
        functional.relu_,
        torch.relu_,
        torch.Tensor.relu_,
        torch.ops.aten.relu,
        torch.ops.aten.relu.default,
        lambda x: functional.relu(x, inplace=True),
    ],
    "clamp": [
        lambda x: x.clamp(min=0),
        lambda x: torch.clip(x, -1, 1),
        lambda x: x.clamp_(-0.5, None),
        lambda x: torch.clamp_max(x, 0.25),
        lambda x: torch.clamp(x, torch.zeros(()), torch.ones(9)),
    ],
    "sigmoid": [torch.special.expit, torch.Tensor.sigmoid_, functional.sigmoid],
    "tanh": [torch.tanh, functional.tanh, torch.Tensor.tanh_],
    "gelu": [functional.gelu, lambda x: torch._C._nn.gelu(x, approximate="none")],
    "silu": [functional.silu, lambda x: functional.silu(x, inplace=True)],
    "threshold": [lambda x: functional.threshold(x, 0.1, 2.0)],
    "erf": [torch.erf, torch.special.erf],
    "glu": [lambda x: functional.glu(torch.cat([x, x + 1]))],
    "maximum": [lambda x: torch.max(x, torch.full_like(x, 0.1)), lambda x: x.maximum(torch.zeros(9))],
    "minimum": [lambda x: torch.min(x, torch.full_like(x, 0.1))],
}


@pytest.mark.parametrize("kind", CALLS)
def test_every_spelling(kind):
    x = torch.linspace(-2, 2, 9)
    for call in CALLS[kind]:
        right = call(x.clone())
        found = convert(Calls(lambda x, call=call: call(x.clone())))
        torch.testing.assert_close(found.model(x), right, rtol=3e-7, atol=1e-7)
        assert [r.kind for r in found.report] == [kind], call
        assert all(r.converted for r in found.report)


def test_what_is_no_nonlinearity_of_one_element_is_left():
    x = torch.linspace(-2, 2, 9)
    found = convert(
        Calls(lambda x: (x.max(), torch.max(x, 0)[0], x.abs().max(), x.to(torch.int64).clamp(0, 1)))
    )
    assert found.model(x)[2] == 2
    assert [(r.kind, r.converted) for r in found.report] == [("abs", True), ("clamp", False)]
    assert found.report.kept[0].reason.startswith("integer, kept")


def test_out_and_in_place():
    x, out = torch.linspace(-2, 2, 9), torch.empty(9)
    found = convert(Calls(lambda x: (torch.sigmoid(x, out=out), x.clone().relu_().mul_(2))))
    first, second = found.model(x)
    assert first is out
    torch.testing.assert_close(out, torch.sigmoid(x))
    assert torch.equal(second, 2 * torch.relu(x))
    leaf = torch.randn(5, requires_grad=True)
    convert(Calls(lambda x: functional.silu_(x * 1) if hasattr(functional, "silu_") else x)).model(leaf)
    skip = convert(Calls(lambda x: x + functional.silu(x * 2, inplace=True)))
    skip.model(leaf).sum().backward()
    right = leaf.detach().requires_grad_()
    (right + functional.silu(right * 2)).sum().backward()
    torch.testing.assert_close(leaf.grad, right.grad)


def test_sparse_tensors_are_left_and_listed():
    x = torch.tensor([[0.0, -1.0], [2.0, 0.0]]).to_sparse()
    found = convert(Calls(torch.relu))
    assert torch.equal(found.model(x).to_dense(), torch.relu(x.to_dense()))
    (row,) = found.report.kept
    assert (row.kind, row.spelled) == ("relu", "torch.relu of torch.sparse_coo")


def test_prelu_of_a_number_and_by_name():
    x, weight = torch.tensor(-2.0), torch.tensor([0.25])
    for call in (functional.prelu, lambda x, w: functional.prelu(input=x, weight=w)):
        y = convert(Calls(call)).model(x, weight)
        assert y.shape == ()
        assert y == -0.5


@pytest.mark.parametrize("name", LINKS)
def test_links_are_distribution_functions(name):
    link, z = LINKS[name], torch.linspace(-6, 6, 241, dtype=torch.float64, requires_grad=True)
    (density,) = torch.autograd.grad(link.rising(z).sum(), z)
    torch.testing.assert_close(link.rising(z) + link.rising(-z), torch.ones_like(z))
    torch.testing.assert_close(link.both(z), link.rising(z) - link.rising(-z))
    inside = z.abs() != 3
    torch.testing.assert_close(link.density(z)[inside], density[inside])


#: The gate of each linked kind in the language of the claims, of its link's formula at tau*(x - theta).
LINKED = ("gelu", "gelu_tanh", "hardswish", "erf", "erfc", "ndtr")


@pytest.mark.parametrize("name", LINKED)
def test_linked_gates_are_identities(name):
    kind = KINDS["gelu"]("tanh" if name == "gelu_tanh" else "none") if "gelu" in name else KINDS[name]()
    assert kind.link is not None
    link, tau, theta, slope, intercept = kind.link
    z = "(sqrt(2)*x)" if name.startswith("erf") else f"({tau}*(x - {theta}))"

    def gate(z):
        return LINKS[link].formula.replace("z", z)

    left, right = (f"({s}*x + ({c}))" for s, c in zip(slope, intercept, strict=True))
    statement = f"for x in R: {gate(f'(-{z})')}*{left} + {gate(z)}*{right} == {kind.formula}"
    assert decide_text(statement).verdict == "proved"
    wrong = (
        statement.replace("*x + (0.0)", "*x + (0.001)", 1)
        if name != "erf"
        else statement.replace("1.0)", "1.01)")
    )
    assert decide_text(wrong).verdict == "refuted"


def test_gates_can_be_differentiated_again():
    x = torch.tensor([-2.3, -0.4, 0.7, 3.4], dtype=torch.float64, requires_grad=True)
    for gate in (TwoBranches(1.3, 0.2, (0.1, 1.0), (0.3, -0.2)), TwoBranches(1, 0, (0, 1), (0, 0), "normal")):
        assert torch.autograd.gradcheck(gate, x, check_forward_ad=True, check_batched_grad=True)
        assert torch.autograd.gradgradcheck(gate, x)
    hard = Pieces((-1.0, 1.0), (0.0, 1.0, 0.5), (-1.0, 0.0, 0.5), (LEFT, RIGHT))
    assert torch.autograd.gradcheck(hard, x, check_forward_ad=True, check_batched_grad=True)
    assert torch.autograd.gradgradcheck(hard, x)


def test_sides_of_a_hard_gate():
    x = torch.zeros(1, requires_grad=True)
    for side, right in ((LEFT, 1.0), (RIGHT, 3.0), (EVEN, 2.0)):
        (g,) = torch.autograd.grad(Pieces((0.0,), (1.0, 3.0), (0.0, 0.0), (side,))(x).sum(), x)
        assert g.item() == right


def test_compiled_and_exported_as_a_whole():
    def forward(x):
        y = functional.gelu(x) + torch.sigmoid(x) * x + x.clamp(-1, 1) + functional.mish(x)
        return y + torch.maximum(x, -x) + functional.hardtanh(x.clone(), inplace=True)

    x = torch.linspace(-4, 4, 64)
    right = forward(x)
    found = convert(Calls(forward))
    exported = torch.export.export(found.model, (x,))
    torch.testing.assert_close(exported.module()(x), right, rtol=1e-6, atol=1e-6)
    fused = torch.compile(found.model, fullgraph=True, backend="aot_eager")
    a, b = x.clone().requires_grad_(), x.clone().requires_grad_()
    fused(a).square().sum().backward()
    forward(b).square().sum().backward()
    torch.testing.assert_close(a.grad, b.grad, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_mish_for_compilers(dtype):
    x = torch.cat([torch.linspace(-100, 100, 4001), torch.tensor([-0.0, 1e-30, 20.5, 41.0])]).to(dtype)
    right = functional.mish(x.double())
    # e^x and its square are rounded below 2^-126, where x times them is below 1e-36.
    scale = torch.finfo(dtype).eps * right.abs() * 8 + 1e-36
    assert bool(((mish(x).double() - right).abs() <= scale).all())
    assert mish(torch.tensor(float("nan"))).isnan()
    assert mish(torch.tensor(float("inf"))) == float("inf")


def test_traced_by_torch_jit():
    net = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.SiLU(), nn.Softmax(-1), nn.Mish())
    x = torch.randn(3, 4)
    model = convert(net, inputs=x).model
    # Its own check runs the network twice more, without gradients.
    traced = torch.jit.trace(model, (x,))
    torch.testing.assert_close(traced(x), model(x))
    assert "gateproof::" not in str(traced.inlined_graph)
