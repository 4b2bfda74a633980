"""A gate with exact numbers in float64: its gates and its values; peaks of an error."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gateproof.numerics.backends.numbers import to_float
from gateproof.numerics.fits.gates import Array, Gates, sigmoids
from gateproof.theory.formula.nodes import Const, Expr
from gateproof.theory.gate import Gate

Function = Callable[[Array], Array]
#: Rounds of refinement of a peak, and points of each.
ROUNDS, POINTS = 3, 41


def floats(values: tuple[Expr, ...]) -> Array:
    """Exact numbers as doubles; oo is infinite."""
    return np.array(
        [np.inf if isinstance(v, Const) and v.name == "oo" else to_float(v) for v in values], dtype=np.float64
    )


def weights_of(gate: Gate) -> Function:
    """The K gates at n points, shape (K, n). A hard gate is 0 at its threshold."""
    tau, theta = floats(gate.tau), floats(gate.theta)
    hard, gates = np.array(gate.hard, dtype=bool), Gates(gate.branches, gate.algebra)

    def weights(x: Array) -> Array:
        z = np.where(hard, 1.0, tau)[:, None] * (x - theta[:, None])
        above, below = sigmoids(z)
        above[hard], below[hard] = z[hard] > 0, z[hard] <= 0
        return gates.combined(z, above, below)

    return weights


def values_of(gate: Gate) -> Function:
    """The gate at n points."""
    weights, slope, intercept = weights_of(gate), floats(gate.slope), floats(gate.intercept)

    def values(x: Array) -> Array:
        lines = slope[:, None] * x + intercept[:, None]
        return np.asarray((weights(x) * lines).sum(axis=0))

    return values


def refined(error: Function, x: Array, size: Array, share: float) -> list[tuple[float, float]]:
    """Places and signed values of the peaks of |error| of at least ``share`` of the largest, ascending.

    ``size`` are the values at the ascending points x, between which each peak is looked for more closely.
    """
    high = np.abs(size)
    if not high.max(initial=0.0) > 0:
        return []
    before = np.concatenate([[True], high[1:] >= high[:-1]])
    after = np.concatenate([high[:-1] > high[1:], [True]])
    at = np.flatnonzero(before & after & (high >= 0.98 * share * high.max()))
    found = []
    for k in map(int, at):
        lo, hi = float(x[max(k - 1, 0)]), float(x[min(k + 1, len(x) - 1)])
        best, value = float(x[k]), float(size[k])
        for _ in range(ROUNDS):
            near = np.linspace(lo, hi, POINTS)
            here = error(near)
            j = int(np.argmax(np.abs(here)))
            if abs(here[j]) > abs(value):
                best, value = float(near[j]), float(here[j])
            step = (hi - lo) / (POINTS - 1)
            lo, hi = max(lo, best - step), min(hi, best + step)
        found.append((best, value))
    top = max(abs(v) for _, v in found)
    return [p for p in found if abs(p[1]) >= share * top]
