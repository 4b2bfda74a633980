"""A hard gate whose thresholds, slopes and intercepts are tensors: its value and its gradients.

y = slope_k x + intercept_k on (theta_(k-1), theta_k], each threshold in the branch on its left. Gradients go
to x, slope and intercept: d slope_k is the sum of dy x and d intercept_k that of dy over the branch.
Thresholds get theirs through the intercepts that keep the gate continuous (``trainable``).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import torch

from gateproof.kernels.convert.pieces import lined_up
from gateproof.kernels.pointwise import LIBRARY


def _branch(x: torch.Tensor, theta: torch.Tensor) -> torch.Tensor:
    """The number of the branch of each element; NaN is in the last one."""
    place = torch.zeros_like(x, dtype=torch.int64)
    for k in range(theta.shape[-1]):
        at = theta[..., k]
        place = place + ~(x <= at.reshape([*at.shape, *[1] * (x.dim() - at.dim())]))
    return place


def _of_branch(numbers: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    """The numbers of the branches k; where they have leading dimensions these are k's first ones."""
    if numbers.dim() == 1:
        return numbers[k]
    rows = numbers.flatten(0, -2)
    return rows.gather(1, k.reshape(rows.shape[0], -1)).reshape(k.shape)


def _value(
    x: torch.Tensor, theta: torch.Tensor, slope: torch.Tensor, intercept: torch.Tensor
) -> torch.Tensor:
    wide = x if x.dtype == torch.float64 else x.float()
    k = _branch(wide, theta.to(wide.dtype))
    s = _of_branch(slope.to(wide.dtype), k)
    # A level branch stays where it is at infinity.
    product = torch.where((s == 0) & wide.isinf(), 0, wide * s)
    return (product + _of_branch(intercept.to(wide.dtype), k)).to(x.dtype)


def _gradients(
    dy: torch.Tensor, x: torch.Tensor, theta: torch.Tensor, slope: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    wide, up = (t if t.dtype == torch.float64 else t.float() for t in (x, dy))
    k = _branch(wide, theta.to(wide.dtype))
    dx = (up * _of_branch(slope.to(up.dtype), k)).to(x.dtype)
    d_slope, d_intercept = [], []
    for branch in range(slope.shape[-1]):
        inside = torch.where(k == branch, up, 0)
        # An input that is not finite is in a branch of its own, 0 times it is no number.
        d_slope.append(_summed(inside * torch.where(k == branch, wide, 0), slope.shape[:-1]))
        d_intercept.append(_summed(inside, slope.shape[:-1]))
    return dx, torch.stack(d_slope, -1).to(slope.dtype), torch.stack(d_intercept, -1).to(slope.dtype)


def _summed(t: torch.Tensor, leading: Sequence[int]) -> torch.Tensor:
    """The sum over all dimensions but the leading ones."""
    if not leading:
        return t.sum(dtype=torch.float64)
    return t.reshape(*leading, prod(t.shape[len(leading) :])).sum(-1, dtype=torch.float64)


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


def _mapped(info: Any, dims: Any, *given: torch.Tensor) -> Any:
    # A mapped call may have numbers of its own, as in an ensemble of networks.
    return torch.ops.gateproof.learned_pieces(*lined_up(info, dims, *given)), 0


def _mapped_gradients(info: Any, dims: Any, *given: torch.Tensor) -> Any:
    return torch.ops.gateproof.learned_pieces_backward(*lined_up(info, dims, *given)), (0, 0, 0)


torch.library.register_vmap("gateproof::learned_pieces", _mapped, lib=LIBRARY)
torch.library.register_vmap("gateproof::learned_pieces_backward", _mapped_gradients, lib=LIBRARY)


def learned_pieces(
    x: torch.Tensor, theta: torch.Tensor, slope: torch.Tensor, intercept: torch.Tensor
) -> torch.Tensor:
    """The gate at x, in x's shape and type; theta has K-1 numbers, slope and intercept have K."""
    # A compiler takes no function with a rule for forward mode.
    made = _Traced if torch.compiler.is_compiling() else _Gate
    found: torch.Tensor = made.apply(x, theta, slope, intercept)
    return found


class _Traced(torch.autograd.Function):
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


class _Gate(_Traced):
    """With rules for forward mode and vmap."""

    generate_vmap_rule = True

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        _Traced.setup_context(ctx, inputs, output)
        ctx.save_for_forward(*inputs[:3])

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        x, theta, slope = ctx.saved_tensors
        dx, _, d_slope, d_intercept = grad_inputs
        wide = x if x.dtype == torch.float64 else x.float()
        k = _branch(wide, theta.to(wide.dtype))
        dy = torch.zeros_like(wide)
        if dx is not None:
            dy = dy + dx.to(wide.dtype) * _of_branch(slope.to(wide.dtype), k)
        if d_slope is not None:
            dy = dy + _of_branch(d_slope.to(wide.dtype), k) * wide
        if d_intercept is not None:
            dy = dy + _of_branch(d_intercept.to(wide.dtype), k)
        return dy.to(x.dtype)
