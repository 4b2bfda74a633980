"""The gradient of a layer: backpropagation through time at few calls a step.

Per step only what the later steps decide is computed, the gradient of the state; all that the gates
contribute is one array for all times beforehand, and the weights' gradients are one product each afterwards.
With d for the gradient of the loss in what follows it, and primes for pre-activations:

    LSTM   dc += dh o (1 - t(c)^2)
           di' = dc g i(1-i), df' = dc c_before f(1-f), dg' = dc i (1-g^2), do' = dh t(c) o(1-o);  dc = dc f
    GRU    dn' = dh (1-z)(1-n^2), dr' = dn' hn r(1-r), dz' = dh (h_before - n) z(1-z), d hn = dn' r
    RNN    dh' = dh (1 - h^2), or dh where h > 0 for relu
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from gateproof.kernels.convert.recurrent_cells import before, sizes
from gateproof.kernels.convert.recurrent_forward import Optional, Tensor, order, parts, real
from gateproof.kernels.convert.recurrent_products import as_they_are, linear, onednn, repeated

#: The inputs that have a gradient, in the order of the results.
INPUTS = ("x", "h", "c", "w_ih", "w_hh", "b_ih", "b_hh", "w_hr")


def backward(
    cell: str, dy: Optional, dh: Optional, dc: Optional, x: Tensor, h: Tensor, c: Optional,
    w_ih: Tensor, w_hh: Tensor, b_ih: Optional, b_hh: Optional, w_hr: Optional, batch_sizes: Optional,
    y: Tensor, gates: Tensor, states: Tensor, reverse: bool, wanted: Sequence[bool],
) -> list[Tensor]:  # fmt: skip
    """The gradients of those of ``INPUTS`` that are wanted, in their types."""
    with as_they_are(x):
        walk = _Back(cell, x, h, c, w_hh, w_hr, batch_sizes, y, gates, states, reverse=reverse)
        walk.run(dy, dh, dc)
        inputs = (x, h, c, w_ih, w_hh, b_ih, b_hh, w_hr)
        kind, d = walk.kind, walk
        rows = x.to(kind).reshape(-1, x.shape[-1])
        made = {
            "x": lambda: linear(d.inner, w_ih.to(kind).t(), fast=d.fast).reshape(x.shape),
            "h": lambda: d.dh,
            "c": lambda: d.dc,
            "w_ih": lambda: linear(d.inner.t(), rows.t(), fast=d.fast),
            "w_hh": lambda: linear(d.outer.t(), d.earlier.t(), fast=d.fast),
            "b_ih": lambda: d.inner.sum(0),
            "b_hh": lambda: d.outer.sum(0),
            "w_hr": lambda: linear(d.through.t(), d.unprojected().t(), fast=d.fast),
        }
        return [
            made[name]().to(t.dtype)
            for name, t, asked in zip(INPUTS, inputs, wanted, strict=True)
            if asked and t is not None
        ]


class _Back:
    """``inner`` and ``outer``: the gradients of W_ih x + b_ih and of W_hh h + b_hh, for all times."""

    def __init__(
        self, cell: str, x: Tensor, h: Tensor, c: Optional, w_hh: Tensor, w_hr: Optional,
        batch_sizes: Optional, y: Tensor, gates: Tensor, states: Tensor, *, reverse: bool,
    ) -> None:  # fmt: skip
        self.cell, self.kind, self.reverse = cell, real(x), reverse
        self.counts = sizes(x, batch_sizes)
        self.h, self.c = h.to(self.kind), None if c is None else c.to(self.kind)
        rows = self.h.shape[0]
        self.fast = onednn(self.h, len(self.counts))
        self.outward = repeated(w_hh.to(self.kind).t(), None, rows, fast=self.fast)
        self.unproject = (
            None if w_hr is None else repeated(w_hr.to(self.kind).t(), None, rows, fast=self.fast)
        )
        self.y, self.gates, self.states = y.reshape(-1, y.shape[-1]).to(self.kind), gates, states
        self.earlier = before(self.y, self.h, self.counts, reverse=reverse)
        self.inner = self.outer = self.through = gates

    def unprojected(self) -> Tensor:
        """What an LSTM's projection is applied to, for all times."""
        return self.gates.chunk(4, 1)[3] * torch.tanh(self.states)

    def run(self, dy: Optional, dh: Optional, dc: Optional) -> None:
        """Walk back through time."""
        self.dh = torch.zeros_like(self.h) if dh is None else dh.to(self.kind, copy=True)
        if self.c is not None:
            self.dc = torch.zeros_like(self.c) if dc is None else dc.to(self.kind, copy=True)
        flat = torch.zeros_like(self.y) if dy is None else dy.reshape(self.y.shape).to(self.kind)
        self.dy = flat.split(self.counts)
        self.back = list(order(len(self.counts), reverse=not self.reverse))
        {"lstm": self._lstm, "gru": self._gru}.get(self.cell, self._one)()

    def _of(self, t: Tensor) -> tuple[Tensor, ...]:
        return parts(t, self.counts)

    def _lstm(self) -> None:
        assert self.c is not None
        hidden = self.c.shape[-1]
        i, f, g, o = self.gates.chunk(4, 1)
        bent = torch.tanh(self.states)
        after = before(self.states, self.c, self.counts, reverse=self.reverse)
        d = torch.cat([g * i * (1 - i), after * f * (1 - f), i * (1 - g * g), bent * o * (1 - o)], 1)
        across = self._of(o * (1 - bent * bent))
        rows, doors = self._of(d), self._of(d.view(-1, 4, hidden)[:, :3])
        last, forget = self._of(d[:, 3 * hidden :]), self._of(f)
        project = self.unproject
        through = self._of(self.y if project is None else torch.empty_like(self.y))
        for t in self.back:
            n = self.counts[t]
            dh, dc = self.dh[:n], self.dc[:n]
            dh.add_(self.dy[t])
            if project is None:
                dm = dh
            else:
                through[t].copy_(dh)
                dm = project(dh)
            dc.addcmul_(dm, across[t])
            doors[t].mul_(dc.unsqueeze(1))
            last[t].mul_(dm)
            dh.copy_(self.outward(rows[t]))
            dc.mul_(forget[t])
        self.inner = self.outer = d
        if project is not None:
            self.through = torch.cat(through)

    def _gru(self) -> None:
        r, z, n = self.gates.chunk(3, 1)
        bend = (1 - z) * (1 - n * n)
        d = torch.cat([bend * self.states * r * (1 - r), (self.earlier - n) * z * (1 - z), bend * r, bend], 1)
        hidden = self.h.shape[-1]
        parts, rows, keep = self._of(d.view(-1, 4, hidden)), self._of(d[:, : 3 * hidden]), self._of(z)
        for t in self.back:
            dh = self.dh[: self.counts[t]]
            dh.add_(self.dy[t])
            parts[t].mul_(dh.unsqueeze(1))
            dh.mul_(keep[t]).add_(self.outward(rows[t]))
        self.outer = d[:, : 3 * hidden]
        self.inner = torch.cat([d[:, : 2 * hidden], d[:, 3 * hidden :]], 1)

    def _one(self) -> None:
        hard = self.cell == "rnn_relu"
        # As PyTorch's: NaN is not closed, and what is closed passes no infinity.
        d = self.y.le(0) if hard else 1 - self.y * self.y
        made = torch.empty_like(self.y) if hard else d
        slopes, rows = self._of(d), self._of(made)
        for t in self.back:
            dh = self.dh[: self.counts[t]]
            dh.add_(self.dy[t])
            if hard:
                rows[t].copy_(dh.masked_fill_(slopes[t], 0))
            else:
                rows[t].mul_(dh)
            dh.copy_(self.outward(rows[t]))
        self.inner = self.outer = made
