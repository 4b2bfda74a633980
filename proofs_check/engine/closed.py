"""Relations between closed values: constants, extrema, sets of points."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from gateproof.numerics.certify import certify
from gateproof.numerics.errors import MaybeUndefined, NotImplementedOperator, NotReal, Undefined
from gateproof.numerics.points import at_point, difference_sign
from gateproof.proofs_check.engine.calculus import Elimination
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.edges import edge_without_value
from gateproof.proofs_check.engine.exact_extrema import by_exact_values
from gateproof.proofs_check.engine.extremum import accepted_certificate, decide_extremum
from gateproof.proofs_check.engine.nested import decide_nested, is_nested, joined
from gateproof.proofs_check.engine.numbers import short_text
from gateproof.proofs_check.engine.outcome import (
    CERTIFIED,
    PROVED,
    IllPosedError,
    NotYetError,
    Outcome,
    UndecidedError,
    composite,
    ill_posed,
    negation,
    undecided,
)
from gateproof.proofs_check.engine.parametric_exact import with_exact_inside
from gateproof.proofs_check.engine.point_sets import decide_empty, decide_same
from gateproof.proofs_check.engine.sets import decide_set
from gateproof.proofs_check.engine.space import Space, build, infinite_sign
from gateproof.proofs_check.engine.witness import failure_at, holds_at
from gateproof.theory.exact.critical import equal_constants
from gateproof.theory.exact.defined import prove_defined
from gateproof.theory.exact.domain import Assumptions
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula.nodes import (
    And,
    App,
    Const,
    Expr,
    Extremum,
    FiniteSet,
    Node,
    Not,
    Num,
    Or,
    Rel,
    Where,
)
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names

_FLIP = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_HOLDS = {"==": (0,), "!=": (-1, 1), "<": (-1,), "<=": (-1, 0), ">": (1,), ">=": (1, 0)}
_SETS = ("argmax", "argmin", "zeros")
_LADDER = (15, 30, 60)
_CORE = (App, Num, Const, Where, Rel, And, Or, Not)


def holds_extremum(node: Node) -> bool:
    """Whether a sup, argmax or the like stands anywhere in the node."""
    return any(isinstance(n, Extremum) for n in node.walk())


def decide_closed(relation: Rel, context: Context) -> Outcome:
    """Decide a binary relation without free names."""
    (op,), (a, b) = relation.ops, relation.terms
    if isinstance(b, Extremum) and not isinstance(a, Extremum):
        op, a, b = _FLIP[op], b, a
    if isinstance(a, Extremum):
        return _extremum(a, op, b, context)
    if isinstance(a, FiniteSet) or isinstance(b, FiniteSet):
        raise IllPosedError("a set of points is compared with a value that is not a set")
    if not holds_extremum(Rel((op,), (a, b))):
        return decide_constants(op, a, b)
    return _enclosures(op, a, b, context)


def inner_body(node: Extremum, context: Context) -> Expr:
    """The body of an extremum in core nodes; NotYetError for what stands inside of it."""
    if holds_extremum(node.body):
        raise NotYetError(f"nested {node.op}")
    work = Elimination(build(node.scope))
    body = work.expr(node.body)
    settle(work, node.op, context)
    return body


def settle(work: Elimination, what: str, context: Context) -> None:
    """Raise unless the derivatives in an extremum exist on its whole set."""
    from gateproof.proofs_check.engine.relation import decide_relation

    for condition in work.owed:
        if not isinstance(condition, Rel) or len(condition.ops) != 1:
            raise NotYetError(f"{what} of a derivative with kinks")
        found = decide_relation(work.space, condition, context.deeper())
        if found.truth is False and condition in work.certain:
            raise IllPosedError(f"a derivative does not exist where {to_text(condition)} fails")
        if found.truth is not True:
            raise NotYetError(f"{what} of a derivative with kinks")


def _extremum(node: Extremum, op: str, other: Expr, context: Context) -> Outcome:
    node = joined(node) or node
    if is_nested(node) and not isinstance(other, FiniteSet) and not holds_extremum(other):
        bound = closed_value(other)
        outer = with_exact_inside(node, context)
        if outer is not None:
            return decide_extremum(outer, outer.body, op, bound, context)
        return decide_nested(node, op, bound, context)
    body = inner_body(node, context)
    if node.op in _SETS:
        if op not in ("==", "!="):
            raise IllPosedError(f"{node.op} is a set and has no order")
        if isinstance(other, Extremum):
            if other.op not in _SETS:
                raise IllPosedError(f"{other.op} is a number and is compared with a set")
            found = decide_same(node, other, (body, inner_body(other, context)), context)
            return found if op == "==" else negation(found)
        items = other.items if isinstance(other, FiniteSet) else (other,)
        items = tuple(closed_value(i) for i in items)
        empty = None if items else decide_empty(node, body, context)
        if empty is not None:
            return empty if op == "==" else negation(empty)
        found = decide_set(node, body, _distinct(items), context)
        return found if op == "==" else negation(found)
    if isinstance(other, FiniteSet):
        raise IllPosedError(f"{node.op} is a number and is compared with a set")
    if holds_extremum(other):
        return _enclosures(op, node, other, context)
    bound = closed_value(other)
    return decide_extremum(node, body, op, bound, context)


def closed_value(side: Expr) -> Expr:
    """A closed number without calculus. Raises unless its derivatives exist and it has a value."""
    work = Elimination(Space())
    found = work.expr(side)
    for condition in work.owed:
        if not isinstance(condition, Rel) or len(condition.ops) != 1 or free_names(condition):
            raise NotYetError("a bound with a derivative of a formula with kinks")
        held = decide_constants(condition.ops[0], *condition.terms)
        if held.truth is False and condition in work.certain:
            raise IllPosedError(f"a derivative does not exist: {to_text(condition)} fails")
        if held.truth is not True:
            raise UndecidedError(f"a derivative may not exist: {to_text(condition)} is not known")
    if not infinite_sign(found) and all(isinstance(n, _CORE) for n in found.walk()):
        _must_exist(found, sure=True)
    return found


def _distinct(items: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """A set's members, each number once."""
    kept: list[Expr] = []
    for item in items:
        if not any(item == k or equal_constants(item, k) is True for k in kept):
            kept.append(item)
    return tuple(kept)


