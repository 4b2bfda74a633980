"""Graphs for code that torch.compile traces, with their numbers as constants.

With ``dynamic=True`` torch.compile makes an argument of each number that it reads from an object, and loses
it where a second autograd.Function reads the same one. What a function under ``assume_constant_result``
returns stays as it is, and is not asked for changes.
"""

# PyTorch's own names with an underscore have no types.
# pyright: reportPrivateImportUsage=false, reportAttributeAccessIssue=false

from __future__ import annotations

from typing import Any

import torch

from gateproof.kernels.graph import Graph, Node


def exported() -> bool:
    """Whether torch.jit's tracer is at work, for a file or for ONNX: it is given PyTorch's own operations."""
    return not torch.compiler.is_compiling() and torch.jit.is_tracing()  # type: ignore[attr-defined]


def to_onnx() -> bool:
    """Whether it is at work for ONNX, which knows no operations but PyTorch's."""
    return torch.onnx.is_in_onnx_export() and not torch.compiler.is_compiling()


_kept: dict[str, Graph] = {}


def keep(key: str, graph: Graph) -> None:
    """Let ``traced`` find a graph by a name, which stands for it in the whole process."""
    _kept[key] = graph


@torch.compiler.assume_constant_result  # type: ignore[untyped-decorator, unused-ignore]
def _constants(key: str) -> tuple[Any, ...]:
    return constants_of(_kept[key])


def traced(key: str) -> Graph:
    """The graph of a name."""
    return graph_of(_constants(key))


def applied(function: Any, *args: Any) -> Any:
    """What an autograd.Function gives in traced code.

    Where nothing is differentiated torch.compile gives a context to a forward of any number of arguments,
    which has no place for it (PyTorch 2.13): its forward is then called as the plain function that it is.
    """
    wanted = torch.is_grad_enabled() and any(isinstance(a, torch.Tensor) and a.requires_grad for a in args)
    return function.apply(*args) if wanted else function.forward(*args)


def in_operations(dy: Any) -> bool:
    """Whether a gradient is computed in PyTorch's own operations: it may be differentiated again.

    So is one under ``is_grads_batched`` (``jacobian(vectorize=True)`` too), whose older vmap has no rule for
    operations that return a list.
    """
    batched = getattr(torch._C._functorch, "is_legacy_batchedtensor", None)
    return torch.is_grad_enabled() or (batched is not None and batched(dy))


def constants_of(graph: Graph) -> tuple[Any, ...]:
    """A graph as tuples of names and numbers."""
    return graph.inputs, tuple((n.head, n.args) for n in graph.nodes), graph.results


def graph_of(constants: tuple[Any, ...]) -> Graph:
    """The graph of such tuples."""
    inputs, nodes, results = constants
    return Graph(inputs, tuple([Node(head, args) for head, args in nodes]), results)
