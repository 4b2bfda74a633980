"""One layer of a recurrent network in one direction, in place: the loop over time at few calls a step.

The input's projection is one product for all times; each step adds W_hh h + b_hh to its part of it and opens
the gates there. In float32 (float64 for float64), rounded once to x's type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import torch

from gateproof.kernels.convert.recurrent_cells import sizes
from gateproof.kernels.convert.recurrent_products import as_they_are, linear, onednn, repeated

Tensor = torch.Tensor
Optional = Tensor | None
Product = Callable[[Tensor], Tensor]


def real(x: Tensor) -> torch.dtype:
    """The type that x is computed in."""
    return torch.float64 if x.dtype == torch.float64 else torch.float32


def order(count: int, *, reverse: bool) -> range:
    """The steps in the order of their computation."""
    return range(count - 1, -1, -1) if reverse else range(count)


def parts(t: Tensor, counts: list[int]) -> tuple[Tensor, ...]:
    """The rows of each time."""
    found: tuple[Tensor, ...] = t.split(counts)
    return found


def forward(
    cell: str, x: Tensor, h: Tensor, c: Optional, w_ih: Tensor, w_hh: Tensor, b_ih: Optional, b_hh: Optional,
    w_hr: Optional, batch_sizes: Optional, reverse: bool, keep: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """(outputs, last h, last c, opened gates, states); the last two are kept for a gradient, else empty.

    ``states`` are the cell states of an LSTM and W_hn h + b_hn of a GRU. What a cell lacks is empty.
    """
    with as_they_are(x):
        kind, counts = real(x), sizes(x, batch_sizes)
        wi, wh = w_ih.to(kind), w_hh.to(kind)
        bi, bh = None if b_ih is None else b_ih.to(kind), None if b_hh is None else b_hh.to(kind)
        rows = x.to(kind).reshape(-1, x.shape[-1])
        h = h.to(kind, copy=True, memory_format=torch.contiguous_format)
        nothing = rows.new_empty(0)
        c = nothing if c is None else c.to(kind, copy=True, memory_format=torch.contiguous_format)
        y, states = rows.new_empty(rows.shape[0], h.shape[-1]), nothing
        steps = _Steps(counts, y, h, reverse=reverse)
        fast = cell == "lstm" and batch_sizes is None and w_hr is None and onednn(rows, len(counts))
        gates = linear(rows, wi, bi, fast=fast)
        product = repeated(wh, bh, h.shape[0], fast=fast)
        if cell == "lstm":
            states = _lstm(gates, steps, c, product, None if w_hr is None else w_hr.to(kind), keep)
        elif cell == "gru":
            states = _gru(gates, steps, product, keep)
        else:
            _one(cell, gates, steps, product)
        out = y.to(x.dtype).reshape(*x.shape[:-1], y.shape[-1])
        kept = (gates, states) if keep else (nothing, nothing.clone())
        return out, h.to(x.dtype), c.to(x.dtype), *kept


class _Steps:
    """The walk over time: the state before each step, and what becomes of it."""

    def __init__(self, counts: Sequence[int], y: Tensor, h: Tensor, *, reverse: bool) -> None:
        self.counts, self.h, self.reverse = list(counts), h, reverse
        self.y = parts(y, self.counts)
        self.even = self.counts[-1] == h.shape[0]

    def __iter__(self) -> Iterator[tuple[int, int, Tensor]]:
        """(t, sequences, their h): ``y[t]`` must be the new h when the next is asked for."""
        h = last = self.h
        for t in order(len(self.counts), reverse=self.reverse):
            n = self.counts[t]
            if self.even:
                yield t, n, last
                last = self.y[t]
            else:
                now = h[:n]
                yield t, n, now
                now.copy_(self.y[t])
        if self.even:
            h.copy_(last)

    def of(self, t: Tensor) -> tuple[Tensor, ...]:
        """The rows of each time."""
        return parts(t, self.counts)

    def head(self, t: Tensor, n: int) -> Tensor:
        """The rows of the n sequences that are at work."""
        return t if self.even else t[:n]


def _lstm(gates: Tensor, steps: _Steps, c: Tensor, product: Product, w_hr: Optional, keep: bool) -> Tensor:
    hidden = c.shape[-1]
    states = gates.new_empty(gates.shape[0] if keep else 0, hidden)
    kept = steps.of(states) if keep else ()
    bent, made, y = torch.empty_like(c), torch.empty_like(c), steps.y
    project = None if w_hr is None else repeated(w_hr, None, c.shape[0], fast=False)
    whole, doors = steps.of(gates), steps.of(gates[:, : 2 * hidden])
    i, f, g, o = map(steps.of, gates.chunk(4, 1))
    for t, n, h in steps:
        now, bend = steps.head(c, n), steps.head(bent, n)
        whole[t].add_(product(h))
        doors[t].sigmoid_()
        g[t].tanh_()
        o[t].sigmoid_()
        now.mul_(f[t]).addcmul_(i[t], g[t])
        torch.tanh(now, out=bend)
        if keep:
            kept[t].copy_(now)
        if project is None:
            torch.mul(o[t], bend, out=y[t])
        else:
            y[t].copy_(project(torch.mul(o[t], bend, out=steps.head(made, n))))
    return states


def _gru(gates: Tensor, steps: _Steps, product: Product, keep: bool) -> Tensor:
    hidden = gates.shape[-1] // 3
    states = gates.new_empty(gates.shape[0] if keep else 0, hidden)
    kept, y = steps.of(states) if keep else (), steps.y
    doors, r, z, n = map(steps.of, (gates[:, : 2 * hidden], *gates.chunk(3, 1)))
    for t, _, h in steps:
        outer, inner = product(h).split((2 * hidden, hidden), 1)
        doors[t].add_(outer).sigmoid_()
        if keep:
            kept[t].copy_(inner)
        n[t].add_(inner.mul_(r[t])).tanh_()
        torch.sub(h, n[t], out=y[t])
        y[t].mul_(z[t]).add_(n[t])
    return states


def _one(cell: str, gates: Tensor, steps: _Steps, product: Product) -> None:
    y, rows, bend = steps.y, steps.of(gates), torch.tanh if cell == "rnn_tanh" else torch.relu
    for t, _, h in steps:
        y[t].copy_(bend(rows[t].add_(product(h))))
