"""Near misses: statements that must be decided the opposite way by the same engine.

A true equality a == b is missed by a == b + 10**-9 (false wherever the first is true). A true
inequality a <= b is missed by a + d <= b with d just above the gap at a point of the scope. A
refuted relation with a witness is missed by the relation moved by just more than the gap at
that witness, taken at the witness. Given controls are statements of the claims file.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from gateproof.numerics.errors import MaybeUndefined, NotImplementedOperator, NotReal, Undefined
from gateproof.numerics.points import at_point, rational_bounds
from gateproof.proofs_check.engine.calculus import Elimination
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.logic import links_of
from gateproof.proofs_check.engine.outcome import IllPosedError, NotYetError, Outcome, UndecidedError
from gateproof.proofs_check.engine.sample import points
from gateproof.proofs_check.engine.space import Space, build, infinite_sign
from gateproof.theory.formula.library import substitute_node
from gateproof.theory.formula.nodes import (
    And,
    App,
    Claim,
    Const,
    Exists,
    Expr,
    Extremum,
    FiniteSet,
    Gauss,
    Gauss2,
    Implies,
    In,
    Integral,
    MeanField,
    Node,
    Not,
    Num,
    Or,
    Pred,
    Printed,
    Rel,
    Scope,
    Stmt,
    Var,
    Where,
)
from gateproof.theory.formula.rewriting import replaced
from gateproof.theory.formula.scopes import free_names

_PLAIN = (App, Num, Var, Const, Where, Rel, And, Or, Not)
#: Closed values that certify() finds as a whole.
_VALUES = (Extremum, Integral, Gauss, Gauss2, MeanField)
_TINY = Fraction(1, 10**9)
_OVER = Fraction(10**6 + 1, 10**6)
_OPPOSITE_MONOTONE = {"increasing": "decreasing", "decreasing": "increasing"}

_SETS = ("argmax", "argmin", "zeros")


def planted(claim: Claim, outcome: Outcome, context: Context) -> list[Claim]:
    """Near misses of a decided claim, made from it; empty where none of a known truth is found."""
    return [
        Claim(claim.scope, body) if not isinstance(body, Claim) else body
        for body in _bodies(claim, claim.body, outcome, context)
    ]


def _bodies(claim: Claim, stmt: Stmt, outcome: Outcome, context: Context) -> list[Stmt | Claim]:
    if outcome.truth:
        return _false_bodies(claim, stmt, context)
    if isinstance(stmt, And):
        return _true_conjunctions(claim, stmt, outcome, context)
    if not isinstance(stmt, Rel):
        return []
    for link in links_of(stmt):
        found = _true_bodies(claim, link, outcome, context)
        if found:
            return found
    return []


def _true_conjunctions(claim: Claim, stmt: And, outcome: Outcome, context: Context) -> list[Stmt | Claim]:
    """A refuted conjunction of order relations between numbers: each moved by just more than its gap.

    A relation that holds is moved further into what makes it hold, so all of the moved ones are true.
    """
    moved: list[Stmt] = []
    for part in stmt.parts:
        order = isinstance(part, Rel) and len(part.ops) == 1 and part.ops[0] in ("<", "<=", ">", ">=")
        if not order or claim.scope.binds or free_names(part):
            return []
        assert isinstance(part, Rel)
        found = next(iter(_true_bodies(claim, part, outcome, context)), None)
        if found is None:
            return []
        moved.append(found.body if isinstance(found, Claim) else found)
    return [And(tuple(moved))]


def _false_bodies(claim: Claim, stmt: Stmt, context: Context) -> list[Stmt | Claim]:
    """Statements that are false wherever ``stmt`` is true."""
    if isinstance(stmt, And):
        for k, part in enumerate(stmt.parts):
            for found in _false_bodies(claim, part, context):
                if isinstance(found, Stmt):
                    return [And((*stmt.parts[:k], found, *stmt.parts[k + 1 :]))]
        return []
    if isinstance(stmt, Rel):
        return _missed_relation(claim, stmt, context)
    if isinstance(stmt, Implies):
        narrowed = Claim(Scope(claim.scope.binds, (*claim.scope.conditions, stmt.left)), stmt.right)
        return [
            Implies(stmt.left, b) for b in _false_bodies(narrowed, stmt.right, context) if isinstance(b, Stmt)
        ]
    if isinstance(stmt, Pred):
        return _missed_predicate(stmt)
    if isinstance(stmt, Not) and isinstance(stmt.part, Rel | Pred | In | Exists):
        return [stmt.part] if not claim.scope.binds else []
    if isinstance(stmt, Exists):
        return [Not(stmt)] if not claim.scope.binds else []
    return []


def _missed_relation(claim: Claim, stmt: Rel, context: Context) -> list[Stmt | Claim]:
    if len(stmt.ops) != 1:
        return _false_bodies(claim, And(tuple(links_of(stmt))), context)
    op, (a, b) = stmt.ops[0], stmt.terms
    if infinite_sign(a) or infinite_sign(b):
        return []
    printed = any(isinstance(n, Printed) for n in stmt.walk())
    if isinstance(a, Extremum | MeanField) and isinstance(b, FiniteSet) and not printed:
        # An empty set is told from one with a point.
        points_moved = FiniteSet(tuple(_plus(i, _TINY) for i in b.items) or (Num(_TINY),))
        return [Rel((op,), (a, points_moved))] if op == "==" else []
    if printed:
        return _missed_printed(stmt)
    if op == "==" and (isinstance(b, MeanField) or (isinstance(b, Extremum) and b.op in _SETS)):
        return []
    if op == "==":
        return [Rel(("==",), (a, _plus(b, _TINY)))]
    if op == "!=":
        return []
    shift = _gap_at_a_point(claim, a, b, context)
    if shift is None:
        return []
    moved = _plus(a, shift * _OVER + _TINY) if op[0] == "<" else _plus(a, -(shift * _OVER + _TINY))
    return [Rel((op,), (moved, b))]


def _missed_printed(stmt: Rel) -> list[Stmt | Claim]:
    """The relation with its last printed number moved by two units of its last place."""
    (op,), (a, b) = stmt.ops, stmt.terms
    literals = [n for n in stmt.walk() if isinstance(n, Printed)]
    if op != "==" or not literals:
        return []
    last = literals[0]
    if literals.count(last) > 1 and len(set(literals)) == 1:
        # Moved everywhere alike it may cancel: the sides are moved apart instead.
        return [Rel((op,), (a, _plus(b, 3 * (last.hi - last.lo))))]
    unit = last.hi - last.lo
    moved = Printed(last.text + "'", last.lo + 3 * unit, last.hi + 3 * unit)
    return [Rel((op,), (replaced(a, {last: moved}), replaced(b, {last: moved})))]


def _missed_predicate(stmt: Pred) -> list[Stmt | Claim]:
    if len(stmt.scope.binds) != 1:
        return []
    name = Var(stmt.scope.binds[0].name)
    if stmt.name == "odd":
        return [Pred("odd", _plus(stmt.body, _TINY), stmt.scope)]
    if stmt.name == "even":
        tilt = App("add", (stmt.body, App("mul", (Num(_TINY), name))))
        return [Pred("even", tilt, stmt.scope)]
    if stmt.name in _OPPOSITE_MONOTONE:
        return [Pred(stmt.name, App("neg", (stmt.body,)), stmt.scope)] if free_names(stmt.body) else []
    return []


def _gap_at_a_point(claim: Claim, a: Expr, b: Expr, context: Context) -> Fraction | None:
    """An upper bound of |a - b| at the sampled point where it is least, or for extrema of their values."""
    if any(isinstance(n, _VALUES) for n in (*a.walk(), *b.walk())) and not free_names(Rel(("<",), (a, b))):
        return _gap_of_values(a, b, context)
    plain = _plain(claim.scope, a, b)
    if plain is None:
        return None
    space, a, b = plain
    best: Fraction | None = None
    for point in points(space, (a, b), context.settings.seed + 3, 60):
        try:
            lo, hi = rational_bounds(at_point(App("add", (a, App("neg", (b,)))), point, 128))
        except (Undefined, MaybeUndefined, NotReal, NotImplementedOperator):
            continue
        size = max(abs(lo), abs(hi))
        if best is None or size < best:
            best = size
    return None if best is None else _round_up(best)


def _plain(scope: Scope, a: Expr, b: Expr) -> tuple[Space, Expr, Expr] | None:
    """The space and both sides without derivatives, sums and limits; None where there is no such form."""
    try:
        space = build(scope)
        left, right = (Elimination(space).expr(side) for side in (a, b))
    except (IllPosedError, NotYetError, UndecidedError):
        return None
    core = all(isinstance(n, _PLAIN) for side in (left, right) for n in side.walk())
    return None if space.vectors or not core else (space, left, right)


def _gap_of_values(a: Expr, b: Expr, context: Context) -> Fraction | None:
    from gateproof.numerics.certify import certify
    from gateproof.numerics.errors import NumericsError
    from gateproof.proofs_check.engine.field_values import gap_of, holds_field

    if holds_field(a) or holds_field(b):
        try:
            ends = gap_of(a, b, context)
        except (IllPosedError, NotYetError, UndecidedError):
            return None
        return None if ends is None else _round_up(max(map(abs, ends)))
    try:
        found = certify(App("add", (a, App("neg", (b,)))), 15, context.budget())
    except NumericsError:
        return None
    value = found.get("value")
    if found.get("kind") != "value" or not isinstance(value, Mapping):
        return None
    return _round_up(max(abs(Fraction(value["lo"])), abs(Fraction(value["hi"]))))


def _round_up(value: Fraction) -> Fraction:
    if value < Fraction(1, 10**20):
        return value and Fraction(1, 10**20)
    scale = 10**12 * max(1, int(1 / value) if value < 1 else 1)
    return Fraction(-(-value.numerator * scale // value.denominator), scale)


def _true_bodies(claim: Claim, stmt: Rel, outcome: Outcome, context: Context) -> list[Stmt | Claim]:
    """For a refuted relation: the relation moved by just more than its failure, at the witness."""
    (op,), (a, b) = stmt.ops, stmt.terms
    if any(isinstance(n, _VALUES) for n in stmt.walk()) and not free_names(stmt):
        return _true_of_values(op, a, b, context)
    witness = {k: v for k, v in (outcome.witness or {}).items() if k in {x.name for x in claim.scope.binds}}
    try:
        point = {k: Fraction(v) for k, v in witness.items()}
    except ValueError:
        return []
    if any(isinstance(n, Extremum | Printed) for n in stmt.walk()) or free_names(stmt) - set(point):
        return []
    values: dict[str, Expr] = {k: Num(v) for k, v in point.items()}
    left, right = (_as_expr(substitute_node(side, values)) for side in (a, b))
    plain = _plain(Scope((), ()), left, right)
    if plain is None or infinite_sign(plain[1]) or infinite_sign(plain[2]):
        return []
    try:
        lo, hi = rational_bounds(at_point(App("add", (plain[1], App("neg", (plain[2],)))), {}, 128))
    except (Undefined, MaybeUndefined):
        return []
    shift = _round_up(max(abs(lo), abs(hi))) * _OVER + _TINY
    if op == "==":
        return [Claim(Scope((), ()), Rel(("!=",), (left, right)))]
    moved = _plus(left, -shift) if op[0] == "<" else _plus(left, shift)
    return [Claim(Scope((), ()), Rel((op,), (moved, right)))]


def _true_of_values(op: str, a: Expr, b: Expr, context: Context) -> list[Stmt | Claim]:
    """Closed values that differ by less than d: a <= b + d, a >= b - d, or both."""
    if op == "!=" or isinstance(b, FiniteSet) or (isinstance(a, Extremum) and a.op in _SETS):
        return []
    gap = _gap_of_values(a, b, context)
    if not gap:
        return []
    shift = gap * _OVER + _TINY
    above, below = Rel(("<=",), (a, _plus(b, shift))), Rel((">=",), (a, _plus(b, -shift)))
    return [And((below, above)) if op == "==" else above if op[0] == "<" else below]


def _plus(node: Expr, shift: Fraction) -> Expr:
    return App("add", (node, Num(shift)))


def _as_expr(node: Node) -> Expr:
    assert isinstance(node, Expr)
    return node
