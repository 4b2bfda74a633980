"""Mechanism metrics (MemGLU, Appendix D) and interventions on a trained SwiGLU (Appendix E).

For pre-activations g, gate output q, product h = q u and update dx, sums run over all layers, tokens and
channels. Beyond the peak means g > arsinh(1). ``occupancy`` is the share of elements there, ``share_q`` and
``share_h`` the shares of the squares of q and h that come from there, ``rms_*`` global root mean squares.
``share_silu`` and ``share_memglu`` are the shares that these gates would have on the same pre-activations,
whatever gate the model has: what the shape alone does, with nothing learned.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import asinh, sqrt

import torch

from gateproof.kernels import functional
from gateproof.kernels.runs.language_model_parts.gates import Glu
from gateproof.kernels.runs.language_model_parts.model import Decoder

PEAK = asinh(1.0)
INTERVENTIONS: dict[str, Glu] = {
    "cap": functional.silu_positive_cap_glu,
    "smooth": functional.silu_smooth_attenuation_glu,
    "hard": functional.silu_hard_removal_glu,
}


def probe(model: Decoder, windows: Iterable[torch.Tensor], product: Glu) -> dict[str, float]:
    """All metrics of one model over windows of shape (batch, context + 1); the last token is not seen."""
    sums: dict[str, float] = {}

    def add(name: str, value: torch.Tensor | float) -> None:
        sums[name] = sums.get(name, 0.0) + float(value)

    def watch(g: torch.Tensor, _u: torch.Tensor, h: torch.Tensor, dx: torch.Tensor) -> None:
        beyond = g > PEAK
        one = torch.ones_like(g)
        add("n", g.numel())
        add("beyond", beyond.sum())
        gates = {
            "q": product(g, one),
            "h": h,
            "silu": functional.swiglu(g, one),
            "memglu": functional.memglu(g, one),
        }
        for name, value in gates.items():
            square = value.float().square()
            add(name, square.sum(dtype=torch.float64))
            add(f"{name}_beyond", (square * beyond).sum(dtype=torch.float64))
        add("g", g.float().square().sum(dtype=torch.float64))
        add("dx", dx.float().square().sum(dtype=torch.float64))
        add("n_dx", dx.numel())

    for ids in windows:
        model.hidden(ids[:, :-1], product, watch)
    return {
        "occupancy": sums["beyond"] / sums["n"],
        "share_q": sums["q_beyond"] / sums["q"],
        "share_h": sums["h_beyond"] / sums["h"],
        "share_silu": sums["silu_beyond"] / sums["silu"],
        "share_memglu": sums["memglu_beyond"] / sums["memglu"],
        **{f"rms_{name}": sqrt(sums[name] / sums["n"]) for name in ("g", "q", "h")},
        "rms_dx": sqrt(sums["dx"] / sums["n_dx"]),
    }
