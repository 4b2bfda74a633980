"""Rough values of constants, to choose where a tail starts.

Nothing rests on them: a choice that does not fit makes coqc refuse the file.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from gateproof.theory.formula.nodes import App, Const, Expr, Num

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "neg": lambda a: -a,
    "div": lambda a, b: a / b,
    "pow": lambda a, b: a**b,
    "abs": lambda a: abs(a),
    "log": math.log,
    **{h: getattr(math, h) for h in ("exp", "sqrt", "sin", "cos", "tan", "atan", "sinh", "cosh", "tanh")},
    "sigmoid": lambda a: 1 / (1 + math.exp(-a)),
    "softplus": lambda a: math.log1p(math.exp(a)),
    "sech": lambda a: 1 / math.cosh(a),
}


def rough(node: Expr) -> float:
    """A value near that of a closed formula. Raises ValueError where there is none."""
    try:
        return float(_value(node))
    except (ArithmeticError, KeyError, TypeError) as error:
        raise ValueError(f"no rough value: {error}") from None


def _value(node: Expr) -> float:
    if isinstance(node, Num):
        return float(node.value)
    if isinstance(node, Const):
        return {"pi": math.pi, "e": math.e}[node.name]
    if not isinstance(node, App):
        raise ValueError("no rough value")
    values = [_value(arg) for arg in node.args]
    if node.head == "add":
        return math.fsum(values)
    if node.head == "mul":
        return math.prod(values)
    return float(_FUNCTIONS[node.head](*values))
