"""Formulas defined for all reals by their form, so that the values of 1/0 or ln(-1) in Coq play no part."""

from __future__ import annotations

from gateproof.theory.formula.nodes import App, Const, Expr, Num, Var
from gateproof.theory.formula.powers import constant_value

_EVERYWHERE = frozenset(
    {"add", "mul", "neg", "max", "min", "abs", "exp", "sin", "cos", "atan", "sinh", "cosh", "tanh"}
    | {"sigmoid", "softplus", "sech"}
)


def total(node: Expr) -> bool:
    """Divisors and arguments of logarithms are positive, those of roots not negative, by their form alone."""
    if isinstance(node, Num | Var) or (isinstance(node, Const) and node.name in ("pi", "e")):
        return True
    if not isinstance(node, App) or not all(total(arg) for arg in node.args):
        return False
    head, first = node.head, node.args[0]
    if head == "div":
        return _positive(node.args[1])
    if head == "pow":
        exponent = constant_value(node.args[1])
        if exponent is None:
            return False
        whole = exponent.denominator == 1
        return _positive(first) or (exponent >= 0 and (whole or _not_negative(first)))
    if head in ("log", "sqrt"):
        return _positive(first) or (head == "sqrt" and _not_negative(first))
    return head in _EVERYWHERE


def _positive(node: Expr) -> bool:
    if isinstance(node, Num):
        return node.value > 0
    if isinstance(node, Const):
        return node.name in ("pi", "e")
    if not isinstance(node, App):
        return False
    head, args = node.head, node.args
    if head == "add":
        return all(_not_negative(arg) for arg in args) and any(_positive(arg) for arg in args)
    if head == "max":
        return any(_positive(arg) for arg in args)
    if head in ("mul", "div", "min", "sqrt"):
        return all(_positive(arg) for arg in args)
    if head == "pow":
        return _positive(args[0])
    return head in ("exp", "cosh", "sech", "sigmoid", "softplus")


def _not_negative(node: Expr) -> bool:
    if _positive(node) or (isinstance(node, Num) and node.value >= 0):
        return True
    if not isinstance(node, App):
        return False
    if node.head in ("add", "mul", "min"):
        return all(_not_negative(arg) for arg in node.args)
    if node.head == "div":
        return _not_negative(node.args[0]) and _positive(node.args[1])
    if node.head == "pow":
        exponent = constant_value(node.args[1])
        return exponent is not None and exponent.denominator == 1 and exponent >= 0 and exponent % 2 == 0
    return node.head in ("abs", "sqrt")
