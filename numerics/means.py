"""Values of integrals and normal means that stand in a closed expression."""

from __future__ import annotations

from gateproof.numerics.bounds import Budget
from gateproof.numerics.errors import NotImplementedOperator
from gateproof.numerics.gauss import density_form, gaussian, gaussian_pair, sign_of
from gateproof.numerics.integral import Range, Value, integral, rational_range
from gateproof.numerics.points import compare
from gateproof.theory.exact.definite import NoIntegral
from gateproof.theory.exact.domain import Assumptions
from gateproof.theory.exact.infinity import side
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


def as_range(node: Mean) -> Range | None:
    """The mean as one integral between rational or infinite ends, as certificates state it; or None."""
    if isinstance(node, Integral):
        order = 0 if side(node.lo) or side(node.hi) else compare(node.lo, node.hi)
        if side(node.lo) > side(node.hi) or order not in (0, -1) or (order == 0 and not _infinite(node)):
            return None
        return rational_range(node.body, node.var, node.lo, node.hi)
    if isinstance(node, Gauss) and sign_of(node.q) == 1:
        return Range(density_form(node.body, node.var, node.q, node.mean), node.var, None, None)
    return None


def _infinite(node: Integral) -> bool:
    return bool(side(node.lo) or side(node.hi))


def _other(node: Node) -> str:
    kind = next(type(n).__name__ for n in node.walk() if not isinstance(n, _CORE))
    return NAMES.get(kind, kind.lower())
