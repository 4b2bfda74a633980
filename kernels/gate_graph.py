"""The threshold gate with K branches as a graph: value and the gradients in x and in every parameter.

With z_k = tau_k (x - theta_k), p_k = sigmoid(z_k) sigmoid(-z_k) and lines b_k = slope_k x + intercept_k:

    y            = sum g_k b_k
    dy/dx        = sum g_k slope_k + sum tau_k p_k (b_(k+1) - b_k)
    dy/dtau_k    = (x - theta_k) p_k (b_(k+1) - b_k)         summed over k where one tau is shared
    dy/dtheta_k  = -tau_k p_k (b_(k+1) - b_k)
    dy/dslope_k  = g_k x,   dy/dintercept_k = g_k

A middle gate is sigmoid(z_(k-1)) sigmoid(-z_k) (1 - exp(z_k - z_(k-1))), not a difference: both sigmoids are
near 1 to the right of both thresholds. Products with a factor that is 0 are 0, so that branches that are shut
off, and slopes that are 0, do not answer an infinite x with not-a-number. A sharpness of infinity is the hard
gate, which belongs to the left branch at its threshold; nothing moves with its tau or theta.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from gateproof.kernels.compensated import compensated
from gateproof.kernels.graph import Builder, Graph, Symbol, Symbolic
from gateproof.numerics.backends.heads import product0

_INFINITY = float("inf")


@dataclass(frozen=True)
class Shape:
    """K branches; one tau for all thresholds or one each; all of them infinite or not; times u or not.

    ``unit`` and ``centred`` say that plain sharpnesses are all 1 and plain thresholds all 0: x is then z.
    """

    branches: int
    shared: bool
    hard: bool
    product: bool = False
    unit: bool = False
    centred: bool = False

    @property
    def taus(self) -> int:
        """How many sharpnesses are given: none for hard gates."""
        return 0 if self.hard or self.branches == 1 else 1 if self.shared else self.branches - 1

    @property
    def width(self) -> int:
        """Numbers of a gate: sharpnesses, thresholds, slopes, intercepts."""
        return self.taus + 3 * self.branches - 1


class Gate:
    """One evaluation, on symbols or on tensors."""

    def __init__(self, ops: Any, x: Any, numbers: Sequence[Any], shape: Shape) -> None:
        k = shape.branches
        self.ops, self.x, self.shape = ops, x, shape
        #: exp(-|z|) and 1/(1 + exp(-|z|)) of each threshold, where sigmoids are made of them.
        self.parts: list[tuple[Any, Any]] = []
        taus, rest = numbers[: shape.taus], numbers[shape.taus :]
        self.theta, self.slope, self.intercept = rest[: k - 1], rest[k - 1 : 2 * k - 1], rest[2 * k - 1 :]
        self.lines = [self._line(a, c) for a, c in zip(self.slope, self.intercept, strict=True)]
        self.above = [x > h for h in self.theta]
        self.beyond = [x if shape.centred else x - h for h in self.theta]
        if shape.hard:
            self.gates = self._hard()
            return
        given = list(taus) * (k - 1) if shape.shared else list(taus)
        if shape.unit:
            self.sharp, self.tau, self.z = [], given, self.beyond
        else:
            self.sharp = [t == _INFINITY for t in given]
            # Nothing moves with an infinite sharpness: 0 in its place spares products with infinity.
            self.tau = [ops.where(s, 0.0, t) for s, t in zip(self.sharp, given, strict=True)]
            self.z = [
                ops.where(s, self._far(a), t * d)
                for s, t, a, d in zip(self.sharp, self.tau, self.above, self.beyond, strict=True)
            ]
        sides = [self._sides(z) for z in self.z]
        self.up, self.down, self.turning = ([s[k] for s in sides] for k in range(3))
        self.gates = self._soft()

    def _shut(self, falling: Any, growing: Any) -> Any:
        """The product, 0 where the falling factor is."""
        return product0(self.ops, falling, growing)

    def _nowhere(self) -> Any:
        """0, but not-a-number where x is."""
        return self.ops.where(self.x != self.x, self.x, 0.0)

    def _line(self, slope: Any, intercept: Any) -> Any:
        return self._shut(slope, self.x) + intercept

    def _far(self, above: Any) -> Any:
        """z where tau is infinite."""
        far = self.ops.where(above, _INFINITY, -_INFINITY)
        return self.ops.where(self.x != self.x, self.x, far)

    def _sides(self, z: Any) -> tuple[Any, Any, Any]:
        """sigmoid(z), sigmoid(-z) and their product by one exponential."""
        e = self.ops.exp(-abs(z))
        r = 1.0 / (1.0 + e)
        er = e * r
        self.parts.append((e, r))
        right = z >= 0.0
        # From the smaller side alone, whose error then counts once, and not at all where both are 1/2.
        return self.ops.where(right, r, er), self.ops.where(right, er, r), er - er * er

    def _hard(self) -> list[Any]:
        ones = [self.ops.where(a, 1.0, 0.0) for a in self.above]
        zeros = [self.ops.where(a, 0.0, 1.0) for a in self.above]
        if not ones:
            return [1.0]
        middle = [a - b for a, b in pairwise(ones)]
        return [zeros[0], *middle, ones[-1]]

    def _soft(self) -> list[Any]:
        if self.shape.branches == 1:
            return [1.0]
        return [self.down[0], *(self._middle(k) for k in range(1, self.shape.branches - 1)), self.up[-1]]

    def _middle(self, k: int) -> Any:
        gap = self.theta[k] - self.theta[k - 1]
        if self.shape.unit:
            size = gap
        elif self.shape.shared:
            # Two equal thresholds have no distance, however sharp they are.
            sharp = self.ops.where(gap < 0.0, -_INFINITY, self.ops.where(gap > 0.0, _INFINITY, gap))
            size = self.ops.where(self.sharp[k], sharp, self.tau[k] * gap)
        else:
            size = self.z[k - 1] - self.z[k]
        # Thresholds that crossed while they were learned, or unequal sharpness, turn the order of the two
        # round: the gate is then negative, and the exponential of the other sign would overflow.
        turned = size < 0.0
        up = self.ops.where(turned, self.up[k], self.up[k - 1])
        down = self.ops.where(turned, self.down[k - 1], self.down[k])
        part = -self.ops.expm1(-abs(size))
        return self._shut(up * down, self.ops.where(turned, -part, part))

    def _sum(self, terms: list[Any]) -> Any:
        found = terms[0]
        for term in terms[1:]:
            found = found + term
        return found

    def _whole(self, value: Any) -> Any:
        """Not-a-number where x is, whatever is shut off; soft gates are so by themselves."""
        if self.shape.branches > 1 and not self.shape.hard:
            return value
        return self.ops.where(self.x != self.x, self.x, value)

    def value(self) -> Any:
        """y; with two branches (b + e c)/(1 + e) for the line b that is on, and the other one."""
        if len(self.parts) == 1:
            (e, r), right = self.parts[0], self.z[0] >= 0.0
            on, off = self._chosen(right, *self.lines)
            return r * (on + self._shut(e, off))
        terms = [
            b if isinstance(g, float) else self._shut(g, b)
            for g, b in zip(self.gates, self.lines, strict=True)
        ]
        return self._whole(self._sum(terms))

    def _chosen(self, right: Any, a: Any, b: Any) -> tuple[Any, Any]:
        return self.ops.where(right, b, a), self.ops.where(right, a, b)

    def in_x(self) -> Any:
        """The gradient in x; with two branches (b' + e (c' + tau (b_2 - b_1)/(1 + e)))/(1 + e)."""
        if len(self.parts) != 1:
            return self.gradients()[0]
        (e, r), right = self.parts[0], self.z[0] >= 0.0
        on, off = self._chosen(right, *self.slope)
        step = self._line(self.slope[1] - self.slope[0], self.intercept[1] - self.intercept[0])
        turned = step * r if self.shape.unit else self.tau[0] * step * r
        return r * (on + self._shut(e, off + turned))

    def gradients(self) -> list[Any]:
        """In x, the sharpnesses, thresholds, slopes and intercepts."""
        zero = self._nowhere()
        pairs = list(zip(self.lines, self.lines[1:], strict=False))
        if self.shape.hard:
            moved: list[Any] = [0.0] * len(pairs)
            in_tau: list[Any] = []
        else:
            jumps = [self._shut(p, b - a) for p, (a, b) in zip(self.turning, pairs, strict=True)]
            moved = list(jumps) if self.shape.unit else [j * t for j, t in zip(jumps, self.tau, strict=True)]
            in_tau = [self._shut(j, d) for j, d in zip(jumps, self.beyond, strict=True)]
            if self.shape.shared and in_tau:
                in_tau = [self._sum(in_tau)]
        straight = [g * s for g, s in zip(self.gates, self.slope, strict=True)]
        in_x = self._whole(self._sum([*straight, *(m for m in moved if not isinstance(m, float))]))
        in_theta = [zero if isinstance(m, float) else -m for m in moved]
        in_slope = [self.x if isinstance(g, float) else self._shut(g, self.x) for g in self.gates]
        in_intercept = [zero + g if isinstance(g, float) else g for g in self.gates]
        return [in_x, *in_tau, *in_theta, *in_slope, *in_intercept]


#: Plain dictionaries: torch.compile looks into functools' caches, and past them.
_values: dict[tuple[Shape, bool], Graph] = {}
_gradients: dict[tuple[Shape, bool, bool], Graph] = {}


def value_graph(shape: Shape, narrow: bool = False) -> Graph:
    """y of (x, numbers of the gate), or y u of (x, u, numbers); ``narrow`` where tensors are of 16 bits."""
    found = _values.get((shape, narrow))
    if found is None:
        plain = _made(shape, None, False)
        made = _made(shape, None, True) if narrow else compensated(plain)
        found = _values[shape, narrow] = _with_forms(made, plain, shape, None)
    return found


def gradient_graph(shape: Shape, numbers_too: bool, narrow: bool = False) -> Graph:
    """dy times the gradients in the tensors, and if wanted in each number.

    Of (dy, x, numbers of the gate), or of (dy, x, u, numbers).
    """
    key = shape, numbers_too, narrow
    found = _gradients.get(key)
    if found is None:
        plain = _made(shape, numbers_too, False)
        made = _made(shape, numbers_too, narrow) if narrow else plain
        # Sums over many elements stay in float32.
        made = compensated(made) if numbers_too or not narrow else made
        found = _gradients[key] = _with_forms(made, plain, shape, numbers_too)
    return found


def _with_forms(made: Graph, plain: Graph, shape: Shape, numbers_too: bool | None) -> Graph:
    from gateproof.kernels.eager_gate import GateForms

    return replace(made, forms=GateForms(shape, plain, numbers_too))


def _made(shape: Shape, numbers_too: bool | None, narrow: bool) -> Graph:
    """The value's graph for None, else the gradients'."""
    from gateproof.kernels.narrow_gate import Narrow, narrow_gradients, narrow_value

    first, tensors = int(numbers_too is not None), 2 if shape.product else 1
    builder = Builder(first + tensors + shape.width)
    symbols = [Symbol(builder, i) for i in range(builder.inputs)]
    ops, x = Symbolic(builder, small=True), symbols[first]
    u = symbols[first + 1] if shape.product else None
    numbers = symbols[first + tensors :]
    if narrow:
        fine = Narrow(ops, x, numbers, shape)
        if numbers_too is None:
            return builder.finished([narrow_value(fine, u).ref])
        found = narrow_gradients(fine, symbols[0], u, numbers_too=numbers_too)
    else:
        gate = Gate(ops, x, numbers, shape)
        if numbers_too is None:
            value = gate.value()
            return builder.finished([(value if u is None else value * u).ref])
        found = gate_gradients(gate, symbols[0], u, numbers_too=numbers_too)
    return builder.finished([g.ref for g in found])


def gate_gradients(gate: Gate, dy: Any, u: Any, *, numbers_too: bool) -> list[Any]:
    """The gradients in x, u if there is one, and the numbers, times that of the result."""
    in_x, *in_numbers = gate.gradients() if numbers_too else [gate.in_x()]
    outer = dy if u is None else dy * u
    found = [outer * in_x, *([] if u is None else [dy * gate.value()])]
    return [*found, *(outer * g for g in in_numbers)]
