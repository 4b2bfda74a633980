"""N06: pytorch#41508, #131060, #49724: softmax rows with -inf, and rows of nothing else."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
functional = pytest.importorskip("gateproof.kernels.functional")

INF = float("inf")
ROWS = torch.tensor([[0.0, -INF, -INF], [-INF, -INF, -INF], [1.0, 2.0, -INF]])
WEIGHTS = torch.tensor([1.0, 2.0, 3.0])


def with_gradient(function, z):
    z = z.clone().requires_grad_()
    p = function(z)
    return p.detach(), torch.autograd.grad((p * WEIGHTS).sum(), z)[0]


def test_row_by_row_as_torch_softmax():
    p, grad = with_gradient(functional.tg_softmax, ROWS)
    assert p[0].tolist() == [1, 0, 0]
    assert grad[0].tolist() == [0, 0, 0]
    assert p[1].isnan().all()
    assert p[2].tolist() == pytest.approx([0.26894142136999512, 0.73105857863000488, 0], rel=3e-7)
    assert grad[2].tolist() == pytest.approx([-0.19661193324148185, 0.19661193324148185, 0], rel=6e-7)
    other, _ = with_gradient(lambda z: torch.softmax(z, -1), ROWS)
    torch.testing.assert_close(p, other, equal_nan=True)


def test_a_safe_row_of_nothing_is_0_with_gradient_0():
    p, grad = with_gradient(lambda z: functional.tg_softmax(z, safe=True), ROWS[1:2])
    assert p.tolist() == [[0, 0, 0]]
    assert grad.tolist() == [[0, 0, 0]]


def test_attention_gives_a_masked_row_0_and_no_nan():
    q, k, v = (torch.randn(1, 1, 2, 4, requires_grad=True) for _ in range(3))
    mask = torch.tensor([[True, False], [False, False]])
    out = functional.tg_attention(q, k, v, mask)
    assert torch.equal(out[0, 0, 1], torch.zeros(4))
    torch.testing.assert_close(out[0, 0, 0], v[0, 0, 0])
    for grad in torch.autograd.grad(out.sum(), (q, k, v)):
        assert grad.isfinite().all()


def test_the_least_finite_number_in_all_places_is_uniform():
    z = torch.full((1, 4), torch.finfo(torch.float32).min)
    assert functional.tg_softmax(z).tolist() == [[0.25] * 4]
