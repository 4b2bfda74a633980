"""A graph with its plain numbers written into it, for compilers that make the most of constants.

What numbers alone decide is computed here, in the type and by the operations that would compute it there, so
that the results are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from gateproof.kernels.graph import RUN, Builder, Graph
from gateproof.numerics.backends.with_torch import TorchOps


def fixed(graph: Graph, numbers: Sequence[float], real: torch.dtype) -> Graph:
    """The graph of its other inputs."""
    inputs = graph.inputs - len(numbers)
    ops = TorchOps(real, torch.device("cpu"))
    builder = Builder(inputs)
    # Numbers as those of the type; truth values stand apart from places.
    places: list[Any] = [*range(inputs), *torch.tensor(numbers, dtype=real).tolist()]
    for node in graph.nodes:
        args = [places[a] if isinstance(a, int) else a for a in node.args]
        places.append(_made(builder, ops, node.head, args, real))
    return builder.finished([places[r] if isinstance(r, int) else r for r in graph.results])


def _is_place(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _made(builder: Builder, ops: Any, head: str, args: list[Any], real: torch.dtype) -> Any:
    if head == "where" and isinstance(args[0], bool):
        return args[1] if args[0] else args[2]
    if head in ("and", "or") and any(isinstance(a, bool) for a in args):
        known, other = (args[0], args[1]) if isinstance(args[0], bool) else (args[1], args[0])
        return other if known == (head == "and") else known
    if any(_is_place(a) for a in args):
        return builder.add(head, *args)
    if head == "not":
        return not args[0]
    tensors = [torch.tensor(a, dtype=real) for a in args]
    run = RUN.get(head)
    found = run(ops, *tensors) if run is not None else getattr(ops, head)(*tensors)
    return found.item()
