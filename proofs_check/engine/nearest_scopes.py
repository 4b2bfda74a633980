"""Smaller scopes: fewer whole numbers, one of several names cut at 0, two names in one order."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations

from gateproof.numerics.errors import NumericsError
from gateproof.numerics.points import truth_at
from gateproof.proofs_check.engine import nearest_numbers as numbers
from gateproof.proofs_check.engine.nearest_constants import interval
from gateproof.proofs_check.engine.nearest_question import Change, Question
from gateproof.proofs_check.engine.nearest_runs import runs_of
from gateproof.proofs_check.engine.sample import points, values
from gateproof.proofs_check.engine.space import Space, contains, finite_values
from gateproof.theory.exact.domain import Domain
from gateproof.theory.formula.nodes import (
    Bind,
    IntRange,
    NamedSet,
    Node,
    Rel,
    Scope,
    SetExpr,
    SetMinus,
    Stmt,
    Var,
    num,
)
from gateproof.theory.formula.scopes import free_names

_BITS = 256


def away_from_zero(ask: Question, part: Stmt, space: Space) -> Iterator[Change]:
    """Where no value can be looked at (a limit that has its cases): without 0, and each side of it."""
    if len(space.domains) != 1 or space.facts or space.vectors:
        return
    ((name, domain),) = space.domains.items()
    if domain.integer or domain.without or contains(domain, Fraction(0)) is not True:
        return
    whole = interval(domain.lo, domain.hi, domain.lo_closed, domain.hi_closed)
    zero = num(0)
    for within in (
        SetMinus(whole, (zero,)),
        interval(zero, domain.hi, False, domain.hi_closed),
        interval(domain.lo, zero, domain.lo_closed, False),
    ):
        yield ask.change("domain", part, narrowed_to(ask.scope, name, within))


def narrowed_to(scope: Scope, name: str, within: SetExpr) -> Scope:
    """The scope with another set for a name."""
    binds = tuple(Bind(b.name, within) if b.name == name else b for b in scope.binds)
    # The new set is inside of what the conditions on this name alone left, so these go.
    kept = tuple(c for c in scope.conditions if not _only_about(c, name))
    return Scope(binds, kept)


def _only_about(condition: object, name: str) -> bool:
    return isinstance(condition, Node) and free_names(condition) == {name}


def integer_scopes(ask: Question, core: Stmt, name: str, domain: Domain) -> Iterator[Scope]:
    """Fewer whole numbers: a range, or all from one on."""
    if not domain.integer:
        return
    known: list[tuple[Fraction, bool]] = []
    for x in _samples_of_integers(domain):
        try:
            holds = truth_at(core, {name: x}, _BITS)
        except NumericsError:
            return
        known.append((x, holds is not False))
    if domain.lo is not None and domain.hi is not None:
        for run in runs_of(known, domain):
            within = IntRange(numbers.number(run.first), numbers.number(run.last))
            yield narrowed_to(ask.scope, name, within)
        return
    bad = [x for x, holds in known if not holds]
    if not bad or (known and not known[-1][1]):
        return
    start = max(bad) + 1
    if start == 1:
        yield narrowed_to(ask.scope, name, NamedSet("N1"))
    elif start == 0:
        yield narrowed_to(ask.scope, name, NamedSet("N"))
    else:
        from_there = Rel((">=",), (Var(name), numbers.number(start)))
        yield Scope(ask.scope.binds, (*ask.scope.conditions, from_there))


def _samples_of_integers(domain: Domain) -> list[Fraction]:
    finite = finite_values(domain)
    if finite is not None:
        return finite[:300]
    return sorted(dict.fromkeys(values(domain, [], random.Random(0))))


def halves(ask: Question, part: Stmt, core: Stmt, space: Space) -> Iterator[Change]:
    """One of several names cut at 0, where no sample speaks against it."""
    zero = num(0)
    for name, domain in space.domains.items():
        if domain.integer or domain.without:
            continue
        if contains(domain, Fraction(0)) is not True:
            continue
        for lo, hi, lo_closed, hi_closed in (
            (zero, domain.hi, True, domain.hi_closed),
            (zero, domain.hi, False, domain.hi_closed),
            (domain.lo, zero, domain.lo_closed, True),
            (domain.lo, zero, domain.lo_closed, False),
        ):
            if lo == hi:
                continue
            cut = space.with_domain(name, Domain(lo, hi, lo_closed, hi_closed))
            if _no_failure(core, cut, ask.context.settings.seed):
                within = interval(lo, hi, lo_closed, hi_closed)
                yield ask.change("domain", part, narrowed_to(ask.scope, name, within))
                break


def in_order(ask: Question, part: Stmt, core: Stmt, space: Space) -> Iterator[Change]:
    """Two of the names in one order."""
    for a, b in permutations([n for n, d in space.domains.items() if not d.integer], 2):
        for op in (">=", ">"):
            condition = Rel((op,), (Var(a), Var(b)))
            if _no_failure(core, space.given(condition), ask.context.settings.seed):
                scope = Scope(ask.scope.binds, (*ask.scope.conditions, condition))
                yield ask.change("domain", part, scope)
                break


def _no_failure(core: Stmt, space: Space, seed: int) -> bool:
    seen = False
    for point in points(space, (core,), seed, 200):
        try:
            if truth_at(core, point, 128) is False:
                return False
        except NumericsError:
            return False
        seen = True
    return seen
