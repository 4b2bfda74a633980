"""Closed arithmetic with an infinite value, where its result does not depend on convention."""

from __future__ import annotations

from gateproof.theory.formula.nodes import App, Const, Expr, Node, Num, num, rebuild

INFINITY = Const("oo")
PI = Const("pi")
MINUS_INFINITY = App("neg", (INFINITY,))

#: Values at oo and at -oo.
VALUES: dict[str, tuple[Expr, Expr]] = {
    "exp": (INFINITY, num(0)),
    "sigmoid": (num(1), num(0)),
    "softplus": (INFINITY, num(0)),
    "tanh": (num(1), num(-1)),
    "sech": (num(0), num(0)),
    "erf": (num(1), num(-1)),
    "erfc": (num(0), num(2)),
}


def side(node: Node) -> int:
    """1 for oo, -1 for -oo, else 0."""
    if node == INFINITY:
        return 1
    return -1 if node == MINUS_INFINITY else 0


def has_infinity(node: Node) -> bool:
    """Whether oo occurs anywhere."""
    return any(n == INFINITY for n in node.walk())


def fold(node: Expr) -> tuple[Expr, list[Expr]]:
    """The expression with infinite parts evaluated, and the finite parts that were absorbed.

    oo - oo, 0*oo and the like are left as they stand, so the result still holds oo.
    """
    absorbed: list[Expr] = []

    def visit(inner: Node) -> Node:
        if inner == MINUS_INFINITY:
            return inner
        return _step(rebuild(inner, visit), absorbed)

    result = visit(node)
    assert isinstance(result, Expr)
    return result, absorbed


def _step(node: Node, absorbed: list[Expr]) -> Node:
    if not isinstance(node, App):
        return node
    sides = [side(a) for a in node.args]
    if not any(sides):
        return node
    if node.head == "neg":
        return MINUS_INFINITY if sides[0] > 0 else INFINITY
    if node.head in VALUES:
        return VALUES[node.head][0 if sides[0] > 0 else 1]
    if node.head == "add":
        finite = [a for a, s in zip(node.args, sides, strict=True) if not s]
        infinite = {s for s in sides if s}
        if len(infinite) == 1 and not any(has_infinity(a) for a in finite):
            absorbed.extend(finite)
            return INFINITY if infinite == {1} else MINUS_INFINITY
    if node.head == "mul" and len(node.args) == 2:
        i = 0 if sides[0] else 1
        other = node.args[1 - i]
        if isinstance(other, Num) and other.value != 0:
            return INFINITY if (other.value > 0) == (sides[i] > 0) else MINUS_INFINITY
    return node
