"""A statement about a function: its scope, what the code is called with, and what remains to be compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from gateproof.numerics.backends.normal import normal
from gateproof.numerics.points import at_point, rational_bounds
from gateproof.theory.formula import FormulaError, parse_claim
from gateproof.theory.formula.expand import expand_node
from gateproof.theory.formula.library import Definition, arities
from gateproof.theory.formula.nodes import (
    And,
    App,
    Const,
    Diff,
    Expr,
    IntervalSet,
    NamedSet,
    Node,
    Num,
    Rel,
    SetExpr,
    SetMinus,
    Stmt,
    Var,
)
from gateproof.theory.formula.rewriting import replaced_node
from gateproof.theory.formula.statement_nodes import Bind

MAX_ARGUMENTS = 16


@dataclass(frozen=True)
class Call:
    """The function, or its derivative in an argument, at arguments that are names, -names or numbers."""

    name: str
    arguments: tuple[Expr, ...]
    by: int | None = None


@dataclass(frozen=True)
class Held:
    """What is compared at every point: relations between terms in the names and in the calls' results."""

    binds: tuple[Bind, ...]
    conditions: tuple[Stmt, ...]
    relations: tuple[Rel, ...]
    calls: tuple[Call, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The bound names in order."""
        return tuple(b.name for b in self.binds)


def read(text: str, function: str) -> Held:
    """A statement that calls ``function``. Raises FormulaError for what cannot be held against code."""
    if not function.isidentifier() or function in arities():
        raise FormulaError(f"{function!r} is no name for a function here: the language has one of that name")
    # Its body is never looked at: the calls are taken out before anything is written out.
    claim = parse_claim(text, {function: _Opaque(function)})
    if claim.format:
        raise FormulaError("a statement about code has its format as dtype=..., not in front", 1)
    parts = claim.body.parts if isinstance(claim.body, And) else (claim.body,)
    if not claim.scope.binds:
        raise FormulaError('a statement about code needs a name with its set, as in "for x in R: ..."')
    for bind in claim.scope.binds:
        if not _is_real(bind.within):
            raise FormulaError(
                f"{bind.name}: code is called on numbers of R, or of an interval", name=bind.name
            )
    calls: dict[Expr, Call] = {}
    relations = []
    for part in parts:
        if not isinstance(part, Rel):
            raise FormulaError("about code relations are decided, joined by 'and'; write predicates out")
        _collect(part, function, claim.scope.names(), calls)
        relations.append(part)
    for condition in claim.scope.conditions:
        if _mentions(condition, function):
            raise FormulaError(f"a condition cannot call {function}")
    if not calls:
        raise FormulaError(f"the statement does not call {function}")
    put: dict[Expr, Expr] = {node: Var(call.name) for node, call in calls.items()}
    made = [_stable(expand_node(replaced_node(r, put))) for r in relations]
    conditions = [expand_node(c) for c in claim.scope.conditions]
    return Held(
        claim.scope.binds,
        tuple(c for c in conditions if isinstance(c, Stmt)),
        tuple(r for r in made if isinstance(r, Rel)),
        tuple(calls.values()),
    )


class _Opaque(Definition):
    """A function that nothing is known of."""

    def __init__(self, name: str) -> None:
        super().__init__(name, (), Num(Fraction(0)))

    @property
    def arity(self) -> tuple[int, int | None]:
        return 1, MAX_ARGUMENTS


def _is_real(within: SetExpr) -> bool:
    if isinstance(within, SetMinus):
        return _is_real(within.base)
    return isinstance(within, IntervalSet) or (isinstance(within, NamedSet) and within.name == "R")


def _stable(node: Node) -> Node:
    """A relation whose sides have values far out too: log(1 + exp(x)) as a softplus."""
    assert isinstance(node, Rel)
    return Rel(node.ops, tuple(normal(term) for term in node.terms))


def _mentions(node: Node, function: str) -> bool:
    return any(isinstance(n, App) and n.head == function for n in node.walk())


def _collect(node: Node, function: str, names: tuple[str, ...], calls: dict[Expr, Call]) -> None:
    if isinstance(node, Expr) and node in calls:
        return
    if isinstance(node, Diff) and _mentions(node.body, function):
        inner = node.body
        place = [k for k, a in enumerate(inner.args) if a == Var(node.var)] if isinstance(inner, App) else []
        if not isinstance(inner, App) or inner.head != function or len(place) != 1 or node.order != 1:
            raise FormulaError(
                f"of {function} the first derivative in a name is taken: diff({function}(x), x)"
            )
        if any(a != Var(node.var) and Var(node.var) in set(a.walk()) for a in inner.args):
            raise FormulaError(f"{node.var} stands in two arguments of {function}")
        _checked(inner, function, names)
        calls[node] = Call(f"result_{len(calls) + 1}", inner.args, place[0])
        return
    if isinstance(node, App) and node.head == function:
        _checked(node, function, names)
        calls[node] = Call(f"result_{len(calls) + 1}", node.args)
        return
    for child in node.children():
        _collect(child, function, names, calls)


def _checked(node: App, function: str, names: tuple[str, ...]) -> None:
    for a in node.args:
        inner = a.args[0] if isinstance(a, App) and a.head == "neg" else a
        if isinstance(inner, Num) or (isinstance(inner, Var) and inner.name in names):
            continue
        raise FormulaError(
            f"{function} is called with names, -names and numbers: others may be no floating-point numbers"
        )


def argument(node: Expr, point: Mapping[str, Fraction]) -> Fraction:
    """An argument of a call at a point."""
    if isinstance(node, Num):
        return node.value
    if isinstance(node, Var):
        return point[node.name]
    assert isinstance(node, App)
    return -argument(node.args[0], point)


def end(node: Expr, side: int) -> Fraction | None:
    """An end of an interval, a rational inside (``side`` +1: a lower end); None where it is infinite."""
    inner = node.args[0] if isinstance(node, App) and node.head == "neg" else node
    if inner == Const("oo"):
        return None
    found = expand_node(node)
    assert isinstance(found, Expr)
    low, high = rational_bounds(at_point(found, {}, 256))
    return high if side > 0 else low
