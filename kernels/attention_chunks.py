"""Attention in chunks of scores, in PyTorch's own operations: no buffer grows with rows times keys.

A key weighs w_j = 2^((z_j - m) log2 e), which is 1 at a row's largest score m; the row of the result is then
divided by 1 + S, S the sum of the other weights. So p_j = w_j/(1 + S) = sigmoid(z_j - LSE of the other
scores), see ``softmax.py``. Scores are computed again for the gradient, centred as in ``attention.py``.

A ``bias`` is added to the scaled scores; its dimensions are those of the scores (batch, heads, rows, keys),
or 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

import torch

from gateproof.kernels.attention import Kind
from gateproof.kernels.composite import real_type

#: Scores a chunk: with what is computed from them they fit a core's cache.
CHUNK = 1 << 17
#: The same on other devices, where launches cost more than memory does.
CHUNK_ELSEWHERE = 1 << 24
#: 2^x has a vector form that is several times as fast as exp's.
LOG2E = 1.4426950408889634
_INFINITY = float("inf")


@dataclass(frozen=True)
class Chunk:
    """Some rows of some heads of some batches, and the keys that they may see."""

    batches: slice
    heads: slice
    groups: slice
    rows: slice
    keys: int

    @property
    def here(self) -> tuple[slice, slice, slice]:
        """The place of its rows."""
        return self.batches, self.heads, self.rows

    @property
    def there(self) -> tuple[slice, slice, slice]:
        """The place of its keys."""
        return self.batches, self.groups, slice(self.keys)

    def part(self, t: Any) -> Any:
        """The chunk of what is like the scores; of size 1 where that has size 1 or repeats itself."""
        places = (*self.here, slice(self.keys))
        once = [n == 1 or step == 0 for n, step in zip(t.shape, t.stride(), strict=True)]
        return t[tuple([slice(1) if o else p for o, p in zip(once, places, strict=True)])]


def chunk_on(device: torch.device) -> int:
    """Scores a chunk on a device."""
    return CHUNK if device.type == "cpu" else CHUNK_ELSEWHERE


def _chunks(q: Any, k: Any, kind: Kind) -> Iterator[Chunk]:
    batch, heads, rows, _ = q.shape
    groups, keys = k.shape[1:3]
    each, most = heads // groups, chunk_on(q.device)
    # Several batches at once, or some groups of one, or some rows of one group.
    batches = min(batch, max(1, most // (heads * rows * keys)))
    at_once = groups if batches > 1 else min(groups, max(1, most // (each * rows * keys)))
    step = min(rows, max(1, most // (batches * at_once * each * keys)))
    for b in range(0, batch, batches):
        some = slice(b, min(batch, b + batches))
        for g in range(0, groups, at_once):
            end = min(groups, g + at_once)
            for r in range(0, rows, step):
                last = min(rows, r + step)
                seen = min(keys, last) if kind.causal else keys
                yield Chunk(some, slice(g * each, end * each), slice(g, end), slice(r, last), seen)


class _Rooms:
    """Memory that one chunk after the other uses: fresh pages would cost more than the sums do."""

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}

    def of(self, name: str, like: Any, shape: tuple[int, ...]) -> Any:
        """A tensor with any values, of the type of ``like``."""
        size = prod(shape)
        if name not in self._made or self._made[name].numel() < size:
            self._made[name] = like.new_empty(size)
        return self._made[name][:size].view(shape)


class _Part:
    """A chunk's tensors, (groups, rows of all heads of a group, ...), and its scores, then their weights."""

    def __init__(self, c: Chunk, tensors: Any, mask: Any, bias: Any, kind: Kind, rooms: _Rooms) -> None:
        q, k, v = tensors
        real = real_type(tensors)
        some, keys = q[c.here].to(real), k[c.there].to(real)
        self.shape, self.count = some.shape, keys.shape[0] * keys.shape[1]
        self.q, self.k = self.together(some), keys.reshape(self.count, *keys.shape[2:])
        self.v = v[c.there].to(real).reshape(self.count, c.keys, v.shape[-1])
        self.hidden = None if mask is None else ~c.part(mask)
        self.first = c.rows.start if kind.causal else None
        # A bias of the least finite number would be -infinity in units of log 2.
        self.unit = LOG2E if bias is None else 1.0
        shape = (self.count, self.q.shape[1], c.keys)
        self.w = rooms.of("weights", self.q, shape)
        torch.baddbmm(self.w, self.q, self.k.mT, beta=0, alpha=kind.scale * self.unit, out=self.w)
        if bias is not None:
            self.apart(self.w).add_(c.part(bias))
        self.hide(self.w, -_INFINITY)

    def weighted(self, m: Any, safe: bool) -> None:
        """Make weights of the scores about the rows' largest."""
        self.empty = (m == -_INFINITY) if safe else None
        self.m = m if self.empty is None else m.masked_fill(self.empty, 0.0)
        self.w.sub_(self.m)
        if self.unit == 1.0:
            self.w.mul_(LOG2E)
        self.w.exp2_()
        self.total = self.w.sum(-1, keepdim=True)
        if self.empty is not None:
            self.total.masked_fill_(self.empty, 1.0)

    def hide(self, t: Any, value: float) -> None:
        """Fill what a row does not see."""
        t = self.apart(t)
        if self.first is not None and self.first < t.shape[-1]:
            rows = torch.arange(self.first, self.first + t.shape[-2], device=t.device).unsqueeze(-1)
            keys = torch.arange(self.first, t.shape[-1], device=t.device)
            t[..., self.first :].masked_fill_(keys > rows, value)
        if self.hidden is not None:
            t.masked_fill_(self.hidden, value)

    def together(self, t: Any) -> Any:
        """(batches, heads, rows, any) with the heads of a group one after the other."""
        return t.reshape(self.count, -1, t.shape[-1])

    def apart(self, t: Any) -> Any:
        """The other way round."""
        return t.view(*self.shape[:3], t.shape[-1])


