"""Values of integrals and normal means that stand in a closed expression."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from gateproof.numerics.bounds import Budget
from gateproof.numerics.errors import MaybeUndefined, NotImplementedOperator, Undefined
from gateproof.numerics.gauss import density_form, gaussian, sign_of
from gateproof.numerics.gauss_pair import gaussian_pair
from gateproof.numerics.integral import Range, Value, integral, rational_range
from gateproof.numerics.kinked_certificate import any_certificate, total
from gateproof.numerics.pair_certificate import pair_certificate
from gateproof.numerics.points import at_point, compare, rational_bounds
from gateproof.theory.exact.definite import NoIntegral
from gateproof.theory.exact.domain import Assumptions
from gateproof.theory.exact.infinity import side
from gateproof.theory.exact.kernels import minus
from gateproof.theory.exact.means import Mean, holds_mean, mean_value, reduced
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import (
    And,
    App,
    Const,
    Expr,
    Gauss,
    Gauss2,
    Integral,
    Node,
    Not,
    Num,
    Or,
    Rel,
    Var,
    Where,
    num,
)
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names

_CORE = (And, App, Const, Not, Num, Or, Rel, Var, Where)
#: Digits to which closed forms are held against quadrature, and most of certificates (of pairs: many parts).
CHECK_DIGITS, CERTIFICATE_DIGITS, PAIR_DIGITS = 6, 40, 4
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


def certificate_of(node: Mean, digits: int) -> tuple[dict[str, Any], int] | None:
    """A certificate of the mean with the digits that it states, at most those; None where none is found."""
    found = enclosed(node, digits, Budget())
    if found.enclosure is None:
        return None
    low, high = found.enclosure
    size = Fraction(1) if low <= 0 <= high else max(abs(low), abs(high))
    stated = min(digits, PAIR_DIGITS if isinstance(node, Gauss2) else CERTIFICATE_DIGITS)
    made = certificate_within(node, found.enclosure, size / 10**stated)
    return None if made is None else (made[0], stated)


def certificate_within(
    node: Mean, value: tuple[Fraction, Fraction], tolerance: Fraction
) -> tuple[dict[str, Any], tuple[Fraction, Fraction]] | None:
    """A certificate that the mean lies within the tolerance of its enclosure, and the bounds it gives."""
    on = as_range(node)
    if on is not None:
        document = any_certificate(on, value, tolerance, to_text(node))
        return None if document is None else (document, total(document.get("parts", [document])))
    # More digits of a pair take a checker minutes.
    fine = tolerance * 10 ** (PAIR_DIGITS + 1) < max(map(abs, value))
    if fine or not isinstance(node, Gauss2):
        return None
    found = pair_certificate(node, tolerance / 2, to_text(node))
    if found is None or found[1][0] < value[0] - tolerance or found[1][1] > value[1] + tolerance:
        return None
    return found


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
    if isinstance(node, Gauss2):
        ends = compare(node.c, num(1)), compare(node.c, num(-1))
        if 0 not in ends:
            return None
        other = Var(node.u) if ends[0] == 0 else minus(Var(node.u))
        node = Gauss(substitute(node.body, {node.v: other}), node.u, node.q, num(0))
    if sign_of(node.q) == 1:
        return Range(density_form(node.body, node.var, node.q, node.mean), node.var, None, None)
    return None


def _infinite(node: Integral) -> bool:
    return bool(side(node.lo) or side(node.hi))


def _other(node: Node) -> str:
    kind = next(type(n).__name__ for n in node.walk() if not isinstance(n, _CORE))
    return NAMES.get(kind, kind.lower())
