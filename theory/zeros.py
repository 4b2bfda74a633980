"""All zeros of an expression on an interval as closed expressions, where algebra names them."""

from __future__ import annotations

from gateproof.theory.exact import roots
from gateproof.theory.exact.budget import bounded
from gateproof.theory.exact.critical import equal_constants, sign_of
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.monotone import in_workspace
from gateproof.theory.exact.normal import Workspace
from gateproof.theory.exact.writeback import write
from gateproof.theory.formula.nodes import App, Expr, Num


@bounded
def exact_zeros(expr: Expr, var: str, domain: Domain) -> tuple[Expr, ...] | None:
    """All zeros inside an open interval, ascending; None where they have no closed form here.

    ``()`` where there are none. None as well for an expression that is 0 everywhere, and where
    a case would have to be told (a kink inside).
    """

    def find(ws: Workspace) -> list[Expr] | None:
        value = ws.form(expr)
        if value.is_zero:
            return None
        return roots.roots_of_factors(ws, value.num, var)

    inside = Domain(domain.lo, domain.hi)
    # Two ends that are not rational cost more than they tell.
    wide = not any(e is None or isinstance(e, Num) for e in (domain.lo, domain.hi))
    found = in_workspace(Assumptions({var: Domain() if wide else inside}), find)
    if found is None:
        return None
    places = [(z, is_inside(z, inside)) for z in (tidy(f) for f in found)]
    if any(where is None for _, where in places):
        return None
    return ascending([z for z, where in places if where])


def tidy(node: Expr) -> Expr:
    """A closed expression in its normal form, where that is no longer."""
    found = in_workspace(Assumptions(), lambda ws: write(ws, ws.form(node)))
    return node if found is None or found.size > node.size else found


def is_inside(point: Expr, domain: Domain) -> bool | None:
    """Whether a closed point lies inside an open interval; None where not decided."""
    below = 1 if domain.lo is None else order(point, domain.lo)
    above = 1 if domain.hi is None else order(domain.hi, point)
    if below is None or above is None:
        return None
    return below > 0 and above > 0


def order(a: Expr, b: Expr) -> int | None:
    """The sign of a - b for closed expressions; None where not decided."""
    if equal_constants(a, b):
        return 0
    return sign_of(App("add", (a, App("neg", (b,)))))


def ascending(points: list[Expr]) -> tuple[Expr, ...] | None:
    """Closed points in order, each once; None where two cannot be compared."""
    done: list[Expr] = []
    for point in points:
        at = len(done)
        for i, other in enumerate(done):
            side = order(point, other)
            if side is None:
                return None
            if side <= 0:
                at = -1 if side == 0 else i
                break
        if at >= 0:
            done.insert(at, point)
    return tuple(done)
