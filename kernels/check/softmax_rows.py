"""Softmax and its log-odds held against balls, row by row: value, and gradient for a given dy.

With weights w_j = exp(z_j - top), their sum W and p_j = w_j/W:

    p_i,  z_i - top - log(W - w_i),  p_i sum_j p_j (dy_i - dy_j),  dy_i - sum_(j != i) dy_j w_i/(W - w_j)

A ball of 600 bits keeps 90 digits of W - w_i for the gaps here. Errors are judged against the sizes of
terms: the top logit's log-odds are its distance to the second less what is below that, of opposite signs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import torch
from numpy.typing import NDArray

from gateproof.kernels import choice, functional
from gateproof.kernels.check.result import Result, Row, by_terms
from gateproof.numerics.points import exact_arb

Array = NDArray[np.float64]
NAMES = ("tg_softmax", "tg_softmax_log_odds")
BITS, SMALLEST = 600, 2.0**-149
#: Units in the last place of values, and of gradients: these are sums over a row.
BUDGETS = {"forward": 4.0, "backward": 8.0}
GAPS = (0.0, 1e-3, 0.5, 3.0, 10.0, 20.0, 50.0, 88.0, 120.0, 200.0)
LENGTHS = (2, 3, 17, 40)


def logits(n: int) -> list[Array]:
    """Rows of n logits in float32 whose top one stands a gap above the others, and rows with ties."""
    draw = np.random.default_rng(n)
    made = [np.zeros(n), np.full(n, 30.0)]
    for gap in GAPS:
        z = draw.normal(0.0, 2.0, n)
        z[draw.integers(n)] = z.max() + gap
        made.append(z)
    return [z.astype(np.float32).astype(np.float64) for z in made]


def rows(name: str, code: Any) -> Iterator[Result]:
    """Two rows: value and gradient in float32."""
    odds = name == NAMES[1]
    found: dict[str, list[Array]] = {"forward": [], "backward": []}
    truth: dict[str, list[Array]] = {"forward": [], "backward": []}
    sizes: dict[str, list[Array]] = {"forward": [], "backward": []}
    every: list[Array] = []
    for n in LENGTHS:
        table = np.stack(logits(n))
        dy = np.random.default_rng(100 + n).normal(0.0, 1.0, table.shape).astype(np.float32)
        with choice.use(code):
            z = torch.tensor(table, dtype=torch.float32, requires_grad=True)
            y = functional.tg_softmax(z, log_odds=odds)
            (dz,) = torch.autograd.grad(y, z, torch.tensor(dy))
        found["forward"].append(y.detach().double().numpy().ravel())
        found["backward"].append(dz.double().numpy().ravel())
        every.append(table.ravel())
        for row, d in zip(table, dy, strict=True):
            exact = _Exact(row, d.astype(np.float64))
            for direction, rule in exact.rules(odds).items():
                values, terms = zip(*(rule(i) for i in range(n)), strict=True)
                truth[direction].append(np.array(values))
                sizes[direction].append(np.array(terms))
    for direction, budget in BUDGETS.items():
        right, size = np.concatenate(truth[direction]), np.concatenate(sizes[direction])
        yield by_terms(
            Row(name, direction, "float32", str(code)), [np.concatenate(every)],
            np.concatenate(found[direction]), right, size, np.full(len(right), SMALLEST), budget,
        )  # fmt: skip


class _Exact:
    """One row in balls; each rule gives a value and the size of its terms."""

    def __init__(self, z: Array, dy: Array) -> None:
        with flint.ctx.workprec(BITS):
            self.z = [exact_arb(Fraction(float(v))) for v in z]
            self.dy = [exact_arb(Fraction(float(v))) for v in dy]
            self.top = exact_arb(Fraction(float(z.max())))
            self.weights = [(v - self.top).exp() for v in self.z]
            self.total = _sum(self.weights)
            self.p = [w / self.total for w in self.weights]
        self.raw = z

    def rules(self, odds: bool) -> dict[str, Any]:
        if odds:
            return {"forward": self._log_odds, "backward": self._log_odds_gradient}
        return {"forward": self._probability, "backward": self._gradient}

    def _probability(self, i: int) -> tuple[float, float]:
        return float(self.p[i]), float(self.p[i])

    def _log_odds(self, i: int) -> tuple[float, float]:
        with flint.ctx.workprec(BITS):
            others = self.top + (self.total - self.weights[i]).log()
            second = exact_arb(Fraction(float(np.delete(self.raw, i).max())))
            return float(self.z[i] - others), float(abs(self.z[i] - second) + abs(others - second))

    def _gradient(self, i: int) -> tuple[float, float]:
        with flint.ctx.workprec(BITS):
            terms = [p * (self.dy[i] - d) for p, d in zip(self.p, self.dy, strict=True)]
            return float(self.p[i] * _sum(terms)), float(self.p[i] * _sum([abs(t) for t in terms]))

    def _log_odds_gradient(self, i: int) -> tuple[float, float]:
        with flint.ctx.workprec(BITS):
            terms = [
                -d * self.weights[i] / (self.total - w)
                for j, (d, w) in enumerate(zip(self.dy, self.weights, strict=True))
                if j != i
            ]
            return float(self.dy[i] + _sum(terms)), float(abs(self.dy[i]) + _sum([abs(t) for t in terms]))


def _sum(terms: Sequence[Any]) -> Any:
    total = flint.arb(0)
    for term in terms:
        total += term
    return total
