"""multi_head_attention_forward on softmax as a threshold gate, and the fused operator beside it.

The steps are those of ``torch.nn.functional.multi_head_attention_forward`` with all its arguments, in its
order, so that dropout draws the same numbers. The fused ``torch._native_multi_head_attention``, which
PyTorch's modules take when they do not learn, never runs.
"""

# PyTorch's own names with an underscore have no types.
# pyright: reportPrivateImportUsage=false, reportAttributeAccessIssue=false

from __future__ import annotations

from math import sqrt
from typing import Any

import torch
from torch.nn import functional

from gateproof.kernels.convert.attention_calls import attention, converted
from gateproof.kernels.convert.plan import Plan, handles
from gateproof.kernels.convert.softmax_calls import as_it_is, bound, kept
from gateproof.kernels.convert.softmax_form import gate_softmax

_REQUIRED = object()
_GIVEN = (
    "query", "key", "value", "embed_dim_to_check", "num_heads", "in_proj_weight", "in_proj_bias", "bias_k",
    "bias_v", "add_zero_attn", "dropout_p", "out_proj_weight", "out_proj_bias",
)  # fmt: skip
_OPTIONS: dict[str, Any] = {
    "training": True, "key_padding_mask": None, "need_weights": True, "attn_mask": None,
    "use_separate_proj_weight": False, "q_proj_weight": None, "k_proj_weight": None, "v_proj_weight": None,
    "static_k": None, "static_v": None, "average_attn_weights": True, "is_causal": False,
}  # fmt: skip
_NAMES, _DEFAULTS = (*_GIVEN, *_OPTIONS), (*(_REQUIRED for _ in _GIVEN), *_OPTIONS.values())


