"""Silero VAD as it ships, in TorchScript: is there speech in this 32 ms of sound? (package silero-vad)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from harness.network import Call, Network, package
from harness.sources import clips

RATE, CHUNK = 16000, 512
SPEECH = 0.5  # the authors' threshold


def build() -> torch.nn.Module:
    """The script, which keeps the state of an LSTM cell between calls."""
    return torch.jit.load(str(package("silero_vad", "silero-vad") / "data" / "silero_vad.jit")).eval()


def calls() -> list[Call]:
    """All clips side by side as one batch, 32 ms a call; clips that end early go on in silence."""
    sounds = [samples for _, samples in clips(RATE)]
    steps = -(-max(map(len, sounds)) // CHUNK)
    batch = torch.from_numpy(np.stack([np.pad(s, (0, steps * CHUNK - len(s))) for s in sounds]))
    return [Call((chunk.contiguous(), RATE)) for chunk in batch.split(CHUNK, dim=1)]


def metric(
    before: Sequence[torch.Tensor], after: Sequence[torch.Tensor], _calls: Sequence[Call]
) -> dict[str, Any]:
    """How many decisions are the same, of all chunks of all clips."""
    a, b = torch.cat(list(before)), torch.cat(list(after))
    return {
        "chunks": a.numel(),
        "speech": int((a >= SPEECH).sum()),
        "same decision": f"{int(((a >= SPEECH) == (b >= SPEECH)).sum())} of {a.numel()}",
        "nearest to the threshold": float((a - SPEECH).abs().min()),
        "probability, largest difference": float((a.double() - b.double()).abs().max()),
    }


NETWORK = Network(
    "convolutions and an LSTM cell, TorchScript, 16 kHz and 8 kHz",
    build,
    calls,
    metric,
    reset=lambda model: model.reset_states(),
    dtypes=(torch.float32,),  # the script turns its spectrum and its state into float32 itself
)
