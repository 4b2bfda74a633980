"""Signs and rational bounds of single generators."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from gateproof.theory.exact import balls, functions, polys
from gateproof.theory.exact.atoms import Atom, Frac
from gateproof.theory.exact.polys import ONE
from gateproof.theory.exact.univariate import Range
from gateproof.theory.formula.nodes import App, Num
from gateproof.theory.special import Function, find

if TYPE_CHECKING:
    from gateproof.theory.exact.sign import SignTable

ALL = frozenset({-1, 0, 1})
#: A rational above pi/2 = 1.5707..., for ranges of atan and asin.
_ABOVE_HALF_PI = Fraction(11, 7)


def names_in(table: SignTable, indices: list[int]) -> set[str]:
    """The names that generators depend on."""
    found: set[str] = set()
    for i in indices:
        atom = table.ws.atoms[i]
        if atom.kind == "name":
            found.add(atom.name)
        elif atom.arg is not None:
            found |= names_in(table, atom.arg.used())
    return found


def atom_range(table: SignTable, i: int) -> Range:
    """An interval that holds the generator's values under all that is known."""
    cached = table.ranges.get(i)
    if cached is None:
        cached = _by_facts(table, i, _by_kind(table, table.ws.atoms[i]))
        table.ranges[i] = cached
    return cached


def _by_facts(table: SignTable, i: int, known: Range) -> Range:
    """Facts a*g + b with numbers a, b bound the generator g."""
    for p, signs in table.facts.values():
        if polys.used(p) != [i] or polys.degree(p, i) != 1 or signs == {-1, 1} or signs == ALL:
            continue
        parts = polys.coefficients_in(p, i)
        a = polys.constant_of(parts[1])
        value = -polys.constant_of(parts.get(0, polys.ZERO)) / a
        above = 1 if a > 0 else -1
        if -above not in signs:
            known = known.meet(Range(lo=value, lo_closed=0 in signs))
        if above not in signs:
            known = known.meet(Range(hi=value, hi_closed=0 in signs))
    return known


def _by_kind(table: SignTable, atom: Atom) -> Range:
    if atom.kind == "name":
        return Range()
    if not names_in(table, [atom.index]):
        return _closed(table, atom)
    assert atom.arg is not None
    if atom.kind == "exp":
        return _of_exp(table, atom)
    signs = ALL
    if atom.kind in ("erf", "atan", "asin"):
        signs = table.of_frac(atom.arg)
    elif atom.kind == "log":
        signs = table.of_frac(table.ws.sub(atom.arg, table.ws.number(1)))
    elif atom.kind == "sqrt":
        signs = frozenset({1}) if table.of_frac(atom.arg) == {1} else frozenset({0, 1})
    elif atom.kind in ("sin", "cos") and _is_on_arch(table, atom):
        signs = frozenset({1})
    special = find(atom.kind)
    if special is not None:
        rule = special.family.sign(special.params)
        inner = table.of_frac(atom.arg) if rule in ("right", "same") else ALL
        if rule == "positive" or (rule == "right" and inner == {1}):
            signs = frozenset({1})
        elif rule == "same":
            signs = inner
    limits = {
        "erf": Range(Fraction(-1), Fraction(1)),
        "atan": Range(-_ABOVE_HALF_PI, _ABOVE_HALF_PI),
        "asin": Range(-_ABOVE_HALF_PI, _ABOVE_HALF_PI),
        "sin": Range(Fraction(-1), Fraction(1), True, True),
        "cos": Range(Fraction(-1), Fraction(1), True, True),
    }
    known = limits.get(atom.kind, Range()) if special is None else _of_special(special)
    if -1 not in signs:
        known = known.meet(Range(lo=Fraction(0), lo_closed=0 in signs))
    if 1 not in signs:
        known = known.meet(Range(hi=Fraction(0), hi_closed=0 in signs))
    return known


def _of_special(special: Function) -> Range:
    low, high = special.family.bounds(special.params)
    return Range(low, high, low is not None, high is not None)


def _is_on_arch(table: SignTable, atom: Atom) -> bool:
    """Whether 0 < u < pi for sin(u), -pi/2 < u < pi/2 for cos(u)."""
    ws, u = table.ws, atom.arg
    assert u is not None
    half = ws.mul(Frac(ws.atom("pi"), ONE), ws.number(Fraction(1, 2)))
    shifted = u if atom.kind == "sin" else ws.add(u, half)
    rest = ws.sub(ws.add(half, half), shifted)
    return table.of_frac(shifted) == {1} and table.of_frac(rest) == {1}


def _closed(table: SignTable, atom: Atom) -> Range:
    from gateproof.theory.exact.writeback import write_atom

    table.used_balls = True
    found = balls.rational_bounds(write_atom(table.ws, atom))
    if found is None:
        return Range(lo=Fraction(0)) if atom.kind == "exp" else Range()
    return Range(found[0], found[1], True, True)


def _of_exp(table: SignTable, atom: Atom) -> Range:
    """exp is increasing, so bounds of the exponent give bounds of the exponential."""
    assert atom.arg is not None
    known = Range(lo=Fraction(0))
    ws = table.ws
    signs = table.of_frac(atom.arg)
    if -1 not in signs:
        known = known.meet(Range(lo=Fraction(1), lo_closed=0 in signs))
    if 1 not in signs:
        known = known.meet(Range(hi=Fraction(1), hi_closed=0 in signs))
    if not atom.arg.is_poly or len(atom.arg.used()) != 1:
        return known
    i = atom.arg.used()[0]
    if atom.arg.num != polys.GENS[i] or ws.atoms[i].kind != "name":
        return known
    inner = atom_range(table, i)
    for end, end_signs in table.ends.get(ws.atoms[i].name, ()):
        value = functions.exp(ws, ws.mul(ws.number(atom.step), end)).rational()
        if value is not None and -1 not in end_signs:
            known = known.meet(Range(lo=value, lo_closed=0 in end_signs))
        if value is not None and 1 not in end_signs:
            known = known.meet(Range(hi=value, hi_closed=0 in end_signs))
    for bound, closed, low in ((inner.lo, inner.lo_closed, True), (inner.hi, inner.hi_closed, False)):
        if bound is None or bound == 0:
            continue
        image = balls.rational_bounds(App("exp", (Num(bound * atom.step),)))
        if image is None:
            continue
        table.used_balls = True
        if low:
            known = known.meet(Range(lo=image[0], lo_closed=closed))
        else:
            known = known.meet(Range(hi=image[1], hi_closed=closed))
    return known
