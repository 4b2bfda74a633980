"""A graph as calls of PyTorch's operations into a few buffers that stay in a processor's cache."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any

import torch

from gateproof.kernels.graph import Graph, Node, Ref
from gateproof.kernels.native import of_numbers

Call = Callable[[], Any]
_aten = torch.ops.aten
_BOOLEAN = frozenset({"eq", "ne", "lt", "le", "gt", "ge", "and", "or", "not"})


@lru_cache(maxsize=1024)
def _scalar(number: float) -> torch.Tensor:
    return torch.tensor(number, dtype=torch.float64)


def _as_tensor(a: Any) -> Any:
    return a if isinstance(a, torch.Tensor) else _scalar(float(a))


def _add(a: Any, b: Any, out: torch.Tensor) -> Call:
    return partial(torch.add, *((b, a) if isinstance(a, float) else (a, b)), out=out)


def _mul(a: Any, b: Any, out: torch.Tensor) -> Call:
    return partial(torch.mul, *((b, a) if isinstance(a, float) else (a, b)), out=out)


def _scaled(a: Any, b: Any, s: Any, out: torch.Tensor) -> Call:
    if isinstance(s, torch.Tensor):
        return partial(torch.addcmul, _as_tensor(a), b, s, out=out)
    return partial(torch.add, _as_tensor(a), b, alpha=s, out=out)


def _addcmul(a: Any, b: Any, c: Any, out: torch.Tensor, value: float = 1.0) -> Call:
    for s, other in ((b, c), (c, b)):
        if isinstance(s, float):
            return partial(torch.add, _as_tensor(a), other, alpha=value * s, out=out)
    return partial(torch.addcmul, _as_tensor(a), b, c, value=value, out=out)


def _of_tensors(function: Callable[..., Any], *args: Any, out: torch.Tensor) -> Call:
    return partial(function, *map(_as_tensor, args), out=out)


def _where(condition: Any, a: Any, b: Any, out: torch.Tensor) -> Call:
    if not isinstance(condition, torch.Tensor):
        condition = torch.tensor(bool(condition))
    return partial(torch.where, condition, _as_tensor(a), _as_tensor(b), out=out)


def _turning(a: Any, g: Any, out: torch.Tensor) -> Call:
    return partial(_aten.sigmoid_backward.grad_input, _as_tensor(a).expand_as(g), g, grad_input=out)


#: Each makes a call that writes into ``out``; arguments are tensors and floats, not floats alone.
_CALLS: dict[str, Callable[..., Call]] = {
    "add": _add, "mul": _mul, "scaled": _scaled, "addcmul": _addcmul, "where": _where, "turning": _turning,
    "subcmul": partial(_addcmul, value=-1.0),
    "silu": lambda a, out: partial(_aten.silu.out, a, out=out),
    "silu_slope": lambda a, x, out: partial(_aten.silu_backward.grad_input, a, x, grad_input=out),
    "power": partial(_of_tensors, torch.pow), "and": partial(_of_tensors, torch.logical_and),
    "or": partial(_of_tensors, torch.logical_or), "not": partial(_of_tensors, torch.logical_not),
    **{
        name: partial(_of_tensors, getattr(torch, name))
        for name in (
            "sub", "div", "neg", "abs", "copysign", "maximum", "minimum", "eq", "ne", "lt", "le", "gt", "ge",
            "sigmoid", "erf", "erfc", "exp2", "exp", "expm1", "log", "log1p", "sqrt", "floor", "sin", "cos",
            "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
        )
    },
}  # fmt: skip


class Program:
    """Calls in order, each with the buffer that it writes.

    The first ``tensors`` inputs come in pieces, in buffers that may be written to; the others are numbers, or
    tensors that are broadcast against them, and what depends on these alone is computed once (``begin``).
    """

    def __init__(self, graph: Graph, tensors: int) -> None:
        self.tensors, self.graph = tensors, graph
        self.varying: list[bool] = [k < tensors for k in range(graph.inputs)]
        for node in graph.nodes:
            self.varying.append(any(isinstance(a, int) and self.varying[a] for a in node.args))
        #: Inputs that are read.
        self.used = [
            any(
                isinstance(a, int) and a == k
                for args in (graph.results, *(n.args for n in graph.nodes))
                for a in args
            )
            for k in range(tensors)
        ]
        last: dict[int, int] = {r: len(graph.nodes) for r in graph.results if isinstance(r, int)}
        for k in reversed(range(len(graph.nodes))):
            for a in graph.nodes[k].args:
                if isinstance(a, int):
                    last.setdefault(a, k)
        self.once = [
            (graph.inputs + k, n) for k, n in enumerate(graph.nodes) if not self.varying[graph.inputs + k]
        ]
        #: Buffers of numbers and of truth values; those of the inputs come first.
        self.buffers, self.masks = tensors, 0
        self.slots: dict[int, tuple[bool, int]] = {k: (False, k) for k in range(tensors)}
        free: dict[bool, list[int]] = {True: [], False: [k for k in range(tensors) if k not in last]}
        self.steps: list[tuple[int, Callable[..., Call], tuple[Ref, ...]]] = []
        for k, node in enumerate(graph.nodes):
            place = graph.inputs + k
            if not self.varying[place]:
                continue
            for a in dict.fromkeys(node.args):
                if isinstance(a, int) and self.varying[a] and last[a] == k:
                    boolean, slot = self.slots[a]
                    free[boolean].append(slot)
            boolean = node.head in _BOOLEAN
            self.slots[place] = boolean, self._slot(free[boolean], boolean)
            self.steps.append((place, _CALLS[node.head], node.args))

    def _slot(self, free: list[int], boolean: bool) -> int:
        if free:
            return free.pop()
        if boolean:
            self.masks += 1
            return self.masks - 1
        self.buffers += 1
        return self.buffers - 1

    def begin(self, given: Sequence[Any]) -> dict[int, Any]:
        """What depends on numbers alone, of numbers (floats) or broadcast tensors in float64."""
        values: dict[int, Any] = dict(enumerate(given, self.tensors))
        for place, node in self.once:
            args = [values[a] if isinstance(a, int) else a for a in node.args]
            values[place] = _once(node, args)
        return values

    def bind(
        self, once: dict[int, Any], numbers: Sequence[torch.Tensor], masks: Sequence[torch.Tensor]
    ) -> tuple[list[Call], list[Any]]:
        """The calls, and where the results stand after them; the inputs stand in the first buffers.

        A result may be a float, or an input's buffer.
        """
        places: dict[int, Any] = {
            place: (masks if boolean else numbers)[slot] for place, (boolean, slot) in self.slots.items()
        }
        places.update(once)
        calls = [
            make(*(places[a] if isinstance(a, int) else a for a in args), out=places[place])
            for place, make, args in self.steps
        ]
        return calls, [places[r] if isinstance(r, int) else r for r in self.graph.results]


def _once(node: Node, args: list[Any]) -> Any:
    tensors = [a for a in args if isinstance(a, torch.Tensor)]
    if not tensors:
        return of_numbers(node.head, args)
    shape: Any = torch.broadcast_shapes(*(t.shape for t in tensors))
    out = torch.empty(shape, dtype=torch.bool if node.head in _BOOLEAN else torch.float64)
    _CALLS[node.head](*args, out=out)()
    return out
