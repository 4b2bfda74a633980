"""y W^T in Triton, without the tiles of the summed dimension in which y is 0."""

# mypy: allow-untyped-defs, allow-incomplete-defs
# Triton reads these functions' text; the types of their arguments exist only in a compiled kernel.

from __future__ import annotations

import torch
import triton
import triton.language as tl

from gateproof.kernels.start import start

_OUTPUTS, _WARPS = 64, 4


@triton.jit
def _kernel(
    out, y, w, bias, lists, counts, rows, outputs, features, tiles_n, tiles_k, sym, syk, swn, swk, som,
    WITH_BIAS: tl.constexpr, TOKENS: tl.constexpr, OUTPUTS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(0).to(tl.int64)
    tile_m = pid // tiles_n
    m = tile_m * TOKENS + tl.arange(0, TOKENS)
    n = (pid - tile_m * tiles_n) * OUTPUTS + tl.arange(0, OUTPUTS)
    inside_m, inside_n = m < rows, n < outputs
    total = tl.zeros((TOKENS, OUTPUTS), tl.float32)
    for i in range(tl.load(counts + tile_m)):
        k = tl.load(lists + tile_m * tiles_k + i).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
        inside_k = k < features
        at_y = y + m[:, None] * sym + k[None, :] * syk
        at_w = w + k[:, None] * swk + n[None, :] * swn
        a = tl.load(at_y, mask=inside_m[:, None] & inside_k[None, :], other=0.0)
        b = tl.load(at_w, mask=inside_k[:, None] & inside_n[None, :], other=0.0)
        total = tl.dot(a, b, total, input_precision="ieee")
    if WITH_BIAS:
        total += tl.load(bias + n, mask=inside_n, other=0.0).to(tl.float32)[None, :]
    at = out + m[:, None] * som + n[None, :]
    tl.store(at, total.to(out.dtype.element_ty), mask=inside_m[:, None] & inside_n[None, :])


def run(
    y: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    live: torch.Tensor,
    tokens: int,
    features: int,
) -> torch.Tensor:
    """y (rows, k) times weight (outputs, k) transposed; ``live`` (row tiles, k tiles) says what to read."""
    out = torch.empty(y.shape[0], weight.shape[0], dtype=y.dtype, device=y.device)
    # The live tiles of each row of tiles first, in their order: sums do not depend on anything else.
    lists = live.to(torch.int8).argsort(dim=1, descending=True, stable=True).to(torch.int32)
    counts = live.sum(1, dtype=torch.int32)
    tiles_n = -(-weight.shape[0] // _OUTPUTS)
    start(
        y.device,
        _kernel,
        (live.shape[0] * tiles_n,),
        out,
        y,
        weight,
        out if bias is None else bias.contiguous(),
        lists,
        counts,
        *y.shape[:1],
        *weight.shape,
        tiles_n,
        live.shape[1],
        *y.stride(),
        *weight.stride(),
        out.stride(0),
        WITH_BIAS=bias is not None,
        TOKENS=tokens,
        OUTPUTS=_OUTPUTS,
        BLOCK=features,
        num_warps=_WARPS,
    )
    return out
