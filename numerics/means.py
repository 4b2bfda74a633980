"""Values of integrals and normal means that stand in a closed expression."""

from __future__ import annotations

from gateproof.numerics.bounds import Budget
from gateproof.numerics.errors import NotImplementedOperator
from gateproof.numerics.gauss import gaussian, gaussian_pair
from gateproof.numerics.integral import Value, integral
from gateproof.theory.exact.definite import NoIntegral
from gateproof.theory.exact.domain import Assumptions
from gateproof.theory.exact.means import Mean, reduced
from gateproof.theory.formula.nodes import (
    And,
    App,
    Const,
    Expr,
    Gauss,
    Integral,
    Node,
    Not,
    Num,
    Or,
    Rel,
    Var,
    Where,
)

_CORE = (And, App, Const, Not, Num, Or, Rel, Var, Where)
NAMES = {"Integral": "integrate", "Gauss": "gauss", "Gauss2": "gauss2"}


def exact(expr: Expr) -> Expr | Value:
    """The expression with means in closed form where one is known; a Value where one does not exist."""
    found = reduced(expr, Assumptions())
    if isinstance(found, NoIntegral):
        return Value("undefined", reason=found.reason)
    return found[0]


def enclosed(node: Mean, digits: int, budget: Budget) -> Value:
    """The value of one mean to about that many digits. Raises NotImplementedOperator by its name."""
    for child in node.children():
        if not all(isinstance(n, _CORE) for n in child.walk()):
            raise NotImplementedOperator(f"{NAMES[type(node).__name__]} with {_other(child)} inside")
    if isinstance(node, Integral):
        return integral(node.body, node.var, node.lo, node.hi, digits, budget)
    if isinstance(node, Gauss):
        return gaussian(node.body, node.var, node.q, node.mean, digits, budget)
    return gaussian_pair(node, digits, budget)


def _other(node: Node) -> str:
    kind = next(type(n).__name__ for n in node.walk() if not isinstance(n, _CORE))
    return NAMES.get(kind, kind.lower())
