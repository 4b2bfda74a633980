"""The syntax tree of formulas, sets and statements.

Every node is immutable and hashable. ``size`` is the number of nodes of the tree
written out in full, so that a definition which doubles its argument (nested
``gelu``) is refused by a count instead of running out of memory.

An expression after :func:`gateproof.theory.formula.expand` holds *core* nodes
only: :class:`Num`, :class:`Const`, :class:`Var`, :class:`App` with a head of
:data:`CORE_HEADS`, and :class:`Where`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

#: Heads of App that every backend evaluates; arity None means one or more.
CORE_HEADS: dict[str, int | None] = {
    "add": None,
    "mul": None,
    "neg": 1,
    "div": 2,
    "pow": 2,
    "max": None,
    "min": None,
    "abs": 1,
    "sign": 1,
    "exp": 1,
    "log": 1,
    "sqrt": 1,
    "sin": 1,
    "cos": 1,
    "tan": 1,
    "asin": 1,
    "acos": 1,
    "atan": 1,
    "sinh": 1,
    "cosh": 1,
    "tanh": 1,
    "sech": 1,
    "asinh": 1,
    "acosh": 1,
    "atanh": 1,
    "sigmoid": 1,
    "softplus": 1,
    "erf": 1,
    "erfc": 1,
}


_FIELDS: dict[str, tuple[str, ...]] = {}


def _names(kind: type[Any]) -> tuple[str, ...]:
    """The fields of a node type; asking dataclasses for each node took a third of a parse."""
    found = _FIELDS.get(kind.__name__)
    if found is None:
        found = _FIELDS[kind.__name__] = tuple(f.name for f in fields(kind))
    return found


@dataclass(frozen=True, eq=False)
class Node:
    """Base of all nodes; equality is structural, the hash is kept."""

    def __post_init__(self) -> None:
        size = 1 + sum(child.size for child in self.children())
        object.__setattr__(self, "size", size)
        key = (type(self).__name__, *(getattr(self, name) for name in _names(type(self))))
        object.__setattr__(self, "_hash", hash(key))

    size = 1
    _hash = 0

    def children(self) -> Iterator[Node]:
        """Direct sub-nodes, left to right."""
        for name in _names(type(self)):
            yield from _nodes_in(getattr(self, name))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other) or self._hash != hash(other):
            return False
        return all(getattr(self, name) == getattr(other, name) for name in _names(type(self)))

    def walk(self) -> Iterator[Node]:
        """The node and all below it, parents first."""
        stack: list[Node] = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(node.children())


def _nodes_in(value: Any) -> Iterator[Node]:
    if isinstance(value, Node):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _nodes_in(item)


class Expr(Node):
    """An expression: a value on the extended reals (or a set of them)."""


class SetExpr(Node):
    """A set that a name may range over."""


class Stmt(Node):
    """A statement: true or false for given values."""


# --- expressions -------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Num(Expr):
    """An exact rational number."""

    value: Fraction


@dataclass(frozen=True, eq=False)
class Printed(Expr):
    """A printed number ``DEC~``: some real in [lo, hi], the values that round to it."""

    text: str
    lo: Fraction
    hi: Fraction


@dataclass(frozen=True, eq=False)
class Const(Expr):
    """``pi``, ``e`` or ``oo``."""

    name: str


@dataclass(frozen=True, eq=False)
class Var(Expr):
    """A name."""

    name: str


@dataclass(frozen=True, eq=False)
class Index(Expr):
    """``z[i]``, counted from 1."""

    vector: str
    index: Expr


@dataclass(frozen=True, eq=False)
class App(Expr):
    """A function or operator applied to arguments."""

    head: str
    args: tuple[Expr, ...]


@dataclass(frozen=True, eq=False)
class Where(Expr):
    """``then`` where the condition holds, else ``other``; the other branch is not looked at."""

    cond: Stmt
    then: Expr
    other: Expr


@dataclass(frozen=True, eq=False)
class Extremum(Expr):
    """``sup inf max min argmax argmin zeros`` of a body over binds."""

    op: str
    body: Expr
    scope: Scope


@dataclass(frozen=True, eq=False)
class Series(Expr):
    """``sum`` or ``prod`` of a body for an integer index from lo to hi."""

    op: str
    body: Expr
    index: str
    lo: Expr
    hi: Expr


@dataclass(frozen=True, eq=False)
class Limit(Expr):
    """Limit of the body as the variable goes to ``point``; side '+', '-' or ''."""

    body: Expr
    var: str
    point: Expr
    side: str


@dataclass(frozen=True, eq=False)
class Diff(Expr):
    """The ``order``-th derivative in ``var``."""

    body: Expr
    var: str
    order: int


@dataclass(frozen=True, eq=False)
class At(Expr):
    """The body with ``var`` replaced by ``value``."""

    body: Expr
    var: str
    value: Expr


@dataclass(frozen=True, eq=False)
class Taylor(Expr):
    """The Taylor polynomial in ``var`` about ``point``, degree at most ``order``."""

    body: Expr
    var: str
    point: Expr
    order: int


@dataclass(frozen=True, eq=False)
class Integral(Expr):
    """The (improper) integral of the body over ``var`` from lo to hi."""

    body: Expr
    var: str
    lo: Expr
    hi: Expr


@dataclass(frozen=True, eq=False)
class Gauss(Expr):
    """E[body] for var ~ N(mean, q)."""

    body: Expr
    var: str
    q: Expr
    mean: Expr


@dataclass(frozen=True, eq=False)
class Gauss2(Expr):
    """E[body] for centred normal u, v of variance q and correlation c."""

    body: Expr
    u: str
    v: str
    q: Expr
    c: Expr


@dataclass(frozen=True, eq=False)
class Tg(Expr):
    """A threshold gate; branches left to right; one sharpness or one a threshold."""

    x: Expr
    tau: tuple[Expr, ...]
    theta: tuple[Expr, ...]
    slope: tuple[Expr, ...]
    intercept: tuple[Expr, ...]


@dataclass(frozen=True, eq=False)
class Lse(Expr):
    """log sum exp over a vector, optionally without one place."""

    vector: str
    without: Expr | None


@dataclass(frozen=True, eq=False)
class Softmax(Expr):
    """Place ``index`` of softmax of a vector."""

    vector: str
    index: Expr


@dataclass(frozen=True, eq=False)
class FiniteSet(Expr):
    """``{a, b, ...}``, to hold argmax or zeros against."""

    items: tuple[Expr, ...]


# --- sets --------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class NamedSet(SetExpr):
    """``R``, ``N`` (from 0), ``N1`` (from 1) or ``Z``."""

    name: str


@dataclass(frozen=True, eq=False)
class IntervalSet(SetExpr):
    """An interval of the extended reals with open or closed ends."""

    lo: Expr
    hi: Expr
    lo_closed: bool
    hi_closed: bool


@dataclass(frozen=True, eq=False)
class IntRange(SetExpr):
    """The integers ``lo..hi``, both ends in."""

    lo: Expr
    hi: Expr


@dataclass(frozen=True, eq=False)
class SetMinus(SetExpr):
    """A set without finitely many points."""

    base: SetExpr
    points: tuple[Expr, ...]


@dataclass(frozen=True, eq=False)
class SetPower(SetExpr):
    """Vectors of ``n`` places in the base set."""

    base: SetExpr
    n: Expr


# --- statements --------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Rel(Stmt):
    """A chain ``terms[0] ops[0] terms[1] ops[1] ...``."""

    ops: tuple[str, ...]
    terms: tuple[Expr, ...]


@dataclass(frozen=True, eq=False)
class And(Stmt):
    """All of the parts."""

    parts: tuple[Stmt, ...]


@dataclass(frozen=True, eq=False)
class Or(Stmt):
    """At least one of the parts."""

    parts: tuple[Stmt, ...]


@dataclass(frozen=True, eq=False)
class Not(Stmt):
    """The negation."""

    part: Stmt


@dataclass(frozen=True, eq=False)
class Implies(Stmt):
    """``left => right``."""

    left: Stmt
    right: Stmt


@dataclass(frozen=True, eq=False)
class In(Stmt):
    """Membership of a value in a set."""

    item: Expr
    within: SetExpr


@dataclass(frozen=True, eq=False)
class Pred(Stmt):
    """``even odd increasing decreasing convex continuous differentiable defined``."""

    name: str
    body: Expr
    scope: Scope


@dataclass(frozen=True, eq=False)
class Exists(Stmt):
    """Some values of the scope make the body true."""

    scope: Scope
    body: Stmt


# --- scopes ------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Bind(Node):
    """``name in within``."""

    name: str
    within: SetExpr


@dataclass(frozen=True, eq=False)
class Scope(Node):
    """Names with their sets, and conditions on them; without binds: nothing bound."""

    binds: tuple[Bind, ...]
    conditions: tuple[Stmt, ...]

    def names(self) -> tuple[str, ...]:
        """The bound names in order."""
        return tuple(b.name for b in self.binds)


@dataclass(frozen=True, eq=False)
class Claim(Node):
    """A closed statement: for all values of the scope the body holds."""

    scope: Scope
    body: Stmt


def rebuild(node: Any, change: Callable[[Node], Node]) -> Any:
    """The node with ``change`` applied to each direct child (tuples included)."""
    if isinstance(node, Node):
        old = [getattr(node, name) for name in _names(type(node))]
        values = [_rebuild_value(value, change) for value in old]
        if all(a is b for a, b in zip(values, old, strict=True)):
            return node
        return type(node)(*values)
    return node


def _rebuild_value(value: Any, change: Callable[[Node], Node]) -> Any:
    if isinstance(value, Node):
        return change(value)
    if isinstance(value, tuple) and any(isinstance(v, Node) for v in value):
        new = tuple(change(v) if isinstance(v, Node) else v for v in value)
        return value if all(a is b for a, b in zip(new, value, strict=True)) else new
    return value


def num(value: int | str | Fraction) -> Num:
    """An exact number node."""
    return Num(Fraction(value))
