"""Graphs for float64: PyTorch's own functions instead of those written out for single precision.

float64 has 29 bits more than float32, so that plain elementary operations leave results that are correctly
rounded but for one in a hundred million. ``Natively`` builds such graphs on symbols; ``simpler`` makes one
smaller for inputs that are all finite, where 0 times an input is 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, isfinite, sqrt
from typing import Any

import numpy as np

from gateproof.kernels.graph import RUN, Builder, Graph, Node, Ref, Symbol, Symbolic
from gateproof.numerics.backends.heads import HEADS
from gateproof.numerics.backends.special_heads import operation
from gateproof.numerics.backends.tape import Tape

#: log2(e): exp2 has a vector form that is three times as fast as exp's.
LOG2E = 1.4426950408889634
#: Powers of ten that a product of finite inputs may reach in float64.
_MOST = 300.0
_INPUT = 38.6


class Natively(Symbolic):
    """Elementary functions on symbols, and those of the heads that PyTorch has in one pass."""

    def __init__(self, builder: Builder) -> None:
        super().__init__(builder, small=False)

    def exp(self, u: Any) -> Symbol:
        """exp(u); the rounding of u*log2(e) costs abs(u)*2**-53, which is nothing in float32."""
        return self.made("exp2", u * LOG2E)

    def tanh(self, u: Any) -> Symbol:
        """tanh(u) with its relative accuracy at 0."""
        t = self.expm1(abs(u) * -2.0)
        return self.made("copysign", t / (t + 2.0), u)

    def sigmoid(self, u: Any) -> Symbol:
        """1/(1 + exp(-u))."""
        return self.made("sigmoid", u)


def _ncdf(ops: Natively, u: Any) -> Symbol:
    return ops.made("erfc", u * -sqrt(0.5)) * 0.5


def _expsq(ops: Natively, u: Any, c: float) -> Symbol:
    # Past it the value is 0 or infinite, and the square stays finite.
    return ops.made("exp2", u * u * (c * LOG2E))


#: Heads that are written otherwise in float64.
_HEADS: dict[str, Callable[..., Any]] = {
    "sigmoid": lambda ops, u: ops.sigmoid(u),
    "tanh": lambda ops, u: ops.tanh(u),
    "erfc": lambda ops, u: ops.made("erfc", u),
    "erf": lambda ops, u: ops.made("erf", u),
    "ncdf": _ncdf,
    "expsq": _expsq,
    "max": lambda ops, a, b: ops.made("maximum", a, b),
    "min": lambda ops, a, b: ops.made("minimum", a, b),
}
#: Of heads whose values are bounded, the power of ten.
_BOUNDED = {"sigmoid": 0.0, "tanh": 0.0, "sech": 0.0, "erf": 0.0, "erfc": 0.31, "ncdf": 0.0}


def unfold_natively(tapes: Sequence[Tape], *, times_first: bool = False) -> Graph:
    """``unfold`` for float64 and inputs that are finite, but for the first one that the results are times."""
    shift = int(times_first)
    builder = Builder(tapes[0].inputs + shift)
    ops, symbols = Natively(builder), [Symbol(builder, i) for i in range(builder.inputs)]
    results = [_unfolded(ops, tape, symbols[shift:]) for tape in tapes]
    if times_first:
        results = [symbols[0] * r for r in results]
    return builder.finished([r.ref if isinstance(r, Symbol) else float(r) for r in results])


def _unfolded(ops: Natively, tape: Tape, inputs: Sequence[Symbol]) -> Any:
    values: list[Any] = list(inputs)
    sizes = [_INPUT] * len(inputs)
    for step in tape.steps:
        args = [values[a] if isinstance(a, int) else a for a in step.args]
        known = [sizes[a] if isinstance(a, int) else _size(a) for a in step.args]
        finite = all(k < _MOST for k in known)
        if finite and step.head in ("not_a_number", "at_ends"):
            values.append(args[0])
        elif finite and step.head == "product0":
            values.append(args[0] * args[1])
        else:
            head = _HEADS.get(step.head) or HEADS.get(step.head) or operation(step.head)
            values.append(head(ops, *args, *step.numbers))
        sizes.append(_size_of(step.head, known, step.numbers))
    return values[tape.result] if isinstance(tape.result, int) else tape.result


def _size(number: float) -> float:
    return _INPUT if isfinite(number) else inf


def _size_of(head: str, args: list[float], numbers: tuple[float, ...]) -> float:
    """A power of ten that a value stays below, infinite where none is known."""
    if head in _BOUNDED:
        return _BOUNDED[head] if all(a < inf for a in args) else inf
    if head == "expsq":
        return 0.0 if numbers[0] <= 0 and args[0] < inf else inf
    if head in ("mul", "product0"):
        return sum(args)
    if head in ("add", "sub", "max", "min", "neg", "abs", "softplus", "not_a_number", "at_ends", "least"):
        return max(args) + 0.4
    if head == "where":
        return max(args[1:])
    return inf


_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


def of_numbers(head: str, args: Sequence[Any]) -> Any:
    """An operation of floats and truth values, with float64's own rules for what has no value."""
    if head == "where":
        return args[1] if args[0] else args[2]
    if head == "not":
        return not args[0]
    a = np.float64(args[0])
    with np.errstate(all="ignore"):
        if head in ("scaled", "addcmul"):
            found = a + np.float64(args[1]) * args[2]
        elif head == "subcmul":
            found = a - np.float64(args[1]) * args[2]
        elif head in RUN:
            found = RUN[head](None, a, *args[1:])
        elif head == "sigmoid":
            found = 1.0 / (1.0 + np.exp(-a))
        else:
            found = getattr(np, head)(a, *args[1:])
    return bool(found) if head in _COMPARISONS else float(found)


