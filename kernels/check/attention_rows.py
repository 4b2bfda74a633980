"""Attention held against its definition in balls: the value, and the gradients in q, k and v.

With scores s_ij = scale q_i k_j, p_ij their softmax over j, dp_ij = dout_i v_j:

    out_i = sum_j p_ij v_j,      ds_ij = p_ij sum_l p_il (dp_ij - dp_il),
    dq_i = scale sum_j ds_ij k_j,   dk_j = scale sum_i ds_ij q_i,   dv_j = sum_i p_ij dout_i

A score errs by a multiple of A_ij = scale sum |q k|, its own sum of absolute terms, and exp turns that into a
relative error: p_ij moves by A_ij and by the mean M_i of A over its row. So the sums of absolute terms are

    of out_i: sum_j p_ij |v_j| (1 + A_ij + M_i),
    of ds_ij: p_ij sum_(l != j) p_il (D_ij + D_il) (1 + A_ij + A_il + 2 M_i),   D_ij = sum |dout_i v_j|,

and those of the products with k, q and dout that follow. The term l = j is 0 in mathematics: where one key
dominates, what is left is smaller than p dp by far, and the usual p (dp - sum p dp) has no digit of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any

import flint
import numpy as np
import torch
from numpy.typing import NDArray

from gateproof.kernels import choice, functional
from gateproof.kernels.check.result import Result, Row, by_terms
from gateproof.numerics.points import exact_arb

Array = NDArray[np.float64]
NAME = "tg_attention"
BITS, SMALLEST = 400, 2.0**-149
#: Units in the last place; gradients are sums over a row of differences.
BUDGETS = {"forward": 4.0, "backward q": 8.0, "backward k": 8.0, "backward v": 8.0}
ROWS, KEYS, WIDTH, VALUES = 6, 9, 4, 3


@dataclass(frozen=True)
class Case:
    """One head: how large its scores are, and what its rows see."""

    steepness: float
    causal: bool = False
    masked: bool = False


#: Gaps of scores from near 0 to more than 100.
CASES = (Case(0.1), Case(1.0), Case(1.0, causal=True), Case(4.0, masked=True), Case(6.0), Case(10.0))


def rows(code: Any) -> Iterator[Result]:
    """Four rows in float32."""
    found: dict[str, list[Array]] = {d: [] for d in BUDGETS}
    truths: dict[str, list[Array]] = {d: [] for d in BUDGETS}
    sizes: dict[str, list[Array]] = {d: [] for d in BUDGETS}
    for seed, case in enumerate(CASES):
        draw = np.random.default_rng(seed)
        shapes = ((ROWS, WIDTH), (KEYS, WIDTH), (KEYS, VALUES), (ROWS, VALUES))
        q, k, v, dout = (draw.normal(0.0, 1.0, s).astype(np.float32) for s in shapes)
        q *= np.float32(case.steepness)
        mask = draw.random((ROWS, KEYS)) < 0.6 if case.masked else None
        # A row without any key is 0, which needs no measure.
        if mask is not None:
            mask[:, 0] = True
        made = _computed(q, k, v, dout, mask, case.causal, code)
        seen = np.ones((ROWS, KEYS), dtype=bool) if mask is None else mask
        seen = np.tril(seen) if case.causal else seen
        for direction, values, (right, size) in zip(BUDGETS, made, _exact(q, k, v, dout, seen), strict=True):
            found[direction].append(values.ravel())
            truths[direction].append(_floats(right))
            sizes[direction].append(_floats(size))
    for direction, budget in BUDGETS.items():
        right, size = np.concatenate(truths[direction]), np.concatenate(sizes[direction])
        yield by_terms(
            Row(NAME, direction, "float32", str(code)), [np.arange(len(right), dtype=np.float64)],
            np.concatenate(found[direction]), right, size, np.full(len(right), SMALLEST), budget,
        )  # fmt: skip


def _computed(q: Any, k: Any, v: Any, dout: Any, mask: Any, causal: bool, code: Any) -> list[Array]:
    tensors = [torch.tensor(t, requires_grad=True) for t in (q, k, v)]
    keep = None if mask is None else torch.tensor(mask)
    with choice.use(code):
        out = functional.tg_attention(tensors[0], tensors[1], tensors[2], keep, causal)
        grads = torch.autograd.grad(out, tensors, torch.tensor(dout))
    return [t.detach().double().numpy() for t in (out, *grads)]


def _exact(q: Any, k: Any, v: Any, dout: Any, seen: Any) -> list[tuple[Any, Any]]:
    """Truths and sizes, arrays of balls."""
    with flint.ctx.workprec(BITS):
        q, k, v, dout = (_balls(t) for t in (q, k, v, dout))
        # The scale is rounded to float64 by the function itself.
        scale = exact_arb(Fraction(1.0 / sqrt(q.shape[1])))
        one, zero = flint.arb(1), flint.arb(0)
        scores, wide = q @ k.T * scale, abs(q) @ abs(k).T * scale
        weights = np.array([[s.exp() if o else zero for s, o in zip(*pair, strict=True)]
                            for pair in zip(scores, seen, strict=True)])  # fmt: skip
        p = weights / weights.sum(1)[:, None]
        mean = (p * wide).sum(1)[:, None]
        moved = one + wide + mean
        dp, of_dp = dout @ v.T, abs(dout) @ abs(v).T
        ds, of_ds = np.empty_like(p), np.empty_like(p)
        for j in range(p.shape[1]):
            # The key itself is left out: its term is 0.
            rest = np.delete(np.arange(p.shape[1]), j)
            others, own = p[:, rest], [a[:, j : j + 1] for a in (dp, of_dp, wide)]
            ds[:, j] = p[:, j] * (others * (own[0] - dp[:, rest])).sum(1)
            magnified = one + own[2] + wide[:, rest] + 2 * mean
            of_ds[:, j] = p[:, j] * (others * (own[1] + of_dp[:, rest]) * magnified).sum(1)
        return [
            (p @ v, (p * moved) @ abs(v)),
            (ds @ k * scale, of_ds @ abs(k) * scale),
            (ds.T @ q * scale, of_ds.T @ abs(q) * scale),
            (p.T @ dout, (p * moved).T @ abs(dout)),
        ]


def _balls(t: Any) -> Any:
    return np.array([[exact_arb(Fraction(float(x))) for x in row] for row in t], dtype=object)


def _floats(balls: Any) -> Array:
    return np.array([float(b.mid()) for b in balls.ravel()])
