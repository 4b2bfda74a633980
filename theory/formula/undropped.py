"""Values that a formula asks for and that rewriting would drop: ``at(1, x=log(y))`` needs ``log(y)``.

A part that may have no value and that the result no longer looks at is kept as ``+ 0*part``: the sum has the
result's value where the dropped part has any, and none elsewhere, in every engine and every array backend.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gateproof.theory.formula.nodes import App, Const, Expr, Node, Num, Var, Where, num

#: Functions with a real value for all real arguments.
EVERYWHERE = frozenset(
    {"add", "mul", "neg", "max", "min", "abs", "sign", "exp", "sin", "cos", "atan", "sinh", "cosh"}
    | {"tanh", "sech", "asinh", "sigmoid", "softplus", "erf", "erfc"}
)


def risks(node: Node) -> Iterator[Node]:
    """The outermost parts that may have no value for real names; a quotient by what may be 0 gives 1/v."""
    if isinstance(node, Num | Var) or (isinstance(node, Const) and node.name != "oo"):
        return
    if isinstance(node, App) and node.head in EVERYWHERE:
        for arg in node.args:
            yield from risks(arg)
        return
    if isinstance(node, App) and node.head == "pow":
        base, exponent = node.args
        if isinstance(exponent, Num) and exponent.value.denominator == 1 and exponent.value > 0:
            yield from risks(base)
            return
    if isinstance(node, App) and node.head == "div":
        over, under = node.args
        yield from risks(over)
        yield from risks(under)
        if not isinstance(under, Num) or not under.value:
            yield App("div", (num(1), under))
        return
    yield node


def is_everywhere(node: Node) -> bool:
    """Whether every part is a function that has a value for all real arguments."""
    return next(risks(node), None) is None


def needed(node: Node) -> set[Node]:
    """Parts that must have a value for the node to have one; branches of ``where`` need none."""
    found: set[Node] = set()
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if part in found:
            continue
        found.add(part)
        if isinstance(part, Where):
            waiting.append(part.cond)
        elif isinstance(part, App) or not isinstance(part, Expr):
            waiting.extend(part.children())
    return found


def undropped(result: Expr, values: Iterable[Expr]) -> Expr:
    """The result, with ``0*part`` for each part of the values that may be missing and is not needed in it."""
    risky = dict.fromkeys(r for v in values for r in risks(v))
    if not risky:
        return result
    there = needed(result) | set(risks(result))
    kept = tuple(App("mul", (num(0), r)) for r in risky if r not in there and isinstance(r, Expr))
    return App("add", (result, *kept)) if kept else result
