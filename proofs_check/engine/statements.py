"""Statements: quantifiers and connectives taken apart down to relations."""

from __future__ import annotations

from dataclasses import replace

from gateproof.numerics.errors import NotImplementedOperator, NumericsError
from gateproof.proofs_check.engine.calculus import Elimination
from gateproof.proofs_check.engine.closed import decide_closed, holds_extremum
from gateproof.proofs_check.engine.conditions import absorbed
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.contradiction import contradictory
from gateproof.proofs_check.engine.definedness import defined_everywhere
from gateproof.proofs_check.engine.enumeration import all_cases, split_finite
from gateproof.proofs_check.engine.equations import through_equations
from gateproof.proofs_check.engine.existence import decide_exists
from gateproof.proofs_check.engine.existence_under import decide_exists_nowhere
from gateproof.proofs_check.engine.field_relations import decide_field, decide_field_member, refuse_misplaced
from gateproof.proofs_check.engine.field_values import holds_field
from gateproof.proofs_check.engine.infinite_sums import decide_infinite_sums
from gateproof.proofs_check.engine.integers import at_integers
from gateproof.proofs_check.engine.integral import decide_means
from gateproof.proofs_check.engine.limitcases import limit_by_signs
from gateproof.proofs_check.engine.logic import links_of, membership, negate
from gateproof.proofs_check.engine.membership import decide_member, decide_no_member, holds_integers
from gateproof.proofs_check.engine.outcome import (
    IllPosedError,
    NotYetError,
    Outcome,
    UndecidedError,
    VacuousError,
    conjunction,
    ill_posed,
    negation,
    undecided,
)
from gateproof.proofs_check.engine.parametric import decide_parametric
from gateproof.proofs_check.engine.partial_sums import decide_partial_sums
from gateproof.proofs_check.engine.places import decide_printed_place, is_printed_place
from gateproof.proofs_check.engine.point_sets import decide_point_member
from gateproof.proofs_check.engine.predicates import decide_predicate, together_with
from gateproof.proofs_check.engine.printed import (
    as_printed,
    choices_differ,
    decide_printed,
    printed_in,
    without_printed,
)
from gateproof.proofs_check.engine.printed_extrema import decide_printed_extrema
from gateproof.proofs_check.engine.relation import decide_relation
from gateproof.proofs_check.engine.sample import points
from gateproof.proofs_check.engine.space import Space, build, infinite_sign, is_empty
from gateproof.proofs_check.engine.sums import decide_sums
from gateproof.proofs_check.engine.vectors import decide_vectors
from gateproof.theory.exact.means import holds_mean
from gateproof.theory.formula.nodes import (
    And,
    Claim,
    Exists,
    Implies,
    In,
    Not,
    Or,
    PointSet,
    Pred,
    Rel,
    Scope,
    Stmt,
)
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names


def decide_claim(claim: Claim, context: Context) -> Outcome:
    """Decide a closed, expanded claim."""
    try:
        found = _caught(claim, context)
        if found.truth is True and choices_differ(claim):
            # Each part was shown with a choice of its own: one choice must serve them all.
            found = _caught(as_printed(claim), context)
            if found.truth is not True:
                return undecided("no one choice of the printed numbers was shown to serve all parts")
        return found
    except VacuousError as error:
        return ill_posed(str(error))


def _guarded(claim: Claim, context: Context) -> Outcome:
    cases = split_finite(claim.scope, claim.body)
    if cases is not None:
        try:
            return all_cases(*cases, lambda case: _caught(case, context))
        except VacuousError:
            if not isinstance(claim.body, And):
                raise
            # No one value need meet the premises of all parts: each part is asked on its own.
            return conjunction([_caught(Claim(claim.scope, part), context) for part in claim.body.parts])
    refuse_misplaced(claim)
    claim = Claim(Scope(claim.scope.binds, _open_conditions(claim.scope, context)), claim.body)
    space = build(claim.scope)
    if space.vectors:
        return decide_vectors(claim, space, context)
    space = absorbed(space)
    _not_empty(space)
    _conditions_have_values(space, context)
    return through_equations(space, claim.body, lambda part, body: _meant(part, body, context))


