"""Polynomial equations that follow from others: g = sum_i q_i f_i, so g = 0 where every f_i is 0.

The coefficients of polynomials q_i up to a degree solve a linear system; the sum is expanded again before it
counts. Cox, Little and O'Shea, Ideals, Varieties, and Algorithms (4th ed. 2015), 1.4.
"""

from __future__ import annotations

from itertools import combinations_with_replacement

import flint

from gateproof.theory.exact.domain import Assumptions, Derivation
from gateproof.theory.exact.polys import Poly
from gateproof.theory.exact.rational_identity import NotRational, Ratio, Rationals
from gateproof.theory.formula.nodes import Expr, Rel
from gateproof.theory.formula.scopes import free_names

#: Names, unknown coefficients, and degrees beyond those given.
MAX_NAMES = 8
MAX_UNKNOWN = 420
MAX_BEYOND = 2
#: A power of g that is 0 shows g = 0.
MAX_POWER = 2


def prove_under_equations(lhs: Expr, rhs: Expr, assumptions: Assumptions) -> Derivation | None:
    """A proof that rational functions that have values are equal where the equations among the facts hold."""
    given = [f for f in assumptions.facts if isinstance(f, Rel) and f.ops == ("==",)]
    names = sorted(free_names(lhs).union(free_names(rhs), *(free_names(f) for f in given)))
    if not given or not 1 <= len(names) <= MAX_NAMES:
        return None
    work = Rationals(names, Assumptions(assumptions.domains), defined=True)
    try:
        goal = _difference(work, lhs, rhs)
        known = [_difference(work, *fact.terms) for fact in given]
    except NotRational:
        return None
    equations: list[Poly] = []
    for poly in known:
        if len(poly) and poly not in equations:
            equations.append(poly)
    if not equations or not len(goal):
        return None
    for power in range(1, MAX_POWER + 1):
        powered = goal**power
        least = max(int(p.total_degree()) for p in (powered, *equations))
        for degree in range(least, least + MAX_BEYOND + 1):
            found = _combination(work, powered, equations, degree)
            if found is not None:
                parts = " + ".join(f"({q})*({e})" for q, e in found)
                whose = f"the power {power} of the numerator" if power > 1 else "the numerator"
                step = f"{whose} of left - right is {parts}, and each second factor is 0 by the conditions"
                return Derivation((step,), ("flint",))
    return None


def _difference(work: Rationals, a: Expr, b: Expr) -> Poly:
    """The numerator of a - b."""
    left, right = work.ratio(a), work.ratio(b)
    return work.sum(left, Ratio(-right.over, right.under)).over


def _combination(
    work: Rationals, goal: Poly, equations: list[Poly], degree: int
) -> list[tuple[Poly, Poly]] | None:
    """Factors q with goal = sum q e and products up to the degree; None where there are none, or too many."""
    products: list[tuple[int, Poly, Poly]] = []
    for k, equation in enumerate(equations):
        for monomial in _monomials(work, degree - int(equation.total_degree())):
            products.append((k, monomial, monomial * equation))
            if len(products) > MAX_UNKNOWN:
                return None
    rows: dict[tuple[int, ...], int] = {}
    for poly in (goal, *(p for _, _, p in products)):
        for exponents in poly.to_dict():
            rows.setdefault(tuple(exponents), len(rows))
    matrix = flint.fmpq_mat(len(rows), len(products) + 1)
    for column, poly in enumerate((*(p for _, _, p in products), goal)):
        for exponents, value in poly.to_dict().items():
            matrix[rows[tuple(exponents)], column] = value
    reduced, rank = matrix.rref()
    factors: list[Poly] = [work.context.constant(0) for _ in equations]
    last = len(products)
    for row in range(rank):
        pivot = next(c for c in range(last + 1) if reduced[row, c] != 0)
        if pivot == last:
            return None
        k, monomial, _ = products[pivot]
        factors[k] += reduced[row, last] * monomial
    found = [(q, e) for q, e in zip(factors, equations, strict=True) if len(q)]
    total = work.context.constant(0)
    for q, e in found:
        total += q * e
    return found if not len(total - goal) else None


def _monomials(work: Rationals, degree: int) -> list[Poly]:
    """All monomials up to a degree; none for a degree below 0."""
    found: list[Poly] = []
    for size in range(degree + 1):
        for chosen in combinations_with_replacement(work.gens.values(), size):
            monomial = work.context.constant(1)
            for gen in chosen:
                monomial *= gen
            found.append(monomial)
    return found