def simpler(graph: Graph, numbers: Sequence[float] = (), free: Sequence[int] = ()) -> Graph:
    """The graph for finite inputs, with its last inputs replaced by numbers, in as few passes as it takes.

    What adds 0 is gone, and what multiplies by 0 but for ``free`` inputs, which may be anything. Heads that
    it adds: ``scaled`` (a + s*b for a number s), ``addcmul`` (a + b*c), ``subcmul`` (a - b*c), ``silu``,
    ``silu_slope`` (a*silu'(b)) and ``turning`` (a*g*(1 - g)).
    """
    inputs = graph.inputs - len(numbers)
    builder = Builder(inputs)
    places: list[Ref] = [*range(inputs), *map(float, numbers)]
    loose = [k in free for k in range(graph.inputs)]
    for node in graph.nodes:
        args = tuple(places[a] if isinstance(a, int) else a for a in node.args)
        loose.append(any(loose[a] for a in node.args if isinstance(a, int)))
        if numbers and all(isinstance(a, float) for a in args):
            # A truth value stands as 1.0 or 0.0.
            places.append(float(of_numbers(node.head, args)))
        elif node.head in ("mul", "div") and not loose[-1] and (_zero(args[0]) or _zero(args[1])):
            places.append(0.0 if node.head == "mul" or _zero(args[0]) else builder.add(node.head, *args))
        else:
            places.append(_plain(builder, node.head, args))
    found = builder.finished([places[r] if isinstance(r, int) else r for r in graph.results])
    return _Rewriting(_Rewriting(found).all(_of_sigmoids)).all(_sums)


def _zero(ref: Ref) -> bool:
    return isinstance(ref, float) and ref == 0.0


def _plain(builder: Builder, head: str, args: tuple[Ref, ...]) -> Ref:
    if head == "sub" and isinstance(args[1], float):
        head, args = "add", (args[0], -args[1])
    if head == "sub" and _zero(args[0]):
        return _plain(builder, "mul", (args[1], -1.0))
    if head in ("add", "mul"):
        for one, other in (args, args[::-1]):
            if isinstance(one, float) and isinstance(other, int):
                return _with_number(builder, head, one, other)
    return builder.add(head, *args)


def _with_number(builder: Builder, head: str, number: float, other: int) -> Ref:
    """number + other or number*other; (other*s)*t is other*(s*t)."""
    if number == (0.0 if head == "add" else 1.0):
        return other
    inner = builder.node(other)
    if head == "mul" and inner is not None and inner.head == "neg":
        return _plain(builder, "mul", (inner.args[0], -number))
    if head == "mul" and inner is not None and inner.head == "mul" and isinstance(inner.args[1], float):
        return _plain(builder, "mul", (inner.args[0], inner.args[1] * number))
    # Signs of numbers stay where they are, where a builder puts them outside.
    return _kept(builder, head, (other, number))


def _kept(builder: Builder, head: str, args: tuple[Ref, ...]) -> int:
    key = (head, *(("place", a) if isinstance(a, int) else ("float", a) for a in args))
    if key not in builder.known:
        builder.nodes.append(Node(head, args))
        builder.known[key] = builder.inputs + len(builder.nodes) - 1
    return builder.known[key]