def in_chunks(q: Any, k: Any, v: Any, mask: Any, kind: Kind, bias: Any = None) -> tuple[Any, Any, Any]:
    """The result; of each row its largest score and the sum of exp about it.

    Last come -1s for the key that has it: the gradient looks for it, which no result needs.
    """
    out = q.new_empty(*q.shape[:3], v.shape[-1])
    stats = q.new_empty(*q.shape[:3], 2, dtype=real_type([q, k, v]))
    place = q.new_full(q.shape[:3], -1, dtype=torch.int32)
    rooms = _Rooms()
    for c in _chunks(q, k, kind):
        part = _Part(c, (q, k, v), mask, bias, kind, rooms)
        part.weighted(part.w.amax(-1, keepdim=True), kind.safe)
        out[c.here] = part.apart(torch.bmm(part.w, part.v).div_(part.total))
        m = torch.where(part.m.abs() == _INFINITY, float("nan"), part.m / part.unit)
        stats[c.here] = part.apart(torch.cat([m, part.total], -1))
    return out, stats, place


def gradients_in_chunks(
    dout: Any, q: Any, k: Any, v: Any, mask: Any, kind: Kind, bias: Any = None
) -> tuple[Any, ...]:
    """The gradients in q, k, v, and in the bias where there is one."""
    real = real_type([q, k, v])
    dq = torch.empty_like(q, memory_format=torch.contiguous_format)
    # Summed over chunks before they are rounded.
    dk, dv = (torch.zeros(t.shape, dtype=real, device=t.device) for t in (k, v))
    db = None if bias is None else torch.zeros(bias.shape, dtype=real, device=q.device)
    rooms = _Rooms()
    for c in _chunks(q, k, kind):
        part = _Part(c, (q, k, v), mask, bias, kind, rooms)
        m, at = part.w.max(-1, keepdim=True)
        part.weighted(m, kind.safe)
        d = part.together(dout[c.here].to(real)) / part.total
        dv[c.there].add_(torch.bmm(part.w.mT, d).view(dv[c.there].shape))
        ds = rooms.of("rates", part.w, tuple(part.w.shape))
        torch.bmm(d, part.v.mT, out=ds)
        # As softmax.centred: the difference is 0 at the largest itself.
        ds.sub_(ds.gather(-1, at)).mul_(part.w)
        ds.addcmul_(part.w, ds.sum(-1, keepdim=True) / part.total, value=-1)
        if not bool(torch.isfinite(part.total).all()):
            part.hide(ds, 0.0)
        dq[c.here] = part.apart(torch.bmm(ds, part.k).mul_(kind.scale))
        dk[c.there].add_(torch.bmm(ds.mT, part.q).view(dk[c.there].shape), alpha=kind.scale)
        if db is not None:
            there = c.part(db)
            there.add_(part.apart(ds).sum_to_size(there.shape))
    found = (dq, dk.to(k.dtype), dv.to(v.dtype))
    return found if db is None or bias is None else (*found, db.to(bias.dtype))
