"""Basic Pitch, notes in sound, from the ONNX file that ships in the package basic-pitch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from harness.network import Call, Network, package
from harness.onnx_graph import OnnxGraph, run_onnx
from harness.sources import clips

RATE, WINDOW = 22050, 43844  # Hz; samples in a window of the network
NOTE = 0.3  # the authors' threshold for a note that sounds


def _file() -> Path:
    return package("basic_pitch", "basic-pitch") / "saved_models" / "icassp_2022" / "nmp.onnx"


def build() -> torch.nn.Module:
    """The graph as a torch module."""
    return OnnxGraph(_file()).eval()


def calls() -> list[Call]:
    """The clips, one window each, three a call."""
    windows = [np.pad(samples[:WINDOW], (0, max(0, WINDOW - len(samples)))) for _, samples in clips(RATE)]
    return [Call((part,)) for part in torch.from_numpy(np.stack(windows))[:, :, None].split(3)]


def output(result: Any, _call: Call) -> torch.Tensor:
    """Onsets (88), notes (88) and contours (264) side by side: (batch, frames, 440)."""
    return torch.cat(result, dim=2)


def reference(calls: Sequence[Call]) -> list[torch.Tensor]:
    """The same outputs from onnxruntime."""
    return [output(run_onnx(_file(), call.args), call) for call in calls]


def metric(
    before: Sequence[torch.Tensor], after: Sequence[torch.Tensor], _calls: Sequence[Call]
) -> dict[str, Any]:
    """How many note activations are on the same side of the threshold."""
    a, b = torch.cat(list(before)), torch.cat(list(after))
    notes = a[..., 88:176], b[..., 88:176]
    on = [side >= NOTE for side in notes]
    return {
        "activations": notes[0].numel(),
        "sounding": int(on[0].sum()),
        "same decision": f"{int((on[0] == on[1]).sum())} of {notes[0].numel()}",
        "nearest to the threshold": float((notes[0] - NOTE).abs().min()),
        "activation, largest difference": float((a.double() - b.double()).abs().max()),
    }


NETWORK = Network(
    "convolutions over a harmonic stack, 17 k, from ONNX", build, calls, metric, output, reference=reference
)
