"""tanh(u) from the exponential that its neighbours need already.

With e = exp(-|u|) the hyperbolic functions share one exponential and one quotient: sech = 2e/(1 + e**2) and
tanh = (1 - e**2)/(1 + e**2), whose numerator cancels near 0; there a polynomial stands in its place.
"""

from __future__ import annotations

from typing import Any

from gateproof.kernels.elementary_tables import TANH, TANH_SPLIT
from gateproof.kernels.graph import Builder, Graph, Ref


def shared(graph: Graph) -> Graph:
    """The graph with each tanh(u) beside an exp(-|u|) written in it; for single precision."""
    exponents = {n.args[0] for n in graph.nodes if n.head == "exp"}
    builder = Builder(graph.inputs)
    places: list[Ref] = list(range(graph.inputs))
    old = {(n.head, n.args): graph.inputs + i for i, n in enumerate(graph.nodes)}

    def wanted(u: Ref) -> bool:
        size = old.get(("abs", (u,)))
        return size is not None and old.get(("neg", (size,))) in exponents

    for node in graph.nodes:
        args = tuple(places[a] if isinstance(a, int) else a for a in node.args)
        if node.head == "tanh" and wanted(node.args[0]):
            places.append(_tanh(builder, args[0]))
        else:
            places.append(builder.add(node.head, *args))
    return builder.finished([places[r] if isinstance(r, int) else r for r in graph.results])


def _tanh(builder: Builder, u: Ref) -> Ref:
    add: Any = builder.add
    size = add("abs", u)
    square = add("mul", u, u)
    value: Ref = TANH[-1]
    for c in reversed(TANH[:-1]):
        value = add("add", add("mul", value, square), c)
    near = add("add", u, add("mul", add("mul", u, square), value))
    e = add("exp", add("neg", size))
    ee = add("mul", e, e)
    far = add("div", add("sub", 1.0, ee), add("add", 1.0, ee))
    signed = add("where", add("lt", u, 0.0), add("neg", far), far)
    result: Ref = add("where", add("lt", size, TANH_SPLIT), near, signed)
    return result