class _Rewriting:
    """A graph that is gone through node by node, and the one that comes of it."""

    def __init__(self, graph: Graph) -> None:
        self.graph, self.builder = graph, Builder(graph.inputs)
        self.places: list[Ref] = list(range(graph.inputs))
        self.uses: dict[int, int] = {}
        for ref in (*(a for n in graph.nodes for a in n.args), *graph.results):
            if isinstance(ref, int):
                self.uses[ref] = self.uses.get(ref, 0) + 1
        self.compared = _compared(graph)

    def at(self, ref: Ref, head: str) -> tuple[Ref, ...] | None:
        """The arguments at an old place, if that operation stands there."""
        if not isinstance(ref, int) or ref < self.graph.inputs:
            return None
        node = self.graph.nodes[ref - self.graph.inputs]
        return node.args if node.head == head else None

    def made(self, head: str, *args: Ref) -> Ref:
        """A new operation of new places."""
        return _kept(self.builder, head, args)

    def new(self, ref: Ref) -> Ref:
        """The new place of an old one."""
        return self.places[ref] if isinstance(ref, int) else ref

    def all(self, rule: Callable[[_Rewriting, Node], Ref | None]) -> Graph:
        """The new graph; ``rule`` gives the new place of a node, or None where it stays."""
        for node in self.graph.nodes:
            found = rule(self, node)
            self.places.append(self.made(node.head, *map(self.new, node.args)) if found is None else found)
        return self.builder.finished([self.new(r) for r in self.graph.results])


def _compared(graph: Graph) -> set[int]:
    """The places on which a comparison depends.

    Ties between them are kinks: a product that is not rounded before its sum would miss x/6 + 1/2 = 0 at -3.
    """
    found: set[int] = set()
    for place in reversed(range(graph.inputs, graph.inputs + len(graph.nodes))):
        node = graph.nodes[place - graph.inputs]
        if place in found or node.head in _COMPARISONS:
            found.update(a for a in node.args if isinstance(a, int))
    return found


def _of_sigmoids(here: _Rewriting, node: Node) -> Ref | None:
    if node.head != "mul":
        return None
    for one, other in (node.args, node.args[::-1]):
        of_one, of_other, sloped = here.at(one, "sigmoid"), here.at(other, "sigmoid"), _silu_slope(here, one)
        if of_one is not None and of_one[0] == other:
            return here.made("silu", here.new(other))
        if sloped is not None and isinstance(other, int):
            return here.made("silu_slope", here.new(other), here.new(sloped))
        if of_one is not None and of_other is not None and here.at(of_one[0], "neg") == of_other:
            # From the smaller of both, whose digits the product keeps.
            below = here.made("mul", here.made("abs", here.new(of_other[0])), -1.0)
            return here.made("turning", 1.0, here.made("sigmoid", below))
    return None


def _silu_slope(here: _Rewriting, ref: Ref) -> Ref | None:
    """a, where silu'(a) = a sigmoid(-a) sigmoid(a) + sigmoid(a) stands."""
    for one, other in _both(here.at(ref, "add")):
        last = here.at(other, "sigmoid")
        if last is None:
            continue
        a = last[0]
        if here.at(one, "turning") == (a, other):
            return a
        for rest, x in _both(here.at(one, "mul")):
            pair = {here.at(p, "sigmoid") for p in here.at(rest, "mul") or ()}
            if x == a and last in pair and any(p and here.at(p[0], "neg") == last for p in pair):
                return a
    return None


def _both(pair: tuple[Ref, ...] | None) -> tuple[tuple[Ref, ...], ...]:
    return () if pair is None else (pair, pair[::-1])


def _sums(here: _Rewriting, node: Node) -> Ref | None:
    if node.head not in ("add", "sub") or len(here.places) in here.compared:
        return None
    a, b = node.args
    sign = 1.0 if node.head == "add" else -1.0
    for last, first in (a, b), (b, a):
        inner = here.at(first, "mul")
        if inner is None or not isinstance(first, int) or here.uses[first] > 1 or (sign < 0 and first == a):
            continue
        x, y = map(here.new, inner)
        if isinstance(y, float):
            return here.made("scaled", here.new(last), x, sign * y)
        return here.made("addcmul" if sign > 0 else "subcmul", here.new(last), x, y)
    return None
