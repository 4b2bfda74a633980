"""The handlers of attention: scaled_dot_product_attention on softmax as a threshold gate.

Without dropout no buffer grows with rows times keys. With dropout, and in programs that ``torch.export``
writes, the weights are held, as PyTorch's own definition does; dropout then draws what PyTorch's would from
the same state of the generator: a Bernoulli number a weight, in the order of (batch, heads, rows, keys).
"""

# PyTorch's own names with an underscore have no types.
# pyright: reportPrivateImportUsage=false, reportAttributeAccessIssue=false

from __future__ import annotations

from math import sqrt
from typing import Any

import torch
from torch.nn import functional

from gateproof.kernels.attention_autograd import tg_attention
from gateproof.kernels.convert.biased_attention import biased_attention
from gateproof.kernels.convert.forms import Treatment
from gateproof.kernels.convert.plan import Plan, handles
from gateproof.kernels.convert.softmax_calls import as_it_is, bound, kept
from gateproof.kernels.convert.softmax_form import gate_softmax
from gateproof.kernels.precision import autocasts
from gateproof.kernels.traced import to_onnx

_WORDS = (
    "exact gate of each key, opened by its score minus the log-sum-exp of the other keys' scores; a row that "
    "sees no key is 0"
)
_REQUIRED = object()
_NAMES = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal", "scale", "enable_gqa")
_DEFAULTS = (_REQUIRED, _REQUIRED, _REQUIRED, None, 0.0, False, None, False)


def converted() -> Treatment:
    """What becomes of attention."""
    return Treatment("exact", _WORDS, ("attention",), "softmax(z, i) == sigmoid(z[i] - lse(z, without=i))")


def attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor | None = None,
    dropout: float = 0.0, causal: bool = False, scale: float | None = None,
) -> torch.Tensor:  # fmt: skip
    """What scaled_dot_product_attention gives; ``mask`` of bools keeps, one of numbers is added to scores.

    Shapes as there; k and v may have fewer heads, each for a run of q's.
    """
    if autocasts(q.device.type):
        narrow = torch.get_autocast_dtype(q.device.type)
        q, k, v = (t if t.dtype == torch.float64 else t.to(narrow) for t in (q, k, v))
    factor = 1 / sqrt(q.shape[-1]) if scale is None else float(scale)
    if dropout > 0 or torch.compiler.is_exporting() or to_onnx():
        return _by_weights(q, k, v, mask, dropout, causal, factor)
    if mask is None or mask.dtype == torch.bool:
        return _laid_out(tg_attention(q, k, v, mask, causal, factor))
    if not (q.numel() and k.numel() and v.numel()):
        return _laid_out(tg_attention(q, k, v, None, causal, factor))
    return _laid_out(_biased(q, k, v, mask, causal, factor))


def _laid_out(y: torch.Tensor) -> torch.Tensor:
    """Rows before heads in memory, as PyTorch's has it: code that views both as one relies on it."""
    return y.transpose(1, 2).contiguous().transpose(1, 2) if y.dim() == 4 and y.shape[1] > 1 else y


def _biased(q: Any, k: Any, v: Any, mask: Any, causal: bool, scale: float) -> torch.Tensor:
    *lead, heads, _, _ = _at_least_three(q).shape
    batch = torch.broadcast_shapes(torch.Size(lead), *(_at_least_three(t).shape[:-3] for t in (k, v)))
    groups = max(_at_least_three(t).shape[-3] for t in (k, v))
    count = max(heads, groups)
    wide, keys, values = [
        _at_least_three(t).expand(*batch, n, *t.shape[-2:]).reshape(-1, n, *t.shape[-2:])
        for t, n in ((q, count), (k, groups), (v, groups))
    ]
    bias = mask.reshape((1,) * max(0, 4 - mask.dim()) + mask.shape)
    if len(batch) > 1:
        bias = bias.expand(*batch, *bias.shape[-3:]).reshape(-1, *bias.shape[-3:])
    y = biased_attention(wide, keys, values, bias, causal, scale)
    bare = max(t.dim() for t in (q, k, v)) == 2
    return y.reshape(*(() if bare else (*batch, count)), *y.shape[-2:])


def _at_least_three(t: Any) -> Any:
    return t if t.dim() > 2 else t.unsqueeze(0)


