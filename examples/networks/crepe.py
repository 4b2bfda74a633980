"""CREPE, pitch of monophonic sound: six functional ReLUs and a sigmoid (package torchcrepe)."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import torch
from harness.network import Call, Network, package
from harness.sources import clips

RATE, FRAME, FRAMES = 16000, 1024, 48
UNUSED = ("torchaudio", "librosa", "resampy", "tqdm")  # of the package: for files and progress bars only


def build() -> torch.nn.Module:
    """The full model; what the package imports and the network never calls is an empty stand-in."""
    folder = package("torchcrepe", "torchcrepe")
    stubs = {name: ModuleType(name) for name in UNUSED if name not in sys.modules}
    sys.modules.update(stubs)
    try:
        module = importlib.import_module("torchcrepe.model")
    finally:
        for name in stubs:
            del sys.modules[name]
    model: torch.nn.Module = module.Crepe("full")
    model.load_state_dict(torch.load(folder / "assets" / "full.pth", map_location="cpu", weights_only=True))
    return model.eval()


def calls() -> list[Call]:
    """The loudest frames of the clips, each with mean 0 and deviation 1, as the authors prepare them."""
    frames = torch.cat([torch.from_numpy(samples).unfold(0, FRAME, FRAME) for _, samples in clips(RATE)])
    loudest = frames[frames.std(1).argsort(descending=True)[:FRAMES]]
    loudest = loudest - loudest.mean(1, keepdim=True)
    return [Call((part,)) for part in (loudest / loudest.std(1, keepdim=True).clamp(min=1e-10)).split(16)]


def _hertz(bins: torch.Tensor) -> torch.Tensor:
    """Frequencies of bins 20 cents apart, the first 1997.3794084376191 cents above 10 Hz (the authors')."""
    return 10 * 2 ** ((20 * bins.double() + 1997.3794084376191) / 1200)


def metric(
    before: Sequence[torch.Tensor], after: Sequence[torch.Tensor], _calls: Sequence[Call]
) -> dict[str, Any]:
    """How many frames keep their pitch, the likeliest of 360 bins."""
    a, b = torch.cat(list(before)), torch.cat(list(after))
    bins = a.argmax(1), b.argmax(1)
    top = a.topk(2, dim=1).values
    return {
        "frames": len(a),
        "median pitch, Hz": f"{float(_hertz(bins[0]).median()):.1f}",
        "same pitch": f"{int((bins[0] == bins[1]).sum())} of {len(a)}",
        "pitch, largest difference in cents": int(20 * (bins[0] - bins[1]).abs().max()),
        "nearest second choice": float((top[:, 0] - top[:, 1]).min()),
        "probability, largest difference": float((a.double() - b.double()).abs().max()),
    }


NETWORK = Network("convolutions, 22 M", build, calls, metric, part=1)
