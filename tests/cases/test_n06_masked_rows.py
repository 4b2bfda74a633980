"""N06: pytorch#41508, #131060, #31829, #49724, #160064: rows with -infinity, and rows without any logit."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from gateproof import convert
from gateproof.kernels import functional

INF, NAN = math.inf, math.nan
WEIGHTS = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
P = [0.26894142136999512, 0.73105857863000488, 0.0]
ROWS = [
    ([0.0, -INF, -INF], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [INF, -INF, -INF]),
    ([-INF, -INF, -INF], [NAN] * 3, [NAN] * 3, [NAN] * 3),
    ([1.0, 2.0, -INF], P, [-0.19661193324148185, 0.19661193324148185, 0.0], [-1.0, 1.0, -INF]),
]


def both(z, softmax=functional.tg_softmax, dtype=torch.float64, **options):
    z = torch.tensor(z, dtype=dtype, requires_grad=True)
    y = softmax(z, **options)
    (dz,) = torch.autograd.grad((y * WEIGHTS).sum(), z)
    return y.detach(), dz


@pytest.mark.parametrize(("row", "p", "gradient", "odds"), ROWS)
def test_as_softmax(row, p, gradient, odds):
    y, dz = both(row)
    close = {"rtol": 1e-15, "atol": 0, "equal_nan": True}
    torch.testing.assert_close(y, torch.tensor(p, dtype=torch.float64), **close)
    torch.testing.assert_close(y, torch.softmax(torch.tensor(row, dtype=torch.float64), -1), **close)
    torch.testing.assert_close(dz, torch.tensor(gradient, dtype=torch.float64), **close)
    found = functional.tg_softmax(torch.tensor(row, dtype=torch.float64), log_odds=True)
    torch.testing.assert_close(found, torch.tensor(odds, dtype=torch.float64), **close)


@pytest.mark.parametrize("own", [lambda: functional.tg_softmax, lambda: convert(nn.Softmax(-1)).model])
@pytest.mark.parametrize(("row", "p", "gradient", "odds"), ROWS)
def test_in_float32_and_converted(own, row, p, gradient, odds):
    y, dz = both(row, own(), torch.float32)
    close = {"rtol": 6e-7, "atol": 0, "equal_nan": True}
    torch.testing.assert_close(y, torch.tensor(p), **close)
    torch.testing.assert_close(dz, torch.tensor(gradient), **close)


def test_a_row_without_any_is_0_where_that_is_asked_for():
    y, dz = both([-INF] * 3, safe=True)
    assert (y.tolist(), dz.tolist()) == ([0.0] * 3, [0.0] * 3)
    odds = functional.tg_softmax(torch.full((3,), -INF), log_odds=True, safe=True)
    assert odds.tolist() == [-INF] * 3


def test_finite_masks_give_uniform_weights():
    z = torch.full((4,), torch.finfo(torch.float32).min)
    assert functional.tg_softmax(z).tolist() == [0.25] * 4


def test_attention_without_a_key():
    mask = torch.tensor([[True, False], [False, False]])
    q, k, v = (torch.randn(2, 3, dtype=torch.float64, requires_grad=True) for _ in range(3))

    class Attention(nn.Module):
        def forward(self, *given):
            return nn.functional.scaled_dot_product_attention(*given)

    for attention in (functional.tg_attention, convert(Attention()).model):
        out = attention(q, k, v, mask)
        assert out[1].tolist() == [0.0] * 3
        torch.testing.assert_close(out[0], v[0])
        for g in torch.autograd.grad(out.sum(), (q, k, v)):
            assert torch.isfinite(g).all()
    assert torch.isnan(functional.tg_attention(q, k, v, mask, safe=False)[1]).all()
