"""Single-head attention as threshold gates, integrals of gates, sums and products: what is which.

Threshold-gating paper, "Method", item 3: the whole forward pass of self-attention is said to be
gates and first-order integration. Written out here exactly, operation by operation. Gates and
integrals replace the exponentials and the division of softmax: probability ij is a gate of the
score with the LSE of the row's other scores as threshold, an LSE of two numbers is a hard gate
(the maximum) plus the integral of a soft one (softplus). What is left is not a gate:

- scores and mixtures are products of two numbers that both depend on the input. A gate with
  given constants grows at most linearly in its input, a product such as x*x does not;
- a constant of a gate may be another computed number, as in sum_j p_ij v_jd = sum_j g v_jd with
  branches 0 and v_jd. In that wider sense the mixture is a sum of gates, and a multiplier is
  assumed inside each;
- linear maps, the scaling 1/sqrt(d) and sums are multiply-adds, folded into weights.

Shapes: n tokens, d numbers for a query or key, m for a value. A mask allows key j for query i.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from gateproof.theory.exact.derivative import add, mul
from gateproof.theory.formula.nodes import App, Expr, Tg, num
from gateproof.theory.tg_softmax import as_gate, direct, pairs_needed, thresholds_by_gates
from gateproof.theory.threshold_gate import write_out

Rows = Sequence[Sequence[Expr]]
Mask = Sequence[Sequence[bool]]
Kind = Literal["linear", "product", "hard gate", "gate", "integral"]


@dataclass(frozen=True)
class Operation:
    """What a forward pass does ``count`` times; ``is_gate`` as the paper defines one."""

    what: str
    kind: Kind
    count: int

    @property
    def is_gate(self) -> bool:
        """A threshold gate, or the integral of one."""
        return self.kind in ("hard gate", "gate", "integral")


@dataclass(frozen=True)
class Attention:
    """Scores (n x n, None where masked), probabilities (n x n) and outputs (n x m)."""

    scores: tuple[tuple[Expr | None, ...], ...]
    probabilities: tuple[tuple[Expr, ...], ...]
    outputs: tuple[tuple[Expr, ...], ...]


def causal(n: int) -> tuple[tuple[bool, ...], ...]:
    """Key j for query i where j <= i."""
    return tuple(tuple(j <= i for j in range(n)) for i in range(n))


def _sizes(q: Rows, k: Rows, v: Rows, mask: Mask | None) -> tuple[int, int, int]:
    n = len(q)
    widths = ({len(r) for r in q} | {len(r) for r in k}, {len(r) for r in v})
    if n < 1 or len(k) != n or len(v) != n or any(len(w) != 1 for w in widths):
        raise ValueError("queries, keys and values: n rows each, queries as long as keys")
    if mask is not None and [len(r) for r in mask] != [n] * n:
        raise ValueError(f"the mask is {n} x {n}")
    if mask is not None and not all(any(r) for r in mask):
        raise ValueError("a query with every key masked has no probabilities")
    return n, len(q[0]), len(v[0])


def scores(q: Rows, k: Rows, mask: Mask | None = None) -> tuple[tuple[Expr | None, ...], ...]:
    """q_i . k_j / sqrt(d), None where masked."""
    n, d, _ = _sizes(q, k, q, mask)
    scale = App("sqrt", (num(d),))

    def one(i: int, j: int) -> Expr:
        product = add(*(mul(a, b) for a, b in zip(q[i], k[j], strict=True)))
        return product if d == 1 else App("div", (product, scale))

    return tuple(tuple(one(i, j) if mask is None or mask[i][j] else None for j in range(n)) for i in range(n))


def reference(q: Rows, k: Rows, v: Rows, mask: Mask | None = None) -> Attention:
    """Attention by its definition: quotients of exponentials."""
    _sizes(q, k, v, mask)
    table = scores(q, k, mask)
    p = tuple(tuple(direct(row, j) for j in range(len(row))) for row in table)
    return Attention(table, p, _mix(p, v))


def by_gates(q: Rows, k: Rows, v: Rows, mask: Mask | None = None) -> Attention:
    """The same by gates: LSE by maxima and softplus, probabilities by one soft gate each."""
    _sizes(q, k, v, mask)
    table = scores(q, k, mask)
    p = tuple(_gated_row(row) for row in table)
    return Attention(table, p, _mix(p, v))


def _gated_row(row: Sequence[Expr | None]) -> tuple[Expr, ...]:
    kept = [j for j, z in enumerate(row) if z is not None]
    found: list[Expr] = [num(0)] * len(row)
    if len(kept) == 1:
        found[kept[0]] = num(1)
        return tuple(found)
    thresholds = thresholds_by_gates([z for z in row if z is not None])
    for j, theta in zip(kept, thresholds, strict=True):
        gate = as_gate(row, j)
        found[j] = write_out(Tg(gate.x, gate.tau, (theta,), gate.slope, gate.intercept))
    return tuple(found)


def _mix(p: Sequence[Sequence[Expr]], v: Rows) -> tuple[tuple[Expr, ...], ...]:
    columns = range(len(v[0]))
    return tuple(tuple(add(*(mul(pij, v[j][c]) for j, pij in enumerate(row))) for c in columns) for row in p)


def operations(n: int, d: int, m: int, *, is_causal: bool = False) -> tuple[Operation, ...]:
    """What one head does for n tokens, exactly counted; projections of the input are left out.

    A row with r keys takes r d products for its scores, r gates, and 3(r-2) two-argument LSEs,
    each one hard gate and one integral (r > 2); masked keys cost nothing.
    """
    if min(n, d, m) < 1:
        raise ValueError("n, d and m are at least 1")
    rows = [i + 1 if is_causal else n for i in range(n)]
    keys = sum(rows)
    pairs = sum(pairs_needed(r) for r in rows)
    soft = sum(r for r in rows if r > 1)
    return (
        Operation("scores: query times key", "product", keys * d),
        Operation("scaling by 1/sqrt(d)", "linear", keys),
        Operation("maximum of two", "hard gate", pairs),
        Operation("softplus of minus their distance", "integral", pairs),
        Operation("distance of two", "hard gate", pairs),
        Operation("probability from log-odds", "gate", soft),
        Operation("mixture: probability times value", "product", keys * m),
    )


def not_gates(n: int, d: int, m: int, *, is_causal: bool = False) -> tuple[Operation, ...]:
    """The operations that are neither gates nor integrals of gates."""
    return tuple(o for o in operations(n, d, m, is_causal=is_causal) if not o.is_gate)


def mixture_as_gates(row: Sequence[Expr | None], values: Sequence[Expr]) -> Expr:
    """sum_j p_j v_j with each term a gate whose right branch is the constant v_j.

    The wider reading: the constants of these gates are computed numbers. Domain: two or more
    unmasked scores.
    """
    if len(row) != len(values):
        raise ValueError("one value for each score")
    parts: list[Expr] = []
    for j, (z, v) in enumerate(zip(row, values, strict=True)):
        if z is not None:
            gate = as_gate(row, j)
            parts.append(write_out(Tg(gate.x, gate.tau, gate.theta, gate.slope, (num(0), v))))
    return add(*parts)
