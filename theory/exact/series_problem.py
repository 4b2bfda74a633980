"""Relations with sums whose ends are linear in a whole n: their parts, and where they have a value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gateproof.theory.exact import infinity
from gateproof.theory.exact.defined import prove_defined
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.integer_powers import NotWritten, Powers, linear_in
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import Expr, Node, Rel, Series, Stmt, Var, num, rebuild
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.rewriting import joined, replaced
from gateproof.theory.formula.scopes import free_names

#: Terms of a sum written out, terms gained in one step.
MAX_WRITTEN = 40
MAX_STEP = 6


class Failed(Exception):
    """No proof this way."""


@dataclass(frozen=True)
class Problem:
    """``lhs op rhs`` for all whole n >= start (None: for all whole n), under further assumptions."""

    lhs: Expr
    op: str
    rhs: Expr
    name: str
    start: int | None
    rest: Assumptions

    def sides(self) -> tuple[Expr, Expr]:
        """Left and right."""
        return self.lhs, self.rhs

    def taken(self) -> set[str]:
        """Names in use."""
        used = set(self.rest.domains) | {self.name}
        return used | {n.name for s in self.sides() for n in s.walk() if isinstance(n, Var)}


def first_of(domain: Domain) -> int | None:
    """The least whole number of a domain, None where it has no rational lower end."""
    lo = constant_value(domain.lo) if domain.lo is not None else None
    if lo is None:
        return None
    return -((-lo.numerator) // lo.denominator) + (lo.denominator == 1 and not domain.lo_closed)


def series_in(*nodes: Node) -> list[Series]:
    """The sums and products that stand in no other, each once."""
    return list(dict.fromkeys(found for node in nodes for found in _outermost(node)))


def _outermost(node: Node) -> Iterator[Series]:
    if isinstance(node, Series):
        yield node
        return
    for child in node.children():
        yield from _outermost(child)


def with_n(problem: Problem, start: int | None) -> Assumptions:
    """The assumptions with n over the whole numbers from ``start`` on."""
    lo = None if start is None else num(start)
    domain = Domain(lo=lo, lo_closed=lo is not None, integer=True)
    return Assumptions({**problem.rest.domains, problem.name: domain}, problem.rest.facts)


def ends_of(series: Series, name: str) -> tuple[tuple[int, int], tuple[int, int]]:
    """(a, b), (c, d) for the ends a n + b and c n + d. Raises Failed."""
    lo, hi = linear_in(series.lo, name), linear_in(series.hi, name)
    if lo is None or hi is None or not 0 <= lo[0] <= hi[0] <= MAX_STEP:
        raise Failed
    return lo, hi


def regular_from(series: Series, name: str) -> int | None:
    """The first n from which on hi >= lo - 1; None where that is so for every n, or for none."""
    (a, b), (c, d) = ends_of(series, name)
    if a == c:
        if d < b - 1:
            raise Failed
        return None
    return -((d - b + 1) // (c - a))


def bodies_defined(problem: Problem) -> None:
    """Raise Failed unless every term of every sum has a value."""
    for series in series_in(*problem.sides()):
        start = problem.start
        if start is None:
            regular = regular_from(series, problem.name)
            if regular is None:
                raise Failed
            start = regular
        (a, b), _ = ends_of(series, problem.name)
        outer = Powers(problem.name, start, problem.rest, problem.taken() | {series.index})
        if not body_defined(series, a * start + b, with_n(problem, start), outer):
            raise Failed


def body_defined(series: Series, least: int, given: Assumptions, *outer: Powers) -> bool:
    """Whether every term has a value, for an index from ``least`` on that lies between the ends."""
    k = Var(series.index)
    inner = _without_inner(series, least, given)
    if inner is None:
        return False
    body, values = inner
    given = Assumptions({**given.domains, **values}, given.facts)
    domains = {**given.domains, series.index: Domain(num(least), None, True, False, integer=True)}
    finite = [e for e in (series.lo, series.hi) if not infinity.side(e)]
    inside = [Rel(("<=",), (e, k) if e == series.lo else (k, e)) for e in finite]
    taken = {*domains, *free_names(body), *(t for p in outer for t in p.taken)}
    powers = Powers(series.index, least, given, taken)
    try:
        written = powers.expr(body)
        for table in outer:
            table.taken |= powers.taken
            written = table.expr(written)
    except NotWritten:
        return False
    for put, more, facts in _all_cases(powers, *outer):
        wide = Assumptions({**domains, **more}, (*given.facts, *inside, *facts))
        if prove_defined(substitute(written, put), wide) is None:
            return False
    return True


def _without_inner(series: Series, least: int, given: Assumptions) -> tuple[Expr, dict[str, Domain]] | None:
    """The body with a name for each sum in it, which may have any value; None where one may have none.

    A product of positive factors is positive.
    """
    put: dict[Expr, Expr] = {}
    values: dict[str, Domain] = {}
    for inner in series_in(series.body):
        first = constant_value(inner.lo)
        wide = Assumptions(
            {**given.domains, series.index: Domain(num(least), None, True, False, integer=True)}, given.facts
        )
        if first is None or first.denominator != 1 or not body_defined(inner, int(first), wide):
            return None
        names = free_names(inner.hi) or {series.index}
        if len(names) != 1 or any(linear_in(inner.hi, name) is None for name in names):
            return None
        label = f"{series.index}_"
        while label in values or label in given.domains or label in free_names(series.body):
            label += "_"
        values[label] = value_range(inner, wide)
        put[inner] = Var(label)
    return replaced(series.body, put), values


def value_range(series: Series, given: Assumptions) -> Domain:
    """Where the value lies, given that every term has one: a product of positive factors is positive."""
    first = constant_value(series.lo)
    if series.op != "prod" or first is None:
        return Domain()
    index = Domain(num(first), None, True, False, integer=True)
    at = Assumptions({**given.domains, series.index: index}, given.facts)
    return Domain(lo=num(0)) if prove_relation(series.body, ">", num(0), at) is not None else Domain()


def _all_cases(*tables: Powers) -> Iterator[tuple[dict[str, Expr], dict[str, Domain], tuple[Stmt, ...]]]:
    if not tables:
        yield {}, {}, ()
        return
    for put, domains, facts in tables[0].cases():
        for others in _all_cases(*tables[1:]):
            yield {**put, **others[0]}, {**domains, **others[1]}, (*facts, *others[2])


def written_out(node: Node) -> Expr:
    """The node with every sum over a short range of numbers written out."""
    if not isinstance(node, Series):
        done = rebuild(node, written_out)
        assert isinstance(done, Expr)
        return done
    lo, hi = constant_value(node.lo), constant_value(node.hi)
    if lo is None or hi is None or hi - lo > MAX_WRITTEN:
        raise Failed
    # The index has a number before the ends of an inner sum are asked for.
    terms = [written_out(substitute(node.body, {node.index: num(k)})) for k in range(int(lo), int(hi) + 1)]
    return joined(node.op, terms)
