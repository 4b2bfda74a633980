"""Derivatives of every order, vmap, the dispatcher's own checks, compilers, checkpoints and copies."""

from __future__ import annotations

import copy
import warnings

import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck
from torch.library import opcheck
from torch.utils.checkpoint import checkpoint

from gateproof.kernels import choice, functional


def numbers(*channels, dtype=torch.float64, branches=3, taus=1, grad=True):
    torch.manual_seed(3)
    found = [
        torch.rand(*channels, taus, dtype=dtype) + 0.5,
        torch.randn(*channels, branches - 1, dtype=dtype),
        torch.randn(*channels, branches, dtype=dtype),
        torch.randn(*channels, branches, dtype=dtype),
    ]
    return [t.requires_grad_(grad) for t in found]


@pytest.mark.parametrize(
    ("function", "tensors", "width"),
    [(functional.threshold_gate, 1, 3), (functional.tg_glu, 2, 3), (functional.tg_glu_packed, 1, 6)],
)
@pytest.mark.parametrize(("channels", "taus"), [((), 1), ((3,), 2)])
def test_gates(function, tensors, width, channels, taus):
    given = [torch.randn(2, width, dtype=torch.float64, requires_grad=True) for _ in range(tensors)]
    # 0 is where a form by exp(-|z|) has a kink.
    given += numbers(*channels, taus=taus)
    assert gradcheck(function, given, check_forward_ad=True)
    assert gradgradcheck(function, given)


@pytest.mark.parametrize("name", ["swiglu", "memglu", "geglu"])
def test_products(name):
    g, u = (torch.randn(3, 2, dtype=torch.float64, requires_grad=True) for _ in range(2))
    assert gradcheck(getattr(functional, name), (g, u), check_forward_ad=True)
    assert gradgradcheck(getattr(functional, name), (g, u))
    packed = torch.randn(2, 4, dtype=torch.float64, requires_grad=True)
    function = getattr(functional, f"{name}_packed")
    assert gradcheck(function, (packed,), check_forward_ad=True)
    assert gradgradcheck(function, (packed,))
    assert torch.equal(function(packed), getattr(functional, name)(*packed.chunk(2, -1)))


def test_second_derivatives_at_a_threshold():
    # silu''(0) = 1/2; the derivative of |z| at 0 would make it 0.
    gate = (1.0, [0.0], [0.0, 1.0], [0.0, 0.0])
    x = torch.zeros(1, dtype=torch.float64, requires_grad=True)
    (first,) = torch.autograd.grad(functional.threshold_gate(x, *gate), x, create_graph=True)
    (second,) = torch.autograd.grad(first, x)
    assert (first.item(), second.item()) == (0.5, 0.5)
    hessian = torch.func.hessian(lambda x: functional.threshold_gate(x, *gate).sum())(x.detach())
    assert hessian.item() == 0.5


@pytest.mark.parametrize("channels", [(), (4,)])
def test_vmap_over_numbers(channels):
    x = torch.randn(3, 2, 4, dtype=torch.float64)
    given = numbers(3, *channels, grad=False)

    def loss(x, *p):
        return functional.threshold_gate(x, *p).square().sum()

    gradients = torch.func.grad(loss, argnums=(0, 1, 2, 3, 4))
    for dims in ((0, 0, 0, 0, 0), (None, 0, 0, 0, 0), (0, None, None, None, None)):
        args = [a if d == 0 else a[0] for a, d in zip((x, *given), dims, strict=True)]
        found = torch.func.vmap(gradients, in_dims=dims)(*args)
        single = [
            gradients(*(a[i] if d == 0 else a for a, d in zip(args, dims, strict=True))) for i in range(3)
        ]
        for k, f in enumerate(found):
            assert torch.allclose(f, torch.stack([s[k] for s in single]), rtol=1e-10, atol=1e-12)


def test_vmap_of_packed():
    x = torch.randn(3, 2, 8, dtype=torch.float64)
    given = numbers(3, 4, grad=False)
    found = torch.func.vmap(functional.tg_glu_packed)(x, *given)
    wanted = torch.stack([functional.tg_glu_packed(x[i], *(p[i] for p in given)) for i in range(3)])
    assert torch.allclose(found, wanted, rtol=1e-12)
    assert torch.equal(torch.func.vmap(functional.swiglu_packed)(x), functional.swiglu_packed(x))


