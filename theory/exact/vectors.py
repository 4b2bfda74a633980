"""Statements on vectors of any length: softmax, log sum exp, sums.

For n >= 2 and one place i, a statement sees the others only through S, the sum of
exp(z_k) over k other than i, which takes every positive value. For n = 1 there are no
others: S = 0, and the log sum exp of nothing is -oo.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gateproof.theory.exact import infinity
from gateproof.theory.exact.budget import bounded
from gateproof.theory.exact.defined import prove_defined
from gateproof.theory.exact.domain import Assumptions, Derivation, Domain
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula.library import substitute_node
from gateproof.theory.formula.nodes import (
    App,
    Bind,
    Expr,
    Index,
    IntRange,
    Lse,
    NamedSet,
    Node,
    Num,
    Scope,
    Series,
    SetPower,
    Softmax,
    Var,
    num,
    rebuild,
)


@dataclass(frozen=True)
class _Shape:
    """A vector, the name or number of its length, and one place in it (or none)."""

    vector: str
    length: Expr
    place: str | None

    @property
    def others(self) -> str:
        """The name of the sum over the other places."""
        return "S" if self.vector != "S" else "S_"


class _Outside(Exception):
    """The statement uses more of the vector than one place and the sum of the others."""


@bounded
def prove_vector_relation(
    lhs: Expr, op: str, rhs: Expr, scope: Scope, extra: Assumptions | None = None
) -> Derivation | None:
    """A proof for all n, all vectors and all places of the scope, or None.

    The scope binds n in N1 (or the length is a number), z in R**n and at most one i in 1..n;
    ``extra`` holds the domains of further names.
    """
    shape = _shape(scope, extra)
    if shape is None or scope.conditions:
        return None
    base = extra or Assumptions()
    steps: list[str] = []
    trust: set[str] = set()
    for single in _lengths(shape):
        try:
            left, right = (_reduce(side, shape, single=single) for side in (lhs, rhs))
        except _Outside:
            return None
        domains = {**base.domains, shape.vector: Domain()}
        if not single:
            domains[shape.others] = Domain(lo=num(0))
        inner = Assumptions(domains, base.facts)
        shown = _finite_relation(left, op, right, inner)
        if shown is None:
            return None
        steps.append(_headline(shape, single=single))
        steps.extend("  " + s for s in shown.steps)
        trust |= set(shown.trust)
    return Derivation(tuple(steps), tuple(sorted(trust)))


def _headline(shape: _Shape, *, single: bool) -> str:
    if single:
        return f"n = 1: no other places, so {shape.vector} is its one value"
    if shape.place is None:
        return f"{shape.others} = the sum of exp({shape.vector}[k]) over all k, positive"
    place = f"{shape.vector}[{shape.place}]"
    return f"n >= 2: write {shape.vector} for {place}, {shape.others} > 0 for the sum of exp over the others"


def _finite_relation(left: Expr, op: str, right: Expr, inner: Assumptions) -> Derivation | None:
    sides = []
    for side in (left, right):
        folded, absorbed = infinity.fold(side)
        if any(prove_defined(a, inner) is None for a in absorbed):
            return None
        sides.append(folded)
    if any(infinity.has_infinity(s) for s in sides):
        same = op in ("==", "<=", ">=") and infinity.side(sides[0]) == infinity.side(sides[1]) != 0
        return Derivation(("both sides are infinite",)) if same else None
    return prove_relation(sides[0], op, sides[1], inner)


def _shape(scope: Scope, extra: Assumptions | None) -> _Shape | None:
    vectors = [b for b in scope.binds if isinstance(b.within, SetPower)]
    if len(vectors) != 1:
        return None
    vector = vectors[0]
    assert isinstance(vector.within, SetPower)
    if vector.within.base != NamedSet("R"):
        return None
    length = vector.within.n
    places = [b for b in scope.binds if _is_place(b, length)]
    known = set(extra.domains) if extra is not None else set()
    for bind in scope.binds:
        is_length = isinstance(length, Var) and bind == Bind(length.name, NamedSet("N1"))
        if bind is not vector and bind not in places and not is_length and bind.name not in known:
            return None
    if isinstance(length, Var) and Bind(length.name, NamedSet("N1")) not in scope.binds:
        return None
    if not isinstance(length, Var | Num) or len(places) > 1:
        return None
    if isinstance(length, Num) and (length.value < 1 or length.value.denominator != 1):
        return None
    shape = _Shape(vector.name, length, places[0].name if places else None)
    return None if {shape.vector, shape.others, shape.place} & known else shape


def _is_place(bind: Bind, length: Expr) -> bool:
    return bind.within == IntRange(num(1), length)


def _lengths(shape: _Shape) -> list[bool]:
    """Whether the cases n = 1 (True) and n >= 2 (False) occur; without a place they are one."""
    if shape.place is None:
        return [False]
    if isinstance(shape.length, Num):
        return [shape.length.value == 1]
    return [True, False]


def _reduce(node: Expr, shape: _Shape, *, single: bool) -> Expr:
    """The statement in the value at the place, written with the vector's name, and S."""
    value = Var(shape.vector)
    others: Expr = num(0) if single else Var(shape.others)
    at_place = num(0) if shape.place is None else App("exp", (value,))
    total = others if shape.place is None else App("add", (at_place, others))

    def visit(inner: Node) -> Node:
        if isinstance(inner, Index):
            _need_place(inner.vector, inner.index, shape)
            return value
        if isinstance(inner, Softmax):
            _need_place(inner.vector, inner.index, shape)
            return App("div", (at_place, total))
        if isinstance(inner, Lse):
            if inner.without is None:
                _need_vector(inner.vector, shape)
                return App("log", (total,))
            _need_place(inner.vector, inner.without, shape)
            return infinity.MINUS_INFINITY if single else App("log", (others,))
        if isinstance(inner, Series):
            return _sum(inner, shape, total)
        if isinstance(inner, Var) and inner.name in (shape.vector, shape.place, shape.others):
            raise _Outside
        if isinstance(inner, Var) and inner == shape.length:
            raise _Outside
        return rebuild(inner, visit)  # type: ignore[no-any-return]

    result = visit(node)
    assert isinstance(result, Expr)
    return result


