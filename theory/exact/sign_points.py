"""Zeros of an expression in one name, as expressions in the other names, factor by factor."""

from __future__ import annotations

from gateproof.theory.exact import polys
from gateproof.theory.exact.atoms import Frac
from gateproof.theory.exact.budget import bounded
from gateproof.theory.exact.domain import Assumptions
from gateproof.theory.exact.monotone import in_workspace
from gateproof.theory.exact.normal import Workspace
from gateproof.theory.exact.polys import ZERO, Poly
from gateproof.theory.exact.writeback import write, write_poly
from gateproof.theory.formula.nodes import App, Expr, num


def zeros_of_factors(expr: Expr, name: str, assumptions: Assumptions) -> tuple[Expr, ...]:
    """Where a factor of the expression that is linear in the name, or quadratic, may be 0: candidates."""
    return _zeros_of_factors(expr, name, assumptions) or ()


@bounded
def _zeros_of_factors(expr: Expr, name: str, assumptions: Assumptions) -> tuple[Expr, ...] | None:
    def find(ws: Workspace) -> tuple[Expr, ...]:
        value = ws.form(expr)
        found: list[Expr] = []
        for factor, _ in polys.factors(value.num)[1]:
            found += _of_factor(ws, factor, name)
        return tuple(dict.fromkeys(found))

    return in_workspace(assumptions, find)


def _of_factor(ws: Workspace, factor: Poly, name: str) -> list[Expr]:
    index = next((a.index for a in ws.atoms if a.kind == "name" and a.name == name), None)
    if index is None or index not in polys.used(factor):
        return []
    others = [i for i in polys.used(factor) if i != index]
    if any(_depends(ws, i, index) for i in others):
        return []
    parts = polys.coefficients_in(factor, index)
    if polys.degree(factor, index) == 1:
        return [write(ws, ws.frac(-parts.get(0, ZERO), parts[1]))]
    if polys.degree(factor, index) == 2:
        a, b, c = (write_poly(ws, parts.get(k, ZERO)) for k in (2, 1, 0))
        four = App("mul", (num(4), a, c))
        root = App("sqrt", (App("add", (App("pow", (b, num(2))), App("neg", (four,)))),))
        below = App("mul", (num(2), a))
        ends = (App("add", (App("neg", (b,)), r)) for r in (root, App("neg", (root,))))
        return [App("div", (end, below)) for end in ends]
    return []


def _depends(ws: Workspace, j: int, i: int) -> bool:
    if j == i:
        return True
    arg = ws.atoms[j].arg
    return arg is not None and any(_depends(ws, k, i) for k in arg.used())


@bounded
def in_factors(expr: Expr, assumptions: Assumptions) -> tuple[Expr, ...] | None:
    """Factors whose product has the zeros of the expression, where it is defined; None if not found.

    The denominator is proved to have no zero.
    """

    def find(ws: Workspace) -> tuple[Expr, ...] | None:
        value: Frac = ws.form(expr)
        if value.is_zero or 0 in ws.signs.of_frac(Frac(value.den, polys.ONE)):
            return None
        return tuple(write_poly(ws, f) for f, _ in polys.factors(value.num)[1])

    return in_workspace(assumptions, find)
