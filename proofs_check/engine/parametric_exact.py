"""An extremum as an expression in the other names: a value of the body that bounds it for all of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from gateproof.numerics.errors import NumericsError
from gateproof.numerics.points import compare, difference_sign
from gateproof.proofs_check.engine.calculus import Elimination
from gateproof.proofs_check.engine.conditions import absorbed
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.definedness import decide_defined
from gateproof.proofs_check.engine.existence_under import decide_exists_under
from gateproof.proofs_check.engine.outcome import (
    IllPosedError,
    NotYetError,
    Outcome,
    UndecidedError,
    conjunction,
)
from gateproof.proofs_check.engine.sample import Point, points
from gateproof.proofs_check.engine.solving import solved_for
from gateproof.proofs_check.engine.space import Space, build, infinite_sign
from gateproof.theory.exact.cases import domain_facts
from gateproof.theory.exact.derivative import derivative, kinks
from gateproof.theory.exact.domain import Domain
from gateproof.theory.exact.infinity import INFINITY, MINUS_INFINITY
from gateproof.theory.exact.limits import limit
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.exact.sign_points import zeros_of_factors
from gateproof.theory.formula.library import substitute, substitute_node
from gateproof.theory.formula.nodes import Exists, Expr, Extremum, Rel, Stmt, num
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names


@dataclass(frozen=True)
class Part:
    """An extremum, its body without calculus, its set, and the names around it."""

    node: Extremum
    body: Expr
    inner: Space
    outer: Space

    @property
    def up(self) -> bool:
        """Whether the largest value is meant."""
        return self.node.op in ("sup", "max", "argmax")

    @property
    def together(self) -> Space:
        """All names at once."""
        domains = {**self.outer.domains, **self.inner.domains}
        return absorbed(Space(domains, (*self.outer.facts, *self.inner.facts)))

    @property
    def name(self) -> str | None:
        """The one real name without conditions of its own, else None."""
        if len(self.inner.domains) != 1:
            return None
        (name,) = self.inner.domains
        return name


def taken_apart(space: Space, node: Extremum, context: Context) -> Part:
    """The parts of an extremum whose body is defined and whose set is not empty, for all of the space.

    Raises IllPosedError, NotYetError, UndecidedError.
    """
    inner = absorbed(build(node.scope))
    if inner.vectors or space.vectors:
        raise NotYetError("an extremum with vectors")
    part = Part(node, node.body, inner, space)
    work = Elimination(part.together)
    part = replace(part, body=work.expr(node.body))
    if work.owed:
        raise NotYetError(f"{node.op} of a derivative with kinks")
    found = decide_defined(part.together, part.body, context)
    if found.ill_posed:
        raise IllPosedError(found.reason)
    if found.truth is not True:
        raise UndecidedError(found.reason)
    if inner.facts and any(free_names(f) & set(space.domains) for f in inner.facts):
        somewhere = Exists(node.scope, Rel(("==",), (num(0), num(0))))
        if decide_exists_under(space, somewhere, context).truth is not True:
            raise UndecidedError(f"{to_text(node)} may range over nothing")
    elif inner.facts:
        raise NotYetError("an extremum with conditions that depends on other names")
    return part


def with_exact_inside(node: Extremum, context: Context) -> Extremum | None:
    """A nested extremum with the inner one replaced by its exact value, where that is found."""
    inner = node.body
    if not isinstance(inner, Extremum) or any(isinstance(n, Extremum) for n in inner.body.walk()):
        return None
    try:
        found = exactly(taken_apart(absorbed(build(node.scope)), inner, context), context)
    except (NotYetError, UndecidedError):
        return None
    attained = inner.op in ("sup", "inf") or (found is not None and found.place is not None)
    if found is None or infinite_sign(found.value) or not attained:
        return None
    return Extremum(node.op, found.value, node.scope)


@dataclass(frozen=True)
class Exact:
    """The extremum as an expression; ``place`` where it is attained, None where it is a limit."""

    value: Expr
    place: Expr | None
    shown: Outcome


def exactly(part: Part, context: Context) -> Exact | None:
    """A value of the body that bounds it for all names."""
    from gateproof.proofs_check.engine.statements import forall

    if part.name is None:
        return None
    tests = list(points(part.together, (part.body,), context.settings.seed, 60))
    for value, place, steps in _values(part):
        if infinite_sign(value):
            if infinite_sign(value) != (1 if part.up else -1):
                continue
            return Exact(value, None, Outcome(True, steps=steps, trust=("flint",)))
        if not _bounds(part, value, tests):
            continue
        relation = Rel(("<=" if part.up else ">=",), (part.body, value))
        try:
            found = widely(part.together, relation, context)
            member = forall(part.outer, membership_of(part, place), context.deeper()) if place else None
        except (IllPosedError, NotYetError, UndecidedError):
            continue
        if found.truth is True and (member is None or member.truth is True):
            together = conjunction([found] if member is None else [found, member])
            return Exact(value, place, replace(together, steps=(*steps, *together.steps)))
    return None


def membership_of(part: Part, place: Expr) -> Stmt:
    """That a place lies in the set."""
    from gateproof.theory.formula.nodes import And

    name = part.name
    assert name is not None
    facts = domain_facts(place, part.inner.domains[name])
    facts += [f for fact in part.inner.facts if isinstance(f := substitute_node(fact, {name: place}), Stmt)]
    return And((Rel(("==",), (num(0), num(0))), *facts))


def _values(part: Part) -> Iterator[tuple[Expr, Expr | None, tuple[str, ...]]]:
    """Values that the extremum may be, with the place and what was done."""
    name = part.name
    assert name is not None
    domain = part.inner.domains[name]
    if domain.integer:
        return
    for place in _places(part, name):
        step = f"at {name} = {to_text(place)} the value is {to_text(substitute(part.body, {name: place}))}"
        yield substitute(part.body, {name: place}), place, (step,)
    ends = [(MINUS_INFINITY, "") if domain.lo is None else (domain.lo, "+")]
    ends.append((INFINITY, "") if domain.hi is None else (domain.hi, "-"))
    narrow = domain.lo is not None and domain.hi is not None and compare(domain.lo, domain.hi) != -1
    if part.inner.facts or narrow:
        return
    for point, side in ends:
        found = limit(part.body, name, point, side, part.together.assumptions())
        if isinstance(found, tuple):
            value, derivation = found
            step = f"the limit for {name} -> {to_text(point)} is {to_text(value)}"
            yield value, None, (*derivation.steps, step)


def _places(part: Part, name: str) -> Iterator[Expr]:
    """Zeros of the derivative in the other names, kinks, ends that belong to the set."""
    domain = part.inner.domains[name]
    for end, closed in ((domain.lo, domain.lo_closed), (domain.hi, domain.hi_closed)):
        if end is not None and closed:
            yield end
    for fact in part.inner.facts:
        if isinstance(fact, Rel):
            yield from (t for t in fact.terms if name not in free_names(t))
    for argument in kinks(part.body, name):
        yield from solved_for(name, argument, num(0))
    slope = None if kinks(part.body, name) else derivative(part.body, name)
    if slope is not None:
        yield from zeros_of_factors(slope, name, part.together.assumptions())


def _bounds(part: Part, value: Expr, tests: list[Point]) -> bool:
    """Whether no sample point speaks against the value as a bound."""
    wrong = 1 if part.up else -1
    for point in tests:
        try:
            if difference_sign(part.body, value, point, 256) == wrong:
                return False
        except NumericsError:
            return False
    return True


def widely(space: Space, relation: Rel, context: Context) -> Outcome:
    """A relation for all names; where that fails, with positive names over all positive numbers."""
    from gateproof.proofs_check.engine.statements import forall

    found = forall(space, relation, context.deeper())
    if found.truth is not None or found.ill_posed:
        return found
    wider = space
    for name, domain in space.domains.items():
        bound_by = any(name in free_names(f) for f in space.facts)
        if domain.integer or domain.without or bound_by or domain.lo is None or domain.hi is None:
            continue
        if prove_relation(domain.lo, ">", num(0), Space().assumptions()) is not None:
            wider = wider.with_domain(name, Domain(num(0), None))
    if wider is space:
        return found
    everywhere = forall(wider, relation, context.deeper())
    return everywhere if everywhere.truth is True else found
