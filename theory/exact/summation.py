"""Relations with sums and products up to a symbolic n, by closed forms and by induction.

Induction: the relation holds at the first n; and where it holds at n it holds at n + 1, with
S(n+1) = S(n) + the new terms - the dropped ones, and S(n) any number for which it holds at n.
"""

from __future__ import annotations

from dataclasses import replace

from gateproof.theory.exact.budget import bounded
from gateproof.theory.exact.closed_sums import closed_form, folded
from gateproof.theory.exact.defined import prove_defined
from gateproof.theory.exact.domain import Assumptions, Derivation, Domain
from gateproof.theory.exact.induction import explained, step
from gateproof.theory.exact.integer_powers import NotWritten, Powers, linear_in
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.exact.series_problem import (
    Failed,
    Problem,
    bodies_defined,
    body_defined,
    first_of,
    regular_from,
    series_in,
    with_n,
    written_out,
)
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Expr, Node, Series, num, rebuild
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.rewriting import replaced
from gateproof.theory.formula.scopes import free_names

#: Values of n before the induction starts.
MAX_FIRST = 30


@bounded
def prove_for_all_n(lhs: Expr, op: str, rhs: Expr, name: str, assumptions: Assumptions) -> Derivation | None:
    """A proof of the relation for every n of its domain, or None.

    Sums and products may run between ends that are linear in n, with whole coefficients. Facts on
    n beyond its lower end are not used, so more is proved than asked for.
    """
    domain = assumptions.domains[name]
    start = first_of(domain)
    if not domain.integer or (domain.lo is not None and start is None):
        return None
    rest = Assumptions(
        {k: d for k, d in assumptions.domains.items() if k != name},
        tuple(f for f in assumptions.facts if name not in free_names(f)),
    )
    problem = Problem(lhs, op, rhs, name, start, rest)
    try:
        problem = _inner_closed(problem)
        bodies_defined(problem)
    except (Failed, NotWritten):
        return None
    for way in (_written, _closed, _induction, _closed_induction):
        try:
            return way(problem)
        except (Failed, NotWritten):
            continue
    return None


def _inner_closed(problem: Problem) -> Problem:
    """Sums inside of sums by their closed forms, where their ranges are never below the empty one."""

    def closed(node: Node) -> Node:
        done: Node = rebuild(node, closed)
        if not isinstance(done, Series) or problem.start is None:
            return done
        given = with_n(problem, problem.start)
        outer = constant_value(done.lo)
        put: dict[Expr, Expr] = {}
        for inner in series_in(done.body):
            first = constant_value(inner.lo)
            if outer is None or first is None or first.denominator != 1 or outer.denominator != 1:
                continue
            index = Domain(num(outer), None, True, False, integer=True)
            wide = Assumptions({**given.domains, done.index: index}, given.facts)
            form = closed_form(inner, wide)
            starts = {done.index: int(outer), problem.name: problem.start}
            if (
                form is not None
                and _never_less(inner, int(first), starts)
                and body_defined(inner, int(first), wide)
            ):
                put[inner] = form
        return replace(done, body=replaced(done.body, put)) if put else done

    left, right = (closed(s) for s in problem.sides())
    assert isinstance(left, Expr)
    assert isinstance(right, Expr)
    return replace(problem, lhs=left, rhs=right)


def _never_less(inner: Series, first: int, starts: dict[str, int]) -> bool:
    """Whether the upper end is first - 1 or more for all values of its one name from its start on."""
    names = free_names(inner.hi)
    if len(names) != 1 or not names <= set(starts):
        return False
    (name,) = names
    line = linear_in(inner.hi, name)
    return line is not None and line[0] >= 0 and line[0] * starts[name] + line[1] >= first - 1


def _written(problem: Problem) -> Derivation:
    """Without sums: powers by their names alone."""
    if problem.start is None or series_in(*problem.sides()):
        raise Failed
    return _direct(problem, problem.start)


def _closed(problem: Problem) -> Derivation:
    """Every sum by its closed form; then no sum is left."""
    found = _replaced(problem)
    if found is None or series_in(*found[0].sides()):
        raise Failed
    closed, steps, start = found
    early = _early(problem, start)
    shown = _direct(closed, start)
    return _joined(early, Derivation(tuple(steps)), shown)


