"""Activations after linear maps, or on the inputs of the next ones: when the two are the same.

Threshold-gating paper, "Method", overall framework: a_j = act(sum_i W_ji x_i + b_j) and
a_j = sum_i W_ji act(x_i) + b_j are said to be identical in a cascade. As single layers they are
not. A cascade of either kind is a word in linear maps and activations,

    after:   L1 A L2 A ... Ln A        on inputs:   A L1 A L2 ... A Ln,

and the second is the first without its last activation and with one on the raw input. Equality
needs the two boundary layers changed: no activation on the raw input, and one (or none, as the
network has it) behind the last map. :func:`word` writes both, :func:`boundary` lists what one
lacks.

In a network that is no chain, an activation can move onto the inputs of what reads it only where
every reader is a linear layer. :func:`onto_inputs` finds the rest: a skip connection, a
normalisation (divides by a statistic of the activated values), a product. Each needs a gate of
its own, without weights.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from gateproof.theory.exact.derivative import add, mul
from gateproof.theory.folding import Matrix, Numbers, Vector, matrix, vector
from gateproof.theory.formula.nodes import Expr, Num

Style = Literal["after", "inputs"]
Kind = Literal["input", "linear", "activation", "normalisation", "add", "product", "output"]


@dataclass(frozen=True)
class Affine:
    """A layer: weights outputs x inputs, and a bias."""

    weight: Matrix
    bias: Vector

    def __call__(self, x: Vector) -> Vector:
        """Weight x + bias, exactly. Raises ValueError for a vector of another length."""
        if any(len(row) != len(x) for row in self.weight):
            raise ValueError(f"{len(x)} numbers for rows of {len(self.weight[0])}")
        rows = zip(self.weight, self.bias, strict=True)
        return tuple(sum((w * v for w, v in zip(row, x, strict=True)), b) for row, b in rows)


def affine(weight: Sequence[Numbers], bias: Numbers) -> Affine:
    """A layer of exact numbers. Raises TypeError for floats, ValueError for other shapes."""
    w, b = matrix(weight), vector(bias)
    if len(w) != len(b):
        raise ValueError(f"{len(w)} rows of weights and {len(b)} biases")
    return Affine(w, b)


def compose(outer: Affine, inner: Affine) -> Affine:
    """outer after inner as one layer: without activations layers collapse, biases included."""
    columns = tuple(zip(*inner.weight, strict=True))
    product = tuple(
        tuple(sum((a * b for a, b in zip(row, col, strict=True)), Fraction(0)) for col in columns)
        for row in outer.weight
    )
    return Affine(product, outer(inner.bias))


def word(depth: int, style: Style, *, first: bool | None = None, last: bool | None = None) -> tuple[str, ...]:
    """A cascade as its steps in order, "L1", "A", "L2", ...

    ``first`` and ``last`` put an activation before the first or behind the last map; left out,
    they are what the style's own formula, applied to every layer, gives. Domain: depth >= 1.
    """
    if depth < 1:
        raise ValueError("a cascade has a layer")
    before = style == "inputs" if first is None else first
    behind = style == "after" if last is None else last
    steps: list[str] = ["A"] if before else []
    for layer in range(1, depth + 1):
        steps += [f"L{layer}", "A"]
    return tuple(steps if behind else steps[:-1])


def boundary(depth: int, style: Style, wanted: Sequence[str]) -> tuple[str, ...]:
    """What has to be changed at the ends for the style's cascade to be the wanted word.

    Raises ValueError where no change at the ends is enough.
    """
    changes: list[str] = []
    for first in (False, True):
        for last in (False, True):
            if word(depth, style, first=first, last=last) == tuple(wanted):
                own = word(depth, style)
                if (own[0] == "A") != first:
                    changes.append("activate the input" if first else "leave the input as it is")
                if (own[-1] == "A") != last:
                    changes.append("activate the output" if last else "leave the output as it is")
                return tuple(changes)
    raise ValueError("the inner steps differ")


def run(
    steps: Sequence[str],
    layers: Sequence[Affine],
    activation: Callable[[Fraction], Fraction],
    x: Numbers,
) -> Vector:
    """The cascade at an exact point. The activation maps fractions to fractions (ReLU does)."""
    value = vector(x)
    for step in steps:
        value = tuple(map(activation, value)) if step == "A" else layers[int(step[1:]) - 1](value)
    return value


def written_out(
    steps: Sequence[str], layers: Sequence[Affine], activation: Callable[[Expr], Expr], x: Sequence[Expr]
) -> tuple[Expr, ...]:
    """The cascade as expressions of its inputs, for proofs. The activation maps expressions.

    Raises ValueError where the layers' shapes do not fit.
    """
    value = tuple(x)
    for step in steps:
        if step == "A":
            value = tuple(activation(v) for v in value)
        else:
            layer = layers[int(step[1:]) - 1]
            rows = zip(layer.weight, layer.bias, strict=True)
            value = tuple(
                add(*(mul(Num(w), v) for w, v in zip(row, value, strict=True)), Num(b)) for row, b in rows
            )
    return value


@dataclass(frozen=True)
class Node:
    """A step of a network: its kind, its name and the steps it reads."""

    name: str
    kind: Kind
    reads: tuple[str, ...] = ()


@dataclass(frozen=True)
class Placement:
    """Where the activations of a network go.

    ``moved``: pairs (activation, linear layer) whose layer gets the gate on its inputs.
    ``alone``: pairs (activation, reader) that need a gate without weights, with the reader's kind.
    ``plain``: linear layers that read no activation, first layers among them.
    """

    moved: tuple[tuple[str, str], ...]
    alone: tuple[tuple[str, str, Kind], ...]
    plain: tuple[str, ...]

    @property
    def complete(self) -> bool:
        """Whether every activation is on the inputs of linear layers."""
        return not self.alone


def onto_inputs(network: Sequence[Node]) -> Placement:
    """Every activation moved onto the inputs of the linear layers that read it, the rest listed.

    The moved network computes the same function: each reader gets the same numbers. Raises
    ValueError for a name given twice or read before it is there.
    """
    kinds: dict[str, Kind] = {}
    moved: list[tuple[str, str]] = []
    alone: list[tuple[str, str, Kind]] = []
    plain: list[str] = []
    for node in network:
        if node.name in kinds or any(r not in kinds for r in node.reads):
            raise ValueError(f"step {node.name!r} is there already, or reads what is not")
        active = [r for r in node.reads if kinds[r] == "activation"]
        if node.kind == "linear":
            moved += [(a, node.name) for a in active]
            if not active:
                plain.append(node.name)
        else:
            alone.extend((a, node.name, node.kind) for a in active)
        kinds[node.name] = node.kind
    return Placement(tuple(moved), tuple(alone), tuple(plain))


def evaluate(
    network: Sequence[Node],
    maps: Mapping[str, Callable[..., Vector]],
    x: Vector,
    *,
    on_inputs: bool = False,
) -> dict[str, Vector]:
    """All values of a network at an exact point, by step.

    ``maps`` gives linear layers, activations and normalisations by name; sums and products are
    formed here, place by place. With ``on_inputs`` an activation passes its input on as it is,
    and each of its readers applies it.
    """
    kinds = {node.name: node.kind for node in network}
    values: dict[str, Vector] = {}

    def read(name: str) -> Vector:
        late = on_inputs and kinds[name] == "activation"
        return maps[name](values[name]) if late else values[name]

    for node in network:
        found = [read(r) for r in node.reads]
        if node.kind == "input":
            values[node.name] = x
        elif node.kind in ("add", "product", "output"):
            values[node.name] = _placewise(node.kind, found)
        elif node.kind == "activation" and on_inputs:
            values[node.name] = found[0]
        else:
            values[node.name] = maps[node.name](*found)
    return values


def _placewise(kind: Kind, parts: Sequence[Vector]) -> Vector:
    total = parts[0]
    for other in parts[1:]:
        pairs = zip(total, other, strict=True)
        total = tuple(a + b if kind == "add" else a * b for a, b in pairs)
    return total
