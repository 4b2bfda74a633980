"""Rules that bound the sign of one irreducible polynomial.

Each takes the table and the polynomial and gives a superset of the signs it takes.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING

from gateproof.theory.exact import balls, polys, univariate
from gateproof.theory.exact.bounds import ALL, atom_range, names_in
from gateproof.theory.exact.exp_pairs import by_products, shifts_of
from gateproof.theory.exact.exp_rules import by_arctangents, by_binomial, by_exponential, by_logarithms
from gateproof.theory.exact.linear_rule import by_linear_facts
from gateproof.theory.exact.monotone import by_concavity, by_derivative
from gateproof.theory.exact.polys import ZERO, Poly
from gateproof.theory.exact.taylor_sign import by_taylor
from gateproof.theory.exact.writeback import write_poly

if TYPE_CHECKING:
    from gateproof.theory.exact.sign import SignTable

Signs = frozenset[int]
_INCREASING = frozenset({"erf", "atan", "asin", "log", "sqrt", "lambertw"})


def _sign(value: Fraction) -> int:
    return (value > 0) - (value < 0)


def _times(a: Signs, b: Signs) -> Signs:
    return frozenset(x * y for x in a for y in b)


def _flip(a: Signs) -> Signs:
    return frozenset(-x for x in a)


def sum_of(a: Signs, b: Signs) -> Signs:
    """Signs of a sum."""
    found: set[int] = set()
    for x in a:
        for y in b:
            if x == 0 or y == 0 or x == y:
                found.add(x or y)
            else:
                return ALL
    return frozenset(found)


def signs_of_terms(p: Poly, of_generator: dict[int, Signs]) -> Signs:
    """The sum's sign where all terms agree."""
    total: Signs = frozenset({0})
    for powers, c in polys.terms_of(p):
        term: Signs = frozenset({_sign(c)})
        for i, e in powers:
            s = of_generator[i]
            term = _times(term, s if e % 2 else frozenset(x * x for x in s))
        total = sum_of(total, term)
        if total == ALL:
            break
    return total


def by_terms(table: SignTable, f: Poly) -> Signs:
    """All terms of one sign."""
    return signs_of_terms(f, {i: table.of_atom(i) for i in polys.used(f)})


def by_range(table: SignTable, f: Poly) -> Signs:
    """One generator only: exact root counting on its range."""
    used = polys.used(f)
    if len(used) != 1:
        return ALL
    coefficients = {k: polys.constant_of(c) for k, c in polys.coefficients_in(f, used[0]).items()}
    return univariate.signs_on(coefficients, atom_range(table, used[0]))


def by_balls(table: SignTable, f: Poly) -> Signs:
    """A closed constant: balls that do not hold 0."""
    if names_in(table, polys.used(f)):
        return ALL
    sign = balls.sign_of_constant(write_poly(table.ws, f))
    if sign is None:
        return ALL
    table.used_balls = True
    return frozenset({sign})


def by_discriminant(table: SignTable, f: Poly) -> Signs:
    """a g**2 + b g + c has the sign of a where b**2 - 4 a c < 0."""
    for i in polys.used(f):
        if polys.degree(f, i) != 2:
            continue
        parts = polys.coefficients_in(f, i)
        a, b, c = parts[2], parts.get(1, ZERO), parts.get(0, ZERO)
        lead = table.of(a)
        if lead not in ({1}, {-1}):
            continue
        discriminant = table.ws.reduce(polys.times(b, b) - 4 * polys.times(a, c))
        signs = table.of(discriminant)
        if signs == {-1}:
            return lead
        if 1 not in signs:
            return lead | {0}
    return ALL


def by_root(table: SignTable, f: Poly) -> Signs:
    """a sqrt(u) + b with a and b of opposite sign: the sign of a times that of a**2 u - b**2."""
    result = ALL
    for i in reversed(polys.used(f)):
        atom = table.ws.atoms[i]
        if atom.kind != "sqrt" or atom.square is None or polys.degree(f, i) != 1:
            continue
        parts = polys.coefficients_in(f, i)
        a, b = parts[1], parts.get(0, ZERO)
        sign_a, sign_b = table.of(a), table.of(b)
        if sign_a not in ({1}, {-1}):
            continue
        if sign_b == sign_a:
            return sign_a
        if sign_b == _flip(sign_a):
            inner = polys.times(polys.times(a, a), atom.square) - polys.times(b, b)
            result = result & _times(sign_a, table.of(table.ws.reduce(inner)))
        if len(result) == 1:
            break
    return result


