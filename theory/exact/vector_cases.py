"""The ways in which the places that a statement names can lie in a vector of any length.

Named places coincide or not; beside them there are no others, or some. Of the others a
statement sees sums over them alone: S = sum exp(z_k) is positive where there are some. With
masked places allowed each named one is finite or -oo, and S is 0 where all others are -oo.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.formula.nodes import (
    App,
    Bind,
    Const,
    Exists,
    Expr,
    Extremum,
    Index,
    IntervalSet,
    IntRange,
    Lse,
    NamedSet,
    Node,
    Num,
    Rel,
    Scope,
    SetExpr,
    SetPower,
    Softmax,
    Stmt,
    Var,
    num,
)
from gateproof.theory.formula.scopes import free_names

MAX_PLACES = 4
OPEN = App("neg", (Const("oo"),))


class Outside(Exception):
    """The statement uses more of the vector than can be seen through a few places and sums."""


@dataclass(frozen=True)
class Shape:
    """One vector: its name, length, what its finite places range over, and the places named."""

    vector: str
    length: Expr
    base: Domain
    masked: bool
    places: tuple[Expr, ...]
    scalars: Assumptions
    conditions: tuple[Stmt, ...]
    #: At least one place is finite: a condition of the scope.
    some_finite: bool = False


@dataclass(frozen=True)
class Case:
    """One way: classes of equal places, and what is beside them.

    ``finite`` tells of each class whether its place is finite. ``others`` is "none", "some", or
    "masked": others there are, but all are -oo.
    """

    shape: Shape
    classes: tuple[tuple[Expr, ...], ...]
    finite: tuple[bool, ...]
    others: str
    names: tuple[str, ...] = field(default=())

    def class_of(self, place: Expr) -> int:
        """The class that a place belongs to. Raises Outside."""
        for k, members in enumerate(self.classes):
            if place in members:
                return k
        raise Outside

    @property
    def all_masked(self) -> bool:
        """Whether no place is finite."""
        return not any(self.finite) and self.others != "some"


def shape_of(scope: Scope, extra: Assumptions | None, *nodes: Node) -> Shape:
    """The shape of a scope with one vector. Raises Outside."""
    vectors = [b for b in scope.binds if isinstance(b.within, SetPower)]
    if len(vectors) != 1:
        raise Outside
    (bind,) = vectors
    assert isinstance(bind.within, SetPower)
    base, masked = _base(bind.within.base)
    length = bind.within.n
    if isinstance(length, Num) and (length.value < 1 or length.value.denominator != 1):
        raise Outside
    indices = [b.name for b in scope.binds if b.within == IntRange(num(1), length)]
    domains = dict(extra.domains) if extra is not None else {}
    for other in scope.binds:
        if other is bind or other.name in indices or other.name in domains:
            continue
        domains[other.name] = _scalar(other)
    if isinstance(length, Var):
        domain = domains.get(length.name)
        if domain is None or not domain.integer or not _is_at_least_one(domain):
            raise Outside
    elif not isinstance(length, Num):
        raise Outside
    some_finite = any(_is_some_finite(c, bind.name, length) for c in scope.conditions)
    conditions = tuple(c for c in scope.conditions if not _is_some_finite(c, bind.name, length))
    facts = extra.facts if extra is not None else ()
    places = _places((*nodes, *conditions), bind.name, length, indices)
    return Shape(
        bind.name, length, base, masked, places, Assumptions(domains, facts), conditions, some_finite
    )


def _base(within: SetExpr) -> tuple[Domain, bool]:
    if within == NamedSet("R"):
        return Domain(), False
    if isinstance(within, IntervalSet) and not free_names(within):
        masked = within.lo == OPEN and within.lo_closed
        if within.hi == Const("oo") and within.hi_closed:
            raise Outside
        lo = None if within.lo == OPEN else within.lo
        hi = None if within.hi == Const("oo") else within.hi
        return Domain(
            lo, hi, lo is not None and within.lo_closed, hi is not None and within.hi_closed
        ), masked
    raise Outside


def _scalar(bind: Bind) -> Domain:
    starts = {"N": num(0), "N1": num(1)}
    if isinstance(bind.within, NamedSet):
        start = starts.get(bind.within.name)
        return Domain(start, None, start is not None, False, integer=bind.within.name != "R")
    if isinstance(bind.within, IntervalSet) and not free_names(bind.within):
        found, masked = _base(bind.within)
        if not masked:
            return found
    raise Outside


def _is_at_least_one(domain: Domain) -> bool:
    lo = domain.lo
    return isinstance(lo, Num) and (lo.value > 0 or (lo.value == 0 and not domain.lo_closed))


def _is_some_finite(stmt: Stmt, vector: str, length: Expr) -> bool:
    """``exists k in 1..n: (z[k] > -oo)``, in either order."""
    if not isinstance(stmt, Exists) or len(stmt.scope.binds) != 1 or stmt.scope.conditions:
        return False
    (bind,) = stmt.scope.binds
    if bind.within != IntRange(num(1), length):
        return False
    entry = Index(vector, Var(bind.name))
    return stmt.body in (
        Rel((">",), (entry, OPEN)),
        Rel(("<",), (OPEN, entry)),
        Rel(("!=",), (entry, OPEN)),
        Rel(("!=",), (OPEN, entry)),
    )


def _places(nodes: tuple[Node, ...], vector: str, length: Expr, indices: list[str]) -> tuple[Expr, ...]:
    found: dict[Expr, None] = {}
    for node in nodes:
        for part in node.walk():
            if isinstance(part, Rel):
                # Places compared with each other count, even if no value at them does.
                found.update({t: None for t in part.terms if isinstance(t, Var) and t.name in indices})
            index = None
            if isinstance(part, Index | Softmax) and part.vector == vector:
                index = part.index
            elif isinstance(part, Lse) and part.vector == vector:
                index = part.without
            elif isinstance(part, Extremum):
                index = extreme_place(part, vector, length)
            if index is None or (isinstance(index, Var) and _is_bound_inside(index.name, nodes)):
                continue
            known = isinstance(index, Num) or index == length
            if not known and not (isinstance(index, Var) and (index.name in indices or " " in index.name)):
                raise Outside
            found[index] = None
    if len(found) > MAX_PLACES:
        raise Outside
    return tuple(found)


def _is_bound_inside(name: str, nodes: tuple[Node, ...]) -> bool:
    from gateproof.theory.formula.scopes import bound_names

    return any(name in bound_names(part) for node in nodes for part in node.walk())


def extreme_place(node: Extremum, vector: str, length: Expr) -> Expr | None:
    """A stand-in for the place where ``max(z[k], k in 1..n)`` or ``min`` is attained."""
    if len(node.scope.binds) != 1 or node.scope.conditions:
        return None
    (bind,) = node.scope.binds
    head = {"max": "max", "sup": "max", "min": "min", "inf": "min"}.get(node.op)
    if head is None or bind.within != IntRange(num(1), length) or node.body != Index(vector, Var(bind.name)):
        return None
    # The space keeps the name apart from every name of a statement.
    return Var(f"{head} {vector}")


def cases(shape: Shape) -> Iterator[Case]:
    """Every way; what the conditions on places exclude is left out."""
    for classes in _partitions(list(shape.places)):
        if any(sum(isinstance(p, Num) for p in members) > 1 for members in classes):
            continue
        for others in ("none", "some", "masked") if shape.masked else ("none", "some"):
            if isinstance(shape.length, Num):
                enough = shape.length.value - len(classes)
                if enough < 0 or (enough == 0) != (others == "none"):
                    continue
            if others == "none" and not classes:
                continue
            for finite in _masks(len(classes), masked=shape.masked):
                case = Case(shape, tuple(tuple(c) for c in classes), finite, others, _names(shape, classes))
                if not (shape.some_finite and case.all_masked):
                    yield case


def _masks(count: int, *, masked: bool) -> Iterator[tuple[bool, ...]]:
    if not masked:
        yield (True,) * count
        return
    for bits in range(2**count):
        yield tuple(not bits >> k & 1 for k in range(count))


def _partitions(items: list[Expr]) -> Iterator[list[list[Expr]]]:
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for smaller in _partitions(rest):
        yield [[first], *smaller]
        for k in range(len(smaller)):
            yield [*smaller[:k], [first, *smaller[k]], *smaller[k + 1 :]]


def _names(shape: Shape, classes: list[list[Expr]]) -> tuple[str, ...]:
    """A name for the value of each class: the vector's own where there is one class only."""
    if len(classes) == 1:
        return (shape.vector,)
    found = []
    for k, members in enumerate(classes):
        place = members[0]
        label = (
            place.name if isinstance(place, Var) else str(place.value) if isinstance(place, Num) else str(k)
        )
        name = f"{shape.vector}_{label}".replace(" ", "_")
        while name in shape.scalars.domains or name in found:
            name += "_"
        found.append(name)
    return tuple(found)