def decide_constants(op: str, a: Expr, b: Expr) -> Outcome:
    """Decide a relation of two closed core expressions (or infinities)."""
    for side in (a, b):
        if not infinite_sign(side):
            _must_exist(side)
    if infinite_sign(a) or infinite_sign(b):
        sign = (infinite_sign(a) > infinite_sign(b)) - (infinite_sign(a) < infinite_sign(b))
        return Outcome(sign in _HOLDS[op], PROVED, "order of the extended reals", ("flint",))
    numbers = constant_value(a), constant_value(b)
    if numbers[0] is not None and numbers[1] is not None:
        return _rationals(op, numbers[0], numbers[1])
    equal = equal_constants(a, b)
    proof = None if equal is not None else prove_relation(a, "==", b, Assumptions())
    if equal is True or proof is not None:
        steps = proof.steps if proof is not None else (f"{to_text(a)} and {to_text(b)} are the same number",)
        return Outcome(0 in _HOLDS[op], PROVED, "exact arithmetic", ("flint",), steps)
    relation = Rel((op,), (a, b))
    holds = holds_at(relation, {})
    if holds is not None:
        return holds
    fails = failure_at(relation, {})
    if fails is not None:
        return fails
    if difference_sign(a, b, {}, 4096) is None:
        return undecided("agree to more than 1000 digits; equality was not proved")
    return undecided("the two engines do not agree on the sign of the difference")


def _rationals(op: str, a: Fraction, b: Fraction) -> Outcome:
    """A relation of two rational numbers, exactly."""
    sign = (a > b) - (a < b)
    steps = (f"left side {short_text(a)}, right side {short_text(b)}",)
    if sign in _HOLDS[op]:
        return Outcome(True, PROVED, "exact rational arithmetic", ("fractions",), steps)
    witness = {"left": short_text(a), "right": short_text(b)}
    return Outcome(False, PROVED, "exact rational arithmetic", ("fractions",), steps, witness=witness)


def _must_exist(side: Expr, *, sure: bool = False) -> None:
    """Raise unless a side has a value; ``sure``: what balls cannot tell is undecided."""
    try:
        at_point(side, {}, 256)
    except NotReal:
        raise NotYetError("arithmetic with infinite values") from None
    except Undefined as error:
        raise IllPosedError(f"{to_text(side)} has no value: {error}") from None
    except MaybeUndefined:
        # At an irrational end of a domain no ball tells, but the exact prover may.
        if prove_defined(side, Assumptions({})) is not None:
            return
        lacks = None if sure else edge_without_value(side)
        if lacks is not None:
            raise IllPosedError(f"{to_text(side)} has no value: {lacks}") from None
        raise UndecidedError(f"{to_text(side)} could not be given a value") from None


def _certificates(gap: Expr, digits: int, context: Context) -> Mapping[str, Any] | None:
    """The accepted certificates of all extrema in a closed value; None where one has none."""
    documents: list[dict[str, Any]] = []
    for node in gap.walk():
        if isinstance(node, Extremum):
            if is_nested(node):
                return None
            try:
                document = accepted_certificate(node, inner_body(node, context), digits, context)
            except NotYetError:
                return None
            if document is None:
                return None
            documents.append(dict(document))
    return composite(documents)


def _enclosures(op: str, a: Expr, b: Expr, context: Context) -> Outcome:
    """Extrema inside arithmetic: enclosures of the difference at rising precision."""
    gap = App("add", (a, App("neg", (b,))))
    for wanted in _LADDER:
        try:
            found = certify(gap, wanted, context.budget())
        except NotImplementedOperator as error:
            raise NotYetError(error.name) from None
        if found["kind"] == "undefined":
            return ill_posed(f"{to_text(gap)} has no value")
        if found["kind"] != "value" or found["value"] is None:
            return undecided(f"the difference of the sides is {found['kind']}")
        lo, hi = (Fraction(found["value"][k]) for k in ("lo", "hi"))
        sign = 1 if lo > 0 else -1 if hi < 0 else 0 if lo == hi else None
        if sign is not None:
            step = f"left side minus right side lies in [{found['value']['lo']}, {found['value']['hi']}]"
            parts = _certificates(gap, wanted, context)
            trust = ("arb", "mpfr") if parts is not None else ("arb",)
            return Outcome(
                sign in _HOLDS[op], CERTIFIED, "certified enclosure", trust, (step,), certificate=parts
            )
    exact = by_exact_values(
        a, b, lambda node: inner_body(node, context), lambda x, y: decide_constants(op, x, y), context
    )
    return exact or undecided(f"agree to {_LADDER[-1]} digits")
