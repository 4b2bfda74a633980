"""Time of the consumer that skips zeros beside the dense product, on a trained model's own activations."""

from __future__ import annotations

from collections.abc import Callable
from time import thread_time
from typing import Any

import torch
from torch.nn.functional import linear, silu

from gateproof.kernels.runs.two_sided_parts.models import LanguageModel, Mlp, StateSpace
from gateproof.kernels.sparse import SparseLinear

_ROUNDS, _LEAST = 7, 2e-3


def timed(model: LanguageModel, batch: torch.Tensor, row: dict[str, Any]) -> list[dict[str, Any]]:
    """A row for each product behind SiLU, of one token and of a batch of them: least CPU seconds of a call.

    Both products are in float32: the package has no consumer that skips zeros in int8.
    """
    rows = []
    with torch.no_grad():
        model(batch[:, :-1])
        for block in model.blocks:
            if isinstance(block, Mlp):
                source, consumer = block.up, block.down
            elif isinstance(block, StateSpace):
                source, consumer = block.state, block.output
            else:
                continue
            gate = source.gate
            h = silu(source.seen if gate is None else gate(source.seen)).flatten(0, 1)
            for tokens in (1, len(h)):
                dense, sparse = _both(h[:tokens].contiguous(), consumer.map)
                rows.append(
                    row
                    | {
                        "kind": "timing",
                        "projection": consumer.name,
                        "tokens": tokens,
                        "zero_rate": 1 - int(torch.count_nonzero(h[:tokens])) / h[:tokens].numel(),
                        "dense_seconds": dense,
                        "sparse_seconds": sparse,
                    }
                )
    return rows


def _both(h: torch.Tensor, given: torch.nn.Linear) -> tuple[float, float]:
    skipping = SparseLinear.from_linear(given)
    weight, other = given.weight, skipping.weight
    # The dense product in the faster of both layouts of the weight.
    calls: list[Callable[[], Any]] = [
        lambda: linear(h, weight),
        lambda: linear(h, other),
        lambda: skipping(h),
    ]
    counts = [max(1, int(_LEAST / max(_time(call, 3), 1e-7))) for call in calls]
    best = [min(_time(call, n) for _ in range(1)) for call, n in zip(calls, counts, strict=True)]
    for _ in range(_ROUNDS - 1):
        best = [min(b, _time(call, n)) for b, call, n in zip(best, calls, counts, strict=True)]
    return min(best[:2]), best[2]


def _time(call: Callable[[], Any], count: int) -> float:
    start = thread_time()
    for _ in range(count):
        call()
    return (thread_time() - start) / count
