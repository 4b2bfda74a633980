"""The one place where Triton kernels are launched, so that launches can be noted instead of run.

``noted`` collects what a call of an operation would launch: the kernel, its real arguments and its options.
Compiled ahead of time, these give the very code that a launch would compile.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch

#: Contraction of a*b + c into one rounding, said because Triton's default for it changes between versions.
FUSED = True


@dataclass(frozen=True)
class Launch:
    """A kernel with the grid, arguments and options that it is launched with."""

    kernel: Any
    grid: tuple[int, ...]
    args: tuple[Any, ...]
    options: dict[str, Any]


_notes: ContextVar[tuple[list[Launch], int] | None] = ContextVar("gateproof_launches", default=None)


@contextmanager
def noted(lanes: int = 32) -> Iterator[list[Launch]]:
    """Within a block kernels are noted and not run: what operations return holds no values.

    ``lanes`` are those of a warp of the card that is meant.
    """
    found: list[Launch] = []
    token = _notes.set((found, lanes))
    try:
        yield found
    finally:
        _notes.reset(token)


def noting() -> bool:
    """Whether launches are noted."""
    return _notes.get() is not None


def lanes_of(device: torch.device) -> int:
    """Lanes of a warp: 32, or 64 on AMD's data-centre cards."""
    found = _notes.get()
    if found is not None:
        return found[1]
    return _lanes(device.index or 0) if device.type == "cuda" else 32


@lru_cache(maxsize=64)
def _lanes(index: int) -> int:
    return int(torch.cuda.get_device_properties(index).warp_size)


def start(device: torch.device, kernel: Any, grid: tuple[int, ...], *args: Any, **options: Any) -> None:
    """Launch a kernel on the device where its tensors are."""
    found = _notes.get()
    options = {"enable_fp_fusion": FUSED, **options}
    if found is not None:
        found[0].append(Launch(kernel, grid, args, options))
        return
    guard: Any = torch.cuda.device(device) if device.type == "cuda" else nullcontext()
    with guard:
        kernel[grid](*args, **options)
