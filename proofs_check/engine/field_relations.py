"""Statements with sets of the mean field: edge_of_chaos, edge_variance, fixed_points, depth_rate.

As sets they are held against points one by one; in arithmetic and beside < each stands for its one number.
Nothing is equal because two enclosures overlap: only numbers that are known exactly are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from gateproof.numerics.decimals import agreed_digits, decimal_enclosure
from gateproof.numerics.meanfield.number_set import NumberSet
from gateproof.proofs_check.engine.closed import closed_value
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.field_sets import compared, is_item, items_of, matches
from gateproof.proofs_check.engine.field_values import (
    LADDER,
    Numbers,
    apart,
    fields_in,
    holds_field,
    settled,
    shown,
    the_number,
    the_set,
    with_exact,
)
from gateproof.proofs_check.engine.outcome import (
    CERTIFIED,
    IllPosedError,
    NotYetError,
    Outcome,
    UndecidedError,
    negation,
    undecided,
)
from gateproof.proofs_check.engine.printed import printed_in, without_printed
from gateproof.proofs_check.engine.quadrature import HOLDS
from gateproof.proofs_check.engine.space import infinite_sign
from gateproof.theory.formula.nodes import (
    App,
    Claim,
    Exists,
    FiniteSet,
    In,
    MeanField,
    PointSet,
    Pred,
    Rel,
    Scope,
    num,
)
from gateproof.theory.formula.printer import to_text

Decide = Callable[[Rel], Outcome]
_METHOD = "certified mean field"


def refuse_misplaced(claim: Claim) -> None:
    """Raise NotYetError for a set of the mean field in a statement over names, a predicate or a range."""
    found = fields_in(claim)
    if not found:
        return
    name = found[0].op
    if claim.scope.binds:
        bound = ", ".join(b.name for b in claim.scope.binds)
        raise NotYetError(f"{name} in a statement over {bound}: beside it names range over finite sets alone")
    for node in claim.walk():
        if isinstance(node, Pred | Exists | Scope) and holds_field(node):
            raise NotYetError(f"{name} inside of a predicate, of 'exists' or of a range")


def decide_field(relation: Rel, context: Context, decide: Decide) -> Outcome:
    """Decide a closed binary relation; ``decide`` takes it once all its sets are exact numbers."""
    (op,), (a, b) = relation.ops, relation.terms
    if isinstance(b, MeanField) and not isinstance(a, MeanField):
        return decide_field(Rel((_FLIP[op],), (b, a)), context, decide)
    if isinstance(a, MeanField) and op in ("==", "!=") and (isinstance(b, MeanField) or not holds_field(b)):
        if op == "!=" and printed_in(b):
            raise NotYetError("!= with a printed number")
        relation = settled(Rel(("==",), (a, b)), context)
        found = _same(relation) if isinstance(relation.terms[1], MeanField) else _holds(relation, context)
        return found if op == "==" else negation(found)
    if isinstance(a, FiniteSet) or isinstance(b, FiniteSet):
        raise IllPosedError("a set of points is compared with a value that is not a set")
    if printed_in(relation):
        bounds = without_printed(relation)
        if not isinstance(bounds, Rel):
            raise NotYetError("printed numbers inside arithmetic with a set of the mean field")
        from gateproof.proofs_check.engine.logic import links_of
        from gateproof.proofs_check.engine.outcome import conjunction

        return conjunction([decide_field(link, context, decide) for link in links_of(bounds)])
    return _values(settled(relation, context), context, decide)


_FLIP = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def _values(relation: Rel, context: Context, decide: Decide) -> Outcome:
    """Arithmetic: each set is its one number."""
    (op,), (a, b) = relation.ops, relation.terms
    signs = infinite_sign(a), infinite_sign(b)
    if any(signs):
        finite = _values(Rel((">",), (b if signs[0] else a, num(-1))), context, decide)
        truth = (signs[0] > signs[1]) - (signs[0] < signs[1]) in HOLDS[op]
        return finite if finite.truth is None else replace(finite, truth=truth, rigor=CERTIFIED)
    reached = 0
    for digits in LADDER:
        sets = {node: the_set(node, digits) for node in fields_in(relation)}
        known = {node: the_number(node, found, digits == LADDER[-1]) for node, found in sets.items()}
        if any(e is None for e in known.values()):
            continue
        numbers = {node: e for node, e in known.items() if e is not None}
        steps = _steps(sets, digits)
        exact = with_exact(relation, numbers)
        if not holds_field(exact):
            found = decide(exact)
            return replace(
                found, steps=(*steps, *found.steps), trust=tuple(dict.fromkeys((*found.trust, "arb")))
            )
        given = Numbers(digits, context, numbers)
        left, right = (closed_value(t) if not holds_field(t) else t for t in exact.terms)
        gap = given.interval(App("add", (left, App("neg", (right,)))))
        if gap is None:
            continue
        sign = 1 if gap[0] > 0 else -1 if gap[1] < 0 else 0 if gap[0] == gap[1] else None
        if sign is not None:
            ends = decimal_enclosure(*gap, 6)
            step = f"left side minus right side lies in [{ends['lo']}, {ends['hi']}]"
            value = given.interval(left if holds_field(left) else right)
            return _outcome(sign in HOLDS[op], (*steps, step), value, digits)
        reached = max(reached, agreed_digits(*(1 + e for e in gap)))
    if reached:
        return undecided(f"agree to {reached} digits; equality was not proved")
    return undecided("the enclosures of the mean field do not settle it")


def _steps(sets: dict[MeanField, NumberSet], digits: int) -> tuple[str, ...]:
    return tuple(f"{to_text(n)} = {shown(found, digits)}: {found.searched}" for n, found in sets.items())


def _outcome(
    truth: bool, steps: tuple[str, ...], value: tuple[Fraction, Fraction] | None, digits: int
) -> Outcome:
    ends = None if value is None else decimal_enclosure(*value, digits)
    witness = None if truth or ends is None else {"value": f"[{ends['lo']}, {ends['hi']}]"}
    return Outcome(truth, CERTIFIED, _METHOD, ("arb",), steps, value=ends, witness=witness)


def _holds(relation: Rel, context: Context) -> Outcome:
    """``a == {items}``."""
    a, b = relation.terms
    assert isinstance(a, MeanField)
    given = b.items if isinstance(b, FiniteSet) else (b,)
    reason = ""
    for digits in LADDER:
        found = the_set(a, digits)
        items = items_of(given, digits, context)
        truth, why = (None, "a number was not enclosed") if items is None else matches(found, items)
        if truth is not None:
            return _set_outcome(truth, a, found, why, digits)
        reason = why
        if not found.complete and not found.open:
            break
    return undecided(reason)


def _set_outcome(truth: bool, node: MeanField, found: NumberSet, why: str, digits: int) -> Outcome:
    step = f"{to_text(node)} = {shown(found, digits)}: {found.searched}"
    steps = (step, why) if why else (step,)
    one = found.elements[0] if len(found.elements) == 1 else None
    value = None if one is None else decimal_enclosure(one.lo, one.hi, digits)
    witness = None if truth else {"points": shown(found, digits)}
    return Outcome(truth, CERTIFIED, _METHOD, ("arb",), steps, value=value, witness=witness)


def _same(relation: Rel) -> Outcome:
    """``a == b`` for two sets of the mean field."""
    a, b = relation.terms
    assert isinstance(a, MeanField)
    assert isinstance(b, MeanField)
    for digits in LADDER:
        sets = the_set(a, digits), the_set(b, digits)
        truth, why = compared(a == b, *sets)
        if truth is not None:
            steps = _steps({a: sets[0], b: sets[1]}, digits)
            witness = None if truth else {"points": f"{shown(sets[0], digits)}, {shown(sets[1], digits)}"}
            return Outcome(truth, CERTIFIED, _METHOD, ("arb",), (*steps, why), witness=witness)
    return undecided("the enclosures of the two sets agree; that the sets are the same was not proved")


def decide_field_member(stmt: In, context: Context, decide: Decide) -> Outcome:
    """``item in set``, closed."""
    assert isinstance(stmt.within, PointSet)
    node = stmt.within.points
    if holds_field(stmt.item) or not isinstance(node, MeanField):
        raise NotYetError(f"'in' with {fields_in(stmt)[0].op} on its left")
    if isinstance(stmt.item, FiniteSet):
        raise IllPosedError("'in' asks for a number, and a set stands on its left")
    whole = settled(Rel(("==",), (node, stmt.item)), context)
    node, item = whole.terms
    assert isinstance(node, MeanField)
    reason = "a number was not enclosed"
    for digits in LADDER:
        found = the_set(node, digits)
        # Read first: an infinite integral is no number, and so in no set.
        items = items_of((item,), digits, context)
        if items is None:
            continue
        if found.every:
            member = decide(Rel((">=",), (item, num(0))))
            step = f"{to_text(node)} = {shown(found, digits)}: {found.searched}"
            return replace(member, steps=(step, *member.steps))
        if any(is_item(e, items[0]) for e in found.elements):
            return _set_outcome(True, node, found, "", digits)
        if all(apart(e, items[0].at) for e in found.elements):
            if not found.complete and found.open and digits < LADDER[-1]:
                continue
            if not found.complete:
                raise UndecidedError(f"whether there are others was not proved: {found.searched}")
            return _set_outcome(False, node, found, "the number is apart from all of them", digits)
        reason = "agrees with one of the set's numbers; that it is one was not proved"
    return undecided(reason)
