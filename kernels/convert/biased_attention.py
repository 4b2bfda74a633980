"""Attention with a mask that is added to the scores: ``gateproof::biased_attention`` and its gradients.

As ``tg_attention`` on a CPU, in chunks: beside the mask itself no buffer grows with rows times keys, and the
gradient in the mask is of the mask's own shape, summed where the mask is broadcast.
"""

from __future__ import annotations

from typing import Any

import torch

from gateproof.kernels.attention import Kind, whole, whole_moved
from gateproof.kernels.attention_chunks import gradients_in_chunks, in_chunks
from gateproof.kernels.pointwise import LIBRARY
from gateproof.kernels.traced import applied


def biased_attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, bias: torch.Tensor, causal: bool, scale: float
) -> torch.Tensor:
    """softmax(scale q k^T + bias) v, 0 in rows that see no key.

    Shapes: q (batch, heads, rows, width), k (batch, groups, keys, width), v (batch, groups, keys, any), bias
    like the scores (batch, heads, rows, keys) or of size 1 in some of these; none of the sizes is 0.
    """
    given = (q, k, v, bias, causal, scale)
    compiling = torch.compiler.is_compiling()
    return applied(_Traced, *given) if compiling else _Gate.apply(*given)  # type: ignore[no-any-return]


def _value(q: Any, k: Any, v: Any, bias: Any, causal: bool, scale: float) -> Any:
    q, k, v, bias = (t.detach() for t in (q, k, v, bias))
    return in_chunks(q, k, v, None, Kind(causal, scale, True), bias)[0]


def _gradients(dout: Any, q: Any, k: Any, v: Any, bias: Any, causal: bool, scale: float) -> Any:
    dout, q, k, v, bias = (t.detach() for t in (dout, q, k, v, bias))
    return gradients_in_chunks(dout, q, k, v, None, Kind(causal, scale, True), bias)


def _fake(q: Any, _: Any, v: Any, *__: Any) -> Any:
    return q.new_empty(*q.shape[:3], v.shape[-1])


def _fake_backward(_: Any, *tensors: Any) -> Any:
    q, k, v, bias = (torch.empty_like(t, memory_format=torch.contiguous_format) for t in tensors[:4])
    return q, k, v, bias


_TAGS = (torch.Tag.pt2_compliant_tag,)
_GIVEN, _REST = "Tensor q, Tensor k, Tensor v, Tensor bias", "bool causal, float scale"
LIBRARY.define(f"biased_attention({_GIVEN}, {_REST}) -> Tensor", tags=_TAGS)
LIBRARY.define(
    f"biased_attention_backward(Tensor dout, {_GIVEN}, {_REST}) -> (Tensor, Tensor, Tensor, Tensor)",
    tags=_TAGS,
)


def _batched(name: str, count: int) -> Any:
    """The rule of an operation on batches: the new dimension joins that of batches."""

    def rule(info: Any, dims: Any, *args: Any) -> Any:
        spread: list[Any] = []
        batch = max(a.shape[int(d is not None)] for a, d in zip(args[:count], dims[:count], strict=True))
        for a, d in zip(args[:count], dims[:count], strict=True):
            a = a.unsqueeze(0).expand(info.batch_size, *a.shape) if d is None else a.movedim(d, 0)
            spread.append(a.expand(a.shape[0], batch, *a.shape[2:]).flatten(0, 1))
        found = getattr(torch.ops.gateproof, name).default(*spread, *args[count:])
        if isinstance(found, torch.Tensor):
            return found.unflatten(0, (info.batch_size, -1)), 0
        made = [t.unflatten(0, (info.batch_size, -1)) for t in found]
        if args[4].shape[int(dims[4] is not None)] == 1:
            made[3] = made[3].sum(1, keepdim=True)
        return tuple(made), (0,) * len(made)

    return rule


for _name, _run, _shapes, _count in (
    ("biased_attention", _value, _fake, 4),
    ("biased_attention_backward", _gradients, _fake_backward, 5),
):
    for _key in ("CPU", "CUDA"):
        LIBRARY.impl(_name, _run, _key)
    torch.library.register_fake(f"gateproof::{_name}", _shapes, lib=LIBRARY)
    torch.library.register_vmap(f"gateproof::{_name}", _batched(_name, _count), lib=LIBRARY)


def _keep(ctx: Any, inputs: tuple[Any, ...]) -> None:
    *tensors, ctx.causal, ctx.scale = inputs
    ctx.save_for_backward(*tensors)


def _fused(ctx: Any, dout: Any) -> Any:
    found = torch.ops.gateproof.biased_attention_backward(dout, *ctx.saved_tensors, ctx.causal, ctx.scale)
    return (*found, None, None)


class _Gate(torch.autograd.Function):
    """Calls the dispatcher."""

    generate_vmap_rule = True

    @staticmethod
    def forward(*args: Any) -> Any:
        return torch.ops.gateproof.biased_attention(*args)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:  # noqa: ARG004 - its signature
        _keep(ctx, inputs)
        ctx.save_for_forward(*inputs[:4])

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        if not torch.is_grad_enabled():
            return _fused(ctx, grad_outputs[0])
        # The gradient may be differentiated again: it is that of the definition.
        tensors = ctx.saved_tensors
        back: Any = torch.func.vjp(_definition(ctx.causal, ctx.scale), *tensors)[1]
        return (*back(grad_outputs[0]), None, None)

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        q, k, v, bias = ctx.saved_tensors
        kind = Kind(ctx.causal, ctx.scale, True)
        return whole_moved(grad_inputs[:4], q, k, v, None, kind, bias)


def _definition(causal: bool, scale: float) -> Any:
    return lambda q, k, v, bias: whole(q, k, v, None, Kind(causal, scale, True), bias)


class _Traced(torch.autograd.Function):
    """The same operation in compiled code, which fuses nothing into it."""

    @staticmethod
    def forward(*args: Any) -> Any:
        return torch.ops.gateproof.biased_attention(*args)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:  # noqa: ARG004 - its signature
        _keep(ctx, inputs)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        return _fused(ctx, grad_outputs[0])
