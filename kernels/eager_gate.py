"""What computes threshold gates on a CPU without a compiler."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import torch

from gateproof.kernels.eager import Forms
from gateproof.kernels.eager_hard import Hard
from gateproof.kernels.gate_graph import Shape
from gateproof.kernels.graph import Graph
from gateproof.kernels.native import simpler
from gateproof.kernels.native_gate import MOST, leans, native_gradients, native_value
from gateproof.kernels.program import Program

#: Gates whose plain numbers are written into their programs; further ones have them as arguments.
MOST_WRITTEN = 128
_written: dict[tuple[Any, ...], Forms] = {}


class GateForms:
    """``Graph.forms`` of a gate: of its value (``numbers_too`` is None), or of its gradients."""

    def __init__(self, shape: Shape, plain: Graph, numbers_too: bool | None) -> None:
        self.shape, self.plain, self.numbers_too = shape, plain, numbers_too
        self.tensors = plain.inputs - shape.width

    def __call__(self, entries: Sequence[torch.Tensor], numbers: Sequence[float]) -> Forms:
        """What fits these numbers best."""
        if numbers:
            return self._of_numbers(tuple(numbers))
        known = all(e.numel() == 1 for e in entries) and not self.numbers_too
        form = leans(self.shape, tuple(e.item() for e in entries), self._slope) if known else "exact"
        return self._forms(form, ())

    @property
    def _slope(self) -> bool:
        return self.numbers_too is not None

    def _of_numbers(self, numbers: tuple[float, ...]) -> Forms:
        key = (self.shape, numbers, self.numbers_too)
        found = _written.get(key)
        if found is None:
            found = self._forms(leans(self.shape, numbers, self._slope), numbers)
            if len(_written) < MOST_WRITTEN:
                _written[key] = found
        return found

    def _forms(self, form: str, numbers: tuple[float, ...]) -> Forms:
        if len(_written) >= MOST_WRITTEN:
            numbers = ()
        made = (self.shape, self.numbers_too, self.tensors, numbers)
        near = None if form == "exact" else _program(*made, form)
        direct, always = None, None
        if numbers and self.shape.hard and not self.shape.product:
            hard = Hard(self.shape.branches, numbers)
            direct, always = (hard.slopes(), None) if self._slope else (hard.values(), hard.continuous())
        finite, place = _program(*made, "exact"), int(self._slope)
        return Forms(self.plain, finite, (place,), near, MOST if near else 0.0, bool(numbers), direct, always)


@lru_cache(maxsize=2 * MOST_WRITTEN)
def _program(
    shape: Shape, numbers_too: bool | None, tensors: int, numbers: tuple[float, ...], form: str
) -> Program:
    graph = (
        native_value(shape, form) if numbers_too is None else native_gradients(shape, form, bool(numbers_too))
    )
    # All tensors but x are factors of the results.
    free = [k for k in range(tensors) if k != int(numbers_too is not None)]
    return Program(simpler(graph, numbers, free), tensors)
