"""The syntax tree of formulas, sets and statements.

Every node is immutable and hashable. ``size`` is the number of nodes of the tree
written out in full, so that a definition which doubles its argument (nested
``gelu``) is refused by a count instead of running out of memory.

An expression after :func:`gateproof.theory.formula.expand` holds *core* nodes
only: :class:`Num`, :class:`Const`, :class:`Var`, :class:`App` with a head of
:data:`CORE_HEADS`, and :class:`Where`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from gateproof.theory.formula.statement_nodes import (
    And,
    Bind,
    Claim,
    Exists,
    Implies,
    In,
    IntervalSet,
    IntRange,
    MatrixSet,
    NamedSet,
    Not,
    Or,
    PointSet,
    Pred,
    Rel,
    Scope,
    SetMinus,
    SetPower,
)
from gateproof.theory.formula.tree import Expr, Node, SetExpr, Stmt, rebuild

__all__ = [
    "CORE_HEADS",
    "And",
    "App",
    "At",
    "Average",
    "Bind",
    "Claim",
    "Const",
    "Diff",
    "Entry",
    "Exists",
    "Expr",
    "Extremum",
    "FiniteSet",
    "Fl",
    "Gauss",
    "Gauss2",
    "Implies",
    "In",
    "Index",
    "IntRange",
    "Integral",
    "IntervalSet",
    "Limit",
    "Lse",
    "Matrix",
    "MatrixSet",
    "MeanField",
    "NamedSet",
    "Node",
    "Not",
    "Num",
    "Or",
    "PointSet",
    "Pred",
    "Printed",
    "Rel",
    "Scope",
    "Series",
    "SetExpr",
    "SetMinus",
    "SetPower",
    "Softmax",
    "Stmt",
    "Taylor",
    "Tg",
    "Ulp",
    "Var",
    "Where",
    "num",
    "rebuild",
]

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
class Average(Expr):
    """E[body] for var of a law: logistic of scale ``first`` and mean ``second``, or uniform between them."""

    law: str
    body: Expr
    var: str
    first: Expr
    second: Expr


@dataclass(frozen=True, eq=False)
class MeanField(Expr):
    """A set of numbers of the mean field theory of an activation, the body in ``var``.

    ``op`` is one of ``names.FIELD``; ``sigma_w2`` is None but for fixed_points. ``power`` is the p of
    lim l^p (1 - c_l) for depth_rate, else 1.
    """

    op: str
    body: Expr
    var: str
    sigma_w2: Expr | None
    sigma_b2: Expr
    power: int


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
class Matrix(Expr):
    """``[[a, b], [c, d]]``: the entries row by row."""

    entries: tuple[Expr, ...]
    columns: int


@dataclass(frozen=True, eq=False)
class Entry(Expr):
    """``A[i, j]``, both counted from 1."""

    matrix: Expr
    row: Expr
    column: Expr


@dataclass(frozen=True, eq=False)
class FiniteSet(Expr):
    """``{a, b, ...}``, to hold argmax or zeros against."""

    items: tuple[Expr, ...]


@dataclass(frozen=True, eq=False)
class Fl(Expr):
    """The body computed operation by operation in the format of the claim, as it is written."""

    body: Expr


@dataclass(frozen=True, eq=False)
class Ulp(Expr):
    """The unit in the last place of a real number; ``of`` is None until the difference beside it is known."""

    of: Expr | None


def num(value: int | str | Fraction) -> Num:
    """An exact number node."""
    return Num(Fraction(value))