def _need_vector(vector: str, shape: _Shape) -> None:
    if vector != shape.vector:
        raise _Outside


def _need_place(vector: str, index: Expr, shape: _Shape) -> None:
    _need_vector(vector, shape)
    if shape.place is None or index != Var(shape.place):
        raise _Outside


def _sum(node: Series, shape: _Shape, total: Expr) -> Expr:
    """sum of exp(z[k]) and of softmax(z, k) over all k."""
    if node.op != "sum" or node.lo != num(1) or node.hi != shape.length:
        raise _Outside
    place = Var(node.index)
    if node.body == App("exp", (Index(shape.vector, place),)):
        return total
    if node.body == Softmax(shape.vector, place):
        return App("div", (total, total))
    raise _Outside


def expand_vectors(
    node: Node, lengths: Mapping[str, int], values: Mapping[str, int] | None = None
) -> tuple[Node, dict[str, Domain]]:
    """The node for vectors of fixed length, over names ``z_1 ...``, with their domains.

    ``lengths`` gives each vector's length, ``values`` the integers that names such as n and i
    stand for. Raises ValueError for a place outside of its vector.
    """
    put: dict[str, Expr] = {k: num(v) for k, v in (values or {}).items()}
    fixed = substitute_node(node, put)
    domains = {f"{z}_{k}": Domain() for z, n in lengths.items() for k in range(1, n + 1)}
    return _expanded(fixed, lengths), domains


def _expanded(node: Node, lengths: Mapping[str, int]) -> Node:
    if isinstance(node, Series):
        lo, hi = _integer(node.lo), _integer(node.hi)
        terms = [substitute_node(node.body, {node.index: num(k)}) for k in range(lo, hi + 1)]
        parts = tuple(p for p in (_expanded(t, lengths) for t in terms) if isinstance(p, Expr))
        if not parts:
            return num(0 if node.op == "sum" else 1)
        return parts[0] if len(parts) == 1 else App("add" if node.op == "sum" else "mul", parts)
    if isinstance(node, Index):
        return _entry(node.vector, _integer(node.index), lengths)
    if isinstance(node, Lse):
        without = None if node.without is None else _integer(node.without)
        places = [k for k in range(1, lengths[node.vector] + 1) if k != without]
        if not places:
            return infinity.MINUS_INFINITY
        return App("log", (_exponentials(node.vector, places, lengths),))
    if isinstance(node, Softmax):
        places = list(range(1, lengths[node.vector] + 1))
        top = App("exp", (_entry(node.vector, _integer(node.index), lengths),))
        return App("div", (top, _exponentials(node.vector, places, lengths)))
    result = rebuild(node, lambda c: _expanded(c, lengths))
    assert isinstance(result, Node)
    return result


def _exponentials(vector: str, places: list[int], lengths: Mapping[str, int]) -> Expr:
    parts = tuple(App("exp", (_entry(vector, k, lengths),)) for k in places)
    return parts[0] if len(parts) == 1 else App("add", parts)


def _entry(vector: str, k: int, lengths: Mapping[str, int]) -> Var:
    if not 1 <= k <= lengths[vector]:
        raise ValueError(f"{vector} has no place {k}")
    return Var(f"{vector}_{k}")


def _integer(node: Expr) -> int:
    from gateproof.theory.formula.powers import constant_value

    value = constant_value(node)
    if value is None or value.denominator != 1:
        raise ValueError("an index that is no integer")
    return int(value)
