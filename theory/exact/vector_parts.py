"""The parts of a sum over all places: functions of one place times what is free of it."""

from __future__ import annotations

from gateproof.theory.exact import polys
from gateproof.theory.exact.atoms import Frac
from gateproof.theory.exact.normal import Workspace
from gateproof.theory.exact.polys import ONE
from gateproof.theory.exact.writeback import write
from gateproof.theory.formula.nodes import Expr
from gateproof.theory.formula.scopes import free_names


def parts_of(ws: Workspace, body: Expr, entry: str) -> list[tuple[Expr, Expr]] | None:
    """(function of the entry, coefficient free of it) whose products add up to the body."""
    value = ws.form(body)
    at = {i for i in range(len(ws.atoms)) if _depends(ws, i, entry)}
    if any(i in at for i in polys.used(value.den)):
        return None
    grouped: dict[tuple[tuple[int, int], ...], polys.Poly] = {}
    for powers, c in polys.terms_of(value.num):
        inside = tuple((i, e) for i, e in powers if i in at)
        outside = polys.monomial(tuple((i, e) for i, e in powers if i not in at)) * polys.constant(c)
        grouped[inside] = grouped.get(inside, polys.ZERO) + outside
    found = []
    for inside, coefficient in grouped.items():
        part = write(ws, Frac(polys.monomial(inside), ONE))
        if free_names(part) - {entry}:
            return None
        found.append((part, write(ws, ws.frac(coefficient, value.den))))
    return found


def _depends(ws: Workspace, i: int, name: str) -> bool:
    atom = ws.atoms[i]
    if atom.kind == "name":
        return atom.name == name
    return atom.arg is not None and any(_depends(ws, j, name) for j in atom.arg.used())
