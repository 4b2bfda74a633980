"""The diagonal linear recurrence h_t = a h_(t-1) + u_t with h_(-1) = 0, along a sequence."""

from __future__ import annotations

import torch


def scan(decay: torch.Tensor, u: torch.Tensor) -> torch.Tensor:
    """All h_t, of u's shape (batch, time, states); ``decay`` is of shape (states,), each in [0, 1].

    By doubling: after the step with shift k each entry holds the sum over the last 2k inputs, since
    S_2k(t) = S_k(t) + a^k S_k(t - k). No power exceeds 1, and no number is divided by one that is small.
    """
    h, power, shift = u, decay, 1
    while shift < u.shape[1]:
        h = torch.cat([h[:, :shift], h[:, shift:] + power * h[:, :-shift]], dim=1)
        power, shift = power * power, 2 * shift
    return h
