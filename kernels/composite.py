"""Graphs in PyTorch's own operations: on every device, and for a compiler to fuse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from gateproof.kernels import choice
from gateproof.kernels.graph import Graph
from gateproof.numerics.backends.with_torch import TorchOps


def result_type(tensors: Sequence[torch.Tensor]) -> torch.dtype:
    """The type that holds all."""
    dtype = tensors[0].dtype
    for t in tensors[1:]:
        dtype = torch.promote_types(dtype, t.dtype)
    return dtype


def real_type(tensors: Sequence[torch.Tensor]) -> torch.dtype:
    """The type that is computed in: float32, or float64 where a tensor is."""
    return torch.float64 if any(t.dtype == torch.float64 for t in tensors) else torch.float32


def composite(
    graph: Graph,
    tensors: Sequence[torch.Tensor],
    entries: Sequence[torch.Tensor],
    numbers: Sequence[float],
    real: torch.dtype,
    out: Sequence[torch.dtype],
) -> list[torch.Tensor]:
    """All results in the shape of the tensors, each rounded once to its type; entries are broadcast.

    Results past the end of ``out`` stay in the type that is computed in.
    """
    shape, device = tensors[0].shape, tensors[0].device
    # A Python number would be of double precision in compiled code.
    plain = [torch.full((), n, dtype=real, device=device) for n in numbers]
    values = [t.to(real) for t in (*tensors, *entries)]
    found = []
    for k, r in enumerate(graph.run(TorchOps(real, device), [*values, *plain])):
        if not isinstance(r, torch.Tensor):
            r = torch.full(shape, r, dtype=real, device=device)
        if r.shape != shape:
            r = r.expand(shape).clone(memory_format=torch.contiguous_format)
        dtype = out[k] if k < len(out) else real
        # An input is no output of its own.
        found.append(r.clone() if r.dtype == dtype and any(r is v for v in values) else r.to(dtype))
    return found


_compiled: dict[str, Any] = {}


def maybe_compiled(function: Any, device_type: str) -> Any:
    """The function, or torch.compile of it where a person chose compiled code."""
    if choice.code_for(device_type) != "compiled":
        return function
    found = _compiled.get(function.__qualname__)
    if found is None:
        found = _compiled[function.__qualname__] = torch.compile(function, dynamic=True, fullgraph=True)
    return found
