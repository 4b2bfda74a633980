"""The two-sided gate on tensors, with the gradient that a person chooses: ``soft_threshold``."""

from __future__ import annotations

from math import inf
from typing import Any, get_args

import torch

from gateproof.kernels.arguments import check, choice_of, dimension, flag, number
from gateproof.kernels.composite import Results, composite, real_type
from gateproof.kernels.gate_op import entries, kept
from gateproof.kernels.soft_threshold_graph import Gradient, in_delta, in_x, traced_gradient, traced_value
from gateproof.kernels.soft_threshold_op import BACKWARD, VALUE
from gateproof.kernels.traced import in_operations
from gateproof.numerics.backends.with_torch import TorchOps


def soft_threshold(
    x: torch.Tensor,
    delta: float | torch.Tensor,
    sharpness: float,
    gradient: Gradient = "surrogate",
    *,
    channel_dim: int = -1,
    return_stats: bool = False,
) -> Any:
    """sign(x) relu(|x| - delta), in x's type (two-sided gate, formula 1).

    ``delta`` >= 0 is a number, a tensor of one element, or of one dimension: the channels of x in
    ``channel_dim``. Tensors of it are learned. Zeros are +0, also of a negative x; not-a-number stays.
    Computed in float32, or float64 where a tensor is, and rounded once.

    ``gradient`` is ``exact``, 1 beyond the threshold and else 0; ``surrogate``,
    sigmoid(sharpness (|x| - delta)) in x and -sign(x) times it in delta (formulas 2 and 3); or ``debiased``,
    in delta less its value at x = 0, so that both are derivatives of one function. Second derivatives and
    forward mode are those of the chosen formulas. ``exact`` makes no use of ``sharpness``.

    With ``return_stats`` the result is (y, zeros): the number of |x| <= delta, int64, exact, of the shape of
    ``delta``. That is the number of zeros in y unless a delta of a wider type lets a 16-bit result underflow.
    Raises ValueError for a negative delta, a sharpness that is not positive and finite, and channels that
    do not agree; a tensor's values are not looked at.
    """
    check("soft_threshold", "x", x, x)
    name = "soft_threshold"
    choice_of(name, "gradient", gradient, get_args(Gradient))
    flag(name, "return_stats", return_stats)
    steep = number(name, "sharpness", sharpness)
    if not 0 < steep < inf:
        raise ValueError(f"{name}: sharpness is a positive finite number, found {sharpness}")
    table: torch.Tensor | None = None
    numbers: list[float] = []
    dim: int | None = None
    if isinstance(delta, torch.Tensor):
        check("soft_threshold", "delta", delta, x)
        dim = _channels(x, delta, channel_dim)
        table = delta.reshape(-1)
    else:
        numbers = [number(name, "delta", delta)]
        if not 0 <= numbers[0] < inf:
            raise ValueError(f"{name}: delta is a finite number >= 0, found {delta}")
    kind = _Traced if torch.compiler.is_compiling() else _Dispatched
    found = kind.apply(x, table, numbers, steep, gradient, dim, return_stats)
    if not return_stats:
        return found
    y, zeros = found
    return y, zeros if isinstance(delta, torch.Tensor) and delta.dim() else zeros.reshape(())


def _channels(x: torch.Tensor, delta: torch.Tensor, channel_dim: int) -> int | None:
    if delta.dim() > 1:
        raise ValueError(f"soft_threshold: delta has at most one dimension, found {tuple(delta.shape)}")
    if delta.numel() == 1:
        return None
    dim = dimension("soft_threshold", "channel_dim", channel_dim, x)
    if x.shape[dim] != delta.shape[0]:
        raise ValueError(f"soft_threshold: {delta.shape[0]} thresholds, {x.shape[dim]} channels in dim {dim}")
    return dim


def _sigmoid(_: Any, z: torch.Tensor) -> torch.Tensor:
    # Smooth at 0, where the form by exp(-|z|) has a kink for autograd.
    return torch.sigmoid(z)


def _size(x: torch.Tensor) -> torch.Tensor:
    # The debiased derivative is smooth at 0, where autograd has abs flat.
    return torch.where(x < 0, -x, x)


def _parts(ctx: Any) -> tuple[Any, Any, Any, Any, Any]:
    """Operations, and x, delta, sharpness in the type that is computed in, with delta as it was saved."""
    x, *rest = ctx.saved_tensors
    delta = rest[0] if rest else None
    real = real_type([x, *rest])
    ops = TorchOps(real, x.device)
    if delta is None:
        spread = torch.full((), ctx.numbers[0], dtype=real, device=x.device)
    else:
        column = delta.reshape(-1, 1)
        spread = entries(x, column, kept(column, ctx.dim, x.dim()))[0].to(real)
    return ops, x, spread, torch.full((), ctx.sharpness, dtype=real, device=x.device), delta


