"""A function of one name compared with its value at an end of the interval.

Where f' >= 0 on an open interval and f is continuous up to its lower end a,
f >= f(a) there, and f > f(a) where f' > 0; likewise at the upper end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

from gateproof.theory.exact import balls, calculus, polys
from gateproof.theory.exact.atoms import Frac, NeedSign, NewStep
from gateproof.theory.exact.bounds import ALL, atom_range, names_in
from gateproof.theory.exact.budget import Unsupported, deeper, depth
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.polys import Poly, UndefinedValue
from gateproof.theory.exact.univariate import Range
from gateproof.theory.exact.writeback import write, write_poly
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import Expr, Num

if TYPE_CHECKING:
    from gateproof.theory.exact.normal import Workspace
    from gateproof.theory.exact.sign import SignTable

MAX_NESTED = 4
MAX_NESTED_LIMITS = 1
_RESTARTS = 8
T = TypeVar("T")
Signs = frozenset[int]


def in_workspace(assumptions: Assumptions, use: Callable[[Workspace], T]) -> T | None:
    """The result in a workspace of its own, or None where that needs cases or fails."""
    from gateproof.theory.exact.normal import Workspace

    steps: dict[str, Fraction] = {}
    for _ in range(_RESTARTS):
        try:
            ws = Workspace(assumptions, steps)
            return use(ws)
        except NewStep as finer:
            steps[finer.basis] = finer.step
        except (NeedSign, Unsupported, UndefinedValue):
            return None
    return None


@dataclass(frozen=True)
class Interval:
    """Where the name ranges; an end is a closed expression, None for an infinite one."""

    name: str
    lo: Expr | None
    hi: Expr | None
    lo_in: bool
    hi_in: bool

    def inside(self) -> Assumptions:
        """The open interval."""
        return Assumptions({self.name: Domain(self.lo, self.hi)})

    def up_to(self, *, lower: bool) -> Assumptions:
        """The interval with one end, and with the other where the name can be there."""
        lo_in, hi_in = self.lo_in or lower, self.hi_in or not lower
        return Assumptions({self.name: Domain(self.lo, self.hi, lo_in, hi_in)})


def interval_of(table: SignTable, f: Poly) -> Interval | None:
    """The interval of the one name that the polynomial depends on."""
    names = names_in(table, polys.used(f))
    if len(names) != 1 or depth() >= MAX_NESTED:
        return None
    name = next(iter(names))
    index = next(a.index for a in table.ws.atoms if a.kind == "name" and a.name == name)
    on = atom_range(table, index)
    if (on.lo is None and on.hi is None) or on.is_empty or on.lo == on.hi:
        return None
    domain = table.ws.assumptions.domains.get(name, Domain())
    lo, lo_in = _exact_end(on.lo, on.lo_closed, domain.lo, domain.lo_closed, side=0)
    hi, hi_in = _exact_end(on.hi, on.hi_closed, domain.hi, domain.hi_closed, side=1)
    return Interval(name, lo, hi, lo_in, hi_in)


def _exact_end(
    bound: Fraction | None, closed: bool, end: Expr | None, end_closed: bool, *, side: int
) -> tuple[Expr | None, bool]:
    """The domain's own end where the rational bound only stands for it."""
    if bound is None:
        return None, False
    near = balls.rational_bounds(end) if end is not None else None
    if end is not None and near is not None and near[0] < near[1] and near[side] == bound:
        return end, end_closed
    return Num(bound), closed


def by_derivative(table: SignTable, f: Poly) -> Signs:
    """The sign of f from the sign of its derivative and its values at the ends."""
    on = interval_of(table, f)
    if on is None:
        return ALL
    result = _by_slope(table, write_poly(table.ws, f), on)
    if len(result) > 1:
        divided = _divided(table, f)
        if divided is not None:
            signs = _by_slope(table, divided[0], on)
            result = result & frozenset(divided[1] * s for s in signs)
    return result


def _divided(table: SignTable, f: Poly) -> tuple[Expr, int] | None:
    """f divided by the common coefficient of its opaque functions, and that one's sign.

    The derivative of a log, atan or erf alone is simpler than that of its product.
    """
    opaque = [i for i in polys.used(f) if table.ws.atoms[i].kind in ("log", "atan", "erf")]
    common: Poly | None = None
    for i in opaque:
        if polys.degree(f, i) != 1:
            return None
        part = polys.coefficients_in(f, i)[1]
        common = part if common is None else polys.common_factor(common, part)
    if common is None or common.is_constant():
        return None
    sign = table.of(common)
    if sign not in ({1}, {-1}):
        return None
    return write(table.ws, table.ws.frac(f, common)), next(iter(sign))


def _by_slope(table: SignTable, expr: Expr, on: Interval) -> Signs:
    slope = _derivative_signs(table, expr, on, 1)
    if slope is None or slope in (ALL, {-1, 1}):
        return ALL
    if slope == {0}:
        return _of_constant(table, expr, on)
    rising = -1 not in slope
    strict = 0 not in slope
    result = ALL
    for lower in (True, False):
        value = _value_sign(table, expr, on, lower=lower)
        # A rising function lies above its lower end, and below its upper one.
        side = 1 if rising == lower else -1
        if value is not None and value * side >= 0:
            inner = frozenset({side} if strict or value else {side, 0})
            at_end = on.lo_in if lower else on.hi_in
            result = result & (inner | ({value} if at_end else frozenset()))
    return result


