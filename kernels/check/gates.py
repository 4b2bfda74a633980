"""The threshold gate held against its definition: value, and the gradient in x and in every number.

The definition is evaluated in balls with enough bits that differences of sigmoids keep their digits. One row
of numbers an element makes the gradients in the numbers those of single elements, not sums.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import inf, isinf, isnan
from typing import Any

import flint
import numpy as np
import torch
from flint import arb
from numpy.typing import NDArray

from gateproof.kernels import choice, functional
from gateproof.kernels.check.formulas import SMALLEST, TORCH
from gateproof.kernels.check.grids import beside, line
from gateproof.kernels.check.result import Result, Row, by_rounding, by_terms
from gateproof.kernels.check.rounding import FORMATS, every_input, near_tie, rounded

Array = NDArray[np.float64]
POINTS, BITS, BUDGET = 420, 160, 4.0
#: Balls give float64 values that are right to a unit of 2**-52.
EXACT = 2.0**-51


@dataclass(frozen=True)
class Gate:
    """Numbers of a gate, left to right; with ``product`` its value is multiplied by a second tensor."""

    name: str
    tau: tuple[float, ...]
    theta: tuple[float, ...]
    slope: tuple[float, ...]
    intercept: tuple[float, ...]
    product: bool = False

    @property
    def taus(self) -> tuple[float, ...]:
        """One for each threshold."""
        return self.tau * len(self.theta) if len(self.tau) == 1 else self.tau


GATES = (
    Gate("tg_k1", (1.0,), (), (0.75,), (-0.3,)),
    Gate("tg_k2_silu", (1.0,), (0.0,), (0.0, 1.0), (0.0, 0.0)),
    Gate("tg_k2_1.702", (1.702,), (0.0,), (0.0, 1.0), (0.0, 0.0)),
    Gate("tg_k2_shifted", (2.7,), (0.3,), (-0.0977, 1.0731), (0.2113, -0.3719)),
    Gate("tg_k3", (3.1,), (-1.1, 0.7), (0.0, 0.4, 1.0), (-0.05, 0.1, 0.0)),
    Gate(
        "tg_k4_free",
        (2.3, 0.9, 5.7),
        (-2.2, 0.1, 1.9),
        (0.1037, -0.6171, 0.9377, 0.0),
        (0.3119, 0.2113, -0.0983, 2.0),
    ),
    Gate("tg_k3_hard", (inf,), (-3.0, 3.0), (0.0, 0.5, 1.0), (0.0, 1.5, 0.0)),
    Gate("tg_k3_part_hard", (1.3, inf), (-0.5, 2.0), (0.2, 1.0, 0.0), (0.1, 0.0, 2.0)),
    Gate("tg_glu", (1.3,), (-0.2,), (0.1, 0.9), (0.0, 0.1), product=True),
)


def _exact(values: Sequence[float]) -> list[arb]:
    return [arb(flint.fmpq(*Fraction(v).as_integer_ratio())) if not isinf(v) else arb("inf") for v in values]


def _sigmoid(tau: float, theta: float, x: float) -> tuple[arb, arb, arb, arb]:
    """sigmoid(z), sigmoid(-z), tau and x - theta."""
    (h,), (y,) = _exact([theta]), _exact([x])
    if isinf(tau):
        up = arb(1) if x > theta else arb(0)
        return up, 1 - up, arb(0), y - h
    (t,) = _exact([tau])
    e = (t * (y - h)).exp()
    return e / (1 + e), 1 / (1 + e), t, y - h


def exact(gate: Gate, x: float) -> tuple[list[float], list[float]]:
    """The value, the gradients in x, tau, theta, slope, intercept, and for each its sum of absolute terms."""
    k = len(gate.slope)
    if isnan(x):
        count = 2 + len(gate.tau) * (k > 1) + 3 * k - 1
        return [x] * count, [0.0] * count
    if isinf(x):
        return _at_infinity(gate, x)
    before = flint.ctx.prec
    steepest = max(
        (t * abs(x - h) for t, h in zip(gate.taus, gate.theta, strict=True) if not isinf(t)), default=0.0
    )
    # Gates of exp(-z) are differences of numbers next to 1.
    flint.ctx.prec = BITS + int(3 * min(steepest, 1000.0))
    try:
        return _at(gate, x)
    finally:
        flint.ctx.prec = before


def _at(gate: Gate, x: float) -> tuple[list[float], list[float]]:
    (y,), slope, intercept = _exact([x]), _exact(gate.slope), _exact(gate.intercept)
    sides = [_sigmoid(t, h, x) for t, h in zip(gate.taus, gate.theta, strict=True)]
    ups = [arb(1), *(s[0] for s in sides), arb(0)]
    gates = [a - b for a, b in pairwise(ups)]
    lines = [s * y + c for s, c in zip(slope, intercept, strict=True)]
    wide = [abs(s * y) + abs(c) for s, c in zip(slope, intercept, strict=True)]
    value = sum((g * b for g, b in zip(gates, lines, strict=True)), arb(0))
    of_value = sum((abs(g) * b for g, b in zip(gates, wide, strict=True)), arb(0))
    turned = [up * down for up, down, _, _ in sides]
    jumps = [p * (b - a) for p, (a, b) in zip(turned, pairwise(lines), strict=True)]
    of_jumps = [p * (a + b) for p, (a, b) in zip(turned, pairwise(wide), strict=True)]
    moved = [j * s[2] for j, s in zip(jumps, sides, strict=True)]
    of_moved = [j * s[2] for j, s in zip(of_jumps, sides, strict=True)]
    in_x = sum((g * s for g, s in zip(gates, slope, strict=True)), arb(0)) + sum(moved, arb(0))
    of_x = sum((abs(g * s) for g, s in zip(gates, slope, strict=True)), arb(0)) + sum(of_moved, arb(0))
    in_tau = [j * s[3] * (s[2] != 0) for j, s in zip(jumps, sides, strict=True)]
    of_tau = [j * abs(s[3]) for j, s in zip(of_jumps, sides, strict=True)]
    if len(gate.tau) == 1 and in_tau:
        in_tau, of_tau = [sum(in_tau, arb(0))], [sum(of_tau, arb(0))]
    results = [value, in_x, *in_tau, *(-m for m in moved), *(g * y for g in gates), *gates]
    sizes = [of_value, of_x, *of_tau, *of_moved, *(abs(g * y) for g in gates), *(abs(g) for g in gates)]
    return [float(r.mid()) for r in results], [float(s.mid()) for s in sizes]


def _at_infinity(gate: Gate, x: float) -> tuple[list[float], list[float]]:
    """Limits: the last branch on the right, the first on the left, and nothing moves."""
    k = len(gate.slope)
    on = k - 1 if x > 0 else 0
    s, c = gate.slope[on], gate.intercept[on]
    gates = [float(j == on) for j in range(k)]
    numbers = (len(gate.tau) if k > 1 else 0) + k - 1
    results = [s * x if s else c, s, *([0.0] * numbers), *(x if g else 0.0 for g in gates), *gates]
    return results, [abs(r) for r in results]


def names_of(gate: Gate) -> list[str]:
    """The directions, in the order of the results."""
    k = len(gate.slope)
    taus = [] if k == 1 else ["tau"] if len(gate.tau) == 1 else [f"tau {j}" for j in range(1, k)]
    return [
        "forward",
        "backward x",
        *(f"backward {t}" for t in taus),
        *(f"backward theta {j}" for j in range(1, k)),
        *(f"backward slope {j}" for j in range(1, k + 1)),
        *(f"backward intercept {j}" for j in range(1, k + 1)),
    ]


def _floor(gate: Gate, x: Array) -> Array:
    """The least unit: half of the smallest number, which a vanishing gate errs by, magnified by its line."""
    with np.errstate(all="ignore"):
        lines = [np.abs(s * x) + abs(c) for s, c in zip(gate.slope, gate.intercept, strict=True)]
        most = np.max([*lines, np.ones(len(x))], axis=0) * np.maximum(1.0, np.abs(x))
        most = most * max(1.0, *(t for t in (1.0, *gate.tau) if not isinf(t)))
        return SMALLEST * np.where(np.abs(x) < 200, most, 1.0)


def single(gate: Gate) -> Gate:
    """The gate with its numbers rounded to float32, which is what a table holds."""
    return Gate(
        gate.name,
        *(tuple(float(np.float32(v)) for v in p) for p in (gate.tau, gate.theta, gate.slope, gate.intercept)),
        gate.product,
    )


def rows(gate: Gate, code: Any, dtypes: Sequence[str]) -> Iterator[Result]:
    """All directions in float32, and value and slope on all inputs of 16-bit types."""
    gate = single(gate)
    for dtype in dtypes:
        if dtype == "float32":
            yield from _on_grid(gate, code)
        elif len(gate.slope) > 1 and not gate.product:
            yield from _on_all(gate, code, dtype)


def _on_grid(gate: Gate, code: Any) -> Iterator[Result]:
    x = line(POINTS, gate.theta)
    u = beside(len(x)) if gate.product else np.ones(len(x), dtype=np.float32)
    wide, times = x.astype(np.float64), u.astype(np.float64)
    pairs = [exact(gate, float(v)) for v in wide]
    truths, sizes = (np.array([p[k] for p in pairs]).T for k in (0, 1))
    found = _computed(gate, x, u, code)
    floor, names = _floor(gate, wide) * np.maximum(1.0, np.abs(times)), names_of(gate)
    inputs = [wide, times] if gate.product else [wide]
    for name, values, truth, terms in zip(names, found[: len(names)], truths, sizes, strict=True):
        # Products of float32 numbers with exact values stay exact far below a unit of float32.
        if name.startswith("backward tau") and isinf(max(gate.tau)) and not np.any(values):
            continue
        with np.errstate(all="ignore"):
            yield by_terms(
                Row(gate.name, name, "float32", str(code)),
                inputs, values, truth * times, terms * np.abs(times), floor, BUDGET,
            )  # fmt: skip
    if gate.product:
        with np.errstate(all="ignore"):
            yield by_terms(
                Row(gate.name, "backward u", "float32", str(code)),
                inputs, found[-1], truths[0], sizes[0], floor, BUDGET,
            )  # fmt: skip


def _computed(gate: Gate, x: Any, u: Any, code: Any) -> list[Array]:
    """The value and gradients, in the order of the directions; last that in u."""
    t = torch.tensor(x).reshape(1, -1).requires_grad_()
    other = torch.tensor(u).reshape(1, -1).requires_grad_()
    given = [
        torch.tensor([list(p)] * len(x), dtype=torch.float32).requires_grad_()
        for p in (gate.tau, gate.theta, gate.slope, gate.intercept)
    ]
    given = [g.reshape(len(x), -1) for g in given]
    with choice.use(code):
        y = functional.tg_glu(t, other, *given) if gate.product else functional.threshold_gate(t, *given)
        wanted = [t, *given, *([other] if gate.product else [])]
        grads = torch.autograd.grad(y, wanted, torch.ones_like(y), allow_unused=True)
    in_x, tau, *rest = grads[: 1 + len(given)]
    columns = [y.reshape(-1), in_x.reshape(-1)]
    columns += [] if len(gate.slope) == 1 else list(tau.unbind(1))
    columns += [c for g in rest for c in g.unbind(1)]
    columns += [grads[-1].reshape(-1)] if gate.product else []
    return [c.detach().to(torch.float64).numpy() for c in columns]


def _on_all(gate: Gate, code: Any, dtype: str) -> Iterator[Result]:
    form, x = FORMATS[dtype], every_input(FORMATS[dtype])
    t = torch.tensor(x).to(TORCH[dtype]).requires_grad_()
    with choice.use(code):
        y = functional.threshold_gate(t, gate.tau, gate.theta, gate.slope, gate.intercept)
        (dx,) = torch.autograd.grad(y, t, torch.ones_like(y))
    values = double(gate, x)
    for name, found, truth, k in zip(("forward", "backward x"), (y, dx), values, (0, 1), strict=True):
        nearest = rounded(truth, form)
        for i in np.flatnonzero(near_tie(truth, form, 2.0**-36)):
            right = exact(gate, float(x[i]))[0][k]
            nearest[i] = rounded(np.array([right]), form)[0]
        row = Row(gate.name, name, dtype, str(code))
        _compare(gate, x, truth, k)
        yield by_rounding(row, [x], found.detach().to(torch.float64).numpy(), truth, nearest, form)


def _compare(gate: Gate, x: Array, truth: Array, k: int) -> None:
    """Hold float64 values against balls at a sample of inputs."""
    for i in np.linspace(0, len(x) - 1, 150).astype(np.int64):
        values, sizes = exact(gate, float(x[i]))
        right, seen = values[k], truth[i]
        if right == seen or (isnan(right) and isnan(seen)):
            continue
        if not abs(right - seen) <= 2.0**-34 * max(sizes[k], abs(right)) + 1e-60:
            raise ArithmeticError(f"{gate} at {x[i]}: {seen} in float64, {right} in balls")


def double(gate: Gate, x: Array) -> tuple[Array, Array]:
    """Value and derivative in float64 by the definition, for many inputs.

    Sigmoids of the smaller side are subtracted, so that a middle gate keeps its digits in both tails.
    """
    with np.errstate(all="ignore"):
        ups, downs, moved = [np.ones(len(x))], [np.zeros(len(x))], []
        for t, h in zip(gate.taus, gate.theta, strict=True):
            z = np.where(x > h, inf, -inf) if isinf(t) else t * (x - h)
            e = np.exp(-np.abs(z))
            r = 1 / (1 + e)
            ups.append(np.where(z > 0, r, e * r))
            downs.append(np.where(z > 0, e * r, r))
            moved.append(np.zeros(len(x)) if isinf(t) else t * e * r * r)
        ups.append(np.zeros(len(x)))
        downs.append(np.ones(len(x)))
        gates = [
            np.where(ups[j] < 0.5, ups[j] - ups[j + 1], downs[j + 1] - downs[j])
            for j in range(len(gate.slope))
        ]
        lines = [
            (s * x if s else 0 * np.ones(len(x))) + c for s, c in zip(gate.slope, gate.intercept, strict=True)
        ]
        value = sum(
            (np.where(g == 0, 0.0, g * b) for g, b in zip(gates, lines, strict=True)), np.zeros(len(x))
        )
        slope = sum((g * s for g, s in zip(gates, gate.slope, strict=True)), np.zeros(len(x)))
        for m, (a, b) in zip(moved, pairwise(lines), strict=True):
            slope = slope + np.where(m == 0, 0.0, m * (b - a))
    return np.where(np.isnan(x), x, value), np.where(np.isnan(x), x, slope)
