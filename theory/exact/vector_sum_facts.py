"""What sums over the places of a vector that are not named say of each other.

Term by term: f <= g gives S_f <= S_g. Cauchy's inequality: (S_f)**2 <= m S_(f**2) over m places, and
S_(f**2) <= (S_f)**2 where f >= 0. Hardy, Littlewood and Polya, Inequalities (1934), 2.4, 2.10.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula.nodes import App, Expr, Rel, Stmt, Var, num

#: Sums that are held against each other.
MAX_SUMS = 5


@dataclass(frozen=True)
class Others:
    """The places that are not named: how many, what each holds, and the names that bound it."""

    count: Expr
    entry: str
    base: Domain
    #: Names with an order relation from the entry to them: ("<=", "z_max").
    bounds: tuple[tuple[str, str], ...]


def sum_facts(sums: Mapping[Expr, str], others: Others) -> list[Stmt]:
    """Relations between the sums of functions of the entry, over at least one place."""
    if not 1 <= len(sums) <= MAX_SUMS:
        return []
    plain = Assumptions({others.entry: others.base})
    found: list[Stmt] = []
    for f, label in sums.items():
        total: Expr = Var(label)
        for g, other in sums.items():
            if f == g:
                continue
            more: Expr = Var(other)
            if _holds(f, "<=", g, plain):
                found.append(Rel(("<=",), (total, more)))
            signed = _holds(f, ">=", num(0), plain) and _holds(g, ">=", num(0), plain)
            if not signed and _holds(App("neg", (f,)), "<=", g, plain):
                found.append(Rel(("<=",), (App("neg", (total,)), more)))
            if _holds(App("pow", (f, num(2))), "==", g, plain):
                squared = App("pow", (total, num(2)))
                found.append(Rel(("<=",), (squared, App("mul", (others.count, more)))))
                if _holds(f, ">=", num(0), plain):
                    found.append(Rel(("<=",), (more, squared)))
        found += _bounded(f, total, sums, others)
    return found


def _bounded(f: Expr, total: Expr, sums: Mapping[Expr, str], others: Others) -> list[Stmt]:
    """Sums against a number that no entry is beyond, times the count or another sum."""
    found: list[Stmt] = []
    for op, name in others.bounds:
        bound = Var(name)
        given = Assumptions(
            {others.entry: others.base, name: others.base}, (Rel((op,), (Var(others.entry), bound)),)
        )
        weights: list[tuple[Expr, Expr]] = [(num(1), others.count)]
        weights += [(g, Var(label)) for g, label in sums.items() if g != f]
        for weight, size in weights:
            if _holds(f, op, App("mul", (bound, weight)), given):
                found.append(Rel((op,), (total, App("mul", (bound, size)))))
    return found


def _holds(a: Expr, op: str, b: Expr, given: Assumptions) -> bool:
    return prove_relation(a, op, b, given) is not None
