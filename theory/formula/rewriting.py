"""Small rewritings that many methods share: parts replaced, terms joined, names looked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gateproof.theory.formula.nodes import App, Expr, Node, Var, num, rebuild


def replaced(node: Expr, put: Mapping[Expr, Expr]) -> Expr:
    """The expression with whole parts replaced, the outermost first; what is put in is left alone."""
    found = replaced_node(node, put)
    assert isinstance(found, Expr)
    return found


def replaced_node(node: Node, put: Mapping[Expr, Expr]) -> Node:
    """The same for any node, statements included."""
    if isinstance(node, Expr) and node in put:
        return put[node]
    found = rebuild(node, lambda child: replaced_node(child, put))
    assert isinstance(found, Node)
    return found


def joined(op: str, terms: Sequence[Expr]) -> Expr:
    """The terms of a ``sum`` or ``prod`` written out; 0 and 1 where there are none."""
    if not terms:
        return num(0 if op == "sum" else 1)
    return terms[0] if len(terms) == 1 else App("add" if op == "sum" else "mul", tuple(terms))


def mentions(node: Node, name: str) -> bool:
    """Whether a name stands in the node, bound or free."""
    return any(isinstance(n, Var) and n.name == name for n in node.walk())