def _not_empty(space: Space) -> None:
    for name, domain in space.domains.items():
        if is_empty(domain):
            raise VacuousError(f"no value of {name} meets the conditions: the statement is vacuous")


def _meant(space: Space, body: Stmt, context: Context) -> Outcome:
    """The statement on a space that has points."""
    _not_empty(space)
    if space.facts and next(points(space, (body,), context.settings.seed, 1), None) is None:
        if contradictory(space):
            raise VacuousError("no value meets the conditions: the statement is vacuous")
        raise UndecidedError("no point was found that meets the conditions")
    return forall(space, body, context)


def _caught(claim: Claim, context: Context) -> Outcome:
    """A sub-statement: what is vacuous is for the caller to judge, the rest becomes an outcome."""
    try:
        return _guarded(claim, context)
    except VacuousError:
        raise
    except IllPosedError as error:
        return ill_posed(str(error))
    except NotYetError as error:
        return undecided(f"not implemented: {error}")
    except UndecidedError as error:
        return undecided(str(error))
    except NotImplementedOperator as error:
        return undecided(str(error))
    except NumericsError as error:
        return undecided(f"a part without a value was met: {error}")


def _conditions_have_values(space: Space, context: Context) -> None:
    """Each condition has a value wherever those before it hold."""
    for k, fact in enumerate(space.facts):
        defined_everywhere(absorbed(replace(space, facts=space.facts[:k])), fact, context)


def _open_conditions(scope: Scope, context: Context) -> tuple[Stmt, ...]:
    """The conditions that still depend on a name; VacuousError where one without names is false."""
    kept: list[Stmt] = []
    for condition in scope.conditions:
        if free_names(condition):
            kept.append(condition)
            continue
        found = forall(Space(), condition, context)
        if found.truth is False:
            raise VacuousError(f"the condition {to_text(condition)} does not hold: the statement is vacuous")
        if found.truth is None:
            raise UndecidedError(found.reason)
    return tuple(kept)


def forall(space: Space, stmt: Stmt, context: Context) -> Outcome:
    """Decide that a statement holds for all of a space."""
    if isinstance(stmt, And):
        return conjunction([forall(space, p, context) for p in stmt.parts])
    if isinstance(stmt, Rel):
        return conjunction([_relation(space, link, context) for link in links_of(stmt)])
    if isinstance(stmt, Not):
        return _not(space, stmt.part, context)
    if isinstance(stmt, Implies):
        return _implies(space, stmt, context)
    if isinstance(stmt, Or):
        return _or(space, stmt, context)
    if isinstance(stmt, In) and isinstance(stmt.within, PointSet):
        if holds_field(stmt):
            return decide_field_member(stmt, context, lambda r: _relation(space, r, context))
        return decide_point_member(space, stmt, context)
    if isinstance(stmt, In) and holds_integers(stmt.within):
        return decide_member(space, stmt, context)
    if isinstance(stmt, In):
        return forall(space, membership(stmt), context)
    if isinstance(stmt, Pred):
        return _predicate(space, stmt, context)
    if isinstance(stmt, Exists):
        return decide_exists(space, stmt, context)
    raise NotYetError(type(stmt).__name__)


def _predicate(space: Space, stmt: Pred, context: Context) -> Outcome:
    """A predicate once its body is free of calculus; where a derivative has no value there is none."""
    own = build(stmt.scope)
    together = together_with(own, space)
    work = Elimination(together)
    body = work.expr(stmt.body)
    for condition in work.owed:
        found = forall(together, condition, context)
        if found.truth is False:
            reason = f"a derivative does not exist where {to_text(condition)} fails"
            if condition not in work.certain:
                raise UndecidedError(f"a derivative may not exist where {to_text(condition)} fails")
            if stmt.name != "defined":
                return ill_posed(reason, found.witness)
            return replace(found, steps=(*found.steps, reason))
        if found.ill_posed and stmt.name == "defined":
            return replace(found, truth=False, ill_posed=False, steps=(found.reason,), reason="")
        if found.truth is None:
            return found
    return decide_predicate(stmt.name, body, own, space, context)


