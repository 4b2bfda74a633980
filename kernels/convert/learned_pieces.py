"""A hard gate whose thresholds, slopes and intercepts are tensors: its value and its gradients.

y = slope_k x + intercept_k on (theta_(k-1), theta_k], each threshold in the branch on its left. Gradients go
to x, slope and intercept: d slope_k is the sum of dy x and d intercept_k that of dy over the branch.
Thresholds get theirs through the intercepts that keep the gate continuous (``trainable``).
"""
# ruff: noqa: D102 - the methods are those of autograd.Function

from __future__ import annotations

from typing import Any

import torch

from gateproof.kernels.pointwise import LIBRARY


def _branch(x: torch.Tensor, theta: torch.Tensor) -> torch.Tensor:
    """The number of the branch of each element; NaN is in the last one."""
    place = torch.zeros_like(x, dtype=torch.int64)
    for k in range(theta.shape[0]):
        place = place + ~(x <= theta[k])
    return place


def _value(
    x: torch.Tensor, theta: torch.Tensor, slope: torch.Tensor, intercept: torch.Tensor
) -> torch.Tensor:
    wide = x if x.dtype == torch.float64 else x.float()
    k = _branch(wide, theta.to(wide.dtype))
    s = slope.to(wide.dtype)[k]
    # A level branch stays where it is at infinity.
    product = torch.where((s == 0) & wide.isinf(), 0, wide * s)
    return (product + intercept.to(wide.dtype)[k]).to(x.dtype)


def _gradients(
    dy: torch.Tensor, x: torch.Tensor, theta: torch.Tensor, slope: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    wide, up = (t if t.dtype == torch.float64 else t.float() for t in (x, dy))
    k = _branch(wide, theta.to(wide.dtype))
    dx = (up * slope.to(up.dtype)[k]).to(x.dtype)
    d_slope, d_intercept = [], []
    for branch in range(slope.shape[0]):
        inside = torch.where(k == branch, up, 0)
        # An input that is not finite is in a branch of its own, 0 times it is no number.
        d_slope.append((inside * torch.where(k == branch, wide, 0)).sum(dtype=torch.float64))
        d_intercept.append(inside.sum(dtype=torch.float64))
    return dx, torch.stack(d_slope).to(slope.dtype), torch.stack(d_intercept).to(slope.dtype)


LIBRARY.define(
    "learned_pieces(Tensor x, Tensor theta, Tensor slope, Tensor intercept) -> Tensor",
    tags=(torch.Tag.pt2_compliant_tag,),
)
LIBRARY.define(
    "learned_pieces_backward(Tensor dy, Tensor x, Tensor theta, Tensor slope) -> (Tensor, Tensor, Tensor)",
    tags=(torch.Tag.pt2_compliant_tag,),
)
for _key in ("CPU", "CUDA"):
    LIBRARY.impl("learned_pieces", _value, _key)
    LIBRARY.impl("learned_pieces_backward", _gradients, _key)


@torch.library.register_fake("gateproof::learned_pieces", lib=LIBRARY)
def _(x: torch.Tensor, *_: Any) -> torch.Tensor:
    return torch.empty_like(x)


@torch.library.register_fake("gateproof::learned_pieces_backward", lib=LIBRARY)
def _(dy: torch.Tensor, x: torch.Tensor, theta: torch.Tensor, slope: torch.Tensor) -> Any:  # noqa: ARG001
    return torch.empty_like(x), torch.empty_like(slope), torch.empty_like(slope)


class LearnedPieces(torch.autograd.Function):
    """Keeps x and the numbers; its gradient can be differentiated again."""

    @staticmethod
    def forward(x: torch.Tensor, theta: torch.Tensor, slope: torch.Tensor, intercept: torch.Tensor) -> Any:
        return torch.ops.gateproof.learned_pieces(x, theta, slope, intercept)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:  # noqa: ARG004 - its signature
        ctx.save_for_backward(*inputs[:3])

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        x, theta, slope = ctx.saved_tensors
        made = _gradients if torch.is_grad_enabled() else torch.ops.gateproof.learned_pieces_backward
        dx, d_slope, d_intercept = made(grad_outputs[0], x, theta, slope)
        return dx, None, d_slope, d_intercept
