"""tanh(u) and sigmoid(u) sigmoid(-u) from the exponential that their neighbours need already.

The two sigmoids are s and 1 - s, the smaller one s = e/(1 + e); their product is s - s**2, where the error
of s counts once, and not at all at s = 1/2. With e = exp(-|u|) the hyperbolic functions share one exponential
and one quotient: sech = 2e/(1 + e**2) and tanh = (1 - e**2)/(1 + e**2), whose numerator cancels near 0; there
a polynomial stands in its place.
"""

from __future__ import annotations

from typing import Any

from gateproof.kernels.elementary_tables import TANH, TANH_SPLIT
from gateproof.kernels.graph import Builder, Graph, Node, Ref


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
        smaller = _smaller(graph, node)
        if smaller is not None:
            one: Any = places[smaller]
            places.append(builder.add("sub", one, builder.add("mul", one, one)))
        elif node.head == "tanh" and wanted(node.args[0]):
            places.append(_tanh(builder, args[0]))
        else:
            places.append(builder.add(node.head, *args))
    return builder.finished([places[r] if isinstance(r, int) else r for r in graph.results])


def _smaller(graph: Graph, node: Node) -> int | None:
    """The place of the smaller of two sigmoids, where the node is sigmoid(u)*sigmoid(-u)."""

    def at(ref: Ref) -> Node | None:
        return graph.nodes[ref - graph.inputs] if isinstance(ref, int) and ref >= graph.inputs else None

    one, other = (at(a) for a in node.args) if node.head == "mul" else (None, None)
    if one is None or other is None or one.head != "where" or other.head != "where":
        return None
    if one.args[1:] != other.args[1:]:
        return None
    signs = [at(one.args[0]), at(other.args[0])]
    if any(s is None or s.head != "ge" or s.args[1] != 0.0 for s in signs):
        return None
    u, v = (s.args[0] for s in signs if s is not None)
    if at(u) != Node("neg", (v,)) and at(v) != Node("neg", (u,)):
        return None
    large, small = one.args[1:]
    made, below = at(small), at(large)
    if made is None or below is None or below.head != "div" or made.head != "mul" or large not in made.args:
        return None
    return small if isinstance(small, int) else None


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
