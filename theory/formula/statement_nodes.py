"""Nodes of sets, statements and scopes."""

from __future__ import annotations

from dataclasses import dataclass

from gateproof.theory.formula.tree import Expr, Node, SetExpr, Stmt

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
class PointSet(SetExpr):
    """The set of points that ``zeros``, ``argmax``, ``argmin`` or ``{a, b, ...}`` stands for."""

    points: Expr


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


@dataclass(frozen=True, eq=False)
class MatrixSet(SetExpr):
    """Matrices with entries in the base set; both sizes are from 1 to 4."""

    base: SetExpr
    rows: int
    columns: int


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
    """A closed statement: for all values of the scope the body holds.

    With a ``format`` (a name of ``formats.FORMATS``) the names range over its finite numbers only.
    """

    scope: Scope
    body: Stmt
    format: str = ""
