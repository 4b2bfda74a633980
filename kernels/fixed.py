"""A graph with its plain numbers written into it, for compilers that make the most of constants.

What numbers alone decide is computed here, in the type and by the operations that would compute it there, so
that the results are the same. Exponentials are corrected afterwards: numbers such as a sharpness of 2 or a
threshold of 0 leave nothing to correct.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

import torch

from gateproof.kernels.compensated import compensated
from gateproof.kernels.graph import RUN, Builder, Graph
from gateproof.numerics.backends.with_torch import TorchOps


def fixed(graph: Graph, numbers: Sequence[float], real: torch.dtype) -> Graph:
    """The graph of its other inputs."""
    if graph.plain is not None:
        made = fixed(graph.plain, numbers, real)
        return compensated(made, unfused=True) if real == torch.float32 else made
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


def _is_bounded_product(builder: Builder, condition: Any, a: Any, b: Any) -> bool:
    """Whether a choice is 0 where a factor is, and a finite multiple of that factor elsewhere."""
    test, product = builder.node(condition), builder.node(b)
    if not isinstance(a, float) or a != 0.0 or test is None or product is None or test.head != "eq":
        return False
    # A place may be 0 too, and is no number.
    zero, factor = sorted(test.args, key=lambda t: isinstance(t, int))
    if product.head != "mul" or not isinstance(zero, float) or zero != 0.0:
        return False
    others = [p for p in product.args if not (isinstance(p, int) and p == factor)]
    return len(others) == 1 and isinstance(others[0], float) and isfinite(others[0])


def _made(builder: Builder, ops: Any, head: str, args: list[Any], real: torch.dtype) -> Any:
    if head == "where" and isinstance(args[0], bool):
        return args[1] if args[0] else args[2]
    if head in ("and", "or") and any(isinstance(a, bool) for a in args):
        known, other = (args[0], args[1]) if isinstance(args[0], bool) else (args[1], args[0])
        return other if known == (head == "and") else known
    if head in ("add", "sub") and isinstance(args[1], float) and args[1] == 0.0:
        return args[0]
    if head == "add" and isinstance(args[0], float) and args[0] == 0.0:
        # The sign of a 0 is not kept.
        return args[1]
    if any(_is_place(a) for a in args):
        return (
            args[2] if head == "where" and _is_bounded_product(builder, *args) else builder.add(head, *args)
        )
    if head == "not":
        return not args[0]
    tensors = [torch.tensor(a, dtype=real) for a in args]
    run = RUN.get(head)
    found = run(ops, *tensors) if run is not None else getattr(ops, head)(*tensors)
    return found.item()
