"""The largest part of a scope on which a refuted statement is true.

Certified signs at many points tell where it holds; the ends between are bisected, given by an
exact name where one fits, else rounded inward. What comes out is a guess that the engine must
prove: a point that is missed between samples makes it fail there, and the guess is cut once more.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, permutations

from gateproof.numerics.errors import MaybeUndefined, NumericsError, Undefined
from gateproof.numerics.points import enclosure, truth_at
from gateproof.numerics.special import special_points
from gateproof.proofs_check.engine import nearest_numbers as numbers
from gateproof.proofs_check.engine.closed import decide_constants
from gateproof.proofs_check.engine.nearest_constants import interval
from gateproof.proofs_check.engine.nearest_question import STOPS, Change, Question, is_plain
from gateproof.proofs_check.engine.sample import landmarks, points, values
from gateproof.proofs_check.engine.space import Space, contains
from gateproof.theory.exact.domain import Domain
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import (
    Bind,
    Diff,
    Expr,
    IntRange,
    NamedSet,
    Pred,
    Rel,
    Scope,
    SetExpr,
    SetMinus,
    Var,
    num,
)

Truth = Callable[[Fraction], bool | None]
#: Halvings of the gap between a point where the statement holds and one where it fails.
_HALVINGS = 90
_BITS = 256
_MOST_HOLES = 3


def scope_changes(ask: Question, part: Rel) -> Iterator[Change]:
    """The statement over less of its scope."""
    try:
        space = ask.space()
    except STOPS:
        return
    try:
        core = Rel(part.ops, tuple(ask.core(t, space) for t in part.terms))
    except STOPS:
        yield from _away_from_zero(ask, part, space)
        return
    if space.vectors or not all(is_plain(t) for t in core.terms):
        return
    if len(space.domains) == 1 and not space.facts:
        (name,) = space.domains
        for within in largest(core, name, space.domains[name], ask.context.settings.seed):
            yield ask.change("domain", part, _with(ask.scope, name, within))
        for scope in _integers(ask, core, name, space.domains[name]):
            yield ask.change("domain", part, scope)
    elif not space.facts:
        yield from _halves(ask, part, core, space)
        yield from _ordered(ask, part, core, space)


def _away_from_zero(ask: Question, part: Rel, space: Space) -> Iterator[Change]:
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
        yield ask.change("domain", part, _with(ask.scope, name, within))


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
        yield ask.change("domain", Pred(part.name, part.body, _with(part.scope, name, within)))


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


def _with(scope: Scope, name: str, within: SetExpr) -> Scope:
    binds = tuple(Bind(b.name, within) if b.name == name else b for b in scope.binds)
    # The new set is inside of what the conditions on this name alone left, so these go.
    kept = tuple(c for c in scope.conditions if not _only_about(c, name))
    return Scope(binds, kept)


def _only_about(condition: object, name: str) -> bool:
    from gateproof.theory.formula.nodes import Node
    from gateproof.theory.formula.scopes import free_names

    return isinstance(condition, Node) and free_names(condition) == {name}


def largest(relation: Rel, name: str, domain: Domain, seed: int) -> Iterator[SetExpr]:
    """The largest interval on which a relation in one real name holds, and the set without points."""
    if domain.integer:
        return
    equality = relation.ops == ("==",)

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
    if relation.ops == ("!=",) or _isolated(bad, truth, domain):
        if len(bad) <= _MOST_HOLES:
            yield _without(domain, bad)
        return
    for run in _runs(known, domain):
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


def _samples(relation: Rel, name: str, domain: Domain, seed: int) -> list[Fraction]:
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


@dataclass(frozen=True)
class _Run:
    """Neighbouring samples that hold, and the nearest that fail on both sides (None: the domain's end)."""

    first: Fraction
    last: Fraction
    before: Fraction | None
    behind: Fraction | None


def _runs(known: list[tuple[Fraction, bool]], domain: Domain) -> list[_Run]:
    """Runs of samples that hold, the most useful first: unbounded, then long, then on the right."""
    runs: list[_Run] = []
    start: int | None = None
    for k, (_, holds) in enumerate([*known, (Fraction(0), False)]):
        if holds and start is None:
            start = k
        elif not holds and start is not None:
            before = known[start - 1][0] if start else None
            behind = known[k][0] if k < len(known) else None
            runs.append(_Run(known[start][0], known[k - 1][0], before, behind))
            start = None

    def worth(run: _Run) -> tuple[int, Fraction, Fraction]:
        right = run.behind is None and domain.hi is None
        left = run.before is None and domain.lo is None
        return int(right) + int(left), Fraction(0) if right or left else run.last - run.first, run.last

    return sorted((r for r in runs if r.first < r.last), key=worth, reverse=True)[:2]


def _bounded(run: _Run, relation: Rel, name: str, domain: Domain, truth: Truth) -> SetExpr | None:
    lo, lo_closed = domain.lo, domain.lo_closed
    hi, hi_closed = domain.hi, domain.hi_closed
    if run.before is not None:
        lo, lo_closed = _end(run.before, run.first, relation, name, truth)
    if run.behind is not None:
        hi, hi_closed = _end(run.behind, run.last, relation, name, truth)
    inside = tuple(h for h in domain.without if run.first < enclosure(h)[0] < run.last)
    found = interval(lo, hi, lo_closed, hi_closed)
    return SetMinus(found, inside) if inside else found


def _end(bad: Fraction, good: Fraction, relation: Rel, name: str, truth: Truth) -> tuple[Expr, bool]:
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


def _holds_at(point: Expr, relation: Rel, name: str) -> bool:
    a, b = (substitute(t, {name: point}) for t in relation.terms)
    try:
        return decide_constants(relation.ops[0], a, b).truth is True
    except STOPS:
        return False


def _integers(ask: Question, core: Rel, name: str, domain: Domain) -> Iterator[Scope]:
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
        for run in _runs(known, domain):
            within = IntRange(numbers.number(run.first), numbers.number(run.last))
            yield _with(ask.scope, name, within)
        return
    bad = [x for x, holds in known if not holds]
    if not bad or (known and not known[-1][1]):
        return
    start = max(bad) + 1
    if start == 1:
        yield _with(ask.scope, name, NamedSet("N1"))
    elif start == 0:
        yield _with(ask.scope, name, NamedSet("N"))
    else:
        from_there = Rel((">=",), (Var(name), numbers.number(start)))
        yield Scope(ask.scope.binds, (*ask.scope.conditions, from_there))


def _samples_of_integers(domain: Domain) -> list[Fraction]:
    from gateproof.proofs_check.engine.space import finite_values

    finite = finite_values(domain)
    if finite is not None:
        return finite[:300]
    return sorted(dict.fromkeys(values(domain, [], random.Random(0))))


def _halves(ask: Question, part: Rel, core: Rel, space: Space) -> Iterator[Change]:
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
                yield ask.change("domain", part, _with(ask.scope, name, within))
                break


def _ordered(ask: Question, part: Rel, core: Rel, space: Space) -> Iterator[Change]:
    """Two of the names in one order."""
    for a, b in permutations([n for n, d in space.domains.items() if not d.integer], 2):
        for op in (">=", ">"):
            condition = Rel((op,), (Var(a), Var(b)))
            if _no_failure(core, space.given(condition), ask.context.settings.seed):
                scope = Scope(ask.scope.binds, (*ask.scope.conditions, condition))
                yield ask.change("domain", part, scope)
                break


def _no_failure(core: Rel, space: Space, seed: int) -> bool:
    seen = False
    for point in points(space, (core,), seed, 200):
        try:
            if truth_at(core, point, 128) is False:
                return False
        except NumericsError:
            return False
        seen = True
    return seen
