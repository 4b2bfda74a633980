"""Values of integrals and normal means that stand in a closed expression."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from gateproof.numerics.bounds import Budget
from gateproof.numerics.errors import MaybeUndefined, NotImplementedOperator, Undefined
from gateproof.numerics.gauss import density_form, gaussian, sign_of
from gateproof.numerics.gauss_pair import gaussian_pair
from gateproof.numerics.integral import Range, Value, integral, rational_range
from gateproof.numerics.kinked_certificate import any_certificate
from gateproof.numerics.points import at_point, compare, rational_bounds
from gateproof.theory.exact.definite import NoIntegral
from gateproof.theory.exact.domain import Assumptions
from gateproof.theory.exact.infinity import side
from gateproof.theory.exact.kernels import minus
from gateproof.theory.exact.means import Mean, holds_mean, mean_value, reduced
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
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names

_CORE = (And, App, Const, Not, Num, Or, Rel, Var, Where)
#: Digits to which closed forms are held against quadrature, and those of certificates.
CHECK_DIGITS, CERTIFICATE_DIGITS = 6, 40
NAMES = {"Integral": "integrate", "Gauss": "gauss", "Gauss2": "gauss2"}


def exact(expr: Expr) -> Expr | Value:
    """The expression with means in closed form where one is known; a Value where one does not exist."""
    found = reduced(expr, Assumptions())
    if isinstance(found, NoIntegral):
        return Value("undefined", reason=found.reason)
    for node in expr.walk():
        value = mean_value(node, Assumptions()) if isinstance(node, Mean) and not free_names(node) else None
        if isinstance(value, tuple) and not holds_mean(value[0]) and contradicted(node, value[0], Budget()):
            return Value("unknown", reason="a closed form of an integral disagrees with quadrature")
    return found[0]


def contradicted(node: Node, value: Expr, budget: Budget) -> bool:
    """Whether quadrature excludes a closed form of a mean without free names."""
    assert isinstance(node, Mean)
    try:
        numeric = enclosed(node, CHECK_DIGITS, budget)
        if side(value):
            return numeric.status == "ok" or numeric.sign * side(value) < 0
        if numeric.enclosure is None:
            return numeric.status in ("infinite", "undefined")
        lo, hi = rational_bounds(at_point(value, {}, 256))
    except (NotImplementedOperator, Undefined, MaybeUndefined):
        return False
    return hi < numeric.enclosure[0] or lo > numeric.enclosure[1]


def certificate_of(node: Mean, digits: int) -> dict[str, Any] | None:
    """A certificate that states the mean to that many digits, at most CERTIFICATE_DIGITS; or None."""
    on = as_range(node)
    found = enclosed(node, digits, Budget())
    if on is None or found.enclosure is None:
        return None
    low, high = found.enclosure
    size = Fraction(1) if low <= 0 <= high else max(abs(low), abs(high))
    tolerance = size / 10 ** min(digits, CERTIFICATE_DIGITS)
    return any_certificate(on, found.enclosure, tolerance, to_text(node))


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
        order: int | None = (side(node.lo) > side(node.hi)) - (side(node.lo) < side(node.hi))
        if not _infinite(node):
            order = compare(node.lo, node.hi)
        if not order:
            return None
        if order > 0:
            return rational_range(minus(node.body), node.var, node.hi, node.lo)
        return rational_range(node.body, node.var, node.lo, node.hi)
    if isinstance(node, Gauss) and sign_of(node.q) == 1:
        return Range(density_form(node.body, node.var, node.q, node.mean), node.var, None, None)
    return None


def _infinite(node: Integral) -> bool:
    return bool(side(node.lo) or side(node.hi))


def _other(node: Node) -> str:
    kind = next(type(n).__name__ for n in node.walk() if not isinstance(n, _CORE))
    return NAMES.get(kind, kind.lower())