def _by_weights(
    q: Any, k: Any, v: Any, mask: Any, dropout: float, causal: bool, scale: float
) -> torch.Tensor:
    dtype = q.dtype
    q, k, v = (t if t.dtype == torch.float64 else t.float() for t in (q, k, v))
    if q.dim() > 2 and q.shape[-3] not in (1, k.shape[-3]):
        k, v = (t.repeat_interleave(q.shape[-3] // t.shape[-3], -3) for t in (k, v))
    scores = torch.matmul(q * scale, k.transpose(-2, -1))
    if causal:
        seen = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).tril()
        scores = scores.masked_fill(seen.logical_not(), -float("inf"))
    if mask is not None and mask.dtype == torch.bool:
        scores = scores.masked_fill(mask.logical_not(), -float("inf"))
    elif mask is not None:
        scores = scores + mask
    weights = gate_softmax(scores, -1, safe=True)
    weights = functional.dropout(weights, dropout, training=True) if dropout > 0 else weights
    return torch.matmul(weights, v).to(dtype)


def _fits(g: dict[str, Any]) -> bool:
    """Whether the arguments are in order; all else goes to PyTorch, for its own error."""
    q, k, v, mask = (g[n] for n in _NAMES[:4])
    if not all(isinstance(t, torch.Tensor) and t.is_floating_point() and t.dim() >= 2 for t in (q, k, v)):
        return False
    if not (q.dtype == k.dtype == v.dtype) and not autocasts(q.device.type):
        return False
    if q.shape[-1] != k.shape[-1] or not q.shape[-1] or k.shape[-2] != v.shape[-2]:
        return False
    if mask is not None:
        if mask.dtype not in (torch.bool, torch.float32, q.dtype) or mask.device != q.device:
            return False
        # A mask may not widen the scores.
        rows = (*q.shape[:-1], k.shape[-2])
        many = max(t.dim() for t in (q, k, v))
        if mask.dim() > many or any(m not in (1, n) for m, n in _ends(mask.shape, rows) if n != 1):
            return False
    return _heads_fit(q, k, v, bool(g["enable_gqa"]))


def _ends(a: Any, b: Any) -> list[tuple[int, int]]:
    return list(zip(reversed(a), reversed(b), strict=False))


def _heads_fit(q: Any, k: Any, v: Any, grouped: bool) -> bool:
    several = [t.shape[:-2] for t in (q, k, v)]
    if grouped and min(t.dim() for t in (q, k, v)) > 2:
        heads = [t.shape[-3] for t in (q, k, v)]
        least, most = min(heads[1:]), max(heads[1:])
        if not least or most % least or heads[0] % most:
            return False
        several = [s[:-1] for s in several]
    return all(_broadcast(a, b) for a, b in ((several[0], several[1]), (several[0], several[2]),
                                             (several[1], several[2])))  # fmt: skip


def _broadcast(a: Any, b: Any) -> bool:
    return all(m == n or 1 in (m, n) for m, n in _ends(a, b))


_SDPA = torch.ops.aten.scaled_dot_product_attention


@handles(
    functional.scaled_dot_product_attention, torch._C._nn.scaled_dot_product_attention, _SDPA, _SDPA.default
)
def _sdpa(plan: Plan, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    name = "torch.nn.functional.scaled_dot_product_attention"
    g = bound(_NAMES, _DEFAULTS, args, kwargs)
    if g is not None and any(isinstance(t, torch.Tensor) and t.is_nested for t in (g[n] for n in _NAMES[:3])):
        why = "nested tensors: their rows have different lengths; pad them, with a mask"
        plan.site("attention", name, lambda: kept(why))
        return function(*args, **kwargs)
    if g is None or not _fits(g):
        return as_it_is(plan, "attention", name, function, args, kwargs)
    plan.site("attention", name, converted)
    q, k, v, mask = (g[n] for n in _NAMES[:4])
    if g["enable_gqa"] and k.dim() > 2 and k.shape[-3] != v.shape[-3]:
        k, v = (t.repeat_interleave(max(k.shape[-3], v.shape[-3]) // t.shape[-3], -3) for t in (k, v))
    return attention(q, k, v, mask, float(g["dropout_p"]), bool(g["is_causal"]), g["scale"])


_PARTS = [
    "_scaled_dot_product_attention_math",
    "_scaled_dot_product_flash_attention",
    "_scaled_dot_product_flash_attention_for_cpu",
    "_scaled_dot_product_efficient_attention",
    "_scaled_dot_product_cudnn_attention",
]
_KERNELS = [
    found
    for name in _PARTS
    for found in (getattr(torch, name, None), getattr(torch.ops.aten, name, None),
                  getattr(getattr(torch.ops.aten, name, None), "default", None))
    if found is not None
]  # fmt: skip


@handles(*_KERNELS)
def _kernel(plan: Plan, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    why = (
        "a kernel of PyTorch's called by itself; scaled_dot_product_attention, which chooses it, is converted"
    )
    plan.site("attention", str(function), lambda: kept(why))
    return function(*args, **kwargs)


_flex = getattr(torch.ops.higher_order, "flex_attention", None)


@handles(*([] if _flex is None else [_flex]))
def _flexible(plan: Plan, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    why = "flex_attention: its scores are a program of their own; scaled_dot_product_attention is converted"
    plan.site("attention", "torch.nn.attention.flex_attention", lambda: kept(why))
    return function(*args, **kwargs)
