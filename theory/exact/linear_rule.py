"""Signs that follow from linear facts, with every product of generators as one unknown."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from gateproof.theory.exact import polys
from gateproof.theory.exact.bounds import ALL, atom_range
from gateproof.theory.exact.linear import Row, infeasible
from gateproof.theory.exact.polys import Poly

if TYPE_CHECKING:
    from gateproof.theory.exact.sign import SignTable

#: Terms of a polynomial that is still taken for linear.
MAX_TERMS = 8


def by_linear_facts(table: SignTable, f: Poly) -> frozenset[int]:
    """Signs of f that the linear facts do not exclude."""
    if len(f) > MAX_TERMS:
        return ALL
    query = _row(f, strict=True)
    rows = _facts(table, set(query.coefficients))
    if not rows:
        return ALL
    return frozenset(s for s in ALL if not infeasible([*rows, *_with_sign(query, s)]))


def all_infeasible(table: SignTable) -> bool:
    """Whether the linear facts contradict each other."""
    rows = [
        row
        for p, signs in table.facts.values()
        if len(p) <= MAX_TERMS and signs not in (ALL, {-1, 1})
        for row in _rows_of(p, signs)
    ]
    return infeasible(rows[:24])


def _with_sign(query: Row, sign: int) -> list[Row]:
    if sign > 0:
        return [query]
    if sign < 0:
        return [query.negated(strict=True)]
    weak = Row(query.coefficients, query.constant, strict=False)
    return [weak, query.negated(strict=False)]


def _facts(table: SignTable, wanted: set[str]) -> list[Row]:
    """Facts that share unknowns with the question, directly or through others."""
    pool: list[Row] = []
    for p, signs in table.facts.values():
        if len(p) <= MAX_TERMS and signs not in (ALL, {-1, 1}):
            pool += _rows_of(p, signs)
    for i in range(len(table.ws.atoms)):
        known = table.ranges.get(i) if str(polys.GENS[i]) not in wanted else atom_range(table, i)
        name = str(polys.GENS[i])
        if known is not None and known.lo is not None:
            pool.append(Row({name: Fraction(1)}, -known.lo, not known.lo_closed))
        if known is not None and known.hi is not None:
            pool.append(Row({name: Fraction(-1)}, known.hi, not known.hi_closed))
    pool += _arcs(table)
    chosen: list[Row] = []
    grown = True
    while grown:
        grown = False
        for row in list(pool):
            if wanted & set(row.coefficients):
                pool.remove(row)
                chosen.append(row)
                wanted |= set(row.coefficients)
                grown = True
    return chosen[:24]


def _arcs(table: SignTable) -> list[Row]:
    """|atan| < pi/2 and |asin| <= pi/2."""
    rows = []
    pi = [a.index for a in table.ws.atoms if a.kind == "pi"]
    for atom in table.ws.atoms:
        if pi and atom.kind in ("atan", "asin"):
            strict = atom.kind == "atan"
            for side in (Fraction(1), Fraction(-1)):
                row = {f"g{pi[0]}": Fraction(1, 2), f"g{atom.index}": side}
                rows.append(Row(row, Fraction(0), strict))
    return rows


def _rows_of(p: Poly, signs: frozenset[int]) -> list[Row]:
    row = _row(p, strict=True)
    rows = []
    if -1 not in signs:
        rows.append(Row(row.coefficients, row.constant, strict=0 not in signs))
    if 1 not in signs:
        rows.append(row.negated(strict=0 not in signs))
    return rows


def _row(p: Poly, *, strict: bool) -> Row:
    coefficients: dict[str, Fraction] = {}
    constant = Fraction(0)
    for powers, c in polys.terms_of(p):
        if powers:
            coefficients["*".join(f"g{i}" if e == 1 else f"g{i}^{e}" for i, e in powers)] = c
        else:
            constant = c
    return Row(coefficients, constant, strict)
