"""``gateproof::tg_softmax``: softmax, or the log-odds that its gates take, over the last dimension."""

from __future__ import annotations

from types import FunctionType
from typing import Any

import torch

from gateproof.kernels import choice
from gateproof.kernels import softmax as formulas
from gateproof.kernels.composite import real_type
from gateproof.kernels.pointwise import LIBRARY
from gateproof.kernels.start import start

#: Logits that stay in registers; a longer row takes several blocks.
LONGEST = 4096
#: Logits a program, where rows are short.
TILE = 2048
_TAGS = (torch.Tag.pt2_compliant_tag,)
LIBRARY.define("tg_softmax(Tensor z, Tensor? mask, bool odds, bool safe) -> Tensor", tags=_TAGS)
LIBRARY.define(
    "tg_softmax_backward(Tensor dy, Tensor z, Tensor? mask, bool odds, bool safe) -> Tensor", tags=_TAGS
)


def computed_value(z: Any, mask: Any, odds: bool, safe: bool) -> Any:
    """The value in PyTorch's own operations.

    A tie of two logits leaves log-odds as small as a sum of exponentials, with all its errors: a CPU computes
    them in float64.
    """
    logits = masked(z.double() if odds and z.device.type == "cpu" else z, mask)
    return (formulas.log_odds(logits, safe) if odds else formulas.probabilities(logits, safe)).to(z.dtype)


def computed_gradient(dy: Any, z: Any, mask: Any, odds: bool, safe: bool) -> Any:
    """The gradient in the logits likewise."""
    logits = masked(z, mask)
    rule = formulas.log_odds_gradient if odds else formulas.probabilities_gradient
    found = rule(dy.to(logits.dtype), logits, safe)
    return (found if mask is None else torch.where(mask, found, 0.0)).to(z.dtype)


def moved(t: Any, z: Any, mask: Any, odds: bool, safe: bool) -> Any:
    """How the value moves with its logits."""
    logits = masked(z, mask)
    rule = formulas.log_odds_moved if odds else formulas.probabilities_gradient
    wide = t.to(logits.dtype)
    return rule(wide if mask is None else torch.where(mask, wide, 0.0), logits, safe).to(z.dtype)


def masked(z: Any, mask: Any) -> Any:
    """Logits in the type that is computed in, -infinity where the mask is False."""
    wide = z.to(real_type([z]))
    return wide if mask is None else torch.where(mask, wide, -float("inf"))


def _rows(t: torch.Tensor) -> torch.Tensor:
    """(rows, n); a view where one stride steps from row to row."""
    return t.reshape(-1, t.shape[-1])


_compiled: dict[Any, Any] = {}


def _computed(function: Any, tensors: list[torch.Tensor], mask: Any, odds: bool, safe: bool) -> Any:
    """A function of rows, or torch.compile of it where a person chose compiled code."""
    if choice.code_for(tensors[0].device.type) == "compiled":
        # torch.compile gives up on a code object after eight forms: each kind has one of its own.
        dtypes = tuple(t.dtype for t in tensors)
        key = (function.__name__, dtypes, mask is None, odds, safe, tensors[0].device.type)
        made = _compiled.get(key)
        if made is None:
            code = function.__code__.replace(co_name=f"{function.__name__}_{len(_compiled)}")
            own = FunctionType(code, function.__globals__)
            made = _compiled[key] = torch.compile(own, dynamic=True, fullgraph=True)
        function = made
    rows = [_rows(t.detach()) for t in tensors]
    found = function(*rows, None if mask is None else _rows(mask), odds, safe)
    return found.reshape(tensors[0].shape).contiguous()


def _launch(name: str, tensors: list[torch.Tensor], mask: Any, odds: bool, safe: bool) -> torch.Tensor:
    import triton.language as tl

    from gateproof.kernels import softmax_triton

    out = torch.empty_like(tensors[-1], memory_format=torch.contiguous_format)
    flat = [_rows(t) for t in tensors]
    result, n = _rows(out), out.shape[-1]
    keep = result if mask is None else _rows(mask)
    sizes: dict[str, Any] = {"BLOCK": min(LONGEST, max(16, 1 << (n - 1).bit_length()))}
    short, count = n <= LONGEST, result.shape[0]
    if short:
        sizes["ROWS"] = min(max(1, TILE // sizes["BLOCK"]), 1 << (count - 1).bit_length())
        count = -(-count // sizes["ROWS"])
    start(
        out.device,
        getattr(softmax_triton, f"{name}_short" if short else f"{name}_long"),
        (count,),
        result,
        *flat,
        keep,
        *([result.shape[0]] if short else []),
        n,
        result.stride(0),
        *(s for t in flat for s in t.stride()),
        *((0, 0) if mask is None else keep.stride()),
        ODDS=odds,
        SAFE=safe,
        HAS_MASK=mask is not None,
        REAL=tl.float64 if out.dtype == torch.float64 else tl.float32,
        num_warps=8 if sizes["BLOCK"] == LONGEST else 4,
        **sizes,
    )
    return out


def _run(name: str, function: Any, tensors: list[torch.Tensor], mask: Any, odds: bool, safe: bool) -> Any:
    z = tensors[-1]
    if mask is not None and mask.shape != z.shape:
        raise ValueError(f"tg_softmax: a mask of z's shape {tuple(z.shape)}, found {tuple(mask.shape)}")
    if not z.numel():
        return torch.empty_like(z, memory_format=torch.contiguous_format)
    if choice.code_for(z.device.type) == "triton":
        return _launch(name, tensors, mask, odds, safe)
    return _computed(function, tensors, mask, odds, safe)


def _value(z: torch.Tensor, mask: Any, odds: bool, safe: bool) -> Any:
    return _run("forward", computed_value, [z], mask, odds, safe)


def _gradient(dy: torch.Tensor, z: torch.Tensor, mask: Any, odds: bool, safe: bool) -> Any:
    return _run("backward", computed_gradient, [dy, z], mask, odds, safe)


for _key in ("CPU", "CUDA"):
    LIBRARY.impl("tg_softmax", _value, _key)
    LIBRARY.impl("tg_softmax_backward", _gradient, _key)


@torch.library.register_fake("gateproof::tg_softmax", lib=LIBRARY)
def _fake(z: torch.Tensor, *_: Any) -> torch.Tensor:
    return torch.empty_like(z, memory_format=torch.contiguous_format)


@torch.library.register_fake("gateproof::tg_softmax_backward", lib=LIBRARY)
def _fake_backward(_: torch.Tensor, z: torch.Tensor, *__: Any) -> torch.Tensor:
    return torch.empty_like(z, memory_format=torch.contiguous_format)


def _batched(name: str, count: int) -> Any:
    """The rule of an operation on rows: the new dimension comes first in its tensors, the mask among them."""

    def rule(info: Any, dims: Any, *args: Any) -> Any:
        spread = [
            a if a is None
            else a.unsqueeze(0).expand(info.batch_size, *a.shape) if d is None
            else a.movedim(d, 0)
            for a, d in zip(args[:count], dims[:count], strict=True)
        ]  # fmt: skip
        return getattr(torch.ops.gateproof, name).default(*spread, *args[count:]), 0

    return rule


torch.library.register_vmap("gateproof::tg_softmax", _batched("tg_softmax", 2), lib=LIBRARY)
torch.library.register_vmap("gateproof::tg_softmax_backward", _batched("tg_softmax_backward", 3), lib=LIBRARY)
