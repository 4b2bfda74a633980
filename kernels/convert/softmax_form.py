"""Softmax and its logarithm as gates, in as few passes as PyTorch's own, along any dimension.

p_i = sigmoid(z_i - LSE of the other logits) = w_i/(1 + S), where the largest logit m weighs 1, w_i =
exp(z_i - m), and S is the sum of the others' weights (``kernels/softmax.py``); log p_i is (z_i - m) -
log1p(S). Rows with NaN or +infinity, and rows of -infinity alone, are NaN as PyTorch's are; ``safe`` makes
the last ones 0.

What is kept for the gradient is the result, as PyTorch keeps it. The gradient of p is centred at the largest:
with c the mean of dy over the places of the largest p and u_i = p_i (dy_i - c), it is u_i - p_i sum(u), where
the usual p_i (dy_i - sum p_j dy_j) cancels completely once one logit dominates.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from gateproof.kernels.attention_chunks import LOG2E, chunk_on
from gateproof.kernels.pointwise import LIBRARY
from gateproof.kernels.softmax_autograd import tg_softmax
from gateproof.kernels.traced import applied, exported

_INFINITY = float("inf")


def gate_softmax(z: torch.Tensor, dim: int, *, log: bool = False, safe: bool = False) -> torch.Tensor:
    """Softmax along ``dim`` of a floating tensor, or its logarithm, computed in float32 or float64."""
    if not z.dim():
        return gate_softmax(z.reshape(1), 0, log=log, safe=safe).reshape(())
    # Counted from the end, so that a dimension of vmap's in front changes nothing.
    place = dim - z.dim() if dim >= 0 else dim
    if exported():
        return plain_value(z, place, log, safe)
    if z.is_cuda and not log and not torch.compiler.is_compiling():
        return tg_softmax(z, place, safe=safe)
    if torch.compiler.is_compiling():
        return applied(_Traced, z, place, log, safe)  # type: ignore[no-any-return]
    return _Gate.apply(z, place, log, safe)  # type: ignore[no-any-return]


def _wide(t: torch.Tensor) -> torch.Tensor:
    return t if t.dtype in (torch.float32, torch.float64) else t.float()


def _framed(m: torch.Tensor, safe: bool) -> torch.Tensor:
    return m.masked_fill(m == -_INFINITY, 0.0) if safe else m


def plain_value(z: torch.Tensor, dim: int, log: bool, safe: bool) -> torch.Tensor:
    """The value in operations that a compiler fuses."""
    if not z.numel():
        return z.clone()
    wide = _wide(z)
    d = wide - _framed(wide.amax(dim, keepdim=True), safe)
    w = torch.exp(d)
    total = w.sum(dim, keepdim=True)
    if log:
        return (d - total.log()).to(z.dtype)
    if safe:
        total = torch.where(total == 0, 1.0, total)
    return (w / total).to(z.dtype)


def plain_gradient(dy: torch.Tensor, y: torch.Tensor, dim: int, log: bool) -> torch.Tensor:
    """The gradient from the result ``y``; also how it moves with the logits, unless ``log``."""
    if not y.numel():
        return torch.zeros_like(y)
    p, d = _wide(y), _wide(dy)
    if log:
        return (d - torch.exp(p) * d.sum(dim, keepdim=True)).to(y.dtype)
    top = (p == p.amax(dim, keepdim=True)).to(p.dtype)
    centre = (top * d).sum(dim, keepdim=True) / top.sum(dim, keepdim=True)
    u = p * (d - centre)
    return (u - p * u.sum(dim, keepdim=True)).to(y.dtype)


def plain_moved(t: torch.Tensor, y: torch.Tensor, dim: int, log: bool) -> torch.Tensor:
    """How the result moves with the logits."""
    if not log:
        return plain_gradient(t, y, dim, log=False)
    wide = _wide(t)
    return (wide - (torch.exp(_wide(y)) * wide).sum(dim, keepdim=True)).to(y.dtype)


def _blocks(shape: torch.Size, dim: int, most: int) -> tuple[tuple[int, ...], Iterator[tuple[slice, ...]]]:
    """The shape as (rows, n) or (outer, n, inner), and blocks of whole rows that fit a core's cache."""
    n, inner = shape[dim], shape[dim + 1 :].numel() if dim < -1 else 1
    outer = shape[:dim].numel()
    across = min(inner, max(16, most // n))
    step = max(1, most // (n * across))
    every = slice(None)
    if inner == 1:
        return (outer, n), ((slice(o, o + step), every) for o in range(0, outer, step))
    return (outer, n, inner), (
        (slice(o, o + step), every, slice(i, i + across))
        for o in range(0, outer, step)
        for i in range(0, inner, across)
    )


def _value(z: torch.Tensor, dim: int, log: bool, safe: bool) -> torch.Tensor:
    out = torch.empty_like(z, memory_format=torch.contiguous_format)
    if not z.numel():
        return out
    shape, blocks = _blocks(z.shape, dim, chunk_on(z.device))
    source, result = z.reshape(shape), out.view(shape)
    real = torch.float64 if z.dtype == torch.float64 else torch.float32
    for b in blocks:
        x = source[b].to(real)
        m = _framed(x.amax(1, keepdim=True), safe)
        if log:
            d = x - m
            # Summed in float64: less the largest's 1 it is the sum of the others within 1e-16.
            total = d.mul(LOG2E).exp2_().sum(1, keepdim=True, dtype=torch.float64)
            result[b] = d.sub_((total - 1.0).log1p_().to(real))
            continue
        w = torch.sub(x, m, out=result[b]) if out.dtype == real else x.sub(m)
        w.mul_(LOG2E).exp2_()
        total = w.sum(1, keepdim=True)
        if safe:
            total.masked_fill_(total == 0, 1.0)
        w.div_(total)
        if out.dtype != real:
            result[b] = w
    return out


def _gradient(dy: torch.Tensor, y: torch.Tensor, dim: int, log: bool) -> torch.Tensor:
    out = torch.empty_like(y, memory_format=torch.contiguous_format)
    if not y.numel():
        return out
    shape, blocks = _blocks(y.shape, dim, chunk_on(y.device))
    given, values, result = dy.reshape(shape), y.reshape(shape), out.view(shape)
    for b in blocks:
        p, d = _wide(values[b]), _wide(given[b])
        if log:
            w = p.mul(LOG2E).exp2_()
            result[b] = d - w.mul_(d.sum(1, keepdim=True))
            continue
        _, at = p.max(1, keepdim=True)
        u = d.sub(d.gather(1, at)).mul_(p)
        result[b] = u.addcmul_(p, u.sum(1, keepdim=True), value=-1)
    return out


_TAGS = (torch.Tag.pt2_compliant_tag,)
LIBRARY.define("gate_softmax(Tensor z, int dim, bool log, bool safe) -> Tensor", tags=_TAGS)
LIBRARY.define("gate_softmax_backward(Tensor dy, Tensor y, int dim, bool log) -> Tensor", tags=_TAGS)
for _key in ("CPU", "CUDA"):
    LIBRARY.impl("gate_softmax", _value, _key)
    LIBRARY.impl("gate_softmax_backward", _gradient, _key)


@torch.library.register_fake("gateproof::gate_softmax", lib=LIBRARY)
def _(z: torch.Tensor, *_: Any) -> torch.Tensor:
    return torch.empty_like(z, memory_format=torch.contiguous_format)


@torch.library.register_fake("gateproof::gate_softmax_backward", lib=LIBRARY)
def _(dy: torch.Tensor, y: torch.Tensor, *_: Any) -> torch.Tensor:  # noqa: ARG001 - its signature
    return torch.empty_like(y, memory_format=torch.contiguous_format)


def _mapped(info: Any, dims: Any, z: torch.Tensor, *given: Any) -> Any:  # noqa: ARG001 - its signature
    return torch.ops.gateproof.gate_softmax(z.movedim(dims[0], 0), *given), 0


torch.library.register_vmap("gateproof::gate_softmax", _mapped, lib=LIBRARY)


def _mapped_gradient(info: Any, dims: Any, dy: torch.Tensor, y: torch.Tensor, *given: Any) -> Any:
    spread = [
        t.unsqueeze(0).expand(info.batch_size, *t.shape) if d is None else t.movedim(d, 0)
        for t, d in zip((dy, y), dims, strict=False)
    ]
    return torch.ops.gateproof.gate_softmax_backward(*spread, *given), 0


torch.library.register_vmap("gateproof::gate_softmax_backward", _mapped_gradient, lib=LIBRARY)


class _Gate(torch.autograd.Function):
    """Calls the dispatcher; its gradient can be differentiated again."""

    generate_vmap_rule = True

    @staticmethod
    def forward(z: torch.Tensor, dim: int, log: bool, safe: bool) -> Any:
        return torch.ops.gateproof.gate_softmax(z, dim, log, safe)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        _, ctx.dim, ctx.log, _ = inputs
        ctx.save_for_backward(output)
        ctx.save_for_forward(output)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        (y,) = ctx.saved_tensors
        again = torch.is_grad_enabled()
        made = plain_gradient if again else torch.ops.gateproof.gate_softmax_backward
        return made(grad_outputs[0], y, ctx.dim, ctx.log), None, None, None

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        (y,) = ctx.saved_tensors
        return plain_moved(grad_inputs[0], y, ctx.dim, ctx.log)


class _Traced(torch.autograd.Function):
    """In PyTorch's own operations, for a compiler to fuse with what stands around it."""

    @staticmethod
    def forward(z: torch.Tensor, dim: int, log: bool, safe: bool) -> Any:
        return plain_value(z, dim, log, safe)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        _, ctx.dim, ctx.log, _ = inputs
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        (y,) = ctx.saved_tensors
        return plain_gradient(grad_outputs[0], y, ctx.dim, ctx.log), None, None, None
