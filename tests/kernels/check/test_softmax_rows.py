"""The rows of softmax tell the usual formulas, which lose all digits once one logit dominates."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
from gateproof.kernels.check import softmax_rows  # noqa: E402 - after the library that it needs


class _Usual(torch.autograd.Function):
    @staticmethod
    def forward(ctx, z):
        p = torch.softmax(z, -1)
        ctx.save_for_backward(p)
        return p

    @staticmethod
    def backward(ctx, dy):
        (p,) = ctx.saved_tensors
        return p * (dy - (p * dy).sum(-1, keepdim=True))


def usual(z, *, log_odds):
    if not log_odds:
        return _Usual.apply(z)
    p = torch.softmax(z, -1)
    return torch.log(p) - torch.log(1 - p)


@pytest.mark.parametrize("name", softmax_rows.NAMES)
def test_the_usual_formulas_fail(monkeypatch, name):
    # Forward too: z - max is rounded, which exp shows as many units as the gap is wide.
    monkeypatch.setattr(softmax_rows.functional, "tg_softmax", usual)
    monkeypatch.setattr(softmax_rows, "LENGTHS", (3,))
    found = list(softmax_rows.rows(name, "torch"))
    assert [r.passed for r in found] == [False, False]
    assert found[1].max_ulp > 1e6


@pytest.mark.parametrize("name", softmax_rows.NAMES)
def test_ours_passes(monkeypatch, name):
    monkeypatch.setattr(softmax_rows, "LENGTHS", (2, 3))
    found = list(softmax_rows.rows(name, "torch"))
    assert [(r.direction, r.passed) for r in found] == [("forward", True), ("backward", True)]
    assert all(r.inputs == (2 + 3) * 12 for r in found)
