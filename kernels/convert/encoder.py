"""Transformer encoders without PyTorch's fast paths: the fused layer, and the nested tensors of the encoder.

The fused ``torch._transformer_encoder_layer_fwd`` never runs. ``nn.TransformerEncoder`` makes nested tensors
of padded ones where it does not learn, and its result is then 0 (or the last norm of 0) at padded places,
where its other path leaves what attention gives there. A converted encoder makes none and gives the same 0.
Nested tensors that are given are padded, and the result nested again.
"""

# PyTorch's own names with an underscore have no types.
# pyright: reportPrivateImportUsage=false, reportAttributeAccessIssue=false

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional

from gateproof.kernels.convert.attention_calls import converted
from gateproof.kernels.convert.multihead import NESTED, batch_first
from gateproof.kernels.convert.plan import Plan, handles
from gateproof.kernels.convert.pointwise_calls import pointwise
from gateproof.kernels.convert.softmax_calls import bound, kept
from gateproof.kernels.convert.swap import FORWARDS

_REQUIRED = object()
_NAME = "torch._transformer_encoder_layer_fwd"
_WHOLE = (
    "src", "embed_dim", "num_heads", "qkv_weight", "qkv_bias", "proj_weight", "proj_bias", "use_gelu",
    "norm_first", "eps", "norm_weight_1", "norm_bias_1", "norm_weight_2", "norm_bias_2", "ffn_weight_1",
    "ffn_bias_1", "ffn_weight_2", "ffn_bias_2", "mask", "mask_type",
)  # fmt: skip


_ENCODER = torch.ops.aten._transformer_encoder_layer_fwd


