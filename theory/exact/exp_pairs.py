"""Signs of polynomials in two exponentials whose exponents are compared: exp(u), exp(v), u + v < 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateproof.theory.exact import polys
from gateproof.theory.exact.bounds import ALL
from gateproof.theory.exact.polys import ZERO, Poly

if TYPE_CHECKING:
    from gateproof.theory.exact.sign import SignTable

Signs = frozenset[int]
#: Exponentials beside one that are compared with it.
MAX_EXPONENTIALS = 3


def shifts_of(table: SignTable, i: int) -> list[tuple[int, Poly, Signs]]:
    """exp(u) = exp(v) + slack, with the sign of u - v where that is known."""
    ws = table.ws
    atom = ws.atoms[i]
    found: list[tuple[int, Poly, Signs]] = []
    for other in _others(table, i):
        u, v = (ws.mul(ws.number(a.step), a.arg) for a in (atom, ws.atoms[other]) if a.arg is not None)
        signs = table.of_frac(ws.sub(u, v))
        if -1 not in signs or 1 not in signs:
            found.append((i, polys.GENS[other] + polys.GENS[i], signs))
    return found


def _others(table: SignTable, i: int) -> list[int]:
    atoms = table.ws.atoms
    others = [a.index for a in atoms if a.kind == "exp" and a.index != i and a.arg is not None]
    known = atoms[i].kind == "exp" and atoms[i].arg is not None
    return others if known and len(others) <= MAX_EXPONENTIALS else []


def by_products(table: SignTable, f: Poly) -> Signs:
    """With w = exp(u) exp(v) on one side of 1: a part linear in w has its sign at w = 0, 1 or beyond."""
    result = ALL
    used = polys.used(f)
    for i in used:
        for j in _others(table, i):
            if j in used and polys.degree(f, i) == 1:
                result = result & _through_product(table, f, i, j)
                if len(result) == 1:
                    return result
    return result


def _through_product(table: SignTable, f: Poly, i: int, j: int) -> Signs:
    ws = table.ws
    u, v = (ws.mul(ws.number(a.step), a.arg) for a in (ws.atoms[i], ws.atoms[j]) if a.arg is not None)
    side = table.of_frac(ws.add(u, v))
    if side not in ({1}, {-1}):
        return ALL
    # f = a exp(u) + b = (a w + b exp(v))/exp(v), and exp(v) > 0.
    parts = polys.coefficients_in(f, i)
    slope, rest = parts[1], polys.times(parts.get(0, ZERO), polys.GENS[j])
    at_one = table.of(ws.reduce(slope + rest))
    # For w in (0, 1) between the values at 0 and 1; for w > 1 beyond that at 1 by the slope's sign.
    other = table.of(rest) if side == {-1} else table.of(slope)
    for sign in (1, -1):
        both = at_one | other
        if -sign not in both and sign in both and ({sign} in (at_one, other)):
            return frozenset({sign})
    return ALL
