"""Where a job of a training run keeps its state in tests: in memory, by the bytes that the engine writes."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import torch


class Stopped(Exception):
    """The job was stopped when it saved."""


class Kept:
    """Saves whenever it is asked, and stops the job once, at the n-th time; never, for 0.

    ``between``: the job saves between its parts too, where it asks nothing.
    """

    def __init__(self, stop: int = 0, *, between: bool = False) -> None:
        self.stop, self.between, self.asked, self.data = stop, between, 0, b""

    def load(self) -> dict[str, Any] | None:
        # As the engine reads: nothing is shared with what goes on, and tensors and plain values alone.
        return torch.load(io.BytesIO(self.data), weights_only=True) if self.data else None

    def due(self) -> bool:
        self.asked += 1
        return self.stop > 0

    def save(self, state: Mapping[str, Any]) -> None:
        assert self.stop > 0 or self.between, "a job saves only when it is due"
        self.keep(state)
        if 0 < self.stop <= self.asked:
            self.stop = 0
            raise Stopped

    def keep(self, state: Mapping[str, Any]) -> None:
        """Put a state in the place of the last."""
        stream = io.BytesIO()
        torch.save(dict(state), stream)
        self.data = stream.getvalue()

    def say(self, done: float, text: str = "") -> None:
        assert 0 <= done <= 1
        assert isinstance(text, str)
