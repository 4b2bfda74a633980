"""Recurrent networks with drawn weights, converted: how many move, and how many when a gate is wrong.

A network is an LSTM, GRU or RNN of drawn sizes, layers and directions, padded or packed, in float64. It
*moves* where an output or a last state differs by more than 1.2e-15 from PyTorch's. It is converted once
more with a sharpness off by a millionth, in one kind of gate of its first layer, and must move then.
"""

from __future__ import annotations

from functools import partial

from gateproof.proofs_check.evidence.produce import Findings, Kept, Say

INPUTS = (
    "proofs_check/evidence/producers/tg_rnn.py",
    "kernels/convert/drawn_recurrent.py",
    "kernels/convert/recurrent_calls.py",
    "kernels/convert/recurrent_cells.py",
    "kernels/convert/recurrent_forward.py",
    "kernels/convert/recurrent_products.py",
)
NETWORKS, SEED = 240, 20264
BAR = 1.2e-15
_KINDS = ("LSTM", "GRU", "RNN")


def produce(kept: Kept, say: Say) -> Findings:
    """A step for a kind of network."""
    from gateproof.kernels.convert.drawn_recurrent import differences
    from gateproof.proofs_check.evidence.estimates import share

    found: list[list[float]] = []
    for place, kind in enumerate(_KINDS):
        say(f"{kind}: {NETWORKS // len(_KINDS)} networks")
        found += kept.step(kind, partial(differences, kind, SEED + place, NETWORKS // len(_KINDS)))
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
