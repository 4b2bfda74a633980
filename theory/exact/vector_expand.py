"""Vectors of fixed length written out place by place, masked places (-oo) included."""

from __future__ import annotations

from collections.abc import Mapping

from gateproof.theory.exact import infinity
from gateproof.theory.exact.domain import Domain
from gateproof.theory.formula.library import substitute_node
from gateproof.theory.formula.nodes import (
    App,
    Exists,
    Expr,
    Extremum,
    Index,
    IntRange,
    Lse,
    Node,
    Or,
    Series,
    Softmax,
    Stmt,
    Var,
    num,
    rebuild,
)
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.rewriting import joined

MAX_TERMS = 500


class NoPlace(ValueError):
    """An index outside of its vector: the expression has no value."""


class NotExpanded(ValueError):
    """An operator over a vector that cannot be written out place by place."""


class NoProbability(ArithmeticError):
    """A softmax of a vector whose places are all -oo: 0/0."""


def expand_vectors(
    node: Node,
    lengths: Mapping[str, int],
    values: Mapping[str, int] | None = None,
    masked: frozenset[tuple[str, int]] = frozenset(),
) -> tuple[Node, dict[str, Domain]]:
    """The node for vectors of fixed length, over names ``z_1 ...``, with their domains.

    ``lengths`` gives each vector's length, ``values`` the integers that names such as n and i
    stand for, ``masked`` the places that are -oo. Raises NoPlace for a place outside of its
    vector, NotExpanded for what has no such form, NoProbability for a softmax of nothing.
    """
    put: dict[str, Expr] = {k: num(v) for k, v in (values or {}).items()}
    fixed = substitute_node(node, put)
    domains = {
        f"{z}_{k}": Domain() for z, n in lengths.items() for k in range(1, n + 1) if (z, k) not in masked
    }
    return _Expansion(lengths, masked).of(fixed), domains


class _Expansion:
    def __init__(self, lengths: Mapping[str, int], masked: frozenset[tuple[str, int]]) -> None:
        self.lengths = lengths
        self.masked = masked

    def of(self, node: Node) -> Node:
        if isinstance(node, Series):
            return joined(node.op, self._terms(node))
        if isinstance(node, Index):
            return self._entry(node.vector, _integer(node.index))
        if isinstance(node, Lse):
            without = None if node.without is None else _integer(node.without)
            if without is not None:
                self._entry(node.vector, without)
            places = [k for k in range(1, self.lengths[node.vector] + 1) if k != without]
            return self._log_of_sum(node.vector, places)
        if isinstance(node, Softmax):
            top = infinity.fold(App("exp", (self._entry(node.vector, _integer(node.index)),)))[0]
            bottom = self._exponentials(node.vector, list(range(1, self.lengths[node.vector] + 1)))
            if bottom is None:
                raise NoProbability(f"every place of {node.vector} is -oo, and softmax is 0/0")
            return App("div", (top, bottom))
        if isinstance(node, Extremum):
            return self._extremum(node)
        if isinstance(node, Exists):
            return self._exists(node)
        done = rebuild(node, self.of)
        assert isinstance(done, Node)
        return done

    def _terms(self, node: Series) -> list[Expr]:
        return self._over(node.body, node.index, _integer(node.lo), _integer(node.hi))

    def _over(self, body: Expr, index: str, lo: int, hi: int) -> list[Expr]:
        if hi - lo > MAX_TERMS:
            raise NotExpanded("a long range")
        terms = [self.of(substitute_node(body, {index: num(k)})) for k in range(lo, hi + 1)]
        return [t for t in terms if isinstance(t, Expr)]

    def _range(self, node: Extremum | Exists) -> tuple[str, int, int]:
        binds = node.scope.binds
        if len(binds) != 1 or node.scope.conditions or not isinstance(binds[0].within, IntRange):
            raise NotExpanded("a set that is not one range of places")
        within = binds[0].within
        return binds[0].name, _integer(within.lo), _integer(within.hi)

    def _extremum(self, node: Extremum) -> Expr:
        head = {"max": "max", "sup": "max", "min": "min", "inf": "min"}.get(node.op)
        if head is None:
            raise NotExpanded(node.op)
        terms = self._over(node.body, *self._range(node))
        if not terms:
            raise NotExpanded(f"{node.op} over nothing")
        return terms[0] if len(terms) == 1 else App(head, tuple(terms))

    def _exists(self, node: Exists) -> Stmt:
        name, lo, hi = self._range(node)
        parts = [self.of(substitute_node(node.body, {name: num(k)})) for k in range(lo, hi + 1)]
        kept = tuple(p for p in parts if isinstance(p, Stmt))
        return kept[0] if len(kept) == 1 else Or(kept)

    def _log_of_sum(self, vector: str, places: list[int]) -> Expr:
        total = self._exponentials(vector, places)
        return infinity.MINUS_INFINITY if total is None else App("log", (total,))

    def _exponentials(self, vector: str, places: list[int]) -> Expr | None:
        """The sum of the exponentials; None where all are 0."""
        kept = [k for k in places if (vector, k) not in self.masked]
        if not kept:
            return None
        return joined("sum", [App("exp", (self._entry(vector, k),)) for k in kept])

    def _entry(self, vector: str, k: int) -> Expr:
        if not 1 <= k <= self.lengths[vector]:
            raise NoPlace(f"{vector} has no place {k}")
        return infinity.MINUS_INFINITY if (vector, k) in self.masked else Var(f"{vector}_{k}")


def _integer(node: Expr) -> int:
    value = constant_value(node)
    if value is None:
        raise NotExpanded("an index that is no number")
    if value.denominator != 1:
        raise NoPlace("an index that is no whole number")
    return int(value)
