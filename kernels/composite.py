"""Graphs in PyTorch's own operations: on every device, and for a compiler to fuse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import torch

from gateproof.kernels import choice
from gateproof.kernels.eager import Forms, evaluate
from gateproof.kernels.fixed import fixed
from gateproof.kernels.graph import Graph
from gateproof.kernels.packed import halves
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


@dataclass(frozen=True)
class Results:
    """What becomes of a graph's results: the first are rounded to ``types``, the others ``summed`` or not.

    Sums are taken in float64 over all dimensions but ``kept``, and stand side by side. With ``packed`` the
    first two are the halves of one tensor.
    """

    types: tuple[torch.dtype, ...]
    packed: bool = False
    summed: bool = False
    kept: int | None = None


def composite(
    graph: Graph,
    tensors: Sequence[torch.Tensor],
    entries: Sequence[torch.Tensor],
    numbers: Sequence[float],
    real: torch.dtype,
    results: Results,
) -> list[torch.Tensor]:
    """All results in the shape of the tensors, each rounded once to its type; entries are broadcast.

    Results without a type stay in the one that is computed in.
    """
    shape, device = tensors[0].shape, tensors[0].device
    # A Python number would be of double precision in compiled code.
    plain = [torch.full((), n, dtype=real, device=device) for n in numbers]
    values = [t.to(real) for t in (*tensors, *entries)]
    types, found = results.types, []
    for k, r in enumerate(graph.run(TorchOps(real, device), [*values, *plain])):
        if not isinstance(r, torch.Tensor):
            r = torch.full(shape, r, dtype=real, device=device)
        if r.shape != shape:
            r = r.expand(shape).clone(memory_format=torch.contiguous_format)
        dtype = types[k] if k < len(types) else real
        # An input is no output of its own.
        found.append(r.clone() if r.dtype == dtype and any(r is v for v in values) else r.to(dtype))
    count = len(types)
    if results.summed:
        found[count:] = [summed(found[count:], results.kept)]
    if results.packed:
        found[:2] = [torch.cat(found[:2], -1)]
    return found


def summed(values: Sequence[torch.Tensor], kept: int | None) -> torch.Tensor:
    """Values summed over all dimensions but one: (its length or 1, values)."""
    if kept is None:
        sums = [v.sum(dtype=torch.float64).reshape(1) for v in values]
    else:
        others = [d for d in range(values[0].dim()) if d != kept]
        sums = [v.sum(others, dtype=torch.float64) if others else v.to(torch.float64) for v in values]
    return torch.stack(sums, 1)


def laid_out(like: torch.Tensor, found: torch.Tensor) -> torch.Tensor:
    """The values in the layout of ``empty_like(like)``, which is what an operation promises."""
    made = torch.empty_like(like, dtype=found.dtype)
    return found if found.stride() == made.stride() else made.copy_(found)


#: Compiled forms of ``composite``. torch.compile counts the forms of one code object and gives up after
#: eight: each graph has a code object of its own.
_compiled: dict[Any, Any] = {}
#: A compiler decides by the first tensor whether its loops are shared among threads, for all later ones. Two
#: forms, then: PyTorch's own operations take several threads from so many elements on (ATen/Parallel.h).
GRAIN = 32768
_THREADS: dict[bool, dict[str, Any]] = {False: {"cpp.threads": 1}, True: {"cpp.dynamic_threads": True}}
#: Graphs with their plain numbers written into them, which compilers make the most of; past so many of them
#: numbers stay arguments.
_fixed: dict[Any, Graph] = {}
MOST_FIXED = 64


def run(
    graph: Graph,
    tensors: Sequence[torch.Tensor],
    entries: Sequence[torch.Tensor],
    numbers: Sequence[float],
    real: torch.dtype,
    results: Results,
) -> list[torch.Tensor]:
    """The results in float64 on a CPU, or ``composite``, or torch.compile of it where a person chose that."""
    device = tensors[0].device
    if choice.code_for(device.type) != "compiled" or not tensors[0].numel():
        if graph.forms is not None and device.type == "cpu" and real == torch.float32:
            return _eagerly(graph.forms, tensors, entries, numbers, results)
        return composite(graph, tensors, entries, numbers, real, results)
    given = list(entries)
    if numbers:
        own = (graph, tuple(numbers), real)
        if own not in _fixed and len(_fixed) < MOST_FIXED:
            _fixed[own] = fixed(graph, numbers, real)
        if own in _fixed:
            graph = _fixed[own]
        else:
            # Numbers come in as tensors, so that other numbers are no reason to compile again.
            given += torch.tensor(numbers, dtype=real, device=device).unbind()
    places = tuple(t.dim() for t in given)
    large = tensors[0].numel() >= GRAIN
    key = (graph, real, results, tuple((t.dtype, t.dim()) for t in tensors), places, device.type, large)
    plain = [t.detach() for t in tensors]
    found = _compiled.get(key)
    if found is None:
        found = _compiled[key] = _compile(graph, real, results, large)
        for t in plain:
            # Only sizes are left open: with dynamic=True the constants of a graph become arguments too,
            # read and converted for every vector.
            for dim in range(t.dim()):
                torch._dynamo.maybe_mark_dynamic(t, dim)
    made: list[torch.Tensor] = found(plain, [t.detach() for t in given])
    return made


def _eagerly(
    forms: Any,
    tensors: Sequence[torch.Tensor],
    entries: Sequence[torch.Tensor],
    numbers: Sequence[float],
    results: Results,
) -> list[torch.Tensor]:
    plain = torch.tensor(numbers, dtype=torch.float32).tolist()
    found: Forms = forms(entries, plain)
    like, channels = tensors[found.checked[0]], any(e.numel() > 1 for e in entries)
    both: torch.Tensor | None = None
    if channels:
        outs = [torch.empty(like.shape, dtype=t) for t in results.types]
    elif results.packed:
        both = torch.empty((*like.shape[:-1], 2 * like.shape[-1]), dtype=results.types[0])
        outs = list(halves(both))
    else:
        outs = [torch.empty_like(like, dtype=t) for t in results.types]
    count = found.whole.results[len(outs) :] if results.summed else ()
    sums = evaluate(found, tensors, entries, plain, outs, len(count), results.kept)
    made = [both] if both is not None else [torch.cat(outs, -1)] if results.packed else outs
    return [*made, torch.stack(sums, 1)] if results.summed else made


def _compile(graph: Graph, real: torch.dtype, results: Results, large: bool) -> Any:
    code = composite.__code__.replace(co_name=f"composite_{len(_compiled)}")
    own = FunctionType(code, composite.__globals__)

    def call(tensors: Any, given: Any) -> Any:
        return own(graph, tensors, given, (), real, results)

    fresh = FunctionType(
        call.__code__.replace(co_name=f"call_{len(_compiled)}"), globals(), closure=call.__closure__
    )
    return torch.compile(fresh, fullgraph=True, options=_THREADS[large])
