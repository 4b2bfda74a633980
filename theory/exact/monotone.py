"""A function of one name compared with its value at an end of the interval.

Where f' >= 0 on an open interval and f is continuous up to its lower end a,
f >= f(a) there, and f > f(a) where f' > 0; likewise at the upper end.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

from gateproof.theory.exact import calculus, polys
from gateproof.theory.exact.atoms import NeedSign, NewStep
from gateproof.theory.exact.bounds import ALL, atom_range, names_in
from gateproof.theory.exact.budget import Unsupported
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.polys import Poly, UndefinedValue
from gateproof.theory.formula.nodes import Expr, Num

if TYPE_CHECKING:
    from gateproof.theory.exact.normal import Workspace
    from gateproof.theory.exact.sign import SignTable
    from gateproof.theory.exact.univariate import Range

MAX_NESTED = 5
_RESTARTS = 8
T = TypeVar("T")


def in_workspace(assumptions: Assumptions, use: Callable[[Workspace], T], nested: int = 0) -> T | None:
    """The result in a workspace of its own, or None where that needs cases or fails."""
    from gateproof.theory.exact.normal import Workspace

    steps: dict[str, Fraction] = {}
    for _ in range(_RESTARTS):
        try:
            ws = Workspace(assumptions, steps)
            ws.signs.nested = nested
            return use(ws)
        except NewStep as finer:
            steps[finer.basis] = finer.step
        except (NeedSign, Unsupported, UndefinedValue):
            return None
    return None


def by_derivative(table: SignTable, f: Poly) -> frozenset[int]:
    """The sign of f from the sign of its derivative and its values at the ends."""
    names = names_in(table, polys.used(f))
    if len(names) != 1 or table.nested >= MAX_NESTED:
        return ALL
    name = next(iter(names))
    index = next(a.index for a in table.ws.atoms if a.kind == "name" and a.name == name)
    on = atom_range(table, index)
    if (on.lo is None and on.hi is None) or on.is_empty or on.lo == on.hi:
        return ALL
    from gateproof.theory.exact.writeback import write_poly

    expr = write_poly(table.ws, f)
    slope = in_workspace(_on(name, on, closed=False), lambda ws: _slope(ws, expr, name), table.nested + 1)
    if slope is None or slope[0] in (ALL, {-1, 1}):
        return ALL
    table.used_balls = table.used_balls or slope[1]
    rising = -1 not in slope[0]
    strict = 0 not in slope[0]
    first, last = (on.lo, on.hi) if rising else (on.hi, on.lo)
    first_in, last_in = (on.lo_closed, on.hi_closed) if rising else (on.hi_closed, on.lo_closed)
    result = ALL
    low = _value_sign(table, expr, name, on, first)
    if low is not None and low >= 0:
        below = frozenset({1} if strict or low > 0 else {0, 1})
        result = result & (below | ({low} if first_in else frozenset()))
    high = _value_sign(table, expr, name, on, last)
    if high is not None and high <= 0:
        above = frozenset({-1} if strict or high < 0 else {-1, 0})
        result = result & (above | ({high} if last_in else frozenset()))
    return result


def _on(name: str, on: Range, *, closed: bool) -> Assumptions:
    lo = None if on.lo is None else Num(on.lo)
    hi = None if on.hi is None else Num(on.hi)
    return Assumptions({name: Domain(lo, hi, closed, closed)})


def _slope(ws: Workspace, expr: Expr, name: str) -> tuple[frozenset[int], bool] | None:
    u = ws.form(expr)
    if not calculus.is_regular(ws, u, smooth=True):
        return None
    return ws.signs.of_frac(calculus.of_frac(ws, u, name)), ws.signs.used_balls


def _value_sign(table: SignTable, expr: Expr, name: str, on: Range, end: Fraction | None) -> int | None:
    """The sign of the value at a finite end, if the function is continuous up to it."""
    if end is None:
        return None
    from gateproof.theory.formula.library import substitute

    closed = _on(name, on, closed=True)
    if not in_workspace(closed, lambda ws: calculus.is_regular(ws, ws.form(expr), smooth=False)):
        return None
    value = substitute(expr, {name: Num(end)})
    found = in_workspace(Assumptions(), lambda ws: (ws.signs.of_frac(ws.form(value)), ws.signs.used_balls))
    if found is None or len(found[0]) != 1:
        return None
    table.used_balls = table.used_balls or found[1]
    return next(iter(found[0]))