@handles(torch._transformer_encoder_layer_fwd, _ENCODER, _ENCODER.default)
def _layer(plan: Plan, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    g = bound(_WHOLE, (*(_REQUIRED,) * 18, None, None), args, kwargs)
    if g is None or g["src"].is_nested:
        plan.site("attention", _NAME, lambda: kept(NESTED))
        return function(*args, **kwargs)
    plan.site("attention", _NAME, converted)
    return _fused(plan, g)


def _fused(plan: Plan, g: dict[str, Any]) -> Any:
    """What the fused layer computes, of its arguments by name."""

    def normed(x: Any, which: int) -> Any:
        return functional.layer_norm(
            x, (g["embed_dim"],), g[f"norm_weight_{which}"], g[f"norm_bias_{which}"], g["eps"]
        )

    def attended(x: Any) -> Any:
        own = {"query": x, "key": x, "value": x, "num_head": g["num_heads"], "need_weights": False}
        return batch_first({**g, **own, "average_attn_weights": True})[0]

    def fed(x: Any) -> Any:
        inner = functional.linear(x, g["ffn_weight_1"], g["ffn_bias_1"])
        kind, numbers = ("gelu", ("none",)) if g["use_gelu"] else ("relu", ())
        act = functional.gelu if g["use_gelu"] else functional.relu
        inner = pointwise(plan, act, (inner,), {}, kind, numbers, _NAME, inner, in_place=False)
        return functional.linear(inner, g["ffn_weight_2"], g["ffn_bias_2"])

    x = g["src"]
    if g["norm_first"]:
        x = x + attended(normed(x, 1))
        return x + fed(normed(x, 2))
    x = normed(x + attended(x), 1)
    return normed(x + fed(x), 2)


def _encoder(
    self: Any, src: Any, mask: Any = None, src_key_padding_mask: Any = None, is_causal: Any = None
) -> Any:
    padding = src_key_padding_mask
    if src.is_nested:
        return _nested(self, src, mask, padding)
    found = nn.TransformerEncoder.forward(self, src, mask, padding, is_causal)
    if torch.compiler.is_compiling() or padding is None or not _nests(self, src, mask, padding):
        return found
    rest = found.new_zeros(found.shape[-1])
    rest = rest if self.norm is None else self.norm(rest)
    return torch.where(padding.bool().unsqueeze(-1), rest, found)


def _nested(module: Any, src: Any, mask: Any, padding: Any) -> Any:
    """A module of nested rows, by padded ones."""
    if mask is not None or padding is not None:
        raise ValueError("a nested tensor comes without masks: its rows say how long they are")
    lengths = torch.tensor([len(row) for row in src.unbind()], device=src.device)
    padded = src.to_padded_tensor(0.0)
    seen = torch.arange(padded.shape[1], device=src.device) < lengths.unsqueeze(-1)
    found = module.forward(padded, src_key_padding_mask=seen.logical_not())
    return torch._nested_tensor_from_mask(found, seen)


def _nests(encoder: Any, src: Any, mask: Any, padding: Any) -> bool:
    """Whether the former encoder would have made nested tensors: its own conditions, in its order."""
    first = encoder.layers[0]
    if not (torch.backends.mha.get_fastpath_enabled() and getattr(encoder, "use_nested_tensor", False)):
        return False
    if first.training or src.dim() != 3 or src.is_nested or mask is not None or torch.is_autocast_enabled():
        return False
    seen = padding.bool().logical_not()
    if getattr(encoder, "mask_check", True) and not torch._nested_tensor_from_mask_left_aligned(src, seen):
        return False
    return not _learns(first, src)


def _learns(layer: Any, src: Any) -> bool:
    parts = (
        layer.self_attn,
        layer.self_attn.out_proj,
        layer.norm1,
        layer.norm2,
        layer.linear1,
        layer.linear2,
    )
    weights = (p for part in parts for p in part.parameters(recurse=False))
    return torch.is_grad_enabled() and any(t.requires_grad for t in (src, *weights))


def _encoder_layer(
    self: Any, src: Any, src_mask: Any = None, src_key_padding_mask: Any = None, is_causal: bool = False
) -> Any:
    masks = src_mask, src_key_padding_mask
    if src.is_nested:
        return _nested(self, src, *masks)
    if getattr(self.activation, "approximate", "none") == "none" or not _is_fast(self, src):
        return nn.TransformerEncoderLayer.forward(self, src, src_mask, src_key_padding_mask, is_causal)
    # PyTorch's fused layer takes any nn.GELU for the one of erf, and so did the network.
    plan, _, _ = self._gateproof
    own, norms = self.self_attn, (self.norm1, self.norm2)
    added = (functional._canonical_mask(m, "mask", None, "", src.dtype, check_other=False) for m in masks)
    mask, kind = own.merge_masks(*added, src)
    given = (
        src, own.embed_dim, own.num_heads, own.in_proj_weight, own.in_proj_bias, own.out_proj.weight,
        own.out_proj.bias, True, self.norm_first, self.norm1.eps,
        *(w for n in norms for w in (n.weight, n.bias)),
        self.linear1.weight, self.linear1.bias, self.linear2.weight, self.linear2.bias, mask, kind,
    )  # fmt: skip
    plan.site("attention", _NAME, converted)
    return _fused(plan, dict(zip(_WHOLE, given, strict=True)))


def _is_fast(layer: Any, src: Any) -> bool:
    """Whether the former layer would have been the fused one: its own conditions, in its order."""
    own = layer.self_attn
    if not torch.backends.mha.get_fastpath_enabled() or src.dim() != 3 or src.is_nested or layer.training:
        return False
    if not own.batch_first or own.in_proj_bias is None or not own._qkv_same_embed_dim or own.num_heads % 2:
        return False
    if not layer.activation_relu_or_gelu or layer.norm1.eps != layer.norm2.eps or torch.is_autocast_enabled():
        return False
    if any(m._forward_hooks or m._forward_pre_hooks for m in layer.modules()):
        return False
    return not _learns(layer, src)


FORWARDS[nn.TransformerEncoder.forward] = _encoder
FORWARDS[nn.TransformerEncoderLayer.forward] = _encoder_layer
