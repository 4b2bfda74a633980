"""How it is timed: candidates in turn, so that other load hits all alike; medians, and their spread.

On a GPU each run starts with a cold second-level cache: a buffer larger than it is overwritten before. What a
run allocates at most, beyond what it was given, is read from PyTorch's allocator.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

#: Runs before those that count: compilation, the allocator's first blocks.
_WARM = 3
#: More than any second-level cache holds today.
_FLUSH = 2**28


class Clock:
    """Seconds of one call on a device."""

    def __init__(self, device: torch.device, *, busy: bool = False) -> None:
        self.cuda = device.type == "cuda"
        #: The processors' time does not count what other programs took.
        self.now = time.process_time if busy else time.perf_counter
        self.flush = torch.empty(_FLUSH, dtype=torch.int8, device=device) if self.cuda else None

    def seconds(self, call: Callable[[], Any]) -> float:
        """The time of a call, from a cold cache on a GPU."""
        if self.flush is None:
            begin = self.now()
            call()
            return self.now() - begin
        begin_, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        self.flush.zero_()
        begin_.record()
        call()
        end.record()
        torch.cuda.synchronize()
        return float(begin_.elapsed_time(end)) / 1e3

    def peak(self, call: Callable[[], Any]) -> int | None:
        """The most bytes that a call holds beyond those held before, or None where nobody counts them."""
        if not self.cuda:
            return None
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        call()
        torch.cuda.synchronize()
        return int(torch.cuda.max_memory_allocated() - before)


def forward(function: Any, tensors: Sequence[torch.Tensor], clock: Clock) -> float:
    """Seconds of the value alone."""
    with torch.no_grad():
        return clock.seconds(lambda: function(*tensors))


def backward(function: Any, tensors: Sequence[torch.Tensor], clock: Clock) -> float:
    """Seconds of all gradients, after a value that is not timed."""
    result = function(*tensors)
    dy = torch.ones_like(result)
    return clock.seconds(lambda: torch.autograd.grad(result, tensors, dy))


def both(function: Any, tensors: Sequence[torch.Tensor], clock: Clock) -> float:
    """Seconds of value and gradients, with a gradient of ones made beforehand."""
    dy = torch.ones_like(tensors[0])
    return clock.seconds(lambda: torch.autograd.grad(function(*tensors), tensors, dy))


DIRECTIONS: Mapping[str, Callable[..., float]] = {"forward": forward, "backward": backward, "both": both}


def timed(calls: Mapping[str, Callable[[], float]], repeats: int) -> dict[str, dict[str, float]]:
    """Of each candidate the median and least seconds, and the quartiles' distance over the median."""
    found: dict[str, list[float]] = {name: [] for name in calls}
    for repeat in range(repeats + _WARM):
        for name, call in calls.items():
            seconds = call()
            if repeat >= _WARM:
                found[name].append(seconds)
    return {name: _summary(seconds) for name, seconds in found.items()}


def _summary(seconds: list[float]) -> dict[str, float]:
    middle = statistics.median(seconds)
    low, _, high = statistics.quantiles(seconds, n=4) if len(seconds) > 1 else (middle,) * 3
    return {"median": middle, "least": min(seconds), "spread": (high - low) / middle}
