"""Values that a formula asks for and that rewriting would drop: ``at(1, x=log(y))`` needs ``log(y)``.

A value that may be missing and that the result no longer looks at is kept as ``+ 0*value``: the sum has the
result's value where the dropped one has any, and none elsewhere, in every engine and every array backend.
"""

from __future__ import annotations

from collections.abc import Iterable

from gateproof.theory.formula.nodes import App, Const, Expr, Node, Num, Var, Where, num

#: Functions with a real value for all real arguments.
EVERYWHERE = frozenset(
    {"add", "mul", "neg", "max", "min", "abs", "sign", "exp", "sin", "cos", "atan", "sinh", "cosh"}
    | {"tanh", "sech", "asinh", "sigmoid", "softplus", "erf", "erfc"}
)


def is_everywhere(node: Node) -> bool:
    """Whether every part is a function that has a value for all real arguments."""
    if isinstance(node, App):
        if node.head == "pow":
            n = node.args[1]
            whole = isinstance(n, Num) and n.value.denominator == 1 and n.value > 0
            return whole and is_everywhere(node.args[0])
        if node.head == "div":
            over, under = node.args
            return isinstance(under, Num) and under.value != 0 and is_everywhere(over)
        return node.head in EVERYWHERE and all(is_everywhere(a) for a in node.args)
    return isinstance(node, Num | Var) or (isinstance(node, Const) and node.name != "oo")


def needed(node: Node) -> set[Node]:
    """Parts that must have a value for the node to have one; branches of ``where`` need none."""
    if isinstance(node, Where):
        return {node, *needed(node.cond)}
    if isinstance(node, App):
        return {node}.union(*(needed(a) for a in node.args))
    children = node.children() if not isinstance(node, Expr) else ()
    return {node}.union(*(needed(c) for c in children))


def undropped(result: Expr, values: Iterable[Expr]) -> Expr:
    """The result, with ``0*value`` for each value that may be missing and is no needed part of it."""
    doubtful = [v for v in dict.fromkeys(values) if not is_everywhere(v)]
    if not doubtful:
        return result
    seen = needed(result)
    kept = [App("mul", (num(0), v)) for v in doubtful if v not in seen]
    return App("add", (result, *kept)) if kept else result
