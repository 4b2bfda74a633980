"""``gateproof::tg_attention`` and its gradient: fused on a GPU, in chunks elsewhere.

Beside the result the operation gives what its gradient wants: of each row the largest score and the sum of
exponentials about it, and the key that has it (-1 for none, and in chunks, where the gradient looks for it).
"""

from __future__ import annotations

from typing import Any

import torch

from gateproof.kernels import choice
from gateproof.kernels.attention import Kind
from gateproof.kernels.attention_chunks import gradients_in_chunks, in_chunks
from gateproof.kernels.composite import real_type
from gateproof.kernels.launch import bits
from gateproof.kernels.pointwise import LIBRARY
from gateproof.kernels.start import lanes_of, start

#: Wider heads than this do not fit a program's registers: they go in chunks.
WIDEST = 128
_TAGS = (torch.Tag.pt2_compliant_tag,)
_REST = "bool causal, float scale, bool safe"
_GIVEN = "Tensor q, Tensor k, Tensor v, Tensor? mask"
_MADE = "(Tensor, Tensor, Tensor)"
LIBRARY.define(f"tg_attention({_GIVEN}, {_REST}) -> {_MADE}", tags=_TAGS)
LIBRARY.define(
    f"tg_attention_backward(Tensor dout, {_GIVEN}, Tensor stats, Tensor place, {_REST}) -> {_MADE}",
    tags=_TAGS,
)


def _value(q: Any, k: Any, v: Any, mask: Any, causal: bool, scale: float, safe: bool) -> Any:
    if not _fused(q, v):
        return in_chunks(q.detach(), k.detach(), v.detach(), mask, Kind(causal, scale, safe))
    from gateproof.kernels import attention_triton

    out, stats, place = _fake(q, k, v)
    tile = _tile(q, v, forward=True)
    start(
        q.device,
        attention_triton.forward,
        (q.shape[0] * q.shape[1] * -(-q.shape[2] // tile["BM"]),),
        *(out, stats, place),
        *(q, k, v),
        *_rest([], q, k, v, mask, scale),
        SAFE=safe,
        **_options(q, mask, causal),
        **tile,
    )
    return out, stats, place


def _gradients(dout: Any, q: Any, k: Any, v: Any, mask: Any, stats: Any, place: Any, *rest: Any) -> Any:
    causal, scale, safe = rest
    if not _fused(q, v):
        wide = [t.detach() for t in (dout, q, k, v)]
        return gradients_in_chunks(wide[0], wide[1], wide[2], wide[3], mask, Kind(causal, scale, safe))
    from gateproof.kernels import attention_triton

    dq, dk, dv = _fake_backward(dout, q, k, v)
    sums = torch.empty_like(stats)
    tile = _tile(q, v, forward=False)
    common = (dout, stats, place, q, k, v, *_rest([dout], q, k, v, mask, scale))
    options = {**_options(q, mask, causal), **tile}
    rows, keys = (-(-n // tile[b]) for n, b in ((q.shape[2], "BM"), (k.shape[2], "BN")))
    heads = q.shape[0] * q.shape[1]
    start(q.device, attention_triton.backward_rows, (heads * rows,), dq, sums, *common, **options)
    groups = k.shape[0] * k.shape[1]
    start(q.device, attention_triton.backward_keys, (groups * keys,), dk, dv, sums, *common, **options)
    return dq, dk, dv


def _fused(q: Any, v: Any) -> bool:
    return choice.code_for(q.device.type) == "triton" and max(q.shape[-1], v.shape[-1]) <= WIDEST


def _rest(first: list[Any], q: Any, k: Any, v: Any, mask: Any, scale: float) -> tuple[Any, ...]:
    """Mask, scale, sizes and strides."""
    heads, rows, width = q.shape[1:]
    strides = [s for t in (*first, q, k, v) for s in t.stride()]
    return (
        q if mask is None else mask,
        bits(scale),
        heads,
        heads // k.shape[1],
        rows,
        k.shape[2],
        width,
        v.shape[-1],
        *strides,
        *((0, 0, 0, 0) if mask is None else mask.stride()),
    )


def _options(q: Any, mask: Any, causal: bool) -> dict[str, Any]:
    import triton.language as tl

    # The interpreter's products of bfloat16 act on raw bits.
    narrow = q.dtype in (torch.bfloat16, torch.float16) and not choice.interpreted()
    real = tl.float64 if q.dtype == torch.float64 else tl.float32
    return {"CAUSAL": causal, "HAS_MASK": mask is not None, "NARROW": narrow, "REAL": real}


def _tile(q: Any, v: Any, *, forward: bool) -> dict[str, int]:
    """Rows and keys a tile, and powers of two for the widths: a plain table, no search at run time.

    Chosen by registers: none of the three kernels spills at a width of 128 on the architectures of ``ahead``,
    whose table holds them. Fewer stages of loads for the gradients of wide heads, for the same reason.
    """
    wide, wide_v = (max(16, 1 << (t.shape[-1] - 1).bit_length()) for t in (q, v))
    slim = max(wide, wide_v) <= 64
    if q.dtype in (torch.bfloat16, torch.float16):
        rows, keys = (128, 64 if slim else 32) if forward else (64, 64 if slim else 32)
        if not (forward or slim) and lanes_of(q.device) == 64:
            rows, keys = 32, 16
    else:
        rows, keys = (32 if slim else 16, 32 if forward else 16)
    stages = {} if forward or slim else {"num_stages": 2}
    return {"BM": rows, "BN": keys, "WE": wide, "WV": wide_v, "num_warps": 8, **stages}


def _fake(q: Any, k: Any, v: Any, *_: Any) -> Any:
    return (
        q.new_empty(*q.shape[:3], v.shape[-1]),
        q.new_empty(*q.shape[:3], 2, dtype=real_type([q, k, v])),
        q.new_empty(q.shape[:3], dtype=torch.int32),
    )


def _fake_backward(_: Any, q: Any, k: Any, v: Any, *__: Any) -> Any:
    return tuple(torch.empty_like(t, memory_format=torch.contiguous_format) for t in (q, k, v))


def _batched(name: str, count: int) -> Any:
    """The rule of an operation on batches: the new dimension joins that of batches."""

    def rule(info: Any, dims: Any, *args: Any) -> Any:
        spread = []
        for a, d in zip(args[:count], dims[:count], strict=True):
            if a is not None:
                a = a.unsqueeze(0).expand(info.batch_size, *a.shape) if d is None else a.movedim(d, 0)
                a = a.flatten(0, 1)
            spread.append(a)
        found = getattr(torch.ops.gateproof, name).default(*spread, *args[count:])
        return tuple(t.unflatten(0, (info.batch_size, -1)) for t in found), (0,) * len(found)

    return rule


for _name, _run, _shapes, _count in (
    ("tg_attention", _value, _fake, 4),
    ("tg_attention_backward", _gradients, _fake_backward, 7),
):
    for _key in ("CPU", "CUDA"):
        LIBRARY.impl(_name, _run, _key)
    torch.library.register_fake(f"gateproof::{_name}", _shapes, lib=LIBRARY)
    torch.library.register_vmap(f"gateproof::{_name}", _batched(_name, _count), lib=LIBRARY)

VALUE = torch.ops.gateproof.tg_attention.default
GRADIENTS = torch.ops.gateproof.tg_attention_backward.default
