"""The threshold gate by its definition, in balls for single inputs and in float64 for many.

Balls have enough bits that differences of sigmoids keep their digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import inf, isinf, isnan

import flint
import numpy as np
from flint import arb
from numpy.typing import NDArray

Array = NDArray[np.float64]
BITS = 160


@dataclass(frozen=True)
class Gate:
    """Numbers of a gate, left to right; with ``product`` its value is multiplied by a second tensor."""

    name: str
    tau: tuple[float, ...]
    theta: tuple[float, ...]
    slope: tuple[float, ...]
    intercept: tuple[float, ...]
    product: bool = False
    #: Both tensors are halves of one.
    packed: bool = False
    #: In float32 only.
    single: bool = False

    @property
    def taus(self) -> tuple[float, ...]:
        """One for each threshold."""
        return self.tau * len(self.theta) if len(self.tau) == 1 else self.tau


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