@handles(functional.multi_head_attention_forward)
def _multihead(plan: Plan, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    g = bound(_NAMES, _DEFAULTS, args, kwargs)
    name = "torch.nn.functional.multi_head_attention_forward"
    if g is None or not _in_order(g):
        return as_it_is(plan, "attention", name, function, args, kwargs)
    plan.site("attention", name, converted)
    return multihead(g)


def _in_order(g: dict[str, Any]) -> bool:
    """Whether shapes and options agree: what does not goes to PyTorch, for its own error."""
    q, k, v, heads, embed = (g[n] for n in ("query", "key", "value", "num_heads", "embed_dim_to_check"))
    mask, padding = g["attn_mask"], g["key_padding_mask"]
    if q.is_nested or not (q.dim() == k.dim() == v.dim() and q.dim() in (2, 3)) or q.shape[-1] != embed:
        return False
    separate = g["use_separate_proj_weight"]
    agree = k.shape[:-1] == v.shape[:-1] if separate else k.shape == v.shape
    weights = (
        [g[n] for n in ("q_proj_weight", "k_proj_weight", "v_proj_weight")]
        if separate
        else [g["in_proj_weight"]]
    )
    if not agree or embed % heads or any(w is None for w in weights) or (g["is_causal"] and mask is None):
        return False
    if (g["bias_k"] is None) != (g["bias_v"] is None):
        return False
    fixed = [g[n] for n in ("static_k", "static_v") if g[n] is not None]
    batch = 1 if q.dim() == 2 else q.shape[1]
    if fixed and g["bias_k"] is not None:
        return False
    if any(t.shape[0] != batch * heads or t.shape[2] != embed // heads for t in fixed):
        return False
    sizes = ((q.shape[0], k.shape[0]), (batch * heads, q.shape[0], k.shape[0]))
    if mask is not None and tuple(mask.shape) not in sizes:
        return False
    lone = g["is_causal"] and padding is None and g["need_weights"]
    if padding is not None and tuple(padding.shape) != (k.shape[:1] if q.dim() == 2 else (batch, k.shape[0])):
        return False
    return not (lone and mask is None)


def _added(mask: Any, dtype: torch.dtype) -> Any:
    """A mask of bools, True to hide, as numbers to add."""
    if mask is None or mask.is_floating_point():
        return mask
    return torch.zeros_like(mask, dtype=dtype).masked_fill_(mask, -float("inf"))


def multihead(g: dict[str, Any]) -> tuple[torch.Tensor, torch.Tensor | None]:
    """The result and the weights, of ``multi_head_attention_forward``'s arguments by name."""
    query, key, value, heads = g["query"], g["key"], g["value"], g["num_heads"]
    alone = query.dim() == 2
    if alone:
        same = key is query, value is key
        query = query.unsqueeze(1)
        key = query if same[0] else key.unsqueeze(1)
        value = key if same[1] else value.unsqueeze(1)
    _, batch, embed = query.shape
    width = embed // heads
    mask, padding = g["attn_mask"], g["key_padding_mask"]
    causal = bool(g["is_causal"] and padding is None and not g["need_weights"])
    mask = None if causal else _added(mask, query.dtype)
    padding = _added(padding, query.dtype)
    if mask is not None:
        mask = mask.view(1, 1, *mask.shape) if mask.dim() == 2 else mask.view(batch, heads, *mask.shape[1:])
    if padding is not None:
        padding = padding.view(batch, 1, 1, -1)

    q, k, v = _projected(g, query, key, value)
    more = 0
    if g["bias_k"] is not None:
        k = torch.cat([k, g["bias_k"].repeat(1, batch, 1)])
        v = torch.cat([v, g["bias_v"].repeat(1, batch, 1)])
        more += 1

    def split(t: Any) -> Any:
        return t.reshape(t.shape[0], batch, heads, width).permute(1, 2, 0, 3)

    def given(t: Any, fixed: Any) -> Any:
        return split(t) if fixed is None else fixed.view(batch, heads, -1, width)

    q, k, v = split(q), given(k, g["static_k"]), given(v, g["static_v"])
    if g["add_zero_attn"]:
        k, v = (torch.cat([t, t.new_zeros(batch, heads, 1, width)], 2) for t in (k, v))
        more += 1
    # Keys that are no part of the input are seen by all.
    mask, padding = (t if t is None or not more else functional.pad(t, (0, more)) for t in (mask, padding))
    mask = padding if mask is None else mask if padding is None else mask + padding
    dropout = g["dropout_p"] if g["training"] else 0.0

    if not g["need_weights"]:
        found = attention(q, k, v, mask, dropout, causal)
        return _out(g, found, alone), None
    scores = torch.matmul(q * sqrt(1.0 / width), k.transpose(-2, -1))
    weights = gate_softmax(scores if mask is None else scores + mask, -1)
    if dropout > 0.0:
        weights = functional.dropout(weights, p=dropout)
    result = _out(g, torch.matmul(weights, v), alone)
    if g["average_attn_weights"]:
        weights = weights.mean(dim=1)
    return result, weights.squeeze(0) if alone else weights


def _projected(g: dict[str, Any], query: Any, key: Any, value: Any) -> Any:
    if not g["use_separate_proj_weight"]:
        weight, bias = g["in_proj_weight"], g["in_proj_bias"]
        return functional._in_projection_packed(query, key, value, weight, bias)  # type: ignore[attr-defined]
    biases = (None,) * 3 if g["in_proj_bias"] is None else g["in_proj_bias"].chunk(3)
    weights = (g[n] for n in ("q_proj_weight", "k_proj_weight", "v_proj_weight"))
    return functional._in_projection(query, key, value, *weights, *biases)  # type: ignore[attr-defined]


def _out(g: dict[str, Any], heads: torch.Tensor, alone: bool) -> torch.Tensor:
    """(batch, heads, rows, width) through the last projection, rows first."""
    batch, _, rows, _ = heads.shape
    flat = heads.permute(2, 0, 1, 3).reshape(rows * batch, -1)
    found = functional.linear(flat, g["out_proj_weight"], g["out_proj_bias"]).view(rows, batch, -1)
    return found.squeeze(1) if alone else found


_NATIVE = (
    "query", "key", "value", "embed_dim", "num_head", "qkv_weight", "qkv_bias", "proj_weight", "proj_bias",
    "mask", "need_weights", "average_attn_weights", "mask_type",
)  # fmt: skip
_aten = torch.ops.aten
_ONE = [torch._native_multi_head_attention, _aten._native_multi_head_attention]
NESTED = "nested tensors: their rows have different lengths; pad them, with a mask"


@handles(*_ONE, _aten._native_multi_head_attention.default)
def _native(plan: Plan, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    g = bound(_NATIVE, (*(_REQUIRED,) * 9, None, True, True, None), args, kwargs)
    if g is None or g["query"].is_nested:
        plan.site("attention", "torch._native_multi_head_attention", lambda: kept(NESTED))
        return function(*args, **kwargs)
    plan.site("attention", "torch._native_multi_head_attention", converted)
    found, weights = batch_first(g)
    return found, found.new_empty(0) if weights is None else weights


def batch_first(g: dict[str, Any]) -> Any:
    """``multihead`` of batches first, with one mask of bools: of scores (0), keys (1) or both (2)."""
    same = g["key"] is g["query"], g["value"] is g["key"]
    q = g["query"].transpose(0, 1)
    k = q if same[0] else g["key"].transpose(0, 1)
    v = k if same[1] else g["value"].transpose(0, 1)
    mask = None if g["mask"] is None else g["mask"].bool()
    if mask is not None and g["mask_type"] == 2:
        mask = mask.expand(q.shape[1], g["num_head"], *mask.shape[-2:]).reshape(-1, *mask.shape[-2:])
    given = dict(_OPTIONS) | {
        "query": q, "key": k, "value": v, "embed_dim_to_check": g["embed_dim"], "num_heads": g["num_head"],
        "in_proj_weight": g["qkv_weight"], "in_proj_bias": g["qkv_bias"], "bias_k": None, "bias_v": None,
        "add_zero_attn": False, "dropout_p": 0.0, "out_proj_weight": g["proj_weight"],
        "out_proj_bias": g["proj_bias"], "training": False, "need_weights": g["need_weights"],
        "average_attn_weights": g["average_attn_weights"],
        "key_padding_mask" if g["mask_type"] == 1 else "attn_mask": mask,
    }  # fmt: skip
    found, weights = multihead(given)
    return found.transpose(0, 1), weights
