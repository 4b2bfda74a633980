"""Folding the branches of threshold gates into the linear layer behind them, exactly.

Threshold-gating paper, "Method", item 1: with gates on its inputs a layer is

    a_j = sum_i sum_k g_ik(x_i) (w_jik x_i + c_jik) + b_j.

A gate in front of the weights W has w_jik = W_ji slope_ik and c_jik = W_ji intercept_ik: the
paper's TGA binds the branch weights to the original ones in this way. Everything here holds
whatever the gates g_ik are, as long as they sum to 1 for every input i: with soft or hard gates,
shared or separate sharpness. Numbers are integers or fractions; a float is refused.

A convolution is such a layer with one column for each input channel and kernel place, the gate
of a channel shared by its places. Where it pads with zeros, 0 stands for the gated input, not
for the input: see :func:`keeps_zero`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from gateproof.theory.exact.derivative import add, mul
from gateproof.theory.formula.nodes import Expr, Num

Vector = tuple[Fraction, ...]
Matrix = tuple[Vector, ...]
Numbers = Sequence[int | Fraction]


@dataclass(frozen=True)
class GatedLinear:
    """K branch weights and constants, each outputs x inputs, and a bias of one number an output.

    Branches run left to right. Raises ValueError where the shapes do not fit, TypeError for floats.
    """

    weights: tuple[Matrix, ...]
    constants: tuple[Matrix, ...]
    bias: Vector

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", tuple(matrix(t) for t in self.weights))
        object.__setattr__(self, "constants", tuple(matrix(t) for t in self.constants))
        object.__setattr__(self, "bias", vector(self.bias))
        shape = (len(self.bias), self.inputs)
        tables = (*self.weights, *self.constants)
        if not self.weights or len(self.weights) != len(self.constants):
            raise ValueError("one table of weights and one of constants for each branch")
        if any(len(t) != shape[0] or any(len(row) != shape[1] for row in t) for t in tables):
            raise ValueError(f"every table has {shape[0]} rows (outputs) of {shape[1]} (inputs)")

    @property
    def branches(self) -> int:
        """K."""
        return len(self.weights)

    @property
    def inputs(self) -> int:
        """Inputs of the layer; 0 where it has no output."""
        return len(self.weights[0][0]) if self.weights and self.weights[0] else 0


@dataclass(frozen=True)
class Bound:
    """A plain layer with gates in front: weights, bias, and K slopes and constants an input.

    ``free`` lists inputs whose weights are all 0: no gate can be read off there, and theirs is
    given with slopes and constants 0.
    """

    weight: Matrix
    bias: Vector
    slope: Matrix
    intercept: Matrix
    free: tuple[int, ...] = ()


def exact(value: int | Fraction) -> Fraction:
    """The number as a fraction. Raises TypeError for a float, whose decimal text is another number."""
    if isinstance(value, bool) or not isinstance(value, int | Fraction):
        raise TypeError(f"integers and fractions only, not {type(value).__name__}")
    return Fraction(value)


def vector(values: Numbers) -> Vector:
    """Exact numbers."""
    return tuple(exact(v) for v in values)


def matrix(rows: Sequence[Numbers]) -> Matrix:
    """Exact numbers by rows. Raises ValueError for rows of different lengths."""
    table = tuple(vector(row) for row in rows)
    if len({len(row) for row in table}) > 1:
        raise ValueError("rows of different lengths")
    return table


def fold(
    weight: Sequence[Numbers],
    bias: Numbers,
    slope: Sequence[Numbers],
    intercept: Sequence[Numbers],
) -> GatedLinear:
    """The gated layer of a plain layer (outputs x inputs) behind gates of K branches an input.

    ``slope`` and ``intercept`` have one row an input; one row alone serves all inputs. Raises
    ValueError where the shapes do not fit.
    """
    w, b = matrix(weight), vector(bias)
    s, c = matrix(slope), matrix(intercept)
    inputs = len(w[0]) if w else 0
    s, c = (t * inputs if len(t) == 1 else t for t in (s, c))
    if len(s) != inputs or len(c) != inputs or {len(r) for r in s} != {len(r) for r in c}:
        raise ValueError(f"slopes and intercepts: one row of K numbers for each of {inputs} inputs")
    branches = range(len(s[0]) if s else 0)

    def scaled(table: Matrix, k: int) -> Matrix:
        return tuple(tuple(wi * table[i][k] for i, wi in enumerate(row)) for row in w)

    return GatedLinear(tuple(scaled(s, k) for k in branches), tuple(scaled(c, k) for k in branches), b)


def absorb(layer: GatedLinear, branch: int = 0) -> GatedLinear:
    """The same function with the constants of one branch moved into the bias.

    Exact because the gates of an input sum to 1: K-1 tables of constants are left.
    """
    base = layer.constants[branch]
    less = tuple(
        tuple(
            tuple(c - c0 for c, c0 in zip(row, row0, strict=True))
            for row, row0 in zip(table, base, strict=True)
        )
        for table in layer.constants
    )
    bias = tuple(b + sum(row) for b, row in zip(layer.bias, base, strict=True))
    return GatedLinear(layer.weights, less, bias)


def spread(layer: GatedLinear, place: int = 0) -> GatedLinear:
    """The same function without a bias: it is added to the constants of all branches of one input.

    This is how TG_S absorbs the bias. Raises ValueError for a layer without inputs.
    """
    if not 0 <= place < layer.inputs:
        raise ValueError(f"no input {place}")
    more = tuple(
        tuple(
            tuple(c + (b if i == place else 0) for i, c in enumerate(row))
            for row, b in zip(table, layer.bias, strict=True)
        )
        for table in layer.constants
    )
    return GatedLinear(layer.weights, more, tuple(Fraction(0) for _ in layer.bias))


def same_function(a: GatedLinear, b: GatedLinear) -> bool:
    """Whether two layers give equal outputs for all inputs and all gates that sum to 1.

    With the constants of the first branch in the bias, equality of all numbers is enough; and it
    is needed wherever the functions 1, x, g_k, g_k x (k > 1) of an input are linearly
    independent, as they are for logistic or hard gates at different thresholds.
    """
    if (a.branches, a.inputs, len(a.bias)) != (b.branches, b.inputs, len(b.bias)):
        return False
    return absorb(a) == absorb(b)


def unfold(layer: GatedLinear, weight: Sequence[Numbers]) -> Bound | None:
    """The gates that a layer has in front of the given weights, or None where it has none such.

    The reverse of :func:`fold`: every column of branch weights and constants must be a multiple
    of the column of ``weight``. Raises ValueError where the shapes do not fit.
    """
    w = matrix(weight)
    if len(w) != len(layer.bias) or any(len(row) != layer.inputs for row in w):
        raise ValueError(f"the weights are {len(layer.bias)} x {layer.inputs}")
    rows: list[tuple[Vector, Vector]] = []
    free: list[int] = []
    for i in range(layer.inputs):
        column = tuple(row[i] for row in w)
        if not any(column):
            free.append(i)
        ratios = [_multiple(column, tuple(row[i] for row in t)) for t in (*layer.weights, *layer.constants)]
        found = [r for r in ratios if r is not None]
        if len(found) < len(ratios):
            return None
        rows.append((tuple(found[: layer.branches]), tuple(found[layer.branches :])))
    return Bound(w, layer.bias, tuple(s for s, _ in rows), tuple(c for _, c in rows), tuple(free))


def bind(layer: GatedLinear) -> Bound | None:
    """Weights and gates that fold to the layer, or None where no single weight matrix does.

    Each input's 2K columns must be multiples of one column. Of all scalings (W_ji and 1/W_ji can
    trade any factor with the gate) the one is chosen whose first non-zero column is kept.
    """
    columns: list[Vector] = []
    for i in range(layer.inputs):
        all_columns = [tuple(row[i] for row in t) for t in (*layer.weights, *layer.constants)]
        columns.append(next((c for c in all_columns if any(c)), all_columns[0]))
    weight = tuple(tuple(c[j] for c in columns) for j in range(len(layer.bias)))
    return unfold(layer, weight)


def _multiple(base: Vector, column: Vector) -> Fraction | None:
    """The factor t with column = t * base; 0 for two zero columns."""
    factor = next((c / b for b, c in zip(base, column, strict=True) if b), Fraction(0))
    return factor if all(c == factor * b for b, c in zip(base, column, strict=True)) else None


def keeps_zero(gate_at_zero: Numbers, intercept: Numbers) -> bool:
    """Whether the gated value of 0 is 0: sum_k g_k(0) intercept_k = 0.

    Only then may a layer that pads its (gated) inputs with zeros pad the raw inputs instead.
    ReLU, SiLU and tanh keep 0, sigmoid does not. Raises ValueError where the
    gates do not sum to 1.
    """
    g, c = vector(gate_at_zero), vector(intercept)
    if sum(g) != 1:
        raise ValueError("the gates sum to 1")
    return sum(a * b for a, b in zip(g, c, strict=True)) == 0


def outputs(layer: GatedLinear, x: Sequence[Expr], gates: Sequence[Sequence[Expr]]) -> tuple[Expr, ...]:
    """The outputs as expressions of the inputs and of their K gate values each.

    ``gates[i][k]`` is gate k of input i, left to right. Raises ValueError for other counts.
    """
    if len(x) != layer.inputs or [len(g) for g in gates] != [layer.branches] * layer.inputs:
        raise ValueError(f"{layer.inputs} inputs with {layer.branches} gates each")
    found: list[Expr] = []
    for j, b in enumerate(layer.bias):
        terms: list[Expr] = [Num(b)]
        for i, xi in enumerate(x):
            for k in range(layer.branches):
                line = add(mul(Num(layer.weights[k][j][i]), xi), Num(layer.constants[k][j][i]))
                terms.append(mul(gates[i][k], line))
        found.append(add(*terms))
    return tuple(found)
