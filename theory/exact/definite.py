"""Values of integrals: pieces between kinks, a primitive on each, and its limits at the ends.

An infinite limit makes the integral infinite; limits that cannot be added (oo - oo) and a
primitive without limit mean that there is no integral.
"""

from __future__ import annotations

from dataclasses import dataclass

from gateproof.theory.exact.budget import bounded
from gateproof.theory.exact.defined import prove_defined
from gateproof.theory.exact.domain import Assumptions, Derivation
from gateproof.theory.exact.gaussian import tidy
from gateproof.theory.exact.infinity import INFINITY, MINUS_INFINITY, side
from gateproof.theory.exact.integrals import is_primitive
from gateproof.theory.exact.kernels import ZERO, kernels, minus, plus
from gateproof.theory.exact.limits import NoLimit, limit
from gateproof.theory.exact.primitives import primitives
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.exact.splitting import Span, between, spans
from gateproof.theory.formula.nodes import App, Expr, Integral, Var
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names


@dataclass(frozen=True)
class NoIntegral:
    """Proved: the integral does not exist, for the reason given."""

    reason: str


@bounded
def integral_value(node: Integral, given: Assumptions) -> tuple[Expr, Derivation] | NoIntegral | None:
    """The value (``oo`` and ``-oo`` count) with its derivation, NoIntegral, or None.

    The integrand must be defined strictly between the ends; with ends in unknown order, on all of R.
    """
    names = free_names(node.lo) | free_names(node.hi)
    if node.var in given.domains or node.var in names:
        return None
    for end in (node.lo, node.hi):
        if not side(end) and prove_defined(end, given) is None:
            return None
    order = _order(node, given)
    if order == 0:
        return ZERO, Derivation((f"{to_text(node)} = 0: its ends are equal",))
    if order == -1:
        found = _ordered(Integral(node.body, node.var, node.hi, node.lo), given)
    elif order == 1:
        found = _ordered(node, given)
    else:
        found = _smooth(node, given)
    if not isinstance(found, tuple):
        return found
    value = found[0]
    if order == -1:
        value = {1: MINUS_INFINITY, -1: INFINITY}.get(side(value)) or minus(value)
    if not side(value):
        value = tidy(value, given)
        if prove_defined(value, given) is None:
            return None
    steps = (*found[1], f"{to_text(node)} = {to_text(value)}")
    return value, Derivation(steps, ("flint", "arb"))


def _order(node: Integral, given: Assumptions) -> int | None:
    lo, hi = side(node.lo), side(node.hi)
    if lo or hi:
        return 1 if lo < hi else -1 if lo > hi else None
    for op, order in (("<", 1), (">", -1), ("==", 0)):
        if prove_relation(node.lo, op, node.hi, given) is not None:
            return order
    return None


def _ordered(node: Integral, given: Assumptions) -> tuple[Expr, tuple[str, ...]] | NoIntegral | None:
    lo, hi = (None if side(e) else e for e in (node.lo, node.hi))
    if prove_defined(node.body, between(lo, hi, node.var, given)) is None:
        return None
    parts = spans(node.body, node.var, Span(lo, hi, node.body), given)
    if parts is None:
        return None
    values: list[Expr] = []
    steps: list[str] = []
    for part in parts:
        found = _over_span(part, node.var, given)
        if not isinstance(found, tuple):
            return found
        values += found[0]
        steps += found[1]
    return _added(values, tuple(steps), node)


def _added(
    values: list[Expr], steps: tuple[str, ...], node: Integral
) -> tuple[Expr, tuple[str, ...]] | NoIntegral:
    infinite = {side(v) for v in values if side(v)}
    if infinite == {1, -1}:
        return NoIntegral(f"{to_text(node)} does not exist: parts of it are oo and -oo")
    if infinite:
        return (INFINITY if infinite == {1} else MINUS_INFINITY), steps
    return plus(*values), steps


def _smooth(node: Integral, given: Assumptions) -> tuple[Expr, tuple[str, ...]] | None:
    """Ends in any order: the integrand must be smooth on all of R."""
    if side(node.lo) or side(node.hi):
        return None
    inner = between(None, None, node.var, given)
    if prove_defined(node.body, inner) is None:
        return None
    found = _over_span(Span(node.lo, node.hi, node.body), node.var, given, inner)
    if not isinstance(found, tuple) or any(side(v) for v in found[0]):
        return None
    return plus(*found[0]), found[1]


def _over_span(
    part: Span, var: str, given: Assumptions, inner: Assumptions | None = None
) -> tuple[list[Expr], tuple[str, ...]] | NoIntegral | None:
    """Limits of a primitive at the upper and, negated, at the lower end."""
    inside = inner or between(part.lo, part.hi, var, given)
    for primitive, form in primitives(part.expr, var):
        if prove_defined(primitive, inside) is None or not is_primitive(primitive, form, var, inside):
            continue
        steps = [f"({to_text(primitive)})' = {to_text(part.expr)} between the ends"]
        values: list[Expr] = []
        for end, infinite, direction in ((part.hi, INFINITY, "-"), (part.lo, MINUS_INFINITY, "+")):
            at = infinite if end is None else end
            found = limit(primitive, var, at, direction, given) or _power_at_zero(primitive, var, at, given)
            if (
                end is None
                and (isinstance(found, NoLimit) or found is None)
                and _periodic(primitive, var, given)
            ):
                return NoIntegral(f"{to_text(primitive)} has no limit as {var} -> {to_text(at)}")
            if isinstance(found, NoLimit):
                return NoIntegral(
                    f"{to_text(primitive)} has no limit as {var} -> {to_text(at)}: {found.reason}"
                )
            if found is None:
                break
            value = found[0]
            flipped = {1: MINUS_INFINITY, -1: INFINITY}.get(side(value)) or minus(value)
            values.append(value if direction == "-" else flipped)
            steps += found[1].steps
        if len(values) == 2:
            return values, tuple(steps)
    return None


def _power_at_zero(expr: Expr, var: str, at: Expr, given: Assumptions) -> tuple[Expr, Derivation] | None:
    """c x**e for e > 0 tends to 0 as x falls to 0."""
    if at != ZERO:
        return None
    inner = expr
    while isinstance(inner, App) and inner.head in ("mul", "div", "neg"):
        moving = [a for a in inner.args if var in free_names(a)]
        if len(moving) != 1 or (inner.head == "div" and moving[0] is not inner.args[0]):
            return None
        inner = moving[0]
    if not isinstance(inner, App) or inner.head != "pow" or inner.args[0] != Var(var):
        return None
    exponent = inner.args[1]
    if var in free_names(exponent) or prove_relation(exponent, ">", ZERO, given) is None:
        return None
    return ZERO, Derivation((f"{to_text(exponent)} > 0, so {to_text(expr)} -> 0 as {var} -> 0",))


def _periodic(expr: Expr, var: str, given: Assumptions) -> bool:
    """Whether it is one wave c cos(w x + p) + d with c and w not 0, which has no limit at infinity."""
    found = kernels(expr, var)
    if found is None:
        return False
    moving = [t for t in found if t.wave is not None or t.k or t.lin != ZERO or t.quad != ZERO or t.erfs]
    if len(moving) != 1:
        return False
    (t,) = moving
    if t.wave is None or t.k or t.lin != ZERO or t.quad != ZERO or t.erfs:
        return False
    return all(prove_relation(e, "!=", ZERO, given) is not None for e in (t.c, t.wave[0]))
