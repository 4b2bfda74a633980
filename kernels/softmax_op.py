"""``gateproof::tg_softmax``: softmax, or the log-odds that its gates take, over the last dimension."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import torch

from gateproof.kernels import choice
from gateproof.kernels import softmax as formulas
from gateproof.kernels.composite import maybe_compiled, real_type
from gateproof.kernels.pointwise import LIBRARY

#: Logits a block: a longer row takes several.
LONGEST = 4096
LIBRARY.define("tg_softmax(Tensor z, Tensor? mask, bool odds) -> Tensor", tags=(torch.Tag.pt2_compliant_tag,))
LIBRARY.define(
    "tg_softmax_backward(Tensor dy, Tensor z, Tensor? mask, bool odds) -> Tensor",
    tags=(torch.Tag.pt2_compliant_tag,),
)


def computed_value(z: Any, mask: Any, odds: bool) -> Any:
    """The value in PyTorch's own operations."""
    logits = masked(z, mask)
    return (formulas.log_odds(logits) if odds else formulas.probabilities(logits)).to(z.dtype)


def computed_gradient(dy: Any, z: Any, mask: Any, odds: bool) -> Any:
    """The gradient in the logits likewise."""
    logits = masked(z, mask)
    rule = formulas.log_odds_gradient if odds else formulas.probabilities_gradient
    found = rule(dy.to(logits.dtype), logits)
    return (found if mask is None else torch.where(mask, found, 0.0)).to(z.dtype)


def masked(z: Any, mask: Any) -> Any:
    """Logits in the type that is computed in, -infinity where the mask is False."""
    wide = z.to(real_type([z]))
    return wide if mask is None else torch.where(mask, wide, -float("inf"))


def _rows(t: torch.Tensor) -> torch.Tensor:
    """(rows, n); a view where one stride steps from row to row."""
    return t.reshape(-1, t.shape[-1])


def _launch(name: str, out: torch.Tensor, tensors: list[torch.Tensor], mask: Any, odds: bool) -> None:
    import triton.language as tl

    from gateproof.kernels import softmax_triton

    flat = [_rows(t) for t in tensors]
    keep = None if mask is None else _rows(mask.contiguous())
    n = out.shape[-1]
    real = tl.float64 if out.dtype == torch.float64 else tl.float32
    guard: Any = torch.cuda.device(out.device) if out.is_cuda else nullcontext()
    result = _rows(out)
    places = [s for t in flat for s in (t.stride(0), t.stride(1))]
    with guard:
        getattr(softmax_triton, name)[(result.shape[0],)](
            result,
            *flat,
            result if keep is None else keep,
            n,
            result.stride(0),
            *places,
            0 if keep is None else keep.stride(0),
            ODDS=odds,
            HAS_MASK=keep is not None,
            REAL=real,
            BLOCK=min(LONGEST, max(16, 1 << (n - 1).bit_length())),
        )


def _value(z: torch.Tensor, mask: Any, odds: bool) -> torch.Tensor:
    if not z.numel():
        return torch.empty_like(z, memory_format=torch.contiguous_format)
    if choice.code_for(z.device.type) != "triton":
        found: torch.Tensor = maybe_compiled(computed_value, z.device.type)(z, mask, odds)
        return found
    out = torch.empty_like(z, memory_format=torch.contiguous_format)
    _launch("forward", out, [z], mask, odds)
    return out


def _gradient(dy: torch.Tensor, z: torch.Tensor, mask: Any, odds: bool) -> torch.Tensor:
    if not z.numel():
        return torch.empty_like(z, memory_format=torch.contiguous_format)
    if choice.code_for(z.device.type) != "triton":
        found: torch.Tensor = maybe_compiled(computed_gradient, z.device.type)(dy, z, mask, odds)
        return found
    out = torch.empty_like(z, memory_format=torch.contiguous_format)
    _launch("backward", out, [dy, z], mask, odds)
    return out if mask is None else out.masked_fill_(~mask, 0.0)


for _key in ("CPU", "CUDA"):
    LIBRARY.impl("tg_softmax", _value, _key)
    LIBRARY.impl("tg_softmax_backward", _gradient, _key)


@torch.library.register_fake("gateproof::tg_softmax", lib=LIBRARY)
def _fake(z: torch.Tensor, mask: Any, odds: bool) -> torch.Tensor:
    return torch.empty_like(z, memory_format=torch.contiguous_format)


@torch.library.register_fake("gateproof::tg_softmax_backward", lib=LIBRARY)
def _fake_backward(dy: torch.Tensor, z: torch.Tensor, mask: Any, odds: bool) -> torch.Tensor:
    return torch.empty_like(z, memory_format=torch.contiguous_format)
