"""The sign of h(x, y) = A(x) - A(y) from that of A' = dh/dx: the mean value theorem."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateproof.theory.exact import calculus
from gateproof.theory.exact.atoms import Frac
from gateproof.theory.exact.bounds import ALL, names_in
from gateproof.theory.exact.budget import deeper, depth
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.monotone import in_workspace, is_not_zero
from gateproof.theory.exact.writeback import write
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import Expr, Var
from gateproof.theory.formula.scopes import free_names

if TYPE_CHECKING:
    from gateproof.theory.exact.normal import Workspace

Signs = frozenset[int]


def by_mean_value(ws: Workspace, u: Frac) -> Signs:
    """Signs of a quotient that is A(x) - A(y) for two names of one domain whose order is known."""
    names = sorted(names_in(ws.signs, u.used()))
    if depth() > 0 or not 2 <= len(names) <= 3:
        return ALL
    for k, x in enumerate(names):
        for y in names[k + 1 :]:
            found = _signs(ws, u, x, y)
            if found is not None:
                return found
    return ALL


def _signs(ws: Workspace, u: Frac, x: str, y: str) -> Signs | None:
    domains = ws.assumptions.domains
    first, second = domains.get(x, Domain()), domains.get(y, Domain())
    if first != second or first.integer or first.without:
        return None
    order = ws.signs.of_frac(ws.sub(ws.form(Var(x)), ws.form(Var(y))))
    if order not in ({1}, {-1}):
        return None
    expr = write(ws, u)
    others = {k: d for k, d in domains.items() if k not in (x, y)}
    facts = tuple(f for f in ws.assumptions.facts if not free_names(f) & {x, y})
    # Between x and y the domains hold, but nothing else that is known of the two.
    both = Assumptions({**others, x: first, y: second}, facts)
    with deeper():
        slope = in_workspace(both, lambda inner: _slope(inner, expr, x, y))
        if slope is None:
            return None
        open_ends = Domain(first.lo, first.hi)
        line = Assumptions({**others, x: open_ends}, facts)
        answer = in_workspace(line, lambda inner: _of_slope(inner, slope, x))
    if answer is None or answer[0] in (ALL, {-1, 1}):
        return None
    ws.signs.used_balls = ws.signs.used_balls or answer[1]
    sign = next(iter(order))
    return frozenset(s * sign for s in answer[0])


def _of_slope(ws: Workspace, slope: Expr, x: str) -> tuple[Signs, bool]:
    """Signs of A(x) - A(y) for x > y from those of A', and whether balls decided one."""
    u = ws.form(slope)
    signs = ws.signs.of_frac(u)
    # A' is analytic: if it is not 0 somewhere its zeros are isolated, and A is strictly monotone.
    if len(signs) == 2 and 0 in signs and free_names(slope) == {x} and is_not_zero(ws, u, x):
        return signs - {0}, True
    return signs, ws.signs.used_balls


def _slope(ws: Workspace, expr: Expr, x: str, y: str) -> Expr | None:
    """dh/dx where it is free of y, h is smooth and h(y, y) = 0; else None."""
    h = ws.form(expr)
    if not ws.form(substitute(expr, {x: Var(y)})).is_zero:
        return None
    if not calculus.is_regular(ws, h, smooth=True):
        return None
    slope = calculus.of_frac(ws, h, x)
    if y in names_in(ws.signs, slope.used()):
        return None
    return write(ws, slope)
