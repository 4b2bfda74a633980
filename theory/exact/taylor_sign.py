"""The sign of a function whose derivatives at an end, and one of them inside, all point one way.

f(x) = sum f^(j)(a) (x - a)**j/j! + f^(m)(xi) (x - a)**m/m!: where f^(m) >= 0 on the interval above
a and f^(j)(a) >= 0 for all j < m, f >= 0 there; below an upper end with the signs of (x - a)**j.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateproof.theory.exact import calculus
from gateproof.theory.exact.atoms import Frac
from gateproof.theory.exact.bounds import ALL
from gateproof.theory.exact.budget import deeper, depth
from gateproof.theory.exact.domain import Assumptions
from gateproof.theory.exact.monotone import MAX_NESTED, Interval, in_workspace, interval_of, is_not_zero
from gateproof.theory.exact.polys import Poly
from gateproof.theory.exact.writeback import write, write_poly
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import Expr

if TYPE_CHECKING:
    from gateproof.theory.exact.normal import Workspace
    from gateproof.theory.exact.sign import SignTable

#: Derivatives taken, and terms of one.
MAX_ORDER = 24
MAX_TERMS = 120
Signs = frozenset[int]


def by_taylor(table: SignTable, f: Poly) -> Signs:
    """The sign of f from its derivatives at an end and the sign of one of them."""
    if depth() > 0:
        return ALL
    on = interval_of(table, f)
    if on is None:
        return ALL
    expr = write_poly(table.ws, f)
    for lower in (True, False):
        found = _from_end(table, expr, on, lower=lower)
        if found is not None:
            return found
    return ALL


def _from_end(table: SignTable, expr: Expr, on: Interval, *, lower: bool) -> Signs | None:
    end, included = (on.lo, on.lo_in) if lower else (on.hi, on.hi_in)
    if end is None:
        return None

    def search(ws: Workspace) -> tuple[Signs, bool] | None:
        return _search(ws, expr, on, end, lower=lower)

    with deeper():
        found = in_workspace(on.up_to(lower=lower), search)
    if found is None:
        return None
    table.used_balls = table.used_balls or found[1]
    signs = found[0]
    if included:
        value = _value(expr, on.name, end)
        if value is None:
            return None
        signs = signs | {value[0]}
    return signs


def _search(ws: Workspace, expr: Expr, on: Interval, end: Expr, *, lower: bool) -> tuple[Signs, bool] | None:
    u = ws.form(expr)
    if not calculus.is_regular(ws, u, smooth=True):
        return None
    wanted = 0
    strict = False
    balls = False
    for order in range(MAX_ORDER):
        side = 1 if lower or order % 2 == 0 else -1
        if order:
            signs = _plain_signs(ws, u)
            turned = frozenset(side * s for s in signs)
            for sign in (1, -1):
                if wanted in (0, sign) and -sign not in turned:
                    # The functions are analytic: if f^(m) is not 0 everywhere its zeros are isolated.
                    above = strict or 0 not in turned or is_not_zero(ws, u, on.name)
                    inner = frozenset({sign} if above else {sign, 0})
                    return inner, balls or ws.signs.used_balls or 0 in turned
        value = _value(write(ws, u), on.name, end)
        if value is None:
            return None
        balls = balls or value[1]
        now = side * value[0]
        if now:
            if wanted not in (0, now):
                return None
            wanted, strict = now, True
        u = calculus.of_frac(ws, u, on.name)
        if len(u.num) > MAX_TERMS or not calculus.is_regular(ws, u, smooth=True):
            return None
    return None


def _plain_signs(ws: Workspace, u: Frac) -> Signs:
    """Signs by the rules that take no derivatives."""
    with deeper(), deeper(), deeper():
        assert depth() >= MAX_NESTED
        return ws.signs.of_frac(u)


def _value(expr: Expr, name: str, end: Expr) -> tuple[int, bool] | None:
    """The sign at the end, and whether balls told it."""
    put = substitute(expr, {name: end})
    found = in_workspace(Assumptions(), lambda ws: (ws.signs.of_frac(ws.form(put)), ws.signs.used_balls))
    if found is None or len(found[0]) != 1:
        return None
    return next(iter(found[0])), found[1]
