"""Softmax, its log-odds and gradients in float32 against mpmath: gaps from 0 to 200, rows up to 4096."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from softmax_truth import Row, rows_with_gaps, worst

from gateproof.kernels import choice, functional


def ours(z, dy):
    found = []
    for odds in (False, True):
        x = z.clone().requires_grad_()
        y = functional.tg_softmax(x, log_odds=odds)
        found += [y.detach(), torch.autograd.grad(y, x, dy)[0]]
    return dict(zip(("p", "dp", "l", "dl"), found, strict=True))


def within(errors):
    # The value in units in the last place, the others relative to the sizes of their terms.
    return errors["p"] <= 4 and errors["l"] <= 1.1e-7 and errors["dp"] <= 5e-6 and errors["dl"] <= 5e-6


LONG = [pytest.param(n, marks=pytest.mark.deep) for n in (1000, 4096)]


@pytest.mark.parametrize("n", [2, 3, 64, *LONG])
def test_within_the_bounds(n):
    found = worst((z, dy, ours(z, dy)) for z, dy in rows_with_gaps(n))
    assert within(found), found


@pytest.mark.deep
def test_the_compiled_form():
    with choice.use("compiled"):
        found = worst((z, dy, ours(z, dy)) for z, dy in rows_with_gaps(64))
    assert within(found), found


def usual(z, dy):
    """The forms of textbooks: the gradient p*(dy - sum p dy), and the others' sum as S - e_i."""
    p = torch.softmax(z, -1)
    e = torch.exp(z - z.max())
    odds = (z - z.max()) - torch.log(e.sum() - e)
    return {"p": p, "dp": p * (dy - (p * dy).sum()), "l": odds, "dl": ours(z, dy)["dl"]}


def test_the_usual_forms_are_found_wrong():
    # From a gap of 20 on the usual gradient has no correct digit, and the usual log-odds are infinite.
    rows = list(rows_with_gaps(4, gaps=(20.0, 50.0, 100.0)))
    found = worst((z, dy, usual(z, dy)) for z, dy in rows)
    assert found["dp"] > 0.9
    assert found["l"] == np.inf


def test_a_probability_past_a_gap_keeps_its_digits():
    # exp(z - m) with the difference rounded errs by 32 units here.
    z = torch.tensor([0.1, -49.77], dtype=torch.float32)
    right = Row(z).probability(1)
    unit = float(np.spacing(np.float32(right)))
    assert abs(functional.tg_softmax(z)[1].item() - right) <= 2 * unit
    assert abs((torch.exp(z[1] - z[0]) / (1 + torch.exp(z[1] - z[0]))).item() - right) > 4 * unit


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("log_odds", [False, True])
def test_narrow_types_are_rounded_once(dtype, log_odds):
    z = (torch.randn(50, 17, generator=torch.Generator().manual_seed(1)) * 4).to(dtype)
    dy = torch.randn(50, 17, generator=torch.Generator().manual_seed(2)).to(dtype)
    x, wide = z.clone().requires_grad_(), z.double().requires_grad_()
    y, right = (functional.tg_softmax(t, log_odds=log_odds) for t in (x, wide))
    pairs = [(y.detach(), right.detach())]
    found = [torch.autograd.grad(a, b, d)[0] for a, b, d in ((y, x, dy), (right, wide, dy.double()))]
    pairs.append((found[0], found[1]))
    for narrow, exact in pairs:
        assert narrow.dtype == dtype
        # Where float32's own error of 1e-6 cannot turn the rounding.
        clear = (exact * (1 - 2e-6)).to(dtype) == (exact * (1 + 2e-6)).to(dtype)
        assert clear.double().mean() > 0.99
        cancels = exact.abs() < 1e-3
        assert torch.equal(narrow[clear & ~cancels], exact.to(dtype)[clear & ~cancels])
