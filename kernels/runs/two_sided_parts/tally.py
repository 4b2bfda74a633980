"""Counts of events and of multiply-adds that zeros do not spare, exact.

A multiply-add is counted where its activation is not zero as its consumer sees it: for an int8 projection the
integer level, so that a dense model's activations that round to 0 are spared too.
"""

from __future__ import annotations

from collections import defaultdict

import torch

from gateproof.kernels.quantised import quantise


class Tally:
    """What one pass counts: zeros and elements of each gate's output, and multiply-adds by kind.

    ``full`` counts the multiply-adds without any zero spared.
    """

    def __init__(self) -> None:
        self.zeros: dict[str, int] = {}
        self.elements: dict[str, int] = {}
        self.effective: defaultdict[str, int] = defaultdict(int)
        self.full: defaultdict[str, int] = defaultdict(int)

    def events(self, name: str, y: torch.Tensor) -> None:
        """The output y of a gate."""
        self.elements[name] = y.numel()
        self.zeros[name] = y.numel() - int(torch.count_nonzero(y))

    def product(self, name: str, h: torch.Tensor, outputs: int, *, integers: bool = True) -> None:
        """A linear map of h (..., features) to so many outputs."""
        seen = quantise(h)[0] if integers else h
        self.effective[name] += outputs * int(torch.count_nonzero(seen))
        self.full[name] += outputs * h.numel()

    def attention(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> None:
        """Causal attention of q, k, v (..., time, channels): q k counts where both are nonzero.

        Weights of the softmax are never 0, so a nonzero v_s counts once for each of the queries t >= s.
        """
        time = q.shape[-2]
        keys_so_far = (k != 0).to(torch.int64).cumsum(-2)
        self.effective["scores"] += int(((q != 0) * keys_so_far).sum())
        later = torch.arange(time, 0, -1, dtype=torch.int64)[:, None]
        self.effective["mix"] += int(((v != 0) * later).sum())
        pairs = time * (time + 1) // 2
        self.full["scores"] += q.numel() // time * pairs
        self.full["mix"] += v.numel() // time * pairs

    def recurrence(self, h: torch.Tensor, u: torch.Tensor) -> None:
        """a h_(t-1) + g u_t for h, u (batch, time, states), from h_(-1) = 0."""
        self.effective["recurrence"] += int(torch.count_nonzero(h[:, :-1])) + int(torch.count_nonzero(u))
        self.full["recurrence"] += h[:, :-1].numel() + u.numel()

    def events_left(self) -> int:
        """Nonzero outputs of all gates."""
        return sum(self.elements.values()) - sum(self.zeros.values())
