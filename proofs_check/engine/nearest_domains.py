"""The largest part of a scope on which a refuted statement is true.

Certified signs at many points tell where it holds; the ends between are bisected, given by an
exact name where one fits, else rounded inward. What comes out is a guess that the engine must
prove: a point that is missed between samples makes it fail there, and the guess is cut once more.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise

from gateproof.numerics.errors import MaybeUndefined, NumericsError, Undefined
from gateproof.numerics.points import enclosure, truth_at
from gateproof.numerics.special import special_points
from gateproof.proofs_check.engine import nearest_numbers as numbers
from gateproof.proofs_check.engine.closed import decide_constants
from gateproof.proofs_check.engine.nearest_constants import interval
from gateproof.proofs_check.engine.nearest_question import STOPS, Change, Question, is_plain
from gateproof.proofs_check.engine.nearest_runs import Run, runs_of
from gateproof.proofs_check.engine.nearest_scopes import (
    away_from_zero,
    halves,
    in_order,
    integer_scopes,
    narrowed_to,
)
from gateproof.proofs_check.engine.sample import landmarks, values
from gateproof.proofs_check.engine.space import Space, contains
from gateproof.theory.exact.domain import Domain
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import (
    Diff,
    Expr,
    Pred,
    Rel,
    SetExpr,
    SetMinus,
    Stmt,
    num,
)

Truth = Callable[[Fraction], bool | None]
#: Halvings of the gap between a point where the statement holds and one where it fails.
_HALVINGS = 90
_BITS = 256
_MOST_HOLES = 3


def scope_changes(ask: Question, part: Stmt) -> Iterator[Change]:
    """The statement over less of its scope."""
    try:
        space = ask.space()
    except STOPS:
        return
    try:
        core = ask.core_statement(part, space)
    except STOPS:
        yield from away_from_zero(ask, part, space)
        return
    if space.vectors or not is_plain(core):
        return
    if len(space.domains) == 1 and not space.facts:
        (name,) = space.domains
        for within in largest(core, name, space.domains[name], ask.context.settings.seed):
            yield ask.change("domain", part, narrowed_to(ask.scope, name, within))
        for scope in integer_scopes(ask, core, name, space.domains[name]):
            yield ask.change("domain", part, scope)
    elif not space.facts:
        yield from halves(ask, part, core, space)
        yield from in_order(ask, part, core, space)


def predicate_domains(ask: Question, part: Pred) -> Iterator[Change]:
    """A predicate on less of its set."""
    try:
        own = Question(part.scope, part, ask.extra, ask.context)
        space = own.space()
        (name,) = space.domains
        body = own.core(part.body, space)
    except (*STOPS, ValueError):
        return
    domain = space.domains[name]
    if space.vectors or space.facts or not is_plain(body):
        return
    for within in _predicate_sets(part, own, body, name, domain, space):
        yield ask.change("domain", Pred(part.name, part.body, narrowed_to(part.scope, name, within)))


def _predicate_sets(
    part: Pred, own: Question, body: Expr, name: str, domain: Domain, space: Space
) -> Iterator[SetExpr]:
    orders = {"increasing": (1, ">="), "decreasing": (1, "<="), "convex": (2, ">=")}
    if part.name in orders:
        order, sign = orders[part.name]
        try:
            slope = own.core(Diff(part.body, name, order), space)
        except STOPS:
            return
        if is_plain(slope):
            relation = Rel((sign,), (slope, num(0)))
            yield from largest(relation, name, domain, own.context.settings.seed)
        return
    if part.name not in ("continuous", "differentiable", "defined"):
        return
    cuts = [p for p in special_points(body, name) if contains(domain, p) is True]
    if not cuts or len(cuts) > _MOST_HOLES:
        return
    holes = tuple(numbers.number(p) for p in cuts)
    yield SetMinus(part.scope.binds[0].within, holes)
    ends = [domain.lo, *map(numbers.number, cuts), domain.hi]
    # A half-line first, the right one before the left one.
    for lo, hi in sorted(pairwise(ends), key=lambda p: (p[1] is not None, p[0] is not None)):
        yield interval(lo, hi, False, False)


def largest(relation: Stmt, name: str, domain: Domain, seed: int) -> Iterator[SetExpr]:
    """The largest interval on which a relation in one real name holds, and the set without points."""
    if domain.integer:
        return
    equality = isinstance(relation, Rel) and relation.ops == ("==",)

    def truth(x: Fraction) -> bool | None:
        try:
            found = truth_at(relation, {name: x}, _BITS)
        except (Undefined, MaybeUndefined, NumericsError):
            return False
        return True if found is None and equality else found

    xs = _samples(relation, name, domain, seed)
    known = [(x, t) for x in xs if (t := truth(x)) is not None]
    bad = [x for x, t in known if not t]
    if not bad or len(bad) == len(known):
        return
    if _isolated(bad, truth, domain):
        if len(bad) <= _MOST_HOLES:
            yield _without(domain, bad)
        return
    for run in runs_of(known, domain):
        within = _bounded(run, relation, name, domain, truth)
        if within is not None:
            yield within


def _without(domain: Domain, bad: list[Fraction]) -> SetExpr:
    """The domain without some of its points; an end among them becomes an open one."""
    at_lo, at_hi = (
        {x for x in bad if end is not None and enclosure(end) == (x, x)} for end in (domain.lo, domain.hi)
    )
    base = interval(domain.lo, domain.hi, domain.lo_closed and not at_lo, domain.hi_closed and not at_hi)
    inside = [numbers.number(x) for x in bad if x not in at_lo | at_hi]
    holes = (*domain.without, *inside)
    return SetMinus(base, holes) if holes else base


def _samples(relation: Stmt, name: str, domain: Domain, seed: int) -> list[Fraction]:
    special = list(special_points(relation, name))
    beside = [p + s * Fraction(1, 1000) for p in special for s in (-1, 1)]
    extra = [*special, *beside, *landmarks(relation)]
    found = dict.fromkeys(values(domain, extra, random.Random(seed)))
    found.update(dict.fromkeys(x for x in extra if contains(domain, x) is True))
    return sorted(found)


def _isolated(bad: list[Fraction], truth: Truth, domain: Domain) -> bool:
    """Whether each point of failure is alone: it holds just beside it."""
    for x in bad:
        for beside in (x - Fraction(1, 10**6), x + Fraction(1, 10**6)):
            if contains(domain, beside) is True and truth(beside) is not True:
                return False
    return True


def _bounded(run: Run, relation: Stmt, name: str, domain: Domain, truth: Truth) -> SetExpr | None:
    lo, lo_closed = domain.lo, domain.lo_closed
    hi, hi_closed = domain.hi, domain.hi_closed
    if run.before is not None:
        lo, lo_closed = _end(run.before, run.first, relation, name, truth)
    if run.behind is not None:
        hi, hi_closed = _end(run.behind, run.last, relation, name, truth)
    inside = tuple(h for h in domain.without if run.first < enclosure(h)[0] < run.last)
    found = interval(lo, hi, lo_closed, hi_closed)
    return SetMinus(found, inside) if inside else found


def _end(bad: Fraction, good: Fraction, relation: Stmt, name: str, truth: Truth) -> tuple[Expr, bool]:
    """The end between a point that fails and one that holds, and whether it belongs to the set."""
    inward_up = good > bad
    for _ in range(_HALVINGS):
        middle = (bad + good) / 2
        holds = truth(middle)
        if holds is None:
            break
        bad, good = (bad, middle) if holds else (middle, good)
    low, high = min(bad, good), max(bad, good)
    for name_of_end in numbers.names_of(low, high):
        return name_of_end, _holds_at(name_of_end, relation, name)
    exact = [good.limit_denominator(10_000)]
    if low <= exact[0] <= high:
        return numbers.number(exact[0]), truth(exact[0]) is True
    return numbers.decimal(good, up=inward_up), True


def _holds_at(point: Expr, relation: Stmt, name: str) -> bool:
    if not isinstance(relation, Rel):
        return False
    a, b = (substitute(t, {name: point}) for t in relation.terms)
    try:
        return decide_constants(relation.ops[0], a, b).truth is True
    except STOPS:
        return False
