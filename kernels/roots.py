"""Powers and roots in single precision, written so that neither overflow nor cancellation takes their digits.

x**(n/2) for odd n > 0 comes as sqrt(x)**n, which makes n errors of the root's; it is x**((n - 1)/2) sqrt(x),
with one for the root and one for each product: at most (n - 1)/2 + 2 in units of 2**-24, 5 for x**3.5.

sqrt(v**2 - 1), from derivatives of acosh, is sqrt(abs(v) - 1) sqrt(abs(v) + 1): v**2 overflows from 1.8e19
on, and near 1 its rounding alone is 1/(v - 1) units of what is left; abs(v) - 1 is exact there (Sterbenz).
Where v is a rounded sum ``compensated`` adds what it lacks to the difference: 5 errors of 2**-24 in all.
"""

from __future__ import annotations

from typing import Any

from gateproof.kernels.graph import Builder, Graph, Node, Ref

#: Longest power that is multiplied out.
_MOST = 17


def rooted(graph: Graph) -> Graph:
    """The graph with such powers and roots in it."""
    builder = Builder(graph.inputs)
    places: list[Ref] = list(range(graph.inputs))

    def at(ref: Ref) -> Node | None:
        return graph.nodes[ref - graph.inputs] if isinstance(ref, int) and ref >= graph.inputs else None

    def here(ref: Ref) -> Any:
        return places[ref] if isinstance(ref, int) else ref

    for node in graph.nodes:
        halves = _half_power(node, at)
        side = _unit_hyperbola(node, at)
        if halves is not None:
            base, count = halves
            places.append(builder.add("mul", _whole(builder, here(base), count), here(node.args[0])))
        elif side is not None:
            size = builder.add("abs", here(side))
            roots = [builder.add("sqrt", builder.add(head, size, 1.0)) for head in ("sub", "add")]
            places.append(builder.add("mul", *roots))
        else:
            places.append(builder.add(node.head, *(here(a) for a in node.args)))
    return builder.finished([here(r) for r in graph.results])


def _half_power(node: Node, at: Any) -> tuple[Ref, int] | None:
    """The base and whole part of an exponent that is half of an odd number."""
    if node.head != "power" or not isinstance(node.args[1], float):
        return None
    root, n = at(node.args[0]), node.args[1]
    if root is None or root.head != "sqrt" or not 3.0 <= n <= _MOST or n % 2.0 != 1.0:
        return None
    return root.args[0], int(n) // 2


def _unit_hyperbola(node: Node, at: Any) -> Ref | None:
    """v of sqrt(v*v - 1)."""
    inside = at(node.args[0]) if node.head == "sqrt" else None
    if inside is None or inside.head != "add" or -1.0 not in [a for a in inside.args if isinstance(a, float)]:
        return None
    square = next((at(a) for a in inside.args if isinstance(a, int)), None)
    if square is None or square.head != "mul" or square.args[0] != square.args[1]:
        return None
    found: Ref = square.args[0]
    return found


def _whole(builder: Builder, base: Ref, count: int) -> Ref:
    """base**count by squares."""
    found: Ref | None = None
    while count:
        if count % 2:
            found = base if found is None else builder.add("mul", found, base)
        base, count = builder.add("mul", base, base), count // 2
    assert found is not None
    return found
