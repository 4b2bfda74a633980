"""Limits whose value depends on the sign of something in other names: the space split by it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from gateproof.proofs_check.engine.calculus import Elimination
from gateproof.proofs_check.engine.conditions import absorbed
from gateproof.proofs_check.engine.numbers import rational_text
from gateproof.proofs_check.engine.outcome import (
    IllPosedError,
    NotYetError,
    Outcome,
    UndecidedError,
    conjunction,
)
from gateproof.proofs_check.engine.sample import points
from gateproof.proofs_check.engine.space import Space, is_empty
from gateproof.theory.exact.cases import domain_facts, solve_for_name
from gateproof.theory.exact.limits import Question, limit_or_question
from gateproof.theory.exact.monotone import in_workspace
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula.library import substitute_node
from gateproof.theory.formula.nodes import Expr, Limit, Node, Num, Rel, Stmt, num
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names

#: Points at which a refutation is looked for, and splits of one statement.
MAX_POINTS = 12
MAX_SPLITS = 6
Decide = Callable[[Space, Rel], Outcome]


def limit_by_signs(space: Space, relation: Rel, decide: Decide) -> Outcome | None:
    """The relation where what a limit depends on is positive, 0 and negative; None where no split helps."""
    limits = [n for n in relation.walk() if isinstance(n, Limit)]
    if not limits or space.vectors or _question(space, limits) is None:
        return None
    failure: Outcome | None = None
    for point in points(space, (relation,), 0, MAX_POINTS):
        at = substitute_node(relation, {n: Num(v) for n, v in point.items()})
        assert isinstance(at, Rel)
        witness = {n: rational_text(v) for n, v in point.items()}
        try:
            found = decide(Space(), at)
        except UndecidedError:
            continue
        if found.ill_posed:
            return replace(found, witness=witness)
        if found.truth is False and failure is None:
            failure = replace(found, witness={**witness, **(found.witness or {})})
    if failure is not None:
        return failure
    outcomes = _split(space, relation, decide, MAX_SPLITS)
    return None if outcomes is None else conjunction(outcomes)


def _split(space: Space, relation: Rel, decide: Decide, left: int) -> list[Outcome] | None:
    question = _question(space, [n for n in relation.walk() if isinstance(n, Limit)])
    if question is None:
        return [decide(space, relation)]
    if left == 0:
        return None
    outcomes: list[Outcome] = []
    for op in (">", "<"):
        part = absorbed(space.given(Rel((op,), (question, num(0)))))
        if _is_void(part, question, op):
            continue
        found = _split(part, relation, decide, left - 1)
        if found is None:
            return None
        outcomes += [_headed(f"where {to_text(question)} {op} 0", o) for o in found]
    on = _on_zero(space, relation, question)
    if on is not None:
        found = _split(*on, decide, left - 1)
        if found is None:
            return None
        outcomes += [_headed(f"where {to_text(question)} == 0", o) for o in found]
    elif prove_relation(question, "!=", num(0), space.assumptions()) is None:
        return None
    return outcomes or None


def _headed(line: str, outcome: Outcome) -> Outcome:
    return replace(outcome, steps=(line, *(f"  {s}" for s in outcome.steps)))


def _is_void(part: Space, question: Expr, op: str) -> bool:
    """Whether no point of the space lies in the part."""
    if any(is_empty(d) for d in part.domains.values()):
        return True
    other = {">": "<=", "<": ">="}[op]
    rest = tuple(f for f in part.facts if f != Rel((op,), (question, num(0))))
    return prove_relation(question, other, num(0), replace(part, facts=rest).assumptions()) is not None


def _on_zero(space: Space, relation: Rel, question: Expr) -> tuple[Space, Rel] | None:
    """The space and relation where the question is 0, solved for a name; None if unsolved or never so."""
    given = space.assumptions()
    if prove_relation(question, "!=", num(0), given) is not None:
        return None
    solved = in_workspace(given, lambda ws: solve_for_name(ws, ws.form(question).num))
    if solved is None or solved[0] not in space.domains:
        return None
    name, value = solved
    domain = space.domains[name]
    if domain.integer:
        return None
    facts = [_put(f, name, value) for f in space.facts]
    facts += [f for f in domain_facts(value, domain) if free_names(f) or not _is_sure(f)]
    done = _put(relation, name, value)
    assert isinstance(done, Rel)
    found = absorbed(replace(space.without(name), facts=tuple(f for f in facts if isinstance(f, Stmt))))
    return found, done


def _is_sure(fact: Stmt) -> bool:
    from gateproof.numerics.points import truth_at

    return truth_at(fact, {}, 256) is True


def _put(node: Node, name: str, value: Expr) -> Node:
    return substitute_node(node, {name: value})


def _question(space: Space, limits: list[Limit]) -> Expr | None:
    """What the first limit that is not found depends on."""
    for node in limits:
        inner = [n for n in node.body.walk() if isinstance(n, Limit)]
        if inner:
            continue
        try:
            work = Elimination(space)
            body, point = work.expr(node.body), work.expr(node.point)
        except (UndecidedError, IllPosedError, NotYetError):
            continue
        found = limit_or_question(body, node.var, point, node.side, space.assumptions())
        # A sign of names bound inside is no case of this statement.
        if isinstance(found, Question) and free_names(found.expr) <= set(space.domains):
            return found.expr
    return None
