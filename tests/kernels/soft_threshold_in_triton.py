"""The Triton kernels of the two-sided gate and its sparse consumer, in the interpreter."""

import os

os.environ["TRITON_INTERPRET"] = "1"

import torch

from gateproof.kernels import choice
from gateproof.kernels.soft_threshold import soft_threshold
from gateproof.kernels.sparse import sparse_linear

torch.manual_seed(0)
GATES = (
    (0.5, -1, (300, 7)), (torch.tensor(0.5), -1, (1500,)), (torch.rand(7), -1, (70, 7)),
    (torch.rand(5), 1, (3, 5, 11, 13)), (torch.rand(5), 1, (0, 5)),
)  # fmt: skip


def gate(code, x, dy, delta, kind, dim):
    x = x.clone().requires_grad_()
    learned = isinstance(delta, torch.Tensor)
    delta = delta.clone().requires_grad_() if learned else delta
    with choice.use(code):
        y, zeros = soft_threshold(x, delta, 4.0, kind, channel_dim=dim, return_stats=True)
        y.backward(dy)
    return y.detach(), zeros, x.grad, delta.grad if learned else torch.zeros(1)


def gates():
    """Values and counts bit for bit, gradients within what both exponentials may err by."""
    for kind in ("exact", "surrogate", "debiased"):
        for delta, dim, shape in GATES:
            x, dy = torch.randn(shape), torch.randn(shape)
            if x.numel():
                # not-a-number would be all that is left of a threshold's gradient.
                first = 1.0 if isinstance(delta, torch.Tensor) else float("nan")
                x.view(-1)[:5] = torch.tensor([first, float("inf"), -float("inf"), 0.0, -0.0])
            own, other = (gate(code, x, dy, delta, kind, dim) for code in ("torch", "triton"))
            assert same(own[0], other[0])
            assert torch.equal(torch.signbit(own[0])[own[0] == 0], torch.signbit(other[0])[own[0] == 0])
            assert torch.equal(own[1], other[1])
            assert same(own[2], other[2], 2.0**-20)
            assert (own[3] - other[3]).abs().max() <= 2.0**-20 * max(dy.abs().sum().item(), 1)


def same(a, b, within=0.0):
    nan, infinite = torch.isnan(a), torch.isinf(a)
    near = ((a - b).abs()[~nan & ~infinite] <= within * 8).all()
    return torch.equal(nan, torch.isnan(b)) and torch.equal(a[infinite], b[infinite]) and bool(near)


def products():
    """Tiles of every kind: dead, live, cut off at each side, and a weight in either order."""
    for rows, cols, outputs in ((1, 32, 3), (70, 100, 70), (33, 64, 64)):
        # What lies beside the tensors is not-a-number: nothing may read it, even times 0.
        y, weight = (torch.full((n, cols + 40), float("nan"))[:, :cols] for n in (rows, outputs))
        y.normal_(), weight.normal_()
        bias = torch.randn(outputs)
        # Another tile is dead in each row of tiles, never the last, which is cut off.
        for tile in range(-(-rows // 32)):
            y[32 * tile : 32 * tile + 32, 32 * tile : min(32 * tile + 32, cols - 4)] = 0.0
        for given in (weight, weight.t().contiguous().t()):
            with choice.use("triton"):
                found = sparse_linear(y, given, bias, block=(32, 32))
            wanted = torch.nn.functional.linear(y.double(), weight.double(), bias.double())
            most = cols * 2.0**-22 * (torch.nn.functional.linear(y.abs(), weight.abs()) + bias.abs())
            assert ((found - wanted).abs() <= most).all()
    with choice.use("triton"):
        dead = sparse_linear(torch.zeros(5, 40), torch.full((3, 40), float("inf")), torch.ones(3))
    assert torch.equal(dead, torch.ones(5, 3))


if __name__ == "__main__":
    gates()
    products()
    print("passed")
