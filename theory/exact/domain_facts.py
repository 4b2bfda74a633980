"""Domains of names as sign facts."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING

from gateproof.theory.exact import balls
from gateproof.theory.exact.atoms import Frac
from gateproof.theory.exact.budget import Unsupported
from gateproof.theory.exact.domain import Domain
from gateproof.theory.formula.nodes import Const, Expr, Var

if TYPE_CHECKING:
    from gateproof.theory.exact.sign import SignTable


def load_domains(table: SignTable) -> None:
    """What the domains say of the names' signs."""
    for name, domain in table.ws.assumptions.domains.items():
        _load(table, name, domain)


def _load(table: SignTable, name: str, domain: Domain) -> None:
    x = table.ws.form(Var(name))
    for end, closed, side in ((domain.lo, domain.lo_closed, 1), (domain.hi, domain.hi_closed, -1)):
        if end is None or _is_infinite(end):
            continue
        signs = frozenset({side, 0} if closed else {side})
        value = _form(table, end)
        exact = None if value is None else value.rational()
        if exact is not None and domain.integer:
            exact, signs = _whole(exact, closed, side)
            value = table.ws.number(exact)
        if value is not None:
            table.add(table.ws.sub(x, value), signs)
            table.ends.setdefault(name, []).append((value, signs))
        if exact is None:
            _load_nearby(table, x, end, side)
    for point in domain.without:
        value = _form(table, point)
        if value is not None:
            table.add(table.ws.sub(x, value), frozenset({-1, 1}))


def _load_nearby(table: SignTable, x: Frac, end: Expr, side: int) -> None:
    """A rational just outside of an irrational end."""
    near = balls.rational_bounds(end)
    if near is not None:
        table.used_balls = True
        outside = table.ws.number(near[0] if side > 0 else near[1])
        table.add(table.ws.sub(x, outside), frozenset({side, 0}))


def _whole(end: Fraction, closed: bool, side: int) -> tuple[Fraction, frozenset[int]]:
    """The first integer inside: integers above 0 start at 1."""
    if side > 0:
        inside = ceil(end) if closed or end.denominator != 1 else int(end) + 1
    else:
        inside = floor(end) if closed or end.denominator != 1 else int(end) - 1
    return Fraction(inside), frozenset({side, 0})


def _form(table: SignTable, node: Expr) -> Frac | None:
    try:
        return table.ws.form(node)
    except Unsupported:
        return None


def _is_infinite(node: Expr) -> bool:
    return any(isinstance(n, Const) and n.name == "oo" for n in node.walk())