def _relation(space: Space, relation: Rel, context: Context) -> Outcome:
    if holds_field(relation):
        return decide_field(relation, context, lambda r: _relation(space, r, context))
    if is_printed_place(relation):
        return decide_printed_place(relation, context)
    bounds = without_printed(relation)
    if bounds is not None:
        if relation.ops == ("==",) and space.domains:
            raise NotYetError("== between a function and a printed number")
        return forall(space, bounds, context)
    if not printed_in(relation):
        by_tails = decide_infinite_sums(space, relation, context, lambda s, r: _relation(s, r, context))
        if by_tails is not None:
            return by_tails
    if holds_mean(relation) and not printed_in(relation):
        return decide_means(space, relation, context, lambda s, r: _relation(s, r, context))
    by_sums = decide_sums(space, relation, lambda s, r: forall(s, r, context))
    if by_sums is not None and by_sums.truth is None and not by_sums.ill_posed:
        return decide_partial_sums(space, relation, context, lambda s, r: forall(s, r, context)) or by_sums
    if by_sums is not None:
        return by_sums
    by_sign = limit_by_signs(space, relation, lambda s, r: _relation(s, r, context))
    if by_sign is not None:
        return by_sign
    work = Elimination(space)
    if holds_extremum(relation) and printed_in(relation):
        return decide_printed_extrema(relation, context)
    if holds_extremum(relation):
        if free_names(relation) & set(space.domains):
            return decide_parametric(space, relation, context)
        return _with_steps(decide_closed(relation, context), work)
    left, right = (work.expr(t) for t in relation.terms)
    done = Rel(relation.ops, (left, right))
    if any(free_names(condition) - set(space.domains) for condition in work.owed):
        # The condition speaks of a name that a limit binds: it is owed near the limit's point, not here.
        return undecided("a derivative in a limit may not exist near the point")
    owed = [forall(space, condition, context) for condition in work.owed]
    for condition, outcome in zip(work.owed, owed, strict=True):
        if outcome.truth is False:
            where = f"where {to_text(condition)} fails" if free_names(condition) else "at the point asked for"
            if condition not in work.certain:
                return undecided(f"a derivative may not exist {where}")
            # The sides of a condition without names are not those of the statement.
            witness = outcome.witness if free_names(condition) else None
            return ill_posed(f"a derivative does not exist {where}", witness)
        if outcome.truth is None:
            return outcome
    if printed_in(done):
        return _with_steps(decide_printed(done, context), work)
    if not free_names(done):
        return _with_steps(decide_closed(done, context), work)
    if infinite_sign(left) or infinite_sign(right):
        return _against_infinity(space, done, context)
    found = at_integers(space, done, lambda part, link: decide_relation(part, link, context))
    return _with_steps(found, work)


def _against_infinity(space: Space, relation: Rel, context: Context) -> Outcome:
    """A real value against oo or -oo, decided once the value is known to exist."""
    (op,), (a, b) = relation.ops, relation.terms
    value, sign, flipped = (a, infinite_sign(b), False) if infinite_sign(b) else (b, infinite_sign(a), True)
    found = forall(space, Pred("defined", value, Scope((), ())), context)
    if found.truth is not True:
        return ill_posed(found.steps[0], found.witness) if found.truth is False else found
    order = -sign if not flipped else sign
    truth = {"==": False, "!=": True, "<": order < 0, "<=": order < 0, ">": order > 0, ">=": order > 0}[op]
    return replace(found, truth=truth, steps=(*found.steps, "a real number is finite"))


