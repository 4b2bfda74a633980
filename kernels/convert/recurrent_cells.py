"""Recurrent cells as PyTorch defines them, one step at a time, with their gates given.

    LSTM      i, f, g, o = W_ih x + b_ih + W_hh h + b_hh
              c' = s(f) c + s(i) t(g),   h' = s(o) t(c')   (then W_hr h' where there is a projection)
    GRU       r, z of both sums as above;  n = t(W_in x + b_in + s(r) (W_hn h + b_hn))
              h' = (1 - s(z)) n + s(z) h
    RNN       h' = t(W_ih x + b_ih + W_hh h + b_hh), or relu for t

s is sigmoid, the gate of the branches 0 and 1 with tau = 1; t is tanh, the gate of -1 and 1 with tau = 2.
Source: the definitions in PyTorch's torch.nn.LSTM, GRU, RNN, whose order of gates in the weights is this one.

``layer`` runs one layer in one direction in operations that can be differentiated any number of times,
transformed and exported; ``recurrent_op`` is the fast one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch.nn import functional

Gate = Callable[[torch.Tensor], torch.Tensor]


@dataclass(frozen=True)
class Cell:
    """``blocks`` of pre-activations in its weights; ``uses``: kind of gate, what it opens, uses a step."""

    name: str
    blocks: int
    uses: tuple[tuple[str, str, int], ...]


CELLS = {
    cell.name: cell
    for cell in (
        Cell("lstm", 4, (("sigmoid", "input, forget, output gate", 3), ("tanh", "candidate, cell state", 2))),
        Cell("gru", 3, (("sigmoid", "reset, update gate", 2), ("tanh", "candidate", 1))),
        Cell("rnn_tanh", 1, (("tanh", "state", 1),)),
        Cell("rnn_relu", 1, (("relu", "state", 1),)),
    )
}


class Weights(NamedTuple):
    """One layer's in one direction; the biases and the projection may be missing."""

    w_ih: torch.Tensor
    w_hh: torch.Tensor
    b_ih: torch.Tensor | None = None
    b_hh: torch.Tensor | None = None
    w_hr: torch.Tensor | None = None


State = tuple[torch.Tensor, torch.Tensor | None]


def step(
    cell: str, gx: torch.Tensor, state: State, weights: Weights, gates: Mapping[str, Gate]
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """The state after one step; ``gx`` is W_ih x + b_ih, (batch, blocks * hidden)."""
    h, c = state
    gh = functional.linear(h, weights.w_hh, weights.b_hh)
    if cell == "lstm":
        assert c is not None
        i, f, g, o = (gx + gh).chunk(4, -1)
        s, t = gates["sigmoid"], gates["tanh"]
        c = s(f) * c + s(i) * t(g)
        h = s(o) * t(c)
        return (h if weights.w_hr is None else functional.linear(h, weights.w_hr)), c
    if cell == "gru":
        (xr, xz, xn), (hr, hz, hn) = gx.chunk(3, -1), gh.chunk(3, -1)
        s = gates["sigmoid"]
        n = gates["tanh"](xn + s(xr + hr) * hn)
        return (h - n) * s(xz + hz) + n, None
    return gates["tanh" if cell == "rnn_tanh" else "relu"](gx + gh), None


def sizes(x: torch.Tensor, batch_sizes: torch.Tensor | None) -> list[int]:
    """How many sequences each step has: x is (time, batch, features), or packed with its batch sizes."""
    return [x.shape[1]] * x.shape[0] if batch_sizes is None else batch_sizes.tolist()


def layer(
    cell: str, x: torch.Tensor, state: State, weights: Weights, gates: Mapping[str, Gate],
    batch_sizes: torch.Tensor | None, *, reverse: bool,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]:  # fmt: skip
    """Outputs as x is laid out, and the last state (batch, hidden), the cell state None where there is none.

    Each step has the first so many sequences of the batch: in reverse a sequence joins at its last element.
    """
    counts = sizes(x, batch_sizes)
    projected = functional.linear(x, weights.w_ih, weights.b_ih)
    steps = projected.unbind(0) if batch_sizes is None else projected.split(counts)
    order = range(len(counts) - 1, -1, -1) if reverse else range(len(counts))
    h, c = state
    outputs: list[torch.Tensor] = [h] * len(counts)
    for t in order:
        n = counts[t]
        whole = n == h.shape[0]
        now = (h, c) if whole else (h[:n], None if c is None else c[:n])
        new, cell_state = step(cell, steps[t], now, weights, gates)
        outputs[t] = new
        h = new if whole else torch.cat([new, h[n:]])
        if cell_state is not None and c is not None:
            c = cell_state if whole else torch.cat([cell_state, c[n:]])
    y = torch.stack(outputs) if batch_sizes is None else torch.cat(outputs)
    return y, h, c


def before(y: torch.Tensor, first: torch.Tensor, counts: Sequence[int], *, reverse: bool) -> torch.Tensor:
    """For every row of the packed outputs y the state that its step began with; ``first`` is given."""
    blocks = y.split(list(counts))
    if not reverse:
        return torch.cat([first[: counts[0]], *(b[:n] for b, n in zip(blocks, counts[1:], strict=False))])
    parts: list[torch.Tensor] = []
    for t, n in enumerate(counts):
        later = counts[t + 1] if t + 1 < len(counts) else 0
        if later:
            parts.append(blocks[t + 1])
        parts.append(first[later:n])
    return torch.cat(parts)
