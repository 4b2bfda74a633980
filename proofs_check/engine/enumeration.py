"""Finite ranges and single points: one statement for each value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from gateproof.proofs_check.engine.outcome import (
    IllPosedError,
    NotYetError,
    Outcome,
    VacuousError,
    conjunction,
)
from gateproof.proofs_check.engine.space import MAX_ENUMERATED, build, finite_values
from gateproof.theory.formula.library import substitute_node
from gateproof.theory.formula.nodes import Bind, Claim, Expr, IntervalSet, IntRange, Num, Scope, Stmt
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names

#: Steps of single cases that a report shows.
_SHOWN = 40
Decide = Callable[[Claim], Outcome]


def split_finite(scope: Scope, body: Stmt) -> tuple[str, list[tuple[Expr, Claim]]] | None:
    """The first name of the scope with finitely many values: each value with the rest; else None."""
    for k, bind in enumerate(scope.binds):
        values = _values(bind)
        if values is None:
            continue
        rest = scope.binds[:k] + scope.binds[k + 1 :]
        return bind.name, [(v, _case(bind.name, v, rest, scope.conditions, body)) for v in values]
    return None


def _values(bind: Bind) -> list[Expr] | None:
    """The values of a name over a finite range or a single point, else None."""
    within = bind.within
    if isinstance(within, IntervalSet) and within.lo == within.hi and not free_names(within.lo):
        return [within.lo] if within.lo_closed and within.hi_closed else []
    if not isinstance(within, IntRange) or free_names(within):
        return None
    values = finite_values(build(Scope((bind,), ())).domains[bind.name])
    if values is None:
        raise NotYetError(f"{bind.name} over more than {MAX_ENUMERATED} integers")
    return [Num(v) for v in values]


def _case(name: str, value: Expr, rest: tuple[Bind, ...], conditions: tuple[Stmt, ...], body: Stmt) -> Claim:
    point = {name: value}
    binds = [substitute_node(b, point) for b in rest]
    facts = [substitute_node(c, point) for c in conditions]
    done = substitute_node(body, point)
    assert isinstance(done, Stmt)
    return Claim(
        Scope(tuple(b for b in binds if isinstance(b, Bind)), tuple(f for f in facts if isinstance(f, Stmt))),
        done,
    )


def all_cases(name: str, cases: list[tuple[Expr, Claim]], decide: Decide) -> Outcome:
    """Every case holds; cases whose conditions fail say nothing, and one at least must say something."""
    if not cases:
        raise VacuousError("no value is in the range: the statement is vacuous")
    outcomes: list[Outcome] = []
    for value, case in cases:
        try:
            found = decide(case)
        except VacuousError:
            continue
        if found.truth is not True:
            at = {name: to_text(value), **(found.witness or {})}
            return replace(found, witness=at) if found.truth is False else found
        outcomes.append(found)
    if not outcomes:
        raise VacuousError("the conditions hold for no value: the statement is vacuous")
    together = conjunction(outcomes)
    steps = together.steps
    if len(steps) > _SHOWN:
        steps = (*steps[:_SHOWN], f"and {len(steps) - _SHOWN} more steps")
    return replace(together, method=f"all {len(cases)} cases: {together.method}", steps=steps)


def some_case(name: str, cases: list[tuple[Expr, Claim]], decide: Decide) -> Outcome:
    """At least one case holds."""
    undecided_case: Outcome | None = None
    last: Outcome | None = None
    for value, case in cases:
        try:
            found = decide(case)
        except VacuousError:
            continue
        if found.ill_posed:
            raise IllPosedError(found.reason)
        if found.truth is True:
            step = f"it holds for {name} = {to_text(value)}"
            return replace(
                found, steps=(step, *found.steps), witness={name: to_text(value), **(found.witness or {})}
            )
        if found.truth is None:
            undecided_case = found
        last = found
    if undecided_case is not None:
        return undecided_case
    if last is None:
        raise VacuousError("no value is in the range: the statement is vacuous")
    return Outcome(
        False,
        last.rigor,
        f"all {len(cases)} cases",
        last.trust,
        (f"none of the {len(cases)} values of {name} does",),
        witness={name: "no value"},
    )
