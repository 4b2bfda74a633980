"""Relations with sums whose ends are linear in a whole n: their parts, and where they have a value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gateproof.theory.exact import infinity
from gateproof.theory.exact.defined import prove_defined
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.integer_powers import NotWritten, Powers, linear_in
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import Expr, Node, Rel, Series, Stmt, Var, num, rebuild
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.rewriting import joined
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
    """The sums and products, each once."""
    return list(dict.fromkeys(n for node in nodes for n in node.walk() if isinstance(n, Series)))


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
        if series_in(series.body):
            raise Failed
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
    domains = {**given.domains, series.index: Domain(num(least), None, True, False, integer=True)}
    finite = [e for e in (series.lo, series.hi) if not infinity.side(e)]
    inside = [Rel(("<=",), (e, k) if e == series.lo else (k, e)) for e in finite]
    taken = {*domains, *free_names(series.body), *(t for p in outer for t in p.taken)}
    powers = Powers(series.index, least, given, taken)
    try:
        written = powers.expr(series.body)
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


def _all_cases(*tables: Powers) -> Iterator[tuple[dict[str, Expr], dict[str, Domain], tuple[Stmt, ...]]]:
    if not tables:
        yield {}, {}, ()
        return
    for put, domains, facts in tables[0].cases():
        for others in _all_cases(*tables[1:]):
            yield {**put, **others[0]}, {**domains, **others[1]}, (*facts, *others[2])


def written_out(node: Node) -> Expr:
    """The node with every sum over a short range of numbers written out."""
    done = rebuild(node, written_out)
    assert isinstance(done, Expr)
    if not isinstance(done, Series):
        return done
    lo, hi = constant_value(done.lo), constant_value(done.hi)
    if lo is None or hi is None or hi - lo > MAX_WRITTEN:
        raise Failed
    terms = [substitute(done.body, {done.index: num(k)}) for k in range(int(lo), int(hi) + 1)]
    return joined(done.op, terms)