def by_pair(table: SignTable, f: Poly) -> Signs:
    """F(u) - F(v) for an increasing F has the sign of u - v."""
    terms = list(polys.terms_of(f))
    if len(terms) != 2 or terms[0][1] != -terms[1][1]:
        return ALL
    (left, c), (right, _) = terms
    if len(left) != 1 or len(right) != 1 or left[0][1] != 1 or right[0][1] != 1:
        return ALL
    a, b = table.ws.atoms[left[0][0]], table.ws.atoms[right[0][0]]
    if a.kind != b.kind or a.kind not in _INCREASING or a.arg is None or b.arg is None:
        return ALL
    return _times(frozenset({_sign(c)}), table.of_frac(table.ws.sub(a.arg, b.arg)))


def by_shift(table: SignTable, f: Poly) -> Signs:
    """Generators replaced by a bound plus what they exceed it by, then all terms of one sign."""
    shifts = [s for i in polys.used(f) for s in _shifts(table, i)][:8]
    base = {i: table.of_atom(i) for i in range(len(table.ws.atoms))}
    result = ALL
    for count in (1, 2, 3):
        for chosen in combinations(shifts, count):
            indices = [i for i, _, _ in chosen]
            if len(set(indices)) < count:
                continue
            p, signs = f, dict(base)
            for i, value, slack in chosen:
                if any(polys.degree(value, j) for j in indices if j != i):
                    break
                p = polys.replace(p, i, value)
                signs[i] = slack
            else:
                result = result & signs_of_terms(p, signs)
                if len(result) == 1:
                    return result
    return result


def _shifts(table: SignTable, i: int) -> list[tuple[int, Poly, Signs]]:
    """(generator, what it equals in terms of a slack of the same index, signs of the slack)."""
    found = []
    known = atom_range(table, i)
    g = polys.GENS[i]
    if known.lo:
        found.append((i, polys.constant(known.lo) + g, frozenset({0, 1} if known.lo_closed else {1})))
    if known.hi is not None:
        found.append((i, polys.constant(known.hi) - g, frozenset({0, 1} if known.hi_closed else {1})))
    for p, signs in table.facts.values():
        if signs == ALL or signs == {-1, 1} or polys.degree(p, i) != 1 or len(polys.used(p)) < 2:
            continue
        parts = polys.coefficients_in(p, i)
        if parts[1].is_constant():
            # p = a g + rest = slack, so g = (slack - rest)/a.
            a = parts[1].leading_coefficient()
            found.append((i, (g - parts.get(0, ZERO)) / a, signs))
    return found + shifts_of(table, i)


def by_ends(table: SignTable, f: Poly) -> Signs:
    """Linear in a name between two numbers: a mean of the values at both of them."""
    result, cheap = ALL, table.cheap
    # Work is bounded: the values at ends are not worth derivatives.
    table.cheap = True
    try:
        return _between_ends(table, f, result)
    finally:
        table.cheap = cheap


def _between_ends(table: SignTable, f: Poly, result: Signs) -> Signs:
    for i in polys.used(f):
        name = table.ws.atoms[i].name
        others = [j for j in polys.used(f) if j != i]
        if table.ws.atoms[i].kind != "name" or polys.degree(f, i) != 1 or name in names_in(table, others):
            continue
        known = atom_range(table, i)
        if known.lo is None or known.hi is None:
            continue
        low, high = (table.of(polys.replace(f, i, polys.constant(end))) for end in (known.lo, known.hi))
        for sign in (1, -1):
            both = frozenset({0, sign})
            if low <= both and high <= both:
                # An end that the name does not reach takes no part in a mean that the other one is in.
                strict = (low == {sign} and (high == {sign} or not known.hi_closed)) or (
                    high == {sign} and not known.lo_closed
                )
                result = result & (frozenset({sign}) if strict else both)
    return result


CHEAP = (
    by_terms,
    by_range,
    by_balls,
    by_arctangents,
    by_binomial,
    by_pair,
    by_linear_facts,
    by_root,
    by_logarithms,
    by_shift,
    by_products,
    by_discriminant,
)
RULES = (*CHEAP, by_exponential, by_derivative, by_concavity, by_taylor, by_ends)
