"""Attention on softmax as a threshold gate, in PyTorch's own operations: all scores at once.

Shapes: q (batch, heads, rows, width), k (batch, groups, keys, width), v (batch, groups, keys, any width),
mask like the scores (batch, heads, rows, keys). Heads are a multiple of groups: a run of heads shares one.

The gradient in the scores is centred at each row's largest: the usual p*(dp - sum p dp) cancels completely
where one key dominates. ``attention_chunks`` computes the same without a buffer of all scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from gateproof.kernels.composite import real_type
from gateproof.kernels.softmax import centred, probabilities, probabilities_gradient, split


@dataclass(frozen=True)
class Kind:
    """What attention does beside its tensors: ``safe`` gives 0 for rows without a key, else NaN."""

    causal: bool
    scale: float
    safe: bool


def whole(q: Any, k: Any, v: Any, mask: Any, kind: Kind, bias: Any = None) -> Any:
    """The definition; ``bias`` is added to the scaled scores."""
    real = real_type([q, k, v])
    scores = _scores(_grouped(q.to(real), k), k.to(real).unsqueeze(2), kind.scale)
    scores = _plus(scores, bias)
    p = probabilities(_kept(scores, _grouped(mask, k), kind), kind.safe)
    return torch.matmul(p, v.to(real).unsqueeze(2)).flatten(1, 2).to(q.dtype)


def whole_moved(moves: Any, q: Any, k: Any, v: Any, mask: Any, kind: Kind, bias: Any = None) -> Any:
    """How ``whole`` moves with q, k, v and the bias; a tangent of None is 0."""
    real = real_type([q, k, v])
    dq, dk, dv, *rest = (None if t is None else t.to(real) for t in moves)
    wide, keys = _grouped(q.to(real), k), k.to(real).unsqueeze(2)
    scores = _kept(_plus(_scores(wide, keys, kind.scale), bias), _grouped(mask, k), kind)
    rates = [] if dq is None else [_scores(_grouped(dq, k), keys, kind.scale)]
    rates += [] if dk is None else [_scores(wide, dk.unsqueeze(2), kind.scale)]
    rates += [_plus(torch.zeros_like(scores), t) for t in rest if t is not None]
    terms = [] if dv is None else [torch.matmul(probabilities(scores, kind.safe), dv.unsqueeze(2))]
    for rate in rates:
        dp = probabilities_gradient(_hidden(rate, _grouped(mask, k), kind), scores, kind.safe)
        terms.append(torch.matmul(dp, v.to(real).unsqueeze(2)))
    total: Any = sum(terms[1:], terms[0])
    return total.flatten(1, 2).to(q.dtype)


def whole_gradients(dout: Any, q: Any, k: Any, v: Any, mask: Any, kind: Kind) -> tuple[Any, Any, Any]:
    """The gradients of ``whole``, in operations that can be differentiated again."""
    real = real_type([q, k, v])
    wide, keys, values = _grouped(q.to(real), k), k.to(real).unsqueeze(2), v.to(real).unsqueeze(2)
    scores = _kept(_scores(wide, keys, kind.scale), _grouped(mask, k), kind)
    parts, d = split(scores, kind.safe), _grouped(dout.to(real), k)
    dp = torch.matmul(d, values.transpose(-2, -1))
    ds = _hidden(centred(dp, scores, parts), _grouped(mask, k), kind) * kind.scale
    return (
        torch.matmul(ds, keys).flatten(1, 2).to(q.dtype),
        torch.matmul(ds.transpose(-2, -1), wide).sum(2).to(k.dtype),
        torch.matmul(parts.p.transpose(-2, -1), d).sum(2).to(v.dtype),
    )


def _grouped(t: Any, k: Any) -> Any:
    """(batch, heads, ...) as (batch, groups, heads of a group, ...)."""
    return None if t is None else t.unflatten(1, (k.shape[1], -1))


def _scores(q: Any, k: Any, scale: float) -> Any:
    return torch.matmul(q, k.transpose(-2, -1)) * scale


def _plus(scores: Any, bias: Any) -> Any:
    """The scores and what is added to them."""
    if bias is None:
        return scores
    return (scores.flatten(1, 2) + bias.to(scores.dtype)).view(scores.shape)


def _kept(scores: Any, mask: Any, kind: Kind) -> Any:
    """-infinity where a key is not seen."""
    return _where_seen(scores, mask, kind, -float("inf"))


def _hidden(rates: Any, mask: Any, kind: Kind) -> Any:
    """0 where a key is not seen."""
    return _where_seen(rates, mask, kind, 0.0)


def _where_seen(t: Any, mask: Any, kind: Kind, other: float) -> Any:
    if kind.causal:
        row = torch.arange(t.shape[-2], device=t.device).unsqueeze(-1)
        t = torch.where(torch.arange(t.shape[-1], device=t.device) > row, other, t)
    return t if mask is None else torch.where(mask, t, other)
