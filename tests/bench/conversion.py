"""Converted networks beside the originals on a CPU: time and kept memory.

Writes docs/benchmarks-conversion.md: ``make bench-conversion``.

Both run in one process in turn, on the same inputs and threads; compiled means torch.compile of both.
"""

from __future__ import annotations

import argparse
import os
import platform
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import nn

from gateproof import convert
from gateproof.kernels.bench import measure

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks-conversion.md"
ELEMENTS = 2**24


class Attention(nn.Module):
    """Scaled dot-product attention of itself."""

    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return nn.functional.scaled_dot_product_attention(q, k, v)


class Recurrent(nn.Module):
    """The outputs of a recurrent layer."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.layer(x)[0]
        return found


def _block(activation: nn.Module) -> nn.Module:
    return nn.Sequential(nn.Linear(384, 1536), activation, nn.Linear(1536, 384))


def cases(elements: int) -> dict[str, tuple[nn.Module, tuple[torch.Tensor, ...]]]:
    """Networks and their inputs by name."""
    plain = {
        "ReLU": nn.ReLU(), "LeakyReLU": nn.LeakyReLU(), "SiLU": nn.SiLU(), "GELU": nn.GELU(),
        "GELU (tanh)": nn.GELU("tanh"), "Sigmoid": nn.Sigmoid(), "Tanh": nn.Tanh(),
        "Hardswish": nn.Hardswish(), "Mish": nn.Mish(),
    }  # fmt: skip
    found: dict[str, tuple[nn.Module, tuple[torch.Tensor, ...]]] = {}
    for name, module in plain.items():
        found[f"{name} alone"] = (module, (torch.randn(elements),))
    for name in ("ReLU", "SiLU", "GELU"):
        found[f"384-1536-384 with {name}"] = (_block(plain[name]), (torch.randn(2048, 384),))
    for n in (128, 512, 1024):
        found[f"attention 4x12x{n}x64"] = (Attention(), tuple(torch.randn(4, 12, n, 64) for _ in range(3)))
    for name, layer in (("LSTM", nn.LSTM(40, 256, 3)), ("GRU", nn.GRU(40, 256, 3))):
        found[f"{name}(40, 256, 3), 160x7"] = (Recurrent(layer), (torch.randn(160, 7, 40),))
    return found


def kept(call: Callable[..., torch.Tensor], inputs: tuple[torch.Tensor, ...]) -> int:
    """Bytes that a forward pass keeps for its gradient, beyond its inputs and parameters."""
    seen: dict[int, int] = {}

    def pack(t: torch.Tensor) -> torch.Tensor:
        seen[t.untyped_storage().data_ptr()] = t.untyped_storage().nbytes()
        return t

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        call(*inputs)
    own = {t.untyped_storage().data_ptr() for t in inputs}
    return sum(size for place, size in seen.items() if place not in own)


def measured(
    model: nn.Module, inputs: tuple[torch.Tensor, ...], repeats: int, *, compiled: bool
) -> dict[str, float]:
    """Ratios of the converted network to the original: forward, forward and backward, kept bytes."""
    inputs = tuple(t.requires_grad_() for t in inputs)
    calls: dict[str, Any] = {"original": model, "converted": convert(deepcopy(model)).model}
    if compiled:
        torch.compiler.reset()
        calls = {name: torch.compile(call) for name, call in calls.items()}
    clock, found = measure.Clock(torch.device("cpu")), {}

    def both(call: Any) -> float:
        return clock.seconds(lambda: call(*inputs).sum().backward())

    for what, run in (("forward", lambda c: measure.forward(c, inputs, clock)), ("both", both)):
        times = measure.timed({name: partial(run, call) for name, call in calls.items()}, repeats)
        found[what] = times["converted"]["median"] / times["original"]["median"]
    bytes_ = {name: kept(call, inputs) for name, call in calls.items()}
    found["kept"] = (
        bytes_["converted"] / bytes_["original"] if bytes_["original"] else float(bytes_["converted"] > 0)
    )
    return found


def main() -> None:
    """Measure, print and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--elements", type=int, default=ELEMENTS, help="of an activation alone")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--only", default="", help="cases whose name holds this text; writes no page")
    options = parser.parse_args()
    rows = []
    for name, (model, inputs) in cases(options.elements).items():
        if options.only not in name:
            continue
        found = [measured(model, inputs, options.repeats, compiled=c) for c in (True, False)]
        cells = [f"{f[key]:.2f}" for f in found for key in ("forward", "both", "kept")]
        rows.append(f"| {name} | " + " | ".join(cells) + " |")
        print(rows[-1], flush=True)
    if not options.only:
        PAGE.write_text(_page(rows, options.repeats))


def _page(rows: list[str], repeats: int) -> str:
    allocator = os.environ.get("LD_PRELOAD") or "glibc's malloc"
    head = "| | compiled: forward | with backward | kept | eager: forward | with backward | kept |"
    return "\n".join(
        [
            "# Converted networks beside the originals",
            "",
            "Written by `make bench-conversion`. Ratios of the converted network to the original, both in",
            f"one process in turn: medians of {repeats} runs of float32 on {torch.get_num_threads()} threads",
            f"of a {platform.machine()} processor, {allocator}, torch {torch.__version__}. *kept* is the",
            "memory that a forward pass keeps for its gradient beyond inputs and parameters; where the",
            "original keeps none, 0 says that the converted one keeps none either.",
            "",
            head,
            "|---|---|---|---|---|---|---|",
            *rows,
            "",
        ]
    )


if __name__ == "__main__":
    main()
