"""What an error is judged against: the sum of the sizes of the terms that a result is the sum of.

A gate's value may vanish where its branches cancel, and a derivative has zeros of its own: no relative error
is kept there by any finite arithmetic. The sum of absolute terms is the yardstick of floating-point analysis
(Higham, Accuracy and Stability of Numerical Algorithms, 3.1). Terms are read off the graph: sums, differences,
choices and changes of sign are opened, products with an input too, all else is one term.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gateproof.kernels.graph import Graph, Ref
from gateproof.numerics.backends.with_numpy import NumpyOps

Array = NDArray[np.float64]


def sizes(graph: Graph, inputs: list[Array]) -> list[Array]:
    """For each result the sum of the absolute values of its terms, in float64."""
    with np.errstate(all="ignore"):
        values: list[Any] = list(inputs)
        whole = Graph(graph.inputs, graph.nodes, tuple(range(graph.inputs + len(graph.nodes))))
        values = whole.run(NumpyOps(small=True), inputs)
        made: list[Any] = [np.abs(v) for v in inputs]
        for place, node in enumerate(graph.nodes, graph.inputs):
            made.append(_size(node.head, node.args, values, made, graph.inputs, place))
        return [np.asarray(made[r] if isinstance(r, int) else abs(r)) for r in graph.results]


def _size(head: str, args: tuple[Ref, ...], values: list[Any], made: list[Any], inputs: int, place: int) -> Any:
    def size(ref: Ref) -> Any:
        return made[ref] if isinstance(ref, int) else abs(ref)

    if head in ("add", "sub"):
        return size(args[0]) + size(args[1])
    if head == "neg":
        return size(args[0])
    if head == "where":
        return np.where(values[args[0]], size(args[1]), size(args[2])) if isinstance(args[0], int) else size(args[1])
    if head == "mul":
        plain = [a for a in args if isinstance(a, float) or a < inputs]
        if plain:
            return size(args[0]) * size(args[1])
    value = values[place]
    return np.abs(value) if np.asarray(value).dtype != np.bool_ else value