def _of_constant(table: SignTable, expr: Expr, on: Interval) -> Signs:
    """A function without slope on an interval has one value: at an inner point, if none of the ends is in."""
    lower, upper = on.lo, on.hi
    if (lower is not None and on.lo_in) or (upper is not None and on.hi_in):
        closed = on.up_to(lower=on.lo_in and lower is not None)
        shown = in_workspace(closed, lambda ws: calculus.is_regular(ws, ws.form(expr), smooth=False))
        if shown is not True or (on.lo_in and on.hi_in):
            return ALL
    bounds = [balls.rational_bounds(e) if e is not None else None for e in (lower, upper)]
    if any(e is not None and b is None for e, b in zip((lower, upper), bounds, strict=True)):
        return ALL
    inside = Range(bounds[0][1] if bounds[0] else None, bounds[1][0] if bounds[1] else None)
    if inside.is_empty:
        return ALL
    sign = _sign_of(table, substitute(expr, {on.name: Num(inside.inner())}))
    return ALL if sign is None else frozenset({sign})


def by_concavity(table: SignTable, f: Poly) -> Signs:
    """Where f'' <= 0, f lies above the line through its values at the two ends."""
    # Two derivatives at each level would double the work with the depth.
    on = interval_of(table, f) if depth() == 0 else None
    if on is None or on.lo is None or on.hi is None:
        return ALL
    expr = write_poly(table.ws, f)
    bend = _derivative_signs(table, expr, on, 2)
    if bend is None or bend in (ALL, {-1, 1}):
        return ALL
    side = 1 if 1 not in bend else -1
    ends = [_value_sign(table, expr, on, lower=lower) for lower in (True, False)]
    known = [e for e in ends if e is not None and e * side >= 0]
    if len(known) < 2:
        return ALL
    strict = 0 not in bend or any(known)
    inner = frozenset({side} if strict else {side, 0})
    return inner | ({known[0]} if on.lo_in else set()) | ({known[1]} if on.hi_in else set())


def _derivative_signs(table: SignTable, expr: Expr, on: Interval, order: int) -> Signs | None:
    """Signs of a derivative on the open interval but for isolated points, if all is smooth there.

    The functions used are analytic where they are smooth, so zeros of a derivative that is not 0
    at one point are isolated: they do not stop a monotone function from being strictly so.
    """

    def signs(ws: Workspace) -> tuple[Signs, bool] | None:
        u = ws.form(expr)
        if not calculus.is_regular(ws, u, smooth=True):
            return None
        for _ in range(order):
            u = calculus.of_frac(ws, u, on.name)
        possible = ws.signs.of_frac(u)
        if len(possible) == 2 and 0 in possible and is_not_zero(ws, u, on.name):
            return possible - {0}, True
        return possible, ws.signs.used_balls

    with deeper():
        found = in_workspace(on.inside(), signs)
    if found is None:
        return None
    table.used_balls = table.used_balls or found[1]
    return found[0]


def is_not_zero(ws: Workspace, u: Frac, name: str) -> bool:
    """Whether balls show a value that is not 0 at one of a few points inside."""
    index = next((a.index for a in ws.atoms if a.kind == "name" and a.name == name), None)
    if index is None:
        return False
    on, expr = atom_range(ws.signs, index), write(ws, u)
    middle = on.inner()
    others = [middle + 1 if on.hi is None else (middle + on.hi) / 2]
    others.append(middle - 1 if on.lo is None else (middle + on.lo) / 2)
    return any(
        balls.sign_of_constant(substitute(expr, {name: Num(p)})) is not None for p in (middle, *others)
    )


def _value_sign(table: SignTable, expr: Expr, on: Interval, *, lower: bool) -> int | None:
    """The sign of the value at an end, if the function is continuous up to it; or of its limit."""
    end = on.lo if lower else on.hi
    other_in = on.hi_in if lower else on.lo_in
    if end is None and depth() > MAX_NESTED_LIMITS:
        return None
    with deeper():
        if end is None:
            if other_in and not _is_continuous(expr, on, lower=not lower):
                return None
            return _far(table, expr, on)
        if not _is_continuous(expr, on, lower=lower):
            return None
        return _sign_of(table, substitute(expr, {on.name: end}))


def _is_continuous(expr: Expr, on: Interval, *, lower: bool) -> bool:
    closed = on.up_to(lower=lower)
    shown = in_workspace(closed, lambda ws: calculus.is_regular(ws, ws.form(expr), smooth=False))
    return shown is True


def _sign_of(table: SignTable, value: Expr) -> int | None:
    found = in_workspace(Assumptions(), lambda ws: (ws.signs.of_frac(ws.form(value)), ws.signs.used_balls))
    if found is None or len(found[0]) != 1:
        return None
    table.used_balls = table.used_balls or found[1]
    return next(iter(found[0]))


def _far(table: SignTable, expr: Expr, on: Interval) -> int | None:
    """The sign of the limit at the infinite end; a limit 0 counts as 0."""
    from gateproof.theory.exact import infinity
    from gateproof.theory.exact.limits import NoLimit, limit

    point = infinity.INFINITY if on.hi is None else infinity.MINUS_INFINITY
    found = limit(expr, on.name, point, "", Assumptions())
    if found is None or isinstance(found, NoLimit):
        return None
    table.used_balls = table.used_balls or "arb" in found[1].trust
    return infinity.side(found[0]) or _sign_of(table, found[0])
