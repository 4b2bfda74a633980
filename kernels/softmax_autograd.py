"""``tg_softmax`` and its derivatives: fused first ones, any further order, forward mode, compiled code."""

from __future__ import annotations

from typing import Any

import torch

from gateproof.kernels.arguments import check, dimension, flag
from gateproof.kernels.softmax_op import computed_gradient, computed_value, moved


def tg_softmax(
    z: torch.Tensor,
    dim: int = -1,
    mask: torch.Tensor | None = None,
    log_odds: bool = False,
    *,
    safe: bool = False,
) -> torch.Tensor:
    """Softmax along a dimension, p_i = sigmoid(z_i - LSE of the other logits), or that (``log_odds``).

    ``mask``, of bools and broadcast to z's shape, keeps where it is True: elsewhere p is 0, its log-odds
    -infinity, its gradient 0. As in torch.softmax, a row with NaN or +infinity is NaN, and so is a row
    without any finite logit; ``safe`` makes that one 0 (log-odds -infinity), with gradient 0. A single finite
    logit has p = 1 and log-odds +infinity. Computed in float32, or float64 for float64, and rounded once to
    z's type; under a GPU's autocast the result is float32, as torch.softmax's is (a CPU's leaves both alone).

    (Threshold gating, "Softmax"; ``softmax.py`` derives the forms.)
    Raises TypeError for what is no floating tensor or no mask of bools, ValueError for shapes that do not
    agree.
    """
    check("tg_softmax", "z", z, z)
    if not z.dim():
        raise ValueError("tg_softmax: z has a dimension or more, found a tensor without: use z.reshape(1)")
    dim = dimension("tg_softmax", "dim", dim, z)
    log_odds, safe = flag("tg_softmax", "log_odds", log_odds), flag("tg_softmax", "safe", safe)
    keep = None if mask is None else checked_mask("tg_softmax", mask, z, z.shape).movedim(dim, -1)
    if z.is_cuda and torch.is_autocast_enabled("cuda"):
        z = z.to(torch.promote_types(z.dtype, torch.float32))
    if not z.numel():
        return z.clone()
    kind = _Traced if torch.compiler.is_compiling() else _Dispatched
    found: torch.Tensor = kind.apply(z.movedim(dim, -1), keep, log_odds, safe)
    return found.movedim(-1, dim)


def checked_mask(operation: str, mask: Any, like: torch.Tensor, shape: torch.Size) -> torch.Tensor:
    """A mask of bools on the same device, as a view of the given shape."""
    if not isinstance(mask, torch.Tensor) or mask.dtype != torch.bool:
        found = mask.dtype if isinstance(mask, torch.Tensor) else type(mask).__name__
        raise TypeError(f"{operation}: mask is a tensor of bools, True to keep, found {found}")
    if mask.device != like.device:
        raise ValueError(f"{operation}: mask is on {mask.device}, the first tensor on {like.device}")
    short = len(shape) - mask.dim()
    if short < 0 or any(m not in (1, n) for m, n in zip(mask.shape, shape[short:], strict=True)):
        raise ValueError(
            f"{operation}: mask of shape {tuple(mask.shape)} cannot be broadcast to {tuple(shape)}"
        )
    return mask.expand(shape)


class _Dispatched(torch.autograd.Function):
    """Calls the dispatcher."""

    generate_vmap_rule = True

    @staticmethod
    def forward(z: Any, mask: Any, odds: bool, safe: bool) -> Any:
        return torch.ops.gateproof.tg_softmax.default(z, mask, odds, safe)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:  # noqa: ARG004 - its signature
        z, mask, ctx.odds, ctx.safe = inputs
        ctx.save_for_backward(z, mask)
        ctx.save_for_forward(z, mask)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        (dy,), (z, mask) = grad_outputs, ctx.saved_tensors
        # The gradient may be differentiated again: the fused kernel would hide how it depends on z.
        rule: Any = computed_gradient if torch.is_grad_enabled() else _fused_gradient
        return rule(dy, z, mask, ctx.odds, ctx.safe), None, None, None

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        z, mask = ctx.saved_tensors
        return moved(grad_inputs[0], z, mask, ctx.odds, ctx.safe)


def _fused_gradient(*args: Any) -> Any:
    return torch.ops.gateproof.tg_softmax_backward.default(*args)


class _Traced(torch.autograd.Function):
    """In PyTorch's own operations, for a compiler to fuse with what stands around it."""

    @staticmethod
    def forward(z: Any, mask: Any, odds: bool, safe: bool) -> Any:
        return computed_value(z, mask, odds, safe)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:  # noqa: ARG004 - its signature
        z, mask, ctx.odds, ctx.safe = inputs
        ctx.save_for_backward(z, mask)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        z, mask = ctx.saved_tensors
        return computed_gradient(grad_outputs[0], z, mask, ctx.odds, ctx.safe), None, None, None
