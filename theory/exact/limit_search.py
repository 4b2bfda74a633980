"""Limits by algebra: for a name that tends to oo by growth, for one that tends to 0+ by derivatives."""

from __future__ import annotations

from contextvars import ContextVar
from fractions import Fraction

from gateproof.theory.exact import infinity, local
from gateproof.theory.exact.atoms import Frac, NeedSign, NewStep
from gateproof.theory.exact.budget import Unsupported
from gateproof.theory.exact.composition import Tends
from gateproof.theory.exact.defined import has_value
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.growth import Growth
from gateproof.theory.exact.normal import Workspace
from gateproof.theory.exact.polys import Poly, UndefinedValue
from gateproof.theory.exact.writeback import write, write_poly
from gateproof.theory.formula.nodes import Expr, Rel, num
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names

_ROUNDS = 24
_RELATION = {1: ">", 0: "==", -1: "<"}
#: Where signs that were asked for in vain are noted, in the order of asking.
questions: ContextVar[list[Expr] | None] = ContextVar("questions", default=None)


def search(expr: Expr, name: str, rest: Assumptions, *, at_zero: bool) -> Tends | None:
    """The limit for name -> 0+ or name -> oo; signs asked for are those taken in the end."""
    facts: list[Rel] = []
    steps: dict[str, Fraction] = {}
    for _ in range(_ROUNDS):
        domains = {**rest.domains, name: Domain(lo=num(0))}
        ws: Workspace | None = None
        try:
            ws = Workspace(Assumptions(domains, (*rest.facts, *facts)), steps)

            def decide(inner: Workspace, value: Frac, allowed: frozenset[int]) -> bool:
                if inner.signs.of_frac(value) <= allowed:
                    return True
                top = _sign(inner, value.num, name, rest, at_zero=at_zero)
                bottom = _sign(inner, value.den, name, rest, at_zero=at_zero)
                return top is not None and bottom is not None and top * bottom in allowed

            if not has_value(ws, expr, [], decide):
                return None
            return _evaluate(ws, ws.form(expr), name, rest, at_zero=at_zero)
        except NewStep as finer:
            steps[finer.basis] = finer.step
        except NeedSign as need:
            if ws is None or _is_asked(ws, need.poly, name):
                return None
            try:
                sign = _sign(ws, need.poly, name, rest, at_zero=at_zero)
            except NeedSign as other:
                _is_asked(ws, other.poly, name)
                return None
            except (NewStep, Unsupported, UndefinedValue):
                return None
            if sign is None:
                return None
            facts.append(Rel((_RELATION[sign],), (write_poly(ws, need.poly), num(0))))
        except (Unsupported, UndefinedValue):
            return None
    return None


def _is_asked(ws: Workspace, p: Poly, name: str) -> bool:
    """Note a sign that is asked for and has nothing to do with the name on its way."""
    node = write_poly(ws, p)
    if name in free_names(node):
        return False
    _ask(node)
    return True


def _ask(node: Expr) -> None:
    asked = questions.get()
    if asked is not None and free_names(node) and node not in asked:
        asked.append(node)


def _sign(ws: Workspace, p: Poly, name: str, rest: Assumptions, *, at_zero: bool) -> int | None:
    """The sign of a polynomial in the end."""
    if p.is_zero():
        return 0
    if at_zero:
        found = local.first_derivative(ws, p, name, rest, _ask)
        return None if found is None else found[1]
    lead = Growth(ws, name).of_poly(p)
    if lead is None:
        return 0
    signs = ws.signs.of_frac(lead.c)
    if len(signs) != 1:
        raise NeedSign(ws.signs.question(lead.c))
    return next(iter(signs))


def _evaluate(ws: Workspace, value: Frac, name: str, rest: Assumptions, *, at_zero: bool) -> Tends | None:
    if value.is_zero:
        return Tends(num(0), (), ws.signs.used_balls)
    if at_zero:
        return _by_derivatives(ws, value, name, rest)
    growth = Growth(ws, name)
    balls = ws.signs.used_balls
    try:
        lead = growth.of_frac(value)
    except Unsupported:
        total = growth.bounded_limit(value)
        if total is None:
            return None
        return Tends(write(ws, total), ("no term grows: the limits of the terms are added",), balls)
    if lead is None:
        return Tends(num(0), (), balls)
    text = to_text(write(ws, lead.c))
    if not lead.u.is_zero:
        text += f"*exp({to_text(write(ws, lead.u))})"
    if lead.power:
        text += f"*{name}**({lead.power})"
    if lead.logs:
        text += f"*log({name})**({lead.logs})"
    steps = (f"the leading term is {text} as {name} -> oo",)
    order = growth.compare(lead, growth.constant(ws.number(1)))
    if order < 0:
        return Tends(num(0), steps, balls)
    if order == 0:
        return Tends(write(ws, lead.c), steps, balls)
    signs = ws.signs.of_frac(lead.c)
    if signs not in ({1}, {-1}):
        raise NeedSign(ws.signs.question(lead.c))
    return Tends(infinity.INFINITY if signs == {1} else infinity.MINUS_INFINITY, steps, balls)


def _by_derivatives(ws: Workspace, value: Frac, name: str, rest: Assumptions) -> Tends | None:
    """Numerator and denominator by their first terms: a h**k / (b h**m) for h -> 0+."""
    balls = ws.signs.used_balls
    top = local.first_derivative(ws, value.num, name, rest, _ask)
    bottom = local.first_derivative(ws, value.den, name, rest, _ask)
    if bottom is None:
        return None
    if top is None:
        # The numerator's value is not known to differ from 0; by continuity it is the limit.
        if bottom[0] or not local.smooth_at_zero(ws, Frac(value.num, value.den), name, rest):
            return None
        return Tends(local.at_zero(ws, value, name), ("by continuity",), balls)
    steps = (f"numerator of order {top[0]}, denominator of order {bottom[0]}",)
    if top[0] == 0 and bottom[0] == 0:
        steps = ("by continuity",)
    if top[0] > bottom[0]:
        return Tends(num(0), steps, balls)
    if top[0] == bottom[0]:
        return Tends(tidy(local.quotient(top[2], bottom[2]), rest), steps, balls)
    sign = top[1] * bottom[1]
    return Tends(infinity.INFINITY if sign > 0 else infinity.MINUS_INFINITY, steps, balls)


def tidy(node: Expr, rest: Assumptions) -> Expr:
    """A value in normal form, or as it is where that needs cases."""
    from gateproof.theory.exact.monotone import in_workspace

    found = in_workspace(rest, lambda ws: write(ws, ws.form(node)))
    return node if found is None else found
