"""Exact points where an expression has no value."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import islice, product

from gateproof.theory.exact import polys, roots
from gateproof.theory.exact.cases import domain_facts
from gateproof.theory.exact.conditions import holds
from gateproof.theory.exact.defined import conditions, power_condition
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.monotone import in_workspace
from gateproof.theory.exact.normal import Workspace
from gateproof.theory.formula.library import substitute, substitute_node
from gateproof.theory.formula.nodes import App, Expr, Num, Stmt, Where, num
from gateproof.theory.formula.scopes import free_names
from gateproof.theory.special import find, symbolic

MAX_POINTS = 400
_SAMPLES = tuple(num(Fraction(v)) for v in ("0", "1", "-1", "1/2", "-1/2", "2", "-2", "3", "-3", "10", "-10"))


def undefined_point(expr: Expr, assumptions: Assumptions) -> dict[str, Expr] | None:
    """An exact point of the domain where the expression has no value, or None."""
    names = sorted(free_names(expr))
    if any(n not in assumptions.domains for n in names):
        return None
    facts = {n for f in assumptions.facts for n in free_names(f)}
    names = sorted({*names, *(n for n in facts if n in assumptions.domains)})
    for fixed in islice(product(*(_samples(assumptions.domains[n]) for n in names)), MAX_POINTS):
        point = dict(zip(names, fixed, strict=True))
        if _is_inside(point, assumptions) and is_undefined(substitute(expr, point)):
            return point
        for free in names:
            for root in _zeros(expr, free, point):
                moved = {**point, free: root}
                if _is_inside(moved, assumptions) and is_undefined(substitute(expr, moved)):
                    return moved
    return None


def _samples(domain: Domain) -> list[Expr]:
    ends = [e for e in (domain.lo, domain.hi) if e is not None]
    middle: list[Expr] = []
    if len(ends) == 2 and all(isinstance(e, Num) for e in ends):
        lo, hi = (e.value for e in ends if isinstance(e, Num))
        middle = [Num((lo + hi) / 2)]
    return [*ends, *middle, *_SAMPLES]


def _is_inside(point: dict[str, Expr], assumptions: Assumptions) -> bool:
    """Whether the point is proved to be in the domain."""
    facts: list[Stmt] = []
    for name, value in point.items():
        domain = assumptions.domains[name]
        if domain.integer and not (isinstance(value, Num) and value.value.denominator == 1):
            return False
        facts += domain_facts(value, domain)
    for fact in assumptions.facts:
        put = substitute_node(fact, point)
        assert isinstance(put, Stmt)
        facts.append(put)
    return all(in_workspace(Assumptions(), lambda ws, f=f: holds(ws, f)) for f in facts)  # type: ignore[misc]


def is_undefined(node: Expr) -> bool:
    """Whether a closed expression is proved to have no value."""
    if isinstance(node, Where):
        branch = in_workspace(Assumptions(), lambda ws: holds(ws, node.cond))
        return branch is not None and is_undefined(node.then if branch else node.other)
    if not isinstance(node, App):
        return False
    if any(is_undefined(a) for a in node.args):
        return True
    return bool(in_workspace(Assumptions(), lambda ws: _breaks(ws, node)))


def _breaks(ws: Workspace, node: App) -> bool:
    if node.head == "pow":
        needed = power_condition(ws, node)
        value = ws.form(node.args[1]).rational()
        # What 0**0 means, and whether odd roots of negatives exist, is a convention.
        if value is None or value == 0 or (value.denominator % 2 and value.denominator > 1):
            return ws.signs.of_frac(ws.form(node.args[0])) == {0} and value is not None and value < 0
    else:
        needed = conditions(node) or []
        special = find(node.head)
        if special is not None and special.span.poles:
            at = ws.form(node.args[0]).rational()
            return at is not None and symbolic.has_no_value(special, at)
    return any(not ws.signs.of_frac(ws.form(e)) & allowed for e, allowed in needed)


def _zeros(expr: Expr, name: str, point: dict[str, Expr]) -> Iterable[Expr]:
    """Zeros in one name of what must not be 0, with the other names fixed."""
    others = {k: v for k, v in point.items() if k != name}
    for node in substitute(expr, others).walk():
        if isinstance(node, App) and node.head in ("div", "log", "sqrt", "pow", "tan"):
            target = node.args[1] if node.head == "div" else node.args[0]
            assumptions = Assumptions({name: Domain()})
            yield from in_workspace(assumptions, lambda ws, t=target: _roots(ws, t, name)) or []  # type: ignore[misc]
        special = find(node.head) if isinstance(node, App) else None
        if special is not None and isinstance(node, App):
            needed = symbolic.conditions(special, node.args[0])
            poles = [App("add", (node.args[0], num(k))) for k in range(4)] if special.span.poles else []
            for target in (*(e for e, _ in needed), *poles):
                assumptions = Assumptions({name: Domain()})
                yield from in_workspace(assumptions, lambda ws, t=target: _roots(ws, t, name)) or []  # type: ignore[misc]


def _roots(ws: Workspace, target: Expr, name: str) -> list[Expr]:
    found: list[Expr] = []
    for f, _ in polys.factors(ws.form(target).num)[1]:
        found += roots.roots_in_name(ws, f, name) or []
    return found
