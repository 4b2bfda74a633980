import math

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck

from gateproof.kernels.quantised import QuantisedLinear, fake_quantised_linear, integer_matmul, quantise

D = torch.float64


def by_numpy(x, weight, bias, scales):
    """The int8 product with int64 sums, which the int32 ones must equal, and scales from the definition."""

    def levels(t, axis):
        most = np.abs(t).max(axis=axis, keepdims=True)
        scale = (most / t.dtype.type(127)).astype(t.dtype)
        return np.rint(t / scale).astype(np.int64), scale

    a, sa = levels(x, 1 if scales == "token" else None)
    b, sb = levels(weight, 1)
    sums = a @ b.T
    assert np.abs(sums).max() < 2**31
    return sums, (sums.astype(x.dtype) * sa) * sb.T + bias


@pytest.mark.parametrize("scales", ["token", "tensor"])
@pytest.mark.parametrize("features", [1, 5, 1024, 3000])
def test_equals_the_int8_product_bit_for_bit(features, scales):
    torch.manual_seed(features)
    x, weight, bias = torch.randn(6, features) * 3, torch.randn(4, features), torch.randn(4)
    sums, value = by_numpy(x.numpy(), weight.numpy(), bias.numpy(), scales)
    (a, _), (b, _) = quantise(x, scales), quantise(weight)
    assert np.array_equal(integer_matmul(a, b).numpy(), sums)
    found = fake_quantised_linear(x, weight, bias, activations=scales)
    assert np.array_equal(found.numpy(), value.astype(np.float32))


def test_integer_product_is_exact_at_its_greatest():
    # -128*-128 in 1024 + 3 products is 2**24 + 3*2**14; one odd product more is no float32.
    a = torch.full((1, 1028), -128, dtype=torch.int8)
    b = a.clone()
    a[0, -1], b[0, -1] = 1, 1
    assert integer_matmul(a, b).item() == 128 * 128 * 1027 + 1 == 16826369
    with torch.autocast("cpu", torch.bfloat16):
        assert integer_matmul(a, b).item() == 16826369
    with pytest.raises(ValueError, match="at most 131071 features"):
        integer_matmul(a.expand(2, -1)[:, :1].expand(2, 2**17), b[:, :1].expand(1, 2**17))
    with pytest.raises(TypeError, match="int8"):
        integer_matmul(a.int(), b)


def test_rounding_is_to_even_and_scales_hold_at_the_ends():
    levels, scale = quantise(torch.tensor([[127.0, 0.5, 1.5, -2.5, -127.0]]))
    assert levels.tolist() == [[127, 0, 2, -2, -127]]
    assert scale.item() == 1
    levels, scale = quantise(torch.tensor([[0.0, 0.0], [1e-45, 0.0], [3e38, -3e38]]))
    assert levels[0].tolist() == [0, 0]
    assert torch.isfinite(scale).all()
    assert levels[2].tolist() == [127, -127]


def test_not_a_number_and_infinity_stay_in_their_row():
    x = torch.tensor([[1.0, 2.0], [math.nan, 1.0], [math.inf, 1.0]])
    y = fake_quantised_linear(x, torch.ones(3, 2))
    assert torch.isfinite(y[0]).all()
    assert torch.isnan(y[1:]).all()
    assert torch.isnan(fake_quantised_linear(x, torch.ones(3, 2), activations="tensor")).all()