LAYOUTS = {
    "contiguous": lambda: torch.randn(2, 4),
    "transposed": lambda: torch.randn(4, 2).t(),
    "expanded": lambda: torch.randn(2, 1).expand(2, 4),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_opcheck(layout):
    ops, g, u, dy = torch.ops.gateproof, LAYOUTS[layout](), torch.randn(4, 2).t(), torch.randn(2, 4)
    tests = ("test_schema", "test_faketensor", "test_autograd_registration")
    table = torch.rand(4, 9) + 0.5
    gate = (table, [], 3, True, False, 1)
    halves = (table[:2], [], 3, True, False, 1)
    for op, args in (
        (ops.swiglu, (g, u)),
        (ops.swiglu_backward, (dy, g, u, [True, True])),
        (ops.swiglu_packed, (g,)),
        (ops.swiglu_packed_backward, (dy[:, :2], g)),
        (ops.threshold_gate, (g, *gate)),
        (ops.threshold_gate_backward, (dy, g, *gate, True)),
        (ops.tg_glu, (g, u, *gate)),
        (ops.tg_glu_backward, (dy, g, u, *gate, True)),
        (ops.tg_glu_packed, (g, *halves)),
        (ops.tg_glu_packed_backward, (dy[:, :2], g, *halves, True)),
    ):
        opcheck(op.default, args, test_utils=tests)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.numbers = torch.nn.ParameterList(numbers(dtype=torch.float32))

    def forward(self, x):
        gated = functional.threshold_gate(x, *self.numbers)
        return functional.tg_glu_packed(gated, 2.0, [0.0], [0.0, 1.0], [0.0, 0.0]) + functional.memglu_packed(
            x
        )


def gradients(model, x):
    x = x.clone().requires_grad_()
    return torch.autograd.grad(model(x).square().sum(), [x, *model.parameters()])


def test_compiled_whole_with_any_length():
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    model = Model()
    # Before any call: nothing needs to be made ready.
    whole = torch.compile(model, fullgraph=True, dynamic=True, backend="aot_eager")
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        for n in (4, 7, 33):
            x = torch.randn(n, 6)
            for a, b in zip(gradients(whole, x), gradients(model, x), strict=True):
                assert torch.allclose(a, b, rtol=1e-4, atol=1e-5)
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1


def test_one_tensor_in_two_places_of_compiled_code():
    x = torch.linspace(-4, 4, 33, dtype=torch.float64, requires_grad=True)
    whole = torch.compile(lambda x: functional.swiglu(x, x).sum(), fullgraph=True, backend="aot_eager")
    (found,) = torch.autograd.grad(whole(x), x)
    # (x^2 s)' = 2 x s + x^2 s (1 - s) with s = sigmoid(x)
    s = torch.sigmoid(x.detach())
    right = 2 * x.detach() * s + x.detach() ** 2 * s * (1 - s)
    assert torch.allclose(found, right, rtol=1e-13, atol=1e-15)


def test_export_checkpoint_and_copy():
    model, x = Model(), torch.randn(5, 6)
    rows = torch.export.Dim("rows", min=2)
    exported = torch.export.export(model, (x,), dynamic_shapes=({0: rows},))
    other = torch.randn(9, 6)
    assert torch.allclose(exported.module()(other), model(other), atol=1e-6)
    leaf = x.clone().requires_grad_()
    checkpoint(model, leaf, use_reentrant=False).square().sum().backward()
    again = [leaf.grad, *(p.grad for p in model.parameters())]
    assert all(torch.equal(a, b) for a, b in zip(again, gradients(model, x), strict=True))
    assert torch.equal(copy.deepcopy(model)(x), model(x))


@pytest.mark.deep
def test_chosen_compiled_code_gives_the_same():
    torch.manual_seed(0)
    x = torch.cat([torch.randn(500) * 10, torch.tensor([float("nan"), float("inf"), -float("inf"), 0.0])])
    calls = [
        lambda x: functional.threshold_gate(x, 1.5, [0.2], [0.0, 1.0], [0.1, 0.1]),
        lambda x: functional.threshold_gate(x, float("inf"), [0.0], [0.0, 1.0], [0.0, 0.0]),
        lambda x: functional.threshold_gate(
            x, [1.0, float("inf")], [0.0, 1.0], [0.0, 1.0, 0.5], [0.0, 0.0, 1.0]
        ),
        lambda x: functional.threshold_gate(x, *numbers(dtype=torch.float32)),
        lambda x: functional.memglu(x, torch.ones_like(x), 1.7),
        functional.swiglu_packed,
    ]
    # More than torch.compile keeps for one function.
    calls += [
        lambda x, k=k: functional.threshold_gate(x, 1.0 + k, [0.0], [0.0, 1.0], [0.0, k]) for k in range(3)
    ]
    for call in calls:
        found = {}
        for code in ("torch", "compiled"):
            leaf = x.clone().requires_grad_()
            with choice.use(code):
                y = call(leaf)
            (dx,) = torch.autograd.grad(y.sum(), leaf)
            found[code] = torch.cat([y.detach(), dx])
        assert torch.allclose(*found.values(), rtol=2e-6, atol=1e-6, equal_nan=True)


BATCHED = {
    "formula": lambda x: functional.swiglu(x, x + 1),
    "packed": functional.memglu_packed,
    "gate": lambda x: functional.threshold_gate(x, 1.3, [0.1], [0.0, 1.0], [0.2, 0.0]),
    "soft": lambda x: functional.soft_threshold(x, torch.full((4,), 0.3), 4.0, "debiased"),
    "softmax": functional.tg_softmax,
    "attention": lambda x: functional.tg_attention(x, x, x),
}


@pytest.mark.parametrize("name", BATCHED)
def test_several_gradients_at_once(name):
    x = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    y = BATCHED[name](x)
    dy = torch.randn(5, *y.shape, dtype=torch.float64)
    (found,) = torch.autograd.grad(y, x, dy, is_grads_batched=True, retain_graph=True)
    right = torch.stack([torch.autograd.grad(y, x, d, retain_graph=True)[0] for d in dy])
    torch.testing.assert_close(found, right)
    one, each = (torch.autograd.functional.jacobian(BATCHED[name], x, vectorize=v) for v in (True, False))
    torch.testing.assert_close(one, each)
