"""From the language to one core expression; what has no form for arrays is refused by name."""

from __future__ import annotations

from fractions import Fraction

from gateproof.numerics.backends.algebra import is_closed
from gateproof.numerics.backends.normal import normal
from gateproof.numerics.backends.numbers import to_float
from gateproof.numerics.backends.partial import Sides, first_partial, partial
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.infinity import side as infinite_side
from gateproof.theory.exact.limits import limit
from gateproof.theory.exact.series import taylor
from gateproof.theory.formula import expand, free_names, substitute, to_text
from gateproof.theory.formula.errors import FormulaError
from gateproof.theory.formula.hints import MEAN, MEANS
from gateproof.theory.formula.nodes import (
    And,
    App,
    At,
    Const,
    Diff,
    Expr,
    Implies,
    In,
    Index,
    IntervalSet,
    Limit,
    Lse,
    Node,
    Not,
    Num,
    Or,
    Printed,
    Rel,
    Series,
    Softmax,
    Stmt,
    Taylor,
    Var,
    Where,
    num,
    rebuild,
)
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.rewriting import joined
from gateproof.theory.formula.undropped import undropped
from gateproof.theory.special import FAMILIES

MAX_TERMS = 200


def core(node: Expr) -> Expr:
    """The core expression of a formula. Raises FormulaError for what has no form for arrays."""
    found = _visit(expand(node))
    assert isinstance(found, Expr)
    _refuse_infinity(found)
    _refuse_no_value(found)
    return found


def least(sides: Sides) -> Expr:
    """The number of least size between two sides, as an expression."""
    right, left = sides
    if right == left:
        return right
    low, high = App("min", (right, left)), App("max", (right, left))
    return App("add", (App("max", (low, num(0))), App("min", (high, num(0)))))


def _visit(node: Node) -> Node:
    done = rebuild(node, _visit)
    if isinstance(done, Diff):
        return _derivative(done)
    if isinstance(done, At):
        return undropped(substitute(done.body, {done.var: done.value}), (done.value,))
    if isinstance(done, Taylor):
        return _taylor(done)
    if isinstance(done, Series):
        return _series(done)
    if isinstance(done, Limit):
        return _limit(done)
    if isinstance(done, Implies):
        return Or((Not(done.left), done.right))
    if isinstance(done, In):
        return _member(done)
    if isinstance(done, App) and done.head in FAMILIES and FAMILIES[done.head].parameters:
        raise FormulaError(
            f"{to_text(done)} has no form for arrays", hint=f"the parameters of {done.head} are numbers"
        )
    if isinstance(done, Num | Const | Var | App | Where | Rel | And | Or | Not):
        return done
    if isinstance(done, Expr | Stmt):
        raise _refusal(done)
    assert isinstance(done, Node)
    return done


def _refusal(node: Node) -> FormulaError:
    if isinstance(node, Index) and node.vector in MEANS:
        return FormulaError(f"{to_text(node)}: {node.vector!r} is not bound", hint=MEAN)
    if isinstance(node, Index | Lse | Softmax):
        return FormulaError(f"{to_text(node)}: vectors have no form for arrays", hint="name each place")
    if isinstance(node, Printed):
        return FormulaError(f"{to_text(node)} is a range of numbers", hint="leave out the ~")
    return FormulaError(f"{to_text(node)} has no form for arrays")


def _domains(node: Expr) -> Assumptions:
    return Assumptions({name: Domain() for name in free_names(node)})


def _derivative(node: Diff) -> Expr:
    if node.order == 0:
        return node.body
    sides = first_partial(normal(node.body), node.var)
    for _ in range(node.order - 1):
        sides = partial(sides, node.var)
    return least(sides)


def _taylor(node: Taylor) -> Expr:
    found = taylor(node.body, node.var, node.point, node.order, _domains(node))
    if found is None:
        raise FormulaError(f"{to_text(node)} was not found")
    return undropped(found[0], (node.point,))


def _limit(node: Limit) -> Expr:
    found = limit(node.body, node.var, node.point, node.side, _domains(node))
    if not isinstance(found, tuple):
        raise FormulaError(f"{to_text(node)} has no form for arrays: the limit was not found for all values")
    return found[0] if infinite_side(node.point) else undropped(found[0], (node.point,))


def _series(node: Series) -> Expr:
    lo, hi = constant_value(node.lo), constant_value(node.hi)
    if lo is None or hi is None or lo.denominator != 1 or hi.denominator != 1 or hi - lo >= MAX_TERMS:
        raise FormulaError(
            f"{to_text(node)}: ends that are whole numbers, {MAX_TERMS} terms at most, are expected"
        )
    terms = [substitute(node.body, {node.index: Num(Fraction(k))}) for k in range(int(lo), int(hi) + 1)]
    return joined(node.op, terms)


def _member(node: In) -> Stmt:
    if not isinstance(node.within, IntervalSet):
        raise FormulaError(f"{to_text(node)}: an interval is expected")
    lo = "<=" if node.within.lo_closed else "<"
    hi = "<=" if node.within.hi_closed else "<"
    return Rel((lo, hi), (node.within.lo, node.item, node.within.hi))


def _refuse_infinity(node: Node) -> None:
    """Infinity is for comparisons only."""
    if isinstance(node, Rel):
        for term in node.terms:
            if term not in (Const("oo"), App("neg", (Const("oo"),))):
                _refuse_infinity(term)
        return
    if node == Const("oo"):
        raise FormulaError("oo is not a number", hint="it may stand in comparisons")
    for child in node.children():
        _refuse_infinity(child)


def _refuse_no_value(node: Node) -> None:
    """A number that does not exist, such as sqrt(-1), is refused unless it stands in a branch."""
    if isinstance(node, Where):
        return
    if isinstance(node, App) and is_closed(node):
        to_float(node)
        return
    for child in node.children():
        _refuse_no_value(child)
