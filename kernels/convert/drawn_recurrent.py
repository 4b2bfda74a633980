"""Recurrent networks with drawn weights, converted: how far they move, right and with one gate wrong.

A network is an LSTM, GRU or RNN of drawn sizes, layers and directions, padded or packed, in float64. It is
converted once more with a sharpness off by a millionth, in one kind of gate of its first layer.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch.nn.utils.rnn import pack_sequence

from gateproof.kernels.convert.api import convert

OFF = 1e-6


def differences(kind: str, seed: int, networks: int) -> list[list[float]]:
    """For each network the largest difference when converted, and with a gate off."""
    random = torch.Generator().manual_seed(seed)
    torch.manual_seed(seed)

    def drawn(lo: int, hi: int) -> int:
        return int(torch.randint(lo, hi + 1, (), generator=random))

    return [_difference(kind, drawn, packed=bool(n % 2)) for n in range(networks)]


def _difference(kind: str, drawn: Any, *, packed: bool) -> list[float]:
    features, both = drawn(2, 48), bool(drawn(0, 1))
    made: Any = getattr(torch.nn, kind)
    net = made(features, drawn(2, 64), drawn(1, 3), bidirectional=both).double()
    batch, steps = drawn(1, 8), drawn(1, 40)
    x: Any = torch.randn(steps, batch, features, dtype=torch.float64)
    if packed:
        x = pack_sequence([x[: drawn(1, steps), k] for k in range(batch)], enforce_sorted=False)
    with torch.no_grad():
        before = _tensors(net(x))
        plan = convert(net).report._plan
        right = _largest(before, _tensors(net(x)))
        site = next(iter(plan.sites.values()))
        form = site.treatment.form
        assert form is not None
        assert form[0] == "two_branches"
        site.treatment = replace(site.treatment, form=(form[0], form[1] * (1 + OFF), *form[2:]))
        return [right, _largest(before, _tensors(net(x)))]


def _tensors(found: Any) -> list[Any]:
    y, last = found
    y = getattr(y, "data", y)
    return [y, *(last if isinstance(last, tuple) else (last,))]


def _largest(before: list[Any], after: list[Any]) -> float:
    return max(float((a - b).abs().max()) for a, b in zip(before, after, strict=True))
