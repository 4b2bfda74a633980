"""A feed-forward layer with MemGLU beside the same layer with SwiGLU: time and memory of a training step.

Both project into one packed tensor, take the product of its halves in one kernel, and project back. MemGLU
costs more operations an element than SwiGLU, but both wait for memory; the layers differ in nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch.nn.functional import linear

from gateproof.kernels import functional
from gateproof.kernels.bench import measure

#: Tokens, width of the model, width of each half.
SIZES = ((8192, 1024, 2816), (8192, 4096, 11008), (8192, 4096, 14336))


def layers(
    device: torch.device, dtype: torch.dtype, repeats: int, sizes: Sequence[tuple[int, int, int]] = SIZES
) -> list[dict[str, Any]]:
    """A row a size: medians of both, and how much more MemGLU takes; memory where it is counted."""
    clock, found = measure.Clock(device), []
    for tokens, width, hidden in sizes:
        x = torch.randn(tokens, width, dtype=dtype, device=device, requires_grad=True)
        up = (torch.randn(2 * hidden, width, dtype=dtype, device=device) / width**0.5).requires_grad_()
        down = (torch.randn(width, hidden, dtype=dtype, device=device) / hidden**0.5).requires_grad_()
        steps = {
            "swiglu": partial(_step, functional.swiglu_packed, x, up, down),
            "memglu": partial(_step, functional.memglu_packed, x, up, down),
        }
        times = measure.timed({name: partial(clock.seconds, s) for name, s in steps.items()}, repeats)
        peaks = {name: clock.peak(s) for name, s in steps.items()}
        found.append(
            {
                "tokens": tokens,
                "width": width,
                "hidden": hidden,
                "seconds": times,
                "peak_bytes": peaks,
                "more_time": times["memglu"]["median"] / times["swiglu"]["median"] - 1,
                "more_memory": _more(peaks["swiglu"], peaks["memglu"]),
            }
        )
    return found


def _step(product: Any, x: torch.Tensor, up: torch.Tensor, down: torch.Tensor) -> Any:
    result = linear(product(linear(x, up)), down)
    return torch.autograd.grad(result, (x, up, down), torch.ones_like(result))


def _more(before: int | None, now: int | None) -> float | None:
    return now / before - 1 if before and now is not None else None
