"""Attention on softmax as a threshold gate, in PyTorch's own operations: the whole at once, and in chunks.

Shapes: q (batch, heads, rows, width), k (batch, groups, keys, width), v (batch, groups, keys, any width),
mask like the scores (batch, heads, rows, keys). Heads are a multiple of groups: a run of heads shares one.

The gradient in the scores is centred at each row's largest: the usual p*(dp - sum p dp) cancels completely
where one key dominates. ``in_chunks`` holds scores of some rows only and computes them again for the
gradient, so that no buffer grows with rows times keys.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from gateproof.kernels.composite import real_type
from gateproof.kernels.softmax import centred, probabilities, probabilities_gradient, split

#: Scores a chunk: with what is computed from them they fit a core's cache.
CHUNK = 1 << 17


@dataclass(frozen=True)
class Kind:
    """What attention does beside its tensors: ``safe`` gives 0 for rows without a key, else NaN."""

    causal: bool
    scale: float
    safe: bool


def whole(q: Any, k: Any, v: Any, mask: Any, kind: Kind) -> Any:
    """The definition, with all scores at once."""
    real = real_type([q, k, v])
    scores = _scores(_grouped(q.to(real), k), k.to(real).unsqueeze(2), kind.scale)
    p = probabilities(_kept(scores, _grouped(mask, k), kind), kind.safe)
    return torch.matmul(p, v.to(real).unsqueeze(2)).flatten(1, 2).to(q.dtype)


def whole_moved(moves: Any, q: Any, k: Any, v: Any, mask: Any, kind: Kind) -> Any:
    """How ``whole`` moves with q, k and v; a tangent of None is 0."""
    real = real_type([q, k, v])
    dq, dk, dv = (None if t is None else t.to(real) for t in moves)
    wide, keys = _grouped(q.to(real), k), k.to(real).unsqueeze(2)
    scores = _kept(_scores(wide, keys, kind.scale), _grouped(mask, k), kind)
    rates = [] if dq is None else [_scores(_grouped(dq, k), keys, kind.scale)]
    rates += [] if dk is None else [_scores(wide, dk.unsqueeze(2), kind.scale)]
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


@dataclass(frozen=True)
class Chunk:
    """Some rows of some heads: heads, groups, rows and the keys that they may see."""

    batch: int
    heads: slice
    groups: slice
    rows: slice
    keys: int


def _chunks(q: Any, k: Any, kind: Kind) -> Iterator[Chunk]:
    batch, heads, rows, _ = q.shape
    groups, keys = k.shape[1:3]
    each = heads // groups
    at_once = min(groups, max(1, CHUNK // (each * rows * keys)))
    step = min(rows, max(1, CHUNK // (at_once * each * keys)))
    for b in range(batch):
        for g in range(0, groups, at_once):
            end = min(groups, g + at_once)
            for r in range(0, rows, step):
                last = min(rows, r + step)
                seen = min(keys, last) if kind.causal else keys
                yield Chunk(b, slice(g * each, end * each), slice(g, end), slice(r, last), seen)


class _Part:
    """A chunk's tensors, (groups, rows of all heads of a group, ...), its probabilities and their largest."""

    def __init__(self, c: Chunk, q: Any, k: Any, v: Any, mask: Any, kind: Kind) -> None:
        real = real_type([q, k, v])
        self.count, self.shape = c.groups.stop - c.groups.start, q[c.batch, c.heads, c.rows].shape
        self.q = self.together(q[c.batch, c.heads, c.rows].to(real))
        self.k, self.v = (t[c.batch, c.groups, : c.keys].to(real) for t in (k, v))
        scores = torch.baddbmm(self.q.new_zeros(()), self.q, self.k.mT, beta=0, alpha=kind.scale)
        scores = self.apart(scores)
        self.hidden = None if mask is None else ~mask[c.batch, c.heads, c.rows, : c.keys]
        self.first = c.rows.start if kind.causal else None
        self.hide(scores, -float("inf"))
        self.m, self.place = scores.max(-1, keepdim=True)
        self.p = torch.softmax(scores, -1)
        self.all_finite = bool(torch.isfinite(self.m).all())
        self.empty = (self.m == -float("inf")) & kind.safe
        if not self.all_finite:
            self.p.masked_fill_(self.empty, 0.0)

    def hide(self, t: Any, value: float) -> None:
        """Fill what a row does not see."""
        if self.first is not None and self.first < t.shape[-1]:
            rows = torch.arange(self.first, self.first + t.shape[-2], device=t.device).unsqueeze(-1)
            keys = torch.arange(self.first, t.shape[-1], device=t.device)
            t[..., self.first :].masked_fill_(keys > rows, value)
        if self.hidden is not None:
            t.masked_fill_(self.hidden, value)

    def together(self, t: Any) -> Any:
        return t.reshape(self.count, -1, t.shape[-1])

    def apart(self, t: Any) -> Any:
        return t.view(*self.shape[:2], t.shape[-1])


def in_chunks(q: Any, k: Any, v: Any, mask: Any, kind: Kind) -> tuple[Any, Any, Any]:
    """The result; of each row its largest score and the sum of exp about it; the key that has it, or -1."""
    out = q.new_empty(*q.shape[:3], v.shape[-1])
    stats = q.new_empty(*q.shape[:3], 2, dtype=real_type([q, k, v]))
    place = q.new_empty(q.shape[:3], dtype=torch.int32)
    for c in _chunks(q, k, kind):
        part, here = _Part(c, q, k, v, mask, kind), (c.batch, c.heads, c.rows)
        out[here] = part.apart(torch.bmm(part.together(part.p), part.v))
        m = torch.where(part.m.abs() == float("inf"), float("nan"), part.m)
        total = 1.0 / part.p.gather(-1, part.place)
        stats[here] = torch.cat([m.masked_fill(part.empty, 0.0), total.masked_fill(part.empty, 1.0)], -1)
        place[here] = part.place.masked_fill(part.empty, -1).squeeze(-1).int()
    return out, stats, place


def gradients_in_chunks(dout: Any, q: Any, k: Any, v: Any, mask: Any, kind: Kind) -> tuple[Any, Any, Any]:
    """The gradients in q, k and v."""
    real = real_type([q, k, v])
    dq = torch.empty_like(q, memory_format=torch.contiguous_format)
    # Summed over chunks before they are rounded.
    dk, dv = (torch.zeros(t.shape, dtype=real, device=t.device) for t in (k, v))
    for c in _chunks(q, k, kind):
        part, here = _Part(c, q, k, v, mask, kind), (c.batch, c.heads, c.rows)
        there = (c.batch, c.groups, slice(c.keys))
        d = part.together(dout[here].to(real))
        dv[there].baddbmm_(part.together(part.p).mT, d)
        dp = part.apart(torch.bmm(d, part.v.mT))
        # As softmax.centred: the difference is 0 at the largest itself.
        weighted = dp.sub_(dp.gather(-1, part.place)).mul_(part.p)
        ds = weighted.addcmul_(part.p, weighted.sum(-1, keepdim=True), value=-1)
        if not part.all_finite:
            part.hide(ds, 0.0)
        ds = part.together(ds)
        dq[here] = part.apart(torch.bmm(ds, part.k).mul_(kind.scale))
        dk[there].baddbmm_(ds.mT, part.q, alpha=kind.scale)
    return dq, dk.to(k.dtype), dv.to(v.dtype)
