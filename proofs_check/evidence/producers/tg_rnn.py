"""Recurrent networks with drawn weights, converted: how many move, and how many when a gate is wrong.

A network is an LSTM, GRU or RNN of drawn sizes, layers and directions, padded or packed, in float64. It
*moves* where an output or a last state differs by more than 1.2e-15 from PyTorch's. It is converted once
more with a sharpness off by a millionth, in one kind of gate of its first layer, and must move then.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from gateproof.proofs_check.evidence.produce import Findings, Kept, Say

INPUTS = (
    "proofs_check/evidence/producers/tg_rnn.py",
    "kernels/convert/recurrent_calls.py",
    "kernels/convert/recurrent_cells.py",
    "kernels/convert/recurrent_forward.py",
    "kernels/convert/recurrent_products.py",
)
NETWORKS, SEED = 240, 20264
BAR, OFF = 1.2e-15, 1e-6
_KINDS = ("LSTM", "GRU", "RNN")


def produce(kept: Kept, say: Say) -> Findings:
    """A step for a kind of network."""
    from gateproof.proofs_check.evidence.estimates import share

    found: list[list[float]] = []
    for place, kind in enumerate(_KINDS):
        say(f"{kind}: {NETWORKS // len(_KINDS)} networks")
        found += kept.step(kind, partial(differences, kind, SEED + place))
    right, wrong = zip(*found, strict=True)
    intervals = {
        "moved": share(sum(d > BAR for d in right), len(right)),
        "noticed": share(sum(d > BAR for d in wrong), len(wrong)),
    }
    numbers = {"largest": repr(max(right)), "smallest_wrong": repr(min(wrong))}
    ranges = {
        "networks": f"{len(right)}; 2 to 48 inputs, 2 to 64 units, 1 to 3 layers, one way or both",
        "inputs": "1 to 8 normal sequences of 1 to 40 steps, half of them packed; PyTorch's initial weights",
    }
    about = "Recurrent networks of PyTorch's and their conversions, with a control that has one gate wrong."
    return Findings(about, [SEED], ranges, intervals, numbers)


def differences(kind: str, seed: int) -> list[list[float]]:
    """For each network the largest difference when converted, and with a gate off."""
    import torch

    random = torch.Generator().manual_seed(seed)
    torch.manual_seed(seed)

    def drawn(lo: int, hi: int) -> int:
        return int(torch.randint(lo, hi + 1, (), generator=random))

    return [_difference(kind, drawn, packed=bool(n % 2)) for n in range(NETWORKS // len(_KINDS))]


def _difference(kind: str, drawn: Any, *, packed: bool) -> list[float]:
    import torch
    from torch.nn.utils.rnn import pack_sequence

    import gateproof

    features, both = drawn(2, 48), bool(drawn(0, 1))
    made: Any = getattr(torch.nn, kind)
    net = made(features, drawn(2, 64), drawn(1, 3), bidirectional=both).double()
    batch, steps = drawn(1, 8), drawn(1, 40)
    x: Any = torch.randn(steps, batch, features, dtype=torch.float64)
    if packed:
        x = pack_sequence([x[: drawn(1, steps), k] for k in range(batch)], enforce_sorted=False)
    with torch.no_grad():
        before = _tensors(net(x))
        plan = gateproof.convert(net).report._plan
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
