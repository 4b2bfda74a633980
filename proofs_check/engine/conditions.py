"""Conditions on one name that are intervals become part of its domain."""

from __future__ import annotations

from dataclasses import replace

from gateproof.numerics.points import compare
from gateproof.proofs_check.engine.space import Space, infinite_sign
from gateproof.theory.exact.domain import Domain
from gateproof.theory.formula.nodes import Expr, Rel, Stmt, Var
from gateproof.theory.formula.scopes import free_names

_FLIP = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def absorbed(space: Space) -> Space:
    """The space with facts such as ``x > 1`` or ``0 <= x < 2`` moved into the domains."""
    kept: list[Stmt] = []
    for fact in space.facts:
        links = _links(fact)
        if links is None:
            kept.append(fact)
            continue
        for name, op, bound in links:
            narrowed = _cut(space.domains[name], op, bound) if name in space.domains else None
            if narrowed is None:
                kept.append(fact)
                break
            space = space.with_domain(name, narrowed)
    return replace(space, facts=tuple(kept))


def _links(fact: Stmt) -> list[tuple[str, str, Expr]] | None:
    if not isinstance(fact, Rel):
        return None
    found: list[tuple[str, str, Expr]] = []
    for op, a, b in zip(fact.ops, fact.terms, fact.terms[1:], strict=False):
        if isinstance(a, Var) and op in _FLIP and not free_names(b):
            found.append((a.name, op, b))
        elif isinstance(b, Var) and op in _FLIP and not free_names(a):
            found.append((b.name, _FLIP[op], a))
        else:
            return None
    return found


def _cut(domain: Domain, op: str, bound: Expr) -> Domain | None:
    closed = op.endswith("=")
    if infinite_sign(bound):
        return domain if (infinite_sign(bound) < 0) == (op[0] == ">") else None
    if op[0] == ">":
        if domain.lo is None:
            return replace(domain, lo=bound, lo_closed=closed)
        order = compare(bound, domain.lo)
        if order is None:
            return None
        if order == 1 or (order == 0 and not closed):
            return replace(domain, lo=bound, lo_closed=closed)
        return domain
    if domain.hi is None:
        return replace(domain, hi=bound, hi_closed=closed)
    order = compare(bound, domain.hi)
    if order is None:
        return None
    if order == -1 or (order == 0 and not closed):
        return replace(domain, hi=bound, hi_closed=closed)
    return domain
