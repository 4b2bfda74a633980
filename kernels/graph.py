"""Formulas as straight-line programs of elementary operations, several results sharing their parts.

A tape (``numerics.backends.tape``) speaks in heads such as sigmoid or erfc. Here each head is unfolded to the
elementary functions that it is written in, by running it on symbols, and equal operations are kept once: the
value and all gradients of an activation then share their exponentials.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import copysign, isnan
from typing import Any

from gateproof.numerics.backends.heads import ELEMENTARY, HEADS
from gateproof.numerics.backends.tape import Tape

_EVEN, _COMMUTES = frozenset({"abs", "cosh", "cos"}), frozenset({"add", "mul", "eq", "ne", "and", "or"})
Ref = int | float


@dataclass(frozen=True)
class Node:
    """One operation; integers among its arguments are places of earlier nodes, floats are themselves."""

    head: str
    args: tuple[Ref, ...]


@dataclass(frozen=True)
class Graph:
    """Nodes in an order in which they can be computed; the first ``inputs`` places are the inputs.

    ``plain`` is the graph before its exponentials were corrected, which numbers can still make simpler.
    ``forms`` gives what computes it in float64 piece by piece (``eager.Forms``), of entries and numbers.
    """

    inputs: int
    nodes: tuple[Node, ...]
    results: tuple[Ref, ...]
    plain: Graph | None = field(default=None, compare=False, repr=False)
    forms: Callable[[Sequence[Any], Sequence[float]], Any] | None = field(
        default=None, compare=False, repr=False
    )

    def run(self, ops: Any, inputs: Sequence[Any]) -> list[Any]:
        """All results for inputs of one backend; ``ops`` has the elementary functions and ``where``."""
        values = list(inputs)
        for node in self.nodes:
            args = [values[a] if isinstance(a, int) else a for a in node.args]
            values.append(RUN[node.head](ops, *args) if node.head in RUN else getattr(ops, node.head)(*args))
        return [values[r] if isinstance(r, int) else r for r in self.results]

    @property
    def heads(self) -> frozenset[str]:
        """The operations that stand in it."""
        return frozenset(n.head for n in self.nodes)


#: Operations that are no function of a backend's own.
RUN: dict[str, Callable[..., Any]] = {
    head: HEADS[head]
    for head in (
        "add", "sub", "mul", "div", "neg", "abs", "eq", "ne", "lt", "le", "gt", "ge", "and", "or", "not",
    )
}  # fmt: skip


@dataclass
class Builder:
    """Adds nodes, each once."""

    inputs: int
    nodes: list[Node] = field(default_factory=list)
    known: dict[tuple[Any, ...], int] = field(default_factory=dict)

    def add(self, head: str, *args: Ref) -> Ref:
        """The place of an operation, or a number or earlier place that has its value."""
        if head in _EVEN:
            args = (self._without_sign(args[0]),)
        simple = self._simple(head, args)
        if simple is not None:
            return simple
        if head in ("mul", "div"):
            # Signs stand outside, so that u and -u share their exponentials.
            for k, number in enumerate(args):
                if isinstance(number, float) and copysign(1.0, number) < 0:
                    return self.add("neg", self.add(head, *args[:k], -number, *args[k + 1 :]))
        if head in _COMMUTES:
            args = tuple(sorted(args, key=_key))
        key = (head, *(_key(a) for a in args))
        found = self.known.get(key)
        if found is None:
            self.nodes.append(Node(head, args))
            found = self.known[key] = self.inputs + len(self.nodes) - 1
        return found

    def node(self, ref: Ref) -> Node | None:
        """The operation at a place."""
        return self.nodes[ref - self.inputs] if isinstance(ref, int) and ref >= self.inputs else None

    def _without_sign(self, ref: Ref) -> Ref:
        node = self.node(ref)
        return node.args[0] if node is not None and node.head == "neg" else ref

    def _simple(self, head: str, args: tuple[Ref, ...]) -> Ref | None:
        if head == "neg":
            if isinstance(args[0], float):
                return -args[0]
            node = self.node(args[0])
            return node.args[0] if node is not None and node.head == "neg" else None
        if head == "mul":
            for one, other in (args, args[::-1]):
                if _is_one(one):
                    return other
        if head == "div" and _is_one(args[1]):
            return args[0]
        if head == "abs":
            node = self.node(args[0])
            return args[0] if node is not None and node.head == "abs" else None
        if head == "where" and isinstance(args[0], float):
            return args[1] if args[0] else args[2]
        if head == "where" and _key(args[1]) == _key(args[2]):
            return args[1]
        if head in ("and", "or"):
            # A comparison of two numbers is a number here.
            for one, other in (args, args[::-1]):
                if isinstance(one, float):
                    return other if bool(one) == (head == "and") else one
        return None

    def finished(self, results: Sequence[Ref]) -> Graph:
        """The graph of what the results need."""
        wanted: set[int] = set()
        stack = [r for r in results if isinstance(r, int)]
        while stack:
            place = stack.pop()
            if place < self.inputs or place in wanted:
                continue
            wanted.add(place)
            stack.extend(a for a in self.nodes[place - self.inputs].args if isinstance(a, int))
        places = {i: i for i in range(self.inputs)}
        nodes: list[Node] = []
        for place in sorted(wanted):
            old = self.nodes[place - self.inputs]
            nodes.append(Node(old.head, tuple(places[a] if isinstance(a, int) else a for a in old.args)))
            places[place] = self.inputs + len(nodes) - 1
        return Graph(
            self.inputs, tuple(nodes), tuple(places[r] if isinstance(r, int) else r for r in results)
        )


def _is_one(ref: Ref) -> bool:
    return isinstance(ref, float) and ref == 1.0


def _key(ref: Ref) -> Any:
    """Place 1 is not the number 1.0, -0.0 and 0.0 differ, and not-a-number is itself."""
    if isinstance(ref, int):
        return ("place", ref)
    return ("nan",) if isnan(ref) else ("float", ref, copysign(1.0, ref))


class Symbol:
    """A place in a builder, with the operators that heads use."""

    __slots__ = ("builder", "ref")
    __hash__ = None  # type: ignore[assignment] # == builds a node

    def __init__(self, builder: Builder, ref: Ref) -> None:
        self.builder, self.ref = builder, ref

    def _made(self, head: str, *args: Any) -> Symbol:
        return Symbol(self.builder, self.builder.add(head, *(_ref(a) for a in args)))

    def __add__(self, other: Any) -> Symbol:
        return self._made("add", self, other)

    def __radd__(self, other: Any) -> Symbol:
        return self._made("add", other, self)

    def __sub__(self, other: Any) -> Symbol:
        return self._made("sub", self, other)

    def __rsub__(self, other: Any) -> Symbol:
        return self._made("sub", other, self)

    def __mul__(self, other: Any) -> Symbol:
        return self._made("mul", self, other)

    def __rmul__(self, other: Any) -> Symbol:
        return self._made("mul", other, self)

    def __truediv__(self, other: Any) -> Symbol:
        return self._made("div", self, other)

    def __rtruediv__(self, other: Any) -> Symbol:
        return self._made("div", other, self)

    def __neg__(self) -> Symbol:
        return self._made("neg", self)

    def __abs__(self) -> Symbol:
        return self._made("abs", self)

    def __eq__(self, other: object) -> Any:
        return self._made("eq", self, other)

    def __ne__(self, other: object) -> Any:
        return self._made("ne", self, other)

    def __lt__(self, other: Any) -> Symbol:
        return self._made("lt", self, other)

    def __le__(self, other: Any) -> Symbol:
        return self._made("le", self, other)

    def __gt__(self, other: Any) -> Symbol:
        return self._made("gt", self, other)

    def __ge__(self, other: Any) -> Symbol:
        return self._made("ge", self, other)

    def __and__(self, other: Any) -> Symbol:
        return self._made("and", self, other)

    def __or__(self, other: Any) -> Symbol:
        return self._made("or", self, other)


def _ref(value: Any) -> Ref:
    return value.ref if isinstance(value, Symbol) else float(value)


class Symbolic:
    """The elementary functions on symbols. ``small`` picks the tables of single precision in the heads."""

    def __init__(self, builder: Builder, *, small: bool) -> None:
        self.builder, self.small = builder, small

    def __getattr__(self, name: str) -> Any:
        if name not in ELEMENTARY and name not in ("floor", "power", "high", "odd"):
            raise AttributeError(name)
        return lambda *args: self.made(name, *args)

    def made(self, head: str, *args: Any) -> Symbol:
        """The operation on symbols and numbers."""
        return Symbol(self.builder, self.builder.add(head, *(_ref(a) for a in args)))

    def where(self, condition: Any, a: Any, b: Any) -> Symbol:
        """A choice."""
        return self.made("where", condition, a, b)

    def logical_not(self, a: Any) -> Symbol:
        """A condition turned round."""
        return self.made("not", a)


def unfold(tapes: Sequence[Tape], *, small: bool, times_first: bool = False) -> Graph:
    """One graph of all tapes (over the same inputs) in elementary operations, a result a tape.

    ``small`` picks the tables of single precision. ``times_first`` puts one more input before the others, by
    which each result is multiplied: the gradients of a value whose own gradient is that input.
    """
    shift = int(times_first)
    inputs = tapes[0].inputs + shift
    builder = Builder(inputs)
    ops = Symbolic(builder, small=small)
    symbols = [Symbol(builder, i) for i in range(inputs)]
    results = [tape.run(ops, tuple(symbols[shift:])) for tape in tapes]
    if times_first:
        results = [symbols[0] * r for r in results]
    return builder.finished([_ref(r) for r in results])
