import math
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck
from torch.library import opcheck
from torch.nn.functional import linear

from gateproof.kernels.sparse import SparseLinear, live_blocks, sparse_linear

D = torch.float64


def zeros(rows, cols, rate, blocks, dtype=D):
    """Normal numbers, the share ``rate`` of them 0: one by one, or columns in blocks of 32 for all rows."""
    y = torch.randn(rows, cols, dtype=torch.float32).to(dtype)
    if blocks:
        return y * (torch.rand(-(-cols // 32)) >= rate).repeat_interleave(32)[:cols]
    return y * (torch.rand(rows, cols) >= rate)


@pytest.mark.parametrize("rows", [1, 3, 64, 150])
@pytest.mark.parametrize("blocks", [True, False])
def test_equals_the_dense_product(rows, blocks):
    torch.manual_seed(rows)
    for cols, rate, transposed in product((64, 70), (0.0, 0.5, 0.95, 1.0), (True, False)):
        weight, bias = torch.randn(9, cols, dtype=D), torch.randn(9, dtype=D)
        weight = weight.t().contiguous().t() if transposed else weight
        y = zeros(rows, cols, rate, blocks)
        # Both orders of summation err by at most cols roundings of the sum of absolute terms.
        most = cols * 2.0**-52 * (linear(y.abs(), weight.abs()) + bias.abs())
        assert ((sparse_linear(y, weight, bias) - linear(y, weight, bias)).abs() <= most).all()


def test_live_blocks_are_those_with_anything_but_0():
    y = torch.zeros(17, 40)
    y[16, 33], y[0, 0] = math.nan, -0.0
    assert live_blocks(y, 16, 32).tolist() == [[False, False], [False, True]]
    assert torch.isnan(sparse_linear(y, torch.ones(2, 40), block=(16, 32))[16]).all()


def test_16_bit_types_round_once():
    torch.manual_seed(0)
    for dtype in (torch.bfloat16, torch.float16):
        weight, y = torch.randn(8, 256).to(dtype), zeros(5, 256, 0.75, blocks=True, dtype=dtype)
        assert (y != 0).any()
        found, true = sparse_linear(y, weight), linear(y.to(D), weight.to(D))
        assert found.dtype == dtype
        # Sums in float32, one rounding at the end.
        most = 0.51 * torch.finfo(dtype).eps * true.abs() + 256 * 2.0**-23 * linear(
            y.to(D).abs(), weight.to(D).abs()
        )
        assert ((found.to(D) - true).abs() <= most).all()


def test_derivatives_are_those_of_the_product():
    torch.manual_seed(1)
    y, weight, bias = zeros(2, 5, 0.5, blocks=False), torch.randn(3, 5, dtype=D), torch.randn(3, dtype=D)
    args = [t.requires_grad_() for t in (y, weight, bias)]
    assert (y == 0).any()
    # Difference quotients turn zeros of y into numbers: the gradient there is not 0.
    assert gradcheck(sparse_linear, args, check_forward_ad=True)
    assert gradgradcheck(sparse_linear, args)


def test_operation_vmap_shapes_and_compiled_code():
    torch.manual_seed(2)
    y, weight, bias = torch.randn(3, 4, 40), torch.randn(5, 40), torch.randn(5)
    opcheck(torch.ops.gateproof.sparse_linear.default, (y[0], weight, bias, 64, 32))
    wanted = linear(y, weight, bias)
    assert torch.allclose(sparse_linear(y, weight, bias), wanted, atol=1e-5)
    assert torch.allclose(torch.vmap(lambda t: sparse_linear(t, weight, bias))(y), wanted, atol=1e-5)
    found = torch.vmap(sparse_linear)(y, torch.stack([weight] * 3), torch.stack([bias] * 3))
    assert torch.allclose(found, wanted, atol=1e-5)
    assert sparse_linear(y[:0], weight).shape == (0, 4, 5)
    assert torch.equal(sparse_linear(y[..., :0], weight[:, :0], bias), bias.expand(3, 4, 5))
    assert sparse_linear(y[0, 0], weight).shape == (5,)
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(sparse_linear(y, weight, bias), linear(y, weight, bias))
    module = SparseLinear.from_linear(torch.nn.Linear(40, 5))
    assert module.weight.t().is_contiguous()
    compiled = torch.compile(module, fullgraph=True, backend="aot_eager")
    assert torch.equal(compiled(y), module(y))
    compiled(y).sum().backward()
    assert torch.allclose(module.weight.grad, y.sum((0, 1)).expand(5, 40), rtol=1e-5, atol=1e-5)


def test_bad_input_is_refused():
    y, weight = torch.ones(2, 32), torch.ones(3, 32)
    for args, options, word in (
        ((y, torch.ones(3, 31)), {}, "agree"), ((y, weight, torch.ones(2)), {}, "outputs"),
        ((y, weight.double()), {}, "one type"), ((y, weight), {"block": (64, 24)}, "block"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=word):
            sparse_linear(*args, **options)


@pytest.mark.deep
def test_triton_kernels_in_the_interpreter():
    script = Path(__file__).with_name("soft_threshold_in_triton.py")
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.stdout == "passed\n", done.stderr
