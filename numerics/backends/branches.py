"""Conditions brought to the outside, so that each branch is one smooth formula and simplifies as such.

``where(x >= 0, x, -x)/x`` becomes ``where(x >= 0, 1, -1)``. Branches that no number reaches are dropped.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction

from gateproof.numerics.backends.nodes import Patch
from gateproof.numerics.backends.normal import normal
from gateproof.theory.formula.nodes import And, App, Expr, Node, Not, Or, Rel, Stmt, Where, rebuild
from gateproof.theory.formula.powers import linear

#: Conditions that are brought outside; past this depth they stay where they are.
MAX_DEPTH = 7
_MIRROR = {">": "<", "<": ">", ">=": "<=", "<=": ">="}
_NEGATED = {">": "<=", "<": ">=", ">=": "<", "<=": ">", "==": "!=", "!=": "=="}


@dataclass(frozen=True)
class _Known:
    """What holds in a branch: where the name is, and other conditions by themselves."""

    var: str
    lo: tuple[Fraction, bool] | None = None
    hi: tuple[Fraction, bool] | None = None
    facts: dict[Rel, bool] = field(default_factory=dict)

    def truth(self, atom: Rel) -> bool | None:
        if atom in self.facts:
            return self.facts[atom]
        line = _bound(atom, self.var)
        if line is None:
            return None
        op, at = line
        if op[0] == ">":
            return self._above(at, strict=op == ">")
        flipped = _Known(self.var, _negated(self.hi), _negated(self.lo))
        return flipped._above(-at, strict=op == "<")

    def _above(self, at: Fraction, *, strict: bool) -> bool | None:
        if self.hi is not None and (self.hi[0] < at or (self.hi[0] == at and (self.hi[1] or strict))):
            return False
        if self.lo is not None and (self.lo[0] > at or (self.lo[0] == at and (self.lo[1] or not strict))):
            return True
        return None

    def given(self, atom: Rel, holds: bool) -> _Known:
        negated = Rel((_NEGATED[atom.ops[0]],), atom.terms)
        known = replace(self, facts={**self.facts, atom: holds, negated: not holds})
        line = _bound(atom if holds else negated, self.var)
        if line is None:
            return known
        op, at = line
        strict = op in (">", "<")
        if op[0] == ">":
            if known.lo is None or (at, strict) > known.lo:
                return replace(known, lo=(at, strict))
        elif known.hi is None or (at, not strict) < (known.hi[0], not known.hi[1]):
            return replace(known, hi=(at, strict))
        return known


def _negated(end: tuple[Fraction, bool] | None) -> tuple[Fraction, bool] | None:
    return None if end is None else (-end[0], end[1])


def _bound(atom: Rel, var: str) -> tuple[str, Fraction] | None:
    """(op, c) where the condition says that the name is ``op`` c."""
    op = atom.ops[0]
    if op not in _MIRROR:
        return None
    line = linear(App("add", (atom.terms[0], App("neg", (atom.terms[1],)))), var)
    if line is None or line[0] == 0:
        return None
    return (op if line[0] > 0 else _MIRROR[op]), -line[1] / line[0]


def outside(expr: Expr, var: str) -> Expr:
    """The expression with its conditions outside, in normal form."""
    return _outside(normal(expr), _Known(var), 0)


def _outside(expr: Expr, known: _Known, depth: int) -> Expr:
    atom = _atom(expr)
    if atom is None or depth >= MAX_DEPTH:
        return expr
    truth = known.truth(atom)
    if truth is not None:
        return _outside(normal(_assume(expr, atom, truth)), known, depth)
    then = _outside(normal(_assume(expr, atom, True)), known.given(atom, True), depth + 1)
    other = _outside(normal(_assume(expr, atom, False)), known.given(atom, False), depth + 1)
    return then if then == other else Where(atom, then, other)


def _atom(node: Node) -> Rel | None:
    """A single comparison, of terms without conditions, in the condition of some part."""
    if isinstance(node, Where) and not isinstance(node, Patch):
        for part in node.cond.walk():
            if isinstance(part, Rel) and not any(_chooses(t) for t in part.terms):
                return Rel(part.ops[:1], part.terms[:2])
        return _atom(node.cond) or _atom(node.then) or _atom(node.other)
    for child in node.children():
        found = _atom(child)
        if found is not None:
            return found
    return None


def _chooses(node: Node) -> bool:
    return any(isinstance(n, Where) and not isinstance(n, Patch) for n in node.walk())


_TRUE, _FALSE = And(()), Or(())


def _assume(node: Expr, atom: Rel, holds: bool) -> Expr:
    negated = Rel((_NEGATED[atom.ops[0]],), atom.terms)

    def visit(n: Node) -> Node:
        if isinstance(n, Rel):
            pairs = [Rel((op,), (a, b)) for op, a, b in zip(n.ops, n.terms, n.terms[1:], strict=False)]
            if len(pairs) == 1:
                if n in (atom, negated):
                    return _TRUE if (n == atom) == holds else _FALSE
            elif atom in pairs or negated in pairs:
                return _joined(And, [p for p in map(visit, pairs) if isinstance(p, Stmt)])
        done = rebuild(n, visit)
        if isinstance(done, And | Or):
            return _joined(type(done), list(done.parts))
        if isinstance(done, Not) and done.part in (_TRUE, _FALSE):
            return _FALSE if done.part == _TRUE else _TRUE
        if isinstance(done, Where) and done.cond in (_TRUE, _FALSE):
            return done.then if done.cond == _TRUE else done.other
        assert isinstance(done, Node)
        return done

    found = visit(node)
    assert isinstance(found, Expr)
    return found


def _joined(kind: type[And] | type[Or], parts: list[Stmt]) -> Stmt:
    stop, skip = (_FALSE, _TRUE) if kind is And else (_TRUE, _FALSE)
    if stop in parts:
        return stop
    kept = tuple(p for p in parts if p != skip)
    return skip if not kept else kept[0] if len(kept) == 1 else kind(kept)
