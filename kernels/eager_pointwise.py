"""What computes a formula on a CPU without a compiler."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from gateproof.kernels.eager import Forms
from gateproof.kernels.graph import Graph, unfold
from gateproof.kernels.native import simpler, unfold_natively
from gateproof.kernels.program import Program
from gateproof.numerics.backends.tape import Tape

#: Lists of numbers that are written into a program of their own; further ones are arguments.
MOST_WRITTEN = 16


class PointwiseForms:
    """``Graph.forms`` of tapes; ``times_first``: results are times one more tensor before the others."""

    def __init__(self, tapes: Sequence[Tape], tensors: int, *, times_first: bool) -> None:
        self.tapes, self.times_first = tuple(tapes), times_first
        self.first = int(times_first)
        self.tensors = tensors + self.first
        self.known: dict[tuple[float, ...], Forms] = {}

    def __call__(self, _: Sequence[Any], numbers: Sequence[float]) -> Forms:
        """One program for all inputs."""
        key = tuple(numbers)
        if key not in self.known and len(self.known) >= MOST_WRITTEN:
            key = ()
        if key not in self.known:
            program = Program(simpler(self._native, key, range(self.first)), self.tensors)
            checked = tuple(range(self.first, self.tensors))
            self.known[key] = Forms(self._whole, program, checked, written=bool(key))
        return self.known[key]

    @cached_property
    def _native(self) -> Graph:
        return unfold_natively(self.tapes, times_first=self.times_first)

    @cached_property
    def _whole(self) -> Graph:
        return unfold(self.tapes, small=False, times_first=self.times_first)
