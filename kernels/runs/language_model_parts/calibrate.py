"""Scales of the gates from random models on windows of training tokens (MemGLU, Section 4 and Appendix B).

Each model is a SwiGLU decoder at its start; the pre-activations of all its FFNs are squared under each gate.
In float32 on the CPU whatever trains the models, and a scale is rounded to six digits, so that it is the same
everywhere (three digits are the estimate's: the claim mem.c0.drawn).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import torch

from gateproof.kernels.runs.data import text
from gateproof.kernels.runs.language_model_parts.gates import ARMS, REFERENCE, glu, scale_of, squares
from gateproof.kernels.runs.language_model_parts.model import Decoder
from gateproof.kernels.runs.language_model_parts.settings import Calibration, Shape

#: Of weights and of windows; far from the seeds of trainings.
FIRST_SEEDS = 1_000_000, 2_000_000


@dataclass(frozen=True)
class Calibrated:
    """Sums of squares a model: for each gate, for ``g``, and the number of pre-activations ``n``."""

    models: tuple[Mapping[str, float], ...]

    def scale(self, arm: str) -> float:
        """The scale of an arm from all models together, to six digits."""
        total = {key: sum(m[key] for m in self.models) for key in self.models[0]}
        return float(f"{scale_of(arm, total):.6g}")


@cache
def calibrated(
    corpora: tuple[str, ...],
    shape: Shape,
    calibration: Calibration,
    arms: tuple[str, ...] = tuple(ARMS),
) -> Calibrated:
    """The squares that random models of a shape give; each model sees windows of its own."""
    ids = text.tokens(corpora, shape.vocabulary).train
    count = (len(ids) - 1) // shape.context
    plain = glu(REFERENCE, 1.0)
    found: list[dict[str, float]] = []
    for number in range(calibration.models):
        model = Decoder(shape, FIRST_SEEDS[0] + number)
        draw = torch.Generator().manual_seed(FIRST_SEEDS[1] + number)
        starts = torch.randint(count, (calibration.sequences,), generator=draw) * shape.context
        sums: dict[str, float] = {"n": 0.0}

        def watch(g: torch.Tensor, *_: torch.Tensor, sums: dict[str, float] = sums) -> None:
            sums["n"] += g.numel()
            for key, value in squares(g, arms).items():
                sums[key] = sums.get(key, 0.0) + value

        with torch.no_grad():
            model.hidden(text.windows(ids, starts, shape.context), plain, watch)
        found.append(sums)
    return Calibrated(tuple(found))