class _Dispatched(torch.autograd.Function):
    """Calls the dispatcher."""

    generate_vmap_rule = True

    @staticmethod
    def forward(
        x: Any, delta: Any, numbers: Any, sharpness: Any, gradient: Any, dim: Any, counted: bool
    ) -> Any:
        _ = sharpness, gradient
        found = VALUE(x, delta, numbers, dim, counted)
        return tuple(found) if counted else found[0]

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        x, delta, ctx.numbers, ctx.sharpness, ctx.gradient, ctx.dim, ctx.counted = inputs
        saved = (x,) if delta is None else (x, delta)
        ctx.save_for_backward(*saved)
        ctx.save_for_forward(*saved)
        if ctx.counted:
            ctx.mark_non_differentiable(output[1])

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        dy, (x_too, delta_too) = grad_outputs[0], ctx.needs_input_grad[:2]
        if in_operations(dy):
            # The gradient may be differentiated again: the fused kernel would hide how it depends on x.
            ops, x, spread, sharpness, delta = _parts(ctx)
            given = ops, _sigmoid, x.to(ops.dtype), spread, sharpness, ctx.gradient
            dx = (dy.to(ops.dtype) * in_x(*given)).to(x.dtype) if x_too else None
            ddelta = None
            if delta_too:
                moved = dy.to(ops.dtype) * in_delta(*given, _size(given[2]))
                others = [d for d in range(x.dim()) if d != ctx.dim]
                summed = moved.sum(others, dtype=torch.float64) if others else moved
                ddelta = summed.reshape(delta.shape).to(delta.dtype)
            return dx, ddelta, None, None, None, None, None
        x, *rest = ctx.saved_tensors
        delta = rest[0] if rest else None
        made = BACKWARD(dy, x, delta, ctx.numbers, ctx.sharpness, ctx.gradient, ctx.dim, delta_too)
        return made[0], made[1] if delta_too else None, None, None, None, None, None

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        ops, x, spread, sharpness, _ = _parts(ctx)
        given = ops, _sigmoid, x.to(ops.dtype), spread, sharpness, ctx.gradient
        moved: Any = torch.zeros_like(x, dtype=ops.dtype)
        if grad_inputs[0] is not None:
            moved = moved + grad_inputs[0] * in_x(*given)
        if grad_inputs[1] is not None:
            column = grad_inputs[1].reshape(-1, 1)
            moved = moved + entries(x, column, kept(column, ctx.dim, x.dim()))[0] * in_delta(
                *given, _size(given[2])
            )
        moved = moved.to(x.dtype)
        return (moved, None) if ctx.counted else moved


class _Traced(torch.autograd.Function):
    """In PyTorch's own operations, for a compiler to fuse with what stands around it."""

    @staticmethod
    def forward(
        x: Any, delta: Any, numbers: Any, sharpness: Any, gradient: Any, dim: Any, counted: bool
    ) -> Any:
        _ = sharpness, gradient
        column = None if delta is None else delta.reshape(-1, 1)
        real = real_type([x] if delta is None else [x, delta])
        dim = kept(column, dim, x.dim())
        results = Results((x.dtype,), False, counted, dim)
        found = composite(traced_value(counted), [x], entries(x, column, dim), numbers, real, results)
        return (found[0], found[1].reshape(-1).to(torch.int64)) if counted else found[0]

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        x, delta, ctx.numbers, ctx.sharpness, ctx.gradient, ctx.dim, counted = inputs
        ctx.save_for_backward(*((x,) if delta is None else (x, delta)))
        if counted:
            ctx.mark_non_differentiable(output[1])

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        dy, (x, *rest) = grad_outputs[0], ctx.saved_tensors
        delta_too = ctx.needs_input_grad[1]
        column = rest[0].reshape(-1, 1) if rest else None
        real, dim = real_type([dy, x, *rest]), kept(column, ctx.dim, x.dim())
        results = Results((x.dtype,), False, delta_too, dim)
        graph = traced_gradient(ctx.gradient, delta_too)
        numbers = [*ctx.numbers, ctx.sharpness]
        found = composite(graph, [dy, x], entries(x, column, dim), numbers, real, results)
        ddelta = found[1].reshape(rest[0].shape).to(rest[0].dtype) if delta_too else None
        return found[0], ddelta, None, None, None, None, None