def _with_steps(outcome: Outcome, work: Elimination) -> Outcome:
    if not work.steps:
        return outcome
    trust = tuple(dict.fromkeys((*work.trust, *outcome.trust)))
    return replace(outcome, steps=(*work.steps, *outcome.steps), trust=trust)


def _not(space: Space, part: Stmt, context: Context) -> Outcome:
    if isinstance(part, Pred | Exists):
        if printed_in(part):
            raise NotYetError("'not' before a predicate with printed numbers")
        if space.domains and isinstance(part, Exists):
            return decide_exists_nowhere(space, part, context)
        if isinstance(part, Pred) and space.domains:
            from gateproof.proofs_check.engine.not_predicate import decide_not_predicate

            return decide_not_predicate(space, part, context)
        return negation(forall(space, part, context))
    if isinstance(part, In) and isinstance(part.within, PointSet):
        if space.domains or printed_in(part):
            raise NotYetError("'not' before membership in a set of points that depends on other names")
        return negation(forall(space, part, context))
    if isinstance(part, In) and holds_integers(part.within):
        return decide_no_member(space, part, context)
    if isinstance(part, Rel) and not space.domains and not printed_in(part):
        return negation(forall(space, part, context))
    return forall(space, negate(part), context)


def _implies(space: Space, stmt: Implies, context: Context) -> Outcome:
    premise = stmt.left
    if isinstance(premise, In):
        premise = membership(premise)
    if not free_names(premise):
        found = forall(Space(), premise, context)
        if found.truth is True:
            return forall(space, stmt.right, context)
        if found.truth is False:
            raise VacuousError("the premise never holds: the statement is vacuous")
        return found
    defined_everywhere(space, premise, context)
    narrowed = space.given(*(premise.parts if isinstance(premise, And) else (premise,)))
    if next(points(narrowed, (premise,), context.settings.seed, 1), None) is None:
        if forall(space, negate(premise), context.deeper()).truth is True:
            raise VacuousError("the premise never holds: the statement is vacuous")
        return undecided("no point was found at which the premise holds")
    return forall(absorbed(narrowed), stmt.right, context)


def _or(space: Space, stmt: Or, context: Context) -> Outcome:
    reasons: list[Outcome] = []
    for k, part in enumerate(stmt.parts):
        found = forall(space, part, context)
        if found.ill_posed:
            return found
        if found.truth is True:
            # The other parts need not hold, but must have a value.
            for other in [*_unknown(stmt, reasons), *stmt.parts[k + 1 :]]:
                _must_have_values(space, other, context)
            return found
        reasons.append(found)
    if not space.domains and all(r.truth is False for r in reasons):
        return reasons[-1]
    from gateproof.proofs_check.engine.disjunction import decide_disjunction

    found = decide_disjunction(space, stmt, context)
    if found.truth is True:
        for other in _unknown(stmt, reasons):
            _must_have_values(space, other, context)
    return found


def _unknown(stmt: Or, outcomes: list[Outcome]) -> list[Stmt]:
    """The parts that were not decided, so perhaps without a value somewhere."""
    return [p for p, found in zip(stmt.parts, outcomes, strict=False) if found.truth is None]


def _must_have_values(space: Space, stmt: Stmt, context: Context) -> None:
    """Raise IllPosedError or UndecidedError unless a statement whose truth does not matter has values."""
    if isinstance(stmt, Rel) and not (holds_extremum(stmt) or holds_field(stmt) or printed_in(stmt)):
        work = Elimination(space)
        terms = tuple(t if infinite_sign(t) else work.expr(t) for t in stmt.terms)
        if not work.owed:
            defined_everywhere(space, Rel(stmt.ops, terms), context)
            return
    found = forall(space, stmt, context)
    if found.ill_posed:
        raise IllPosedError(found.reason)
    if found.truth is None:
        raise UndecidedError(found.reason)
