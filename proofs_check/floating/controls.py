"""Near misses of a floating-point claim, which the same methods must decide the other way.

A bound a <= b that holds is missed by a <= c b, c 63/64 of the largest a/b that was met; an equality by
one with the least number above 0 added. What fails at a point is missed, there, by the bound with c just
above a/b, or by its negation. Statements of other forms are missed by their negation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.outcome import NotYetError, Outcome, UndecidedError
from gateproof.proofs_check.floating.exhaustive import Judge
from gateproof.proofs_check.floating.program import UndefinedError
from gateproof.proofs_check.floating.search import search
from gateproof.proofs_check.floating.space import Space, build
from gateproof.theory.formula import Claim
from gateproof.theory.formula.nodes import (
    And,
    App,
    Bind,
    Expr,
    Implies,
    IntervalSet,
    Not,
    Num,
    Rel,
    Scope,
    Stmt,
)

#: How much nearer than a bound's factor a near miss is.
_LESS, _MORE = Fraction(63, 64), 1 + Fraction(1, 1 << 20)
#: Points that are tried for the worst case of a bound.
_TRIED = 5_000


def planted(claim: Claim, outcome: Outcome, context: Context) -> list[Claim]:
    """Near misses of a decided claim."""
    space = build(claim)
    if outcome.truth:
        return [replace(claim, body=_missed(claim.body, space, context))]
    witness = outcome.witness or {}
    point = {name: Fraction(witness[name]) for name in space.names}
    binds = tuple(
        Bind(name, IntervalSet(Num(value), Num(value), lo_closed=True, hi_closed=True))
        for name, value in point.items()
    )
    there = Claim(Scope(binds, claim.scope.conditions), claim.body, claim.format)
    return [replace(there, body=_met(claim.body, build(there)))]


def _missed(stmt: Stmt, space: Space, context: Context) -> Stmt:
    """A statement that is false at a point of the space, where ``stmt`` is true at all of them."""
    if isinstance(stmt, And):
        # The premise of an implication may never hold; a relation always says something.
        k = next((k for k, part in enumerate(stmt.parts) if isinstance(part, Rel)), 0)
        return And((*stmt.parts[:k], _missed(stmt.parts[k], space, context), *stmt.parts[k + 1 :]))
    if isinstance(stmt, Implies):
        narrowed = replace(space, conditions=(*space.conditions, stmt.left))
        return Implies(stmt.left, _missed(stmt.right, narrowed, context))
    if isinstance(stmt, Rel) and stmt.ops[0] != "!=":
        (op, *ops), (a, b, *terms) = stmt.ops, stmt.terms
        least = Num(space.format.ulp(Fraction(0)))
        if op == "==":
            return Rel((op, *ops), (a, App("add", (b, least)), *terms))
        scaled = _scaled(Rel((op,), (a, b)), _worst(Rel((op,), (a, b)), space, context))
        if scaled is not None:
            return Rel((op, *ops), (*scaled, *terms))
    return Not(stmt)


def _worst(relation: Rel, space: Space, context: Context) -> Fraction | None:
    """The largest quotient of the smaller side by the larger one that was met, a little less."""
    settings = replace(context.settings, boxes=min(context.settings.boxes, _TRIED))
    at = search(space, relation, settings).worst
    return None if at is None else quotient(relation, space, at, _LESS)


def quotient(relation: Rel, space: Space, at: tuple[int, ...], factor: Fraction) -> Fraction | None:
    """The smaller side by the larger one at a point, times a factor; None where one is not positive."""
    judge = Judge(space, relation)
    small, large = _sides(relation)
    try:
        a, b = (judge.program.rough(side)(judge.point(at)) for side in (small, large))
    except (UndefinedError, UndecidedError, NotYetError):
        return None
    if a is None or b is None or a <= 0 or b <= 0:
        return None
    exact = Fraction(int((a / b).numerator), int((a / b).denominator)) * factor
    # To 40 bits, towards the safe side: a long fraction is no help to a reader.
    scale = Fraction(2) ** (40 - (exact.numerator.bit_length() - exact.denominator.bit_length()))
    whole = exact * scale
    return Fraction(whole // 1 if factor < 1 else -(-whole // 1)) / scale


def _sides(relation: Rel) -> tuple[Expr, Expr]:
    a, b = relation.terms
    return (a, b) if relation.ops[0] in ("<", "<=") else (b, a)


def _scaled(relation: Rel, factor: Fraction | None) -> tuple[Expr, Expr] | None:
    """The sides, the larger one multiplied by the factor."""
    if factor is None:
        return None
    a, b = relation.terms
    times: Callable[[Expr], Expr] = lambda side: App("mul", (Num(factor), side))  # noqa: E731
    return (a, times(b)) if relation.ops[0] in ("<", "<=") else (times(a), b)


def _met(stmt: Stmt, point: Space) -> Stmt:
    """A statement that is true at the one point of the space, where ``stmt`` is false."""
    if isinstance(stmt, Rel) and len(stmt.ops) == 1 and stmt.ops[0] in ("<", "<=", ">", ">="):
        at = tuple(lo for lo, _ in point.box)
        scaled = _scaled(stmt, quotient(stmt, point, at, _MORE))
        if scaled is not None:
            return Rel(stmt.ops, scaled)
    return Not(stmt)
