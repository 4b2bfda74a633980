"""Statements rewritten: chains as relations, negations pushed inward, membership as bounds."""

from __future__ import annotations

from itertools import pairwise

from gateproof.proofs_check.engine.outcome import NotYetError
from gateproof.proofs_check.engine.space import infinite_sign
from gateproof.theory.formula.nodes import (
    And,
    App,
    Const,
    Implies,
    In,
    IntervalSet,
    NamedSet,
    Not,
    Or,
    Rel,
    SetMinus,
    Stmt,
)
from gateproof.theory.formula.printer import to_text

_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def links_of(stmt: Rel) -> list[Rel]:
    """A chain as its binary relations."""
    return [Rel((op,), pair) for op, pair in zip(stmt.ops, pairwise(stmt.terms), strict=True)]


def negate(stmt: Stmt) -> Stmt:
    """The negation pushed inward as far as relations."""
    if isinstance(stmt, Rel):
        links = tuple(Rel((_OPPOSITE[link.ops[0]],), link.terms) for link in links_of(stmt))
        return links[0] if len(links) == 1 else Or(links)
    if isinstance(stmt, And):
        return Or(tuple(negate(p) for p in stmt.parts))
    if isinstance(stmt, Or):
        return And(tuple(negate(p) for p in stmt.parts))
    if isinstance(stmt, Not):
        return stmt.part
    if isinstance(stmt, Implies):
        return And((stmt.left, negate(stmt.right)))
    if isinstance(stmt, In):
        return negate(membership(stmt))
    return Not(stmt)


def membership(stmt: In) -> Stmt:
    """Membership in an interval, in R, or outside of points, as relations."""
    within, item = stmt.within, stmt.item
    if isinstance(within, IntervalSet):
        parts: list[Stmt] = []
        if infinite_sign(within.lo) >= 0 or within.lo_closed is False:
            parts.append(Rel(("<=" if within.lo_closed else "<",), (within.lo, item)))
        if infinite_sign(within.hi) <= 0 or within.hi_closed is False:
            parts.append(Rel(("<=" if within.hi_closed else "<",), (item, within.hi)))
        return And(tuple(parts)) if len(parts) > 1 else parts[0]
    if isinstance(within, SetMinus):
        apart = tuple(Rel(("!=",), (item, p)) for p in within.points)
        return And((membership(In(item, within.base)), *apart))
    if isinstance(within, NamedSet) and within.name == "R":
        return And((Rel(("<",), (App("neg", (Const("oo"),)), item)), Rel(("<",), (item, Const("oo")))))
    raise NotYetError(f"membership in {to_text(within)}")
