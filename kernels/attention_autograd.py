"""``tg_attention`` and its derivatives: fused or chunked first ones, any further order, forward mode."""

from __future__ import annotations

from math import sqrt
from typing import Any

import torch

from gateproof.kernels.arguments import check, flag, number
from gateproof.kernels.attention import Kind, whole_gradients, whole_moved
from gateproof.kernels.attention_op import GRADIENTS, VALUE
from gateproof.kernels.precision import autocasts
from gateproof.kernels.softmax_autograd import checked_mask
from gateproof.kernels.traced import applied


def tg_attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    mask: torch.Tensor | None = None,
    causal: bool = False,
    scale: float | None = None,
    *,
    safe: bool = True,
) -> torch.Tensor:
    """Attention softmax(scale q k^T) v with softmax as a threshold gate.

    Shapes: q (..., heads, rows, width), k (..., heads, keys, width), v (..., heads, keys, any width); without
    heads two dimensions suffice. k and v may have fewer heads: each then serves a run of q's (grouped
    queries). Other leading dimensions are broadcast. ``mask``, of bools and broadcast to (..., heads, rows,
    keys), keeps where it is True; ``causal`` lets row i see keys 0 to i; with both a key needs both.
    ``scale`` is 1/sqrt(width) by default. A row that sees no key is 0, as scaled_dot_product_attention has
    it, and NaN, as softmax has it, where not ``safe``.

    No buffer grows with rows times keys, except for second derivatives and forward mode. Computed in float32,
    or float64 for float64, and rounded once; on a GPU 16-bit operands are multiplied as they are, and
    softmax's weights rounded to their type before the product with v. Under autocast q, k and v take its
    type.
    Raises TypeError for types and ValueError for shapes that do not agree.
    """
    name = "tg_attention"
    causal, safe = flag(name, "causal", causal), flag(name, "safe", safe)
    for argument, t in (("q", q), ("k", k), ("v", v)):
        check(name, argument, t, q)
        if t.dim() < 2:
            raise ValueError(f"{name}: {argument} has two dimensions or more, found shape {tuple(t.shape)}")
    if autocasts(q.device.type):
        q, k, v = (_cast(t, torch.get_autocast_dtype(q.device.type)) for t in (q, k, v))
    if not q.dtype == k.dtype == v.dtype:
        raise TypeError(f"{name}: q, k and v of one type, found {q.dtype}, {k.dtype} and {v.dtype}")
    width = q.shape[-1]
    if not width or k.shape[-1] != width or k.shape[-2] != v.shape[-2]:
        raise ValueError(
            f"{name}: q (.., rows, width), k (.., keys, width), v (.., keys, any), width at least 1; found "
            f"{tuple(q.shape)}, {tuple(k.shape)}, {tuple(v.shape)}"
        )
    q, k, v, lead = _four(q, k, v)
    shape = torch.Size((*lead, q.shape[-2], k.shape[-2]))
    keep = None if mask is None else checked_mask(name, mask, q, shape).reshape(*q.shape[:2], *shape[-2:])
    factor = 1.0 / sqrt(width) if scale is None else number(name, "scale", scale)
    if q.numel() and k.numel() and v.numel():
        given = (q, k, v, keep, causal, factor, safe)
        compiling = torch.compiler.is_compiling()
        found: torch.Tensor = (applied(_Traced, *given) if compiling else _Dispatched.apply(*given))[0]
    else:
        # Sums over no key, or no result at all.
        each = q.shape[1] // k.shape[1] if k.shape[1] else 1
        wide = [t.repeat_interleave(each, 1) for t in (k, v)]
        found = torch.matmul(torch.matmul(q, wide[0].transpose(-2, -1)), wide[1])
    return found.reshape(*lead, *found.shape[-2:])


def _cast(t: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    return t if t.dtype == torch.float64 else t.to(dtype)


def _four(q: Any, k: Any, v: Any) -> tuple[Any, Any, Any, tuple[int, ...]]:
    """All as (batch, heads, ...), and the leading dimensions of the result."""
    heads = [t.shape[-3] if t.dim() > 2 else 1 for t in (q, k, v)]
    batches = [t.shape[:-3] for t in (q, k, v)]
    lead = torch.broadcast_shapes(*batches) if max(map(len, batches)) else torch.Size(())
    groups = max(heads[1:])
    if any(h not in (1, groups) for h in heads[1:]) or (heads[0] != 1 and groups and heads[0] % groups):
        raise ValueError(
            f"tg_attention: k and v have one number of heads that divides q's, found {heads[0]} of q, "
            f"{heads[1]} of k, {heads[2]} of v"
        )
    wanted = (max(heads[0], groups), groups, groups)
    made = []
    for t, h, count in zip((q, k, v), heads, wanted, strict=True):
        t = t if t.dim() > 2 else t.unsqueeze(0)
        t = t.expand(*lead, count if h == 1 else h, *t.shape[-2:])
        # Of tensors without elements no size can be left to be found.
        made.append(t.reshape(torch.Size(lead).numel(), *t.shape[-3:]) if t.dim() != 4 else t)
    bare = max(t.dim() for t in (q, k, v)) == 2
    return made[0], made[1], made[2], () if bare else (*lead, wanted[0])


def _keep_for_backward(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    q, k, v, mask, ctx.causal, ctx.scale, ctx.safe = inputs
    _, stats, place = output
    ctx.mark_non_differentiable(stats, place)
    ctx.save_for_backward(q, k, v, mask, stats, place)


def _gradients(ctx: Any, dout: Any) -> Any:
    *tensors, stats, place = ctx.saved_tensors
    rest = (ctx.causal, ctx.scale, ctx.safe)
    found = GRADIENTS(dout, *tensors, stats, place, *rest)
    return (*found, None, None, None, None)


class _Dispatched(torch.autograd.Function):
    """Calls the dispatcher."""

    generate_vmap_rule = True

    @staticmethod
    def forward(*args: Any) -> Any:
        return VALUE(*args)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        _keep_for_backward(ctx, inputs, output)
        ctx.save_for_forward(*inputs[:4], *output[1:])

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        if not torch.is_grad_enabled():
            return _gradients(ctx, grad_outputs[0])
        # The gradient may be differentiated again: the fused kernels would hide how it depends on q, k and v.
        q, k, v, mask = ctx.saved_tensors[:4]
        kind = Kind(ctx.causal, ctx.scale, ctx.safe)
        return (*whole_gradients(grad_outputs[0], q, k, v, mask, kind), None, None, None, None)

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        q, k, v, mask = ctx.saved_tensors[:4]
        kind = Kind(ctx.causal, ctx.scale, ctx.safe)
        return whole_moved(grad_inputs[:3], q, k, v, mask, kind), None, None


class _Traced(torch.autograd.Function):
    """The same operation in compiled code, which fuses nothing into it: no buffer grows there either."""

    @staticmethod
    def forward(*args: Any) -> Any:
        return VALUE(*args)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        _keep_for_backward(ctx, inputs, output)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        return _gradients(ctx, grad_outputs[0])
