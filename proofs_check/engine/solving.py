"""An equation solved for a name that stands in it once: candidates, which are then checked."""

from __future__ import annotations

from gateproof.theory.formula.nodes import App, Expr, Var, num
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.scopes import free_names

_INVERSES = {
    "tanh": "atanh",
    "atanh": "tanh",
    "exp": "log",
    "log": "exp",
    "sinh": "asinh",
    "asinh": "sinh",
    "tan": "atan",
    "atan": "tan",
    "sin": "asin",
    "asin": "sin",
    "cos": "acos",
    "acos": "cos",
    "cosh": "acosh",
    "acosh": "cosh",
}


def solved_for(name: str, a: Expr, b: Expr) -> list[Expr]:
    """Values of the name at which ``a == b`` may hold; empty where it stands on both sides or twice."""
    if name in free_names(a) and name in free_names(b):
        a, b = App("add", (a, App("neg", (b,)))), num(0)
    if name in free_names(b):
        a, b = b, a
    return _solve(name, a, b)


def _solve(name: str, node: Expr, value: Expr) -> list[Expr]:
    if node == Var(name):
        return [value]
    if not isinstance(node, App):
        return []
    holding = [k for k, a in enumerate(node.args) if name in free_names(a)]
    if len(holding) != 1:
        return []
    k = holding[0]
    inner = node.args[k]
    rest = tuple(a for j, a in enumerate(node.args) if j != k)
    if node.head == "neg":
        return _solve(name, inner, App("neg", (value,)))
    if node.head == "add":
        return _solve(name, inner, App("add", (value, *(App("neg", (r,)) for r in rest))))
    if node.head == "mul":
        other = rest[0] if len(rest) == 1 else App("mul", rest)
        return _solve(name, inner, App("div", (value, other)))
    if node.head == "div":
        turned = App("mul", (value, rest[0])) if k == 0 else App("div", (rest[0], value))
        return _solve(name, inner, turned)
    if node.head in _INVERSES:
        return _solve(name, inner, App(_INVERSES[node.head], (value,)))
    if node.head == "sigmoid":
        ratio = App("div", (value, App("add", (num(1), App("neg", (value,))))))
        return _solve(name, inner, App("log", (ratio,)))
    if node.head == "softplus":
        shifted = App("add", (App("exp", (value,)), num(-1)))
        return _solve(name, inner, App("log", (shifted,)))
    if node.head == "sqrt":
        return _solve(name, inner, App("pow", (value, num(2))))
    if node.head == "abs":
        return [s for v in (value, App("neg", (value,))) for s in _solve(name, inner, v)]
    if node.head == "pow" and k == 0 and constant_value(node.args[1]) == 2:
        root = App("sqrt", (value,))
        return [s for v in (root, App("neg", (root,))) for s in _solve(name, inner, v)]
    return []
