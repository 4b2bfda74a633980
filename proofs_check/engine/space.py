"""A scope's binds and conditions as domains that the provers understand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from gateproof.numerics.errors import MaybeUndefined, Undefined
from gateproof.numerics.points import compare, enclosure
from gateproof.proofs_check.engine.outcome import IllPosedError, NotYetError
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.formula.nodes import (
    App,
    Bind,
    Const,
    Expr,
    IntervalSet,
    IntRange,
    NamedSet,
    Node,
    Num,
    Rel,
    Scope,
    SetExpr,
    SetMinus,
    SetPower,
    Stmt,
    Var,
    num,
)
from gateproof.theory.formula.scopes import free_names

#: Values of one enumerated name, and of all together.
MAX_ENUMERATED = 5_000


@dataclass(frozen=True)
class Space:
    """What a universal statement ranges over.

    ``vectors`` maps a vector's name to its number of places (an expression), the
    places' domains stand in ``domains`` under the same name; those in ``masked`` may be -oo too.
    """

    domains: Mapping[str, Domain] = field(default_factory=dict)
    facts: tuple[Stmt, ...] = ()
    vectors: Mapping[str, Expr] = field(default_factory=dict)
    index_ranges: Mapping[str, tuple[Expr, Expr]] = field(default_factory=dict)
    masked: frozenset[str] = frozenset()

    def assumptions(self) -> Assumptions:
        """Domains and facts for the symbolic prover."""
        return Assumptions(dict(self.domains), self.facts)

    def given(self, *facts: Stmt) -> Space:
        """The space with more conditions."""
        return replace(self, facts=self.facts + facts)

    def without(self, name: str) -> Space:
        """The space without one name."""
        return replace(self, domains={k: v for k, v in self.domains.items() if k != name})

    def restricted_to(self, node: Node) -> Space:
        """The space without the names that neither the node nor a condition uses (none is empty)."""
        if self.vectors:
            return self
        used = free_names(node).union(*(free_names(f) for f in self.facts))
        return replace(self, domains={k: v for k, v in self.domains.items() if k in used})

    def with_domain(self, name: str, domain: Domain) -> Space:
        """The space with another domain for a name."""
        return replace(self, domains={**self.domains, name: domain})


def infinite_sign(node: Expr) -> int:
    """1 for oo, -1 for -oo, 0 for anything else."""
    if isinstance(node, Const) and node.name == "oo":
        return 1
    if isinstance(node, App) and node.head == "neg":
        return -infinite_sign(node.args[0])
    return 0


def build(scope: Scope) -> Space:
    """The space of a scope. Raises IllPosedError where it is empty."""
    space = Space()
    for bind in scope.binds:
        space = _add(space, bind)
    return replace(space, facts=space.facts + scope.conditions)


def _add(space: Space, bind: Bind) -> Space:
    within: SetExpr = bind.within
    if isinstance(within, SetPower):
        base, masked = _unmasked(within.base)
        domain, facts = _domain(base, bind.name)
        if facts:
            raise NotYetError("vectors over sets that depend on other names")
        return replace(
            space,
            domains={**space.domains, bind.name: domain},
            vectors={**space.vectors, bind.name: within.n},
            masked=space.masked | ({bind.name} if masked else set()),
        )
    if isinstance(within, IntRange) and (free_names(within.lo) | free_names(within.hi)):
        ranges = {**space.index_ranges, bind.name: (within.lo, within.hi)}
        index = Var(bind.name)
        return replace(
            space,
            domains={**space.domains, bind.name: Domain(integer=True)},
            facts=(*space.facts, Rel(("<=", "<="), (within.lo, index, within.hi))),
            index_ranges=ranges,
        )
    domain, facts = _domain(within, bind.name)
    if is_empty(domain):
        raise IllPosedError(f"no value of {bind.name} is in its set: the statement is vacuous")
    return replace(space, domains={**space.domains, bind.name: domain}, facts=space.facts + facts)


def _unmasked(within: SetExpr) -> tuple[SetExpr, bool]:
    """A set without -oo, and whether it was in it: places of a vector may be masked."""
    if isinstance(within, IntervalSet) and infinite_sign(within.lo) < 0 and within.lo_closed:
        return replace(within, lo_closed=False), True
    return within, False


def _domain(within: SetExpr, name: str) -> tuple[Domain, tuple[Stmt, ...]]:
    if isinstance(within, NamedSet):
        start = {"N": num(0), "N1": num(1)}.get(within.name)
        return Domain(lo=start, lo_closed=start is not None, integer=within.name != "R"), ()
    if isinstance(within, SetMinus):
        domain, facts = _domain(within.base, name)
        return replace(domain, without=domain.without + within.points), facts
    if isinstance(within, IntRange):
        return Domain(within.lo, within.hi, True, True, integer=True), ()
    if isinstance(within, IntervalSet):
        return _interval(within, name)
    raise NotYetError(f"the set of {name}")


def _interval(within: IntervalSet, name: str) -> tuple[Domain, tuple[Stmt, ...]]:
    lo_sign, hi_sign = infinite_sign(within.lo), infinite_sign(within.hi)
    if (lo_sign and within.lo_closed) or (hi_sign and within.hi_closed):
        raise NotYetError(f"an interval of {name} that holds an infinite point")
    if lo_sign > 0 or hi_sign < 0:
        raise IllPosedError(f"no value of {name} is in its set: the statement is vacuous")
    for end in (within.lo, within.hi):
        _must_have_value(end, name)
    facts: list[Stmt] = []
    lo: Expr | None = None if lo_sign else within.lo
    hi: Expr | None = None if hi_sign else within.hi
    if lo is not None and free_names(lo):
        facts.append(Rel(("<=" if within.lo_closed else "<",), (lo, Var(name))))
        lo = None
    if hi is not None and free_names(hi):
        facts.append(Rel(("<=" if within.hi_closed else "<",), (Var(name), hi)))
        hi = None
    return (
        Domain(lo, hi, within.lo_closed and lo is not None, within.hi_closed and hi is not None),
        tuple(facts),
    )


def _must_have_value(end: Expr, name: str) -> None:
    if infinite_sign(end) or free_names(end):
        return
    try:
        enclosure(end)
    except (Undefined, MaybeUndefined) as error:
        raise IllPosedError(f"an end of the set of {name} has no value: {error}") from None


def is_empty(domain: Domain) -> bool:
    """Whether an interval domain is certainly empty (excluded points are not looked at)."""
    if domain.lo is None or domain.hi is None:
        return False
    order = compare(domain.lo, domain.hi)
    if domain.integer and order == -1:
        values = finite_values(domain)
        return values is not None and not values
    return order == 1 or (order == 0 and not (domain.lo_closed and domain.hi_closed))


def finite_values(domain: Domain) -> list[Fraction] | None:
    """All values of a bounded integer domain, or None where it is not one or too long."""
    if not domain.integer or domain.lo is None or domain.hi is None:
        return None
    (lo, _), (_, hi) = enclosure(domain.lo), enclosure(domain.hi)
    first, last = -((-lo.numerator) // lo.denominator), hi.numerator // hi.denominator
    if last - first > MAX_ENUMERATED:
        return None
    values = [Fraction(k) for k in range(first, last + 1)]
    return [v for v in values if contains(domain, v)]


def contains(domain: Domain, value: Fraction) -> bool | None:
    """Whether a rational lies in the domain; None where it cannot be told."""
    if domain.integer and value.denominator != 1:
        return False
    point = Num(value)
    if domain.lo is not None:
        order = compare(domain.lo, point)
        if order is None:
            return None
        if order == 1 or (order == 0 and not domain.lo_closed):
            return False
    if domain.hi is not None:
        order = compare(point, domain.hi)
        if order is None:
            return None
        if order == 1 or (order == 0 and not domain.hi_closed):
            return False
    for hole in domain.without:
        order = compare(hole, point)
        if order is None:
            return None
        if order == 0:
            return False
    return True


def pieces(domain: Domain) -> Iterator[Domain]:
    """The open pieces between excluded points, ascending, as domains without holes."""
    holes = sorted(
        (h for h in domain.without if contains(replace(domain, without=()), enclosure(h)[0]) is not False),
        key=lambda h: enclosure(h)[0],
    )
    lo, lo_closed = domain.lo, domain.lo_closed
    for hole in holes:
        yield Domain(lo, hole, lo_closed, False, domain.integer)
        lo, lo_closed = hole, False
    yield Domain(lo, domain.hi, lo_closed, domain.hi_closed, domain.integer)
