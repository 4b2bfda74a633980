"""Conditions that are equations, solved for a name: the statement has one name less."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from gateproof.proofs_check.engine.conditions import absorbed
from gateproof.proofs_check.engine.numbers import rational_text
from gateproof.proofs_check.engine.outcome import Outcome
from gateproof.proofs_check.engine.space import Space
from gateproof.theory.exact.cases import domain_facts, solve_for_name
from gateproof.theory.exact.defined import prove_defined
from gateproof.theory.exact.domain import Assumptions
from gateproof.theory.exact.monotone import in_workspace
from gateproof.theory.exact.normal import Workspace
from gateproof.theory.formula.library import substitute, substitute_node
from gateproof.theory.formula.nodes import App, Expr, Num, Rel, Stmt
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names


def through_equations(space: Space, stmt: Stmt, decide: Callable[[Space, Stmt], Outcome]) -> Outcome:
    """The statement decided with every equation among the conditions solved that can be."""
    solved = solved_equation(space, stmt)
    if solved is None:
        return decide(space, stmt)
    name, value, smaller, reduced = solved
    found = through_equations(smaller, reduced, decide)
    step = f"by the condition {name} = {to_text(value)}"
    return replace(found, steps=(step, *found.steps), witness=_completed(found.witness, name, value))


def solved_equation(space: Space, stmt: Stmt) -> tuple[str, Expr, Space, Stmt] | None:
    """A name, its value, and the space and statement without it; None where no equation is solved."""
    if space.vectors:
        return None
    for k, fact in enumerate(space.facts):
        if not isinstance(fact, Rel) or fact.ops != ("==",):
            continue
        rest = replace(space, facts=space.facts[:k] + space.facts[k + 1 :])
        found = _solved(rest, fact)
        if found is not None:
            name, value = found
            facts = [substitute_node(f, {name: value}) for f in rest.facts]
            facts += domain_facts(value, space.domains[name])
            reduced = substitute_node(stmt, {name: value})
            assert isinstance(reduced, Stmt)
            kept = tuple(f for f in facts if isinstance(f, Stmt) and not _is_plainly_true(f))
            return name, value, absorbed(replace(rest.without(name), facts=kept)), reduced
    return None


def _solved(rest: Space, fact: Rel) -> tuple[str, Expr] | None:
    gap = App("add", (fact.terms[0], App("neg", (fact.terms[1],))))
    given = rest.assumptions()
    if prove_defined(gap, given) is None:
        return None

    def solve(ws: Workspace) -> tuple[str, Expr] | None:
        return solve_for_name(ws, ws.form(gap).num)

    found = in_workspace(given, solve)
    if found is None or found[0] not in rest.domains or rest.domains[found[0]].integer:
        return None
    name, value = found
    others = rest.without(name)
    free = Assumptions(others.domains, tuple(f for f in others.facts if name not in free_names(f)))
    # Where the value has none the equation would have no solution, or not this one.
    return found if prove_defined(value, free) is not None else None


def _is_plainly_true(fact: Stmt) -> bool:
    from gateproof.numerics.points import truth_at

    return not free_names(fact) and truth_at(fact, {}, 256) is True


def _completed(witness: object, name: str, value: Expr) -> dict[str, str] | None:
    """The witness with the solved name's value at it."""
    if not isinstance(witness, dict):
        return None
    numbers: dict[str, Expr] = {}
    for key, text in witness.items():
        try:
            numbers[key] = Num(Fraction(text))
        except (ValueError, ZeroDivisionError):
            continue
    at = substitute(value, numbers)
    exact = constant_value(at)
    return {**witness, name: rational_text(exact) if exact is not None else to_text(at)}
