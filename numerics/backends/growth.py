"""How parts of a formula behave far out, as far as products need it: 0 times oo is decided by growth."""

from __future__ import annotations

from functools import lru_cache

from gateproof.numerics.backends.algebra import is_closed
from gateproof.theory.formula.nodes import App, Expr, Num, Where

#: Functions that fall to 0 exponentially, if not on every side.
_FALLING = frozenset({"exp", "sigmoid", "softplus", "sech", "erfc"})
_BOUNDED = frozenset({"sign", "tanh", "sigmoid", "sech", "sin", "cos", "atan", "erf", "erfc"})
_SLOW = frozenset({"abs", "sqrt", "log", "softplus", "asinh", "poly", "add", "mul", "max", "min"})
_FAST = frozenset({"exp", "sinh", "cosh"})
UNKNOWN = 99


@lru_cache(maxsize=8192)
def falls(node: Expr) -> int:
    """How many exponentials deep the node falls to 0: 1 for exp(-x), 2 for sech(exp(x)), 0 for no fall.

    It is 0 in floating point only where it is that small.
    """
    if not isinstance(node, App) or is_closed(node):
        return 0
    if node.head in ("tanh", "erf", "asinh", "atan", "sinh"):
        return falls(node.args[0])
    if node.head == "pow":
        positive = isinstance(node.args[1], Num) and node.args[1].value > 0
        return falls(node.args[0]) if positive else 0
    if node.head == "mul":
        depths = [falls(a) for a in node.args if not is_closed(a)]
        return min(depths)
    return growth(node.args[0]) + 1 if node.head in _FALLING else 0


@lru_cache(maxsize=8192)
def growth(node: Expr) -> int:
    """How many exponentials deep the node grows: 0 as a power, 1 as exp(x); UNKNOWN otherwise."""
    if isinstance(node, Where):
        return max(growth(node.then), growth(node.other))
    if not isinstance(node, App) or is_closed(node) or node.head in _BOUNDED:
        return 0
    if node.head == "pow":
        base, power = node.args
        if not isinstance(power, Num):
            return UNKNOWN
        if power.value > 0:
            return growth(base)
        return UNKNOWN if any(isinstance(n, App) and falls(n) for n in base.walk()) else 0
    if node.head in _FAST:
        return growth(node.args[0]) + 1
    return max(growth(a) for a in node.args) if node.head in _SLOW else UNKNOWN