def _closed_induction(problem: Problem) -> Derivation:
    """Sums with a closed form replaced, the others by induction."""
    found = _replaced(problem)
    if found is None:
        raise Failed
    closed, steps, start = found
    early = _early(problem, start)
    return _joined(early, Derivation(tuple(steps)), _induction(replace(closed, start=start)))


def _replaced(problem: Problem) -> tuple[Problem, list[str], int] | None:
    steps: list[str] = []
    put: dict[Expr, Expr] = {}
    start = problem.start
    given = with_n(problem, problem.start)
    for series in series_in(*problem.sides()):
        form = closed_form(series, given)
        if form is None:
            continue
        regular = regular_from(series, problem.name)
        if regular is not None and (start is None or regular > start):
            start = regular
        put[series] = form
        steps.append(f"{to_text(series)} = {to_text(form)}")
    if not put or start is None:
        return None
    sides = tuple(replaced(s, put) for s in problem.sides())
    return replace(problem, lhs=sides[0], rhs=sides[1]), steps, start


def _early(problem: Problem, start: int) -> Derivation:
    """The values of n below ``start``: each by itself, or all at once where every sum is empty."""
    steps: list[str] = []
    trust: set[str] = {"flint"}
    if problem.start is None:
        empty: dict[Expr, Expr] = {s: num(0 if s.op == "sum" else 1) for s in series_in(*problem.sides())}
        if any(regular_from(s, problem.name) != start for s in series_in(*problem.sides())):
            raise Failed
        left, right = (replaced(s, empty) for s in problem.sides())
        domain = Domain(hi=num(start), hi_closed=True, integer=True)
        given = Assumptions({**problem.rest.domains, problem.name: domain}, problem.rest.facts)
        shown = prove_relation(left, problem.op, right, given)
        if shown is None:
            raise Failed
        return Derivation((f"for {problem.name} <= {start} every sum is empty", *shown.steps), shown.trust)
    if start - problem.start > MAX_FIRST:
        raise Failed
    for value in range(problem.start, start):
        shown = _at(problem, value)
        steps.append(f"{problem.name} = {value}: both sides written out")
        trust |= set(shown.trust)
    return Derivation(tuple(steps), tuple(sorted(trust)))


def _at(problem: Problem, value: int) -> Derivation:
    sides = [folded(substitute(s, {problem.name: num(value)})) for s in problem.sides()]
    left, right = (_without_zero_powers(written_out(s), problem.rest) for s in sides)
    shown = prove_relation(left, problem.op, right, problem.rest)
    if shown is None:
        raise Failed
    return shown


def _without_zero_powers(node: Expr, given: Assumptions) -> Expr:
    """x**0 is 1 for every x that has a value."""
    done = rebuild(node, lambda c: _without_zero_powers(c, given) if isinstance(c, Expr) else c)
    assert isinstance(done, Expr)
    if not isinstance(done, App) or done.head != "pow" or constant_value(done.args[1]) != 0:
        return done
    return num(1) if prove_defined(done.args[0], given) is not None else done


def _direct(problem: Problem, start: int) -> Derivation:
    powers = Powers(problem.name, start, problem.rest, problem.taken())
    left, right = (powers.expr(s) for s in problem.sides())
    given = with_n(problem, start)
    steps: list[str] = explained(powers)
    trust: set[str] = set()
    for put, domains, facts in powers.cases():
        wide = Assumptions({**given.domains, **domains}, (*given.facts, *facts))
        shown = prove_relation(substitute(left, put), problem.op, substitute(right, put), wide)
        if shown is None:
            raise Failed
        steps += shown.steps
        trust |= set(shown.trust)
    return Derivation(tuple(steps), tuple(sorted(trust)))


def _induction(problem: Problem) -> Derivation:
    """Base and step."""
    series = series_in(*problem.sides())
    starts = [r for s in series if (r := regular_from(s, problem.name)) is not None]
    first = problem.start
    if starts and (first is None or max(starts) > first):
        first = max(starts)
    if first is None:
        raise Failed
    early = _early(problem, first)
    base = _at(problem, first)
    lines = (f"base: {problem.name} = {first}", *("  " + s for s in base.steps))
    return _joined(early, Derivation(lines, base.trust), step(problem, first, series))


def _joined(*parts: Derivation) -> Derivation:
    steps = tuple(s for p in parts for s in p.steps)
    return Derivation(steps, tuple(sorted({t for p in parts for t in p.trust})))