@pytest.mark.parametrize("scales", ["token", "tensor"])
def test_gradient_goes_straight_through(scales):
    torch.manual_seed(0)
    x, weight, bias = (torch.randn(s, dtype=D, requires_grad=True) for s in ((2, 3, 5), (4, 5), (4,)))

    def call(*args):
        return fake_quantised_linear(*args, activations=scales)

    dy = torch.randn(2, 3, 4, dtype=D)
    dx, dw, db = torch.autograd.grad(call(x, weight, bias), (x, weight, bias), dy)
    (a, sa), (b, sb) = quantise(x, scales), quantise(weight)
    assert torch.allclose(dx, dy @ (b * sb), rtol=1e-14, atol=1e-14)
    assert torch.allclose(dw, torch.einsum("abn,abk->nk", dy, a * sa), rtol=1e-14, atol=1e-14)
    assert torch.allclose(db, dy.sum((0, 1)), rtol=1e-14, atol=1e-14)
    # The rounding itself is flat between its jumps: a difference quotient must not agree.
    assert not gradcheck(call, (x, weight, bias), raise_exception=False)
    _, moved = torch.func.jvp(lambda t: call(t, weight, bias), (x.detach(),), (torch.ones(2, 3, 5, dtype=D),))
    assert torch.allclose(moved, torch.ones(2, 3, 5, dtype=D) @ (b * sb).T, rtol=1e-14)


def test_second_derivative_is_that_of_the_product():
    # d(dy W)/dW through the rounding is dy: the mixed derivative of x W^T.
    x, weight = torch.randn(3, dtype=D, requires_grad=True), torch.randn(2, 3, dtype=D, requires_grad=True)
    (dx,) = torch.autograd.grad(fake_quantised_linear(x, weight).sum(), x, create_graph=True)
    assert torch.equal(torch.autograd.grad(dx.sum(), weight)[0], torch.ones(2, 3, dtype=D))
    assert not gradgradcheck(fake_quantised_linear, (x, weight), raise_exception=False)


def test_types_empty_tensors_vmap_and_autocast():
    weight = torch.randn(4, 6)
    for dtype in (torch.float16, torch.bfloat16):
        x = torch.randn(3, 6).to(dtype)
        found = fake_quantised_linear(x, weight)
        assert found.dtype == dtype
        assert torch.equal(found, fake_quantised_linear(x.float(), weight).to(dtype))
    assert fake_quantised_linear(torch.randn(0, 6), weight).shape == (0, 4)
    assert fake_quantised_linear(torch.randn(0, 6), weight, activations="tensor").shape == (0, 4)
    assert (
        fake_quantised_linear(torch.randn(2, 0), torch.randn(4, 0), torch.ones(4)).tolist() == [[1.0] * 4] * 2
    )
    x = torch.randn(3, 2, 6)
    assert torch.equal(
        torch.vmap(lambda t: fake_quantised_linear(t, weight))(x), fake_quantised_linear(x, weight)
    )
    outside = fake_quantised_linear(x, weight)
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(fake_quantised_linear(x, weight), outside)


def test_module_shares_parameters_and_compiles():
    linear = torch.nn.Linear(8, 3)
    made = QuantisedLinear.from_linear(linear)
    assert made.weight is linear.weight
    assert made.bias is linear.bias
    x = torch.randn(5, 8)
    # Half a level for each of the factors, at most.
    most = x.abs().amax(1, keepdim=True) / 254 * linear.weight.abs().sum(1)
    most = most + linear.weight.abs().amax(1) / 254 * x.abs().sum(1, keepdim=True)
    most = most + 8 * (x.abs().amax(1, keepdim=True) / 254) * (linear.weight.abs().amax(1) / 254)
    assert ((made(x) - linear(x)).abs() <= most * 1.001).all()
    y = torch.compile(made, fullgraph=True, backend="aot_eager")(x)
    assert torch.equal(y, made(x))
    y.sum().backward()
    assert torch.equal(linear.bias.grad, torch.full((3,), 5.0))
    assert QuantisedLinear(8, 3, device="meta")(torch.empty(5, 8, device="meta")).shape == (5, 3)
    assert QuantisedLinear.from_linear(torch.nn.Linear(2, 2, bias=False)).bias is None


def test_bad_input_is_refused():
    x, weight = torch.ones(2, 3), torch.ones(4, 3)
    for args, options, word in (
        ((x, torch.ones(4, 2)), {}, "agree"), ((x, weight, torch.ones(3)), {}, "outputs"),
        ((x, weight), {"activations": "row"}, "activations"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=word):
            fake_quantised_linear(*args, **options)
    with pytest.raises(TypeError, match="floating"):
        fake_quantised_linear(x.int(), weight)
