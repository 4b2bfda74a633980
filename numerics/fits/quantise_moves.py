"""Gates whose parameters are whole multiples of units: their error, and descent by small moves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

from gateproof.numerics.fits.gates import Array, Gates
from gateproof.numerics.fits.normal import Normal
from gateproof.numerics.fits.quiet import quiet

#: Moves of one number, and of two; candidates looked at on all points; rounds of descent; numbers at once.
SINGLE, PAIR = (-3, -2, -1, 1, 2, 3), (-1, 1)
LOOKED_AT, ROUNDS, AT_ONCE = 6, 100, 2_000_000
#: Log tau of a hard threshold.
HARD = 80.0
#: Integer programmes: furthest move, programmes each, nodes, every so many points up to so far out.
REACH, PROGRAMMES, NODES, EVERY, FAR_OUT = 12, 4, 400, 10, 12.0


@dataclass(frozen=True)
class Lattice:
    """Parameters (tau, theta, slope, intercept) in the target's coordinates on grids of step ``unit``.

    ``fixed`` are given numbers (nan: free); the parameters of a group move together. A free number is at most
    ``most`` units in size, and tau at least one unit.
    """

    gates: Gates
    normal: Normal
    unit: Array
    fixed: Array
    groups: list[list[int]]
    most: int

    @cached_property
    def u(self) -> Array:
        """The points in normal coordinates."""
        return self.normal.grid()

    @cached_property
    def x(self) -> Array:
        """The points."""
        return np.asarray(self.normal.centre + self.normal.width * self.u)

    @cached_property
    def y(self) -> Array:
        """The target there."""
        return np.asarray(self.normal.target.function(self.x))

    @cached_property
    def weight(self) -> Array:
        """The weight of the error there."""
        given = getattr(self.normal.target, "weight", None)
        return np.ones_like(self.x) if given is None else np.asarray(given(self.x))

    def nearest(self, values: Array) -> Array:
        """Numbers of units, one a group."""
        found = np.array([np.round(values[g[0]] / self.unit[g[0]]) for g in self.groups])
        return self.within(found)

    def within(self, numbers: Array) -> Array:
        """Numbers cut to the range."""
        n = self.gates.branches - 1
        low = np.array([1 if g[0] < n else -self.most for g in self.groups])
        return np.clip(numbers, low, self.most)

    def around(self, g: int, values: Array) -> list[float]:
        """The two numbers of units beside a value of group g."""
        i = self.groups[g][0]
        at = np.floor(values[i] / self.unit[i])
        low = 1 if i < self.gates.branches - 1 else -self.most
        return sorted({float(np.clip(at + d, low, self.most)) for d in (0, 1)})

    def values(self, numbers: Array) -> Array:
        """All parameters; numbers of shape (..., groups)."""
        found = np.broadcast_to(self.fixed, (*np.shape(numbers)[:-1], len(self.fixed))).copy()
        for k, g in enumerate(self.groups):
            found[..., g] = numbers[..., k, None] * self.unit[g]
        return found

    def full(self, values: Array) -> Array:
        """The same with log tau."""
        full, n = values.copy(), self.gates.branches - 1
        with np.errstate(divide="ignore"):
            full[..., :n] = np.minimum(np.log(values[..., :n]), HARD - np.log(self.normal.width))
        return full

    def error(self, values: Array) -> float:
        """The largest error on the points."""
        return float(self.errors(values)[()])

    def errors(self, values: Array, every: int = 1) -> Array:
        """The largest error on the points (every so many of them) for values of shape (..., 4K - 2)."""
        x, y, w = self.x[::every], self.y[::every], self.weight[::every]
        gates = self.gates.values(self.full(values), x)
        return np.asarray(np.abs(w * (gates - y)).max(axis=-1))

    def refined(self, values: Array) -> float:
        """The largest error, between points too, and on both sides of hard thresholds."""
        x, full = self.x, self.full(values)

        def size(x: Array) -> Array:
            given = getattr(self.normal.target, "weight", None)
            w = 1.0 if given is None else given(x)
            return np.asarray(np.abs(w * (self.gates.values(full, x) - self.normal.target.function(x))))

        seen = size(x)
        best = float(seen.max())
        theta = values[self.gates.branches - 1 : 2 * self.gates.branches - 2]
        beside = np.concatenate([theta + s * 1e-12 * (np.abs(theta) + self.normal.width) for s in (-1, 1)])
        beside = beside[(beside >= x[0]) & (beside <= x[-1])]
        if len(beside):
            best = max(best, float(size(beside).max()))
        if getattr(self.normal.target, "points", None) is not None:
            return float(seen.max())
        for k in map(int, np.flatnonzero(seen > 0.98 * best)):
            inner = np.linspace(x[max(k - 1, 0)], x[min(k + 1, len(x) - 1)], 41)
            best = max(best, float(size(inner).max()))
        return best

    def by_effect(self, values: Array) -> list[int]:
        """Groups, those first whose unit changes the gate most."""
        full, n = self.full(values), self.gates.branches - 1
        slopes = np.abs(self.gates.jacobian(full, self.x[np.abs(self.u) < 8]))
        slopes[:n] /= values[:n, None]
        effect = [float((slopes[g].sum(axis=0) * self.unit[g[0]]).max()) for g in self.groups]
        return [int(k) for k in np.argsort(-np.array(effect), kind="stable")]

    def to_normal(self, values: Array) -> Array:
        """Parameters for the search."""
        n, f = self.gates.branches, self.normal
        tau, theta = values[: n - 1], values[n - 1 : 2 * n - 2]
        slope, intercept = values[2 * n - 2 : 3 * n - 2], values[3 * n - 2 :]
        lines = [f.line(m, b) for m, b in zip(slope, intercept, strict=True)]
        return np.concatenate(
            [
                np.log(tau * f.width),
                (theta - f.centre) / f.width,
                [m for m, _ in lines],
                [b for _, b in lines],
            ]
        )

    def from_normal(self, full: Array) -> Array:
        """Parameters of the search in the target's coordinates."""
        return np.concatenate(self.normal.inverse(self.gates, full))


def descended(lattice: Lattice, numbers: Array) -> tuple[float, Array]:
    """Error and numbers after moves of one or two of them as long as one is better."""
    moves = _moves(len(lattice.groups))
    best = lattice.error(lattice.values(numbers))
    chunk = max(1, AT_ONCE // (len(lattice.x) * lattice.gates.branches // 4 + 1))
    for _ in range(ROUNDS):
        trials = lattice.within(numbers + moves)
        rough = np.concatenate(
            [lattice.errors(lattice.values(trials[k : k + chunk]), 4) for k in range(0, len(trials), chunk)]
        )
        order = np.argsort(rough, kind="stable")[:LOOKED_AT]
        exact = [lattice.error(lattice.values(trials[k])) for k in order]
        k = int(np.argmin(exact))
        if not exact[k] < best * (1 - 1e-12):
            break
        best, numbers = exact[k], trials[order[k]]
    return lattice.refined(lattice.values(numbers)), numbers


def together(lattice: Lattice, numbers: Array) -> Array:
    """Numbers after moves of all of them at once: integer programmes on the error made linear.

    Minimise e subject to |error + derivatives . moves| <= e at sample points, moves whole numbers up to
    REACH. Node limits keep it deterministic.
    """
    best = lattice.error(lattice.values(numbers))
    points = np.flatnonzero(np.abs(lattice.u) < FAR_OUT)[::EVERY]
    for reach in (REACH, REACH // 3):
        for _ in range(PROGRAMMES):
            values = lattice.values(numbers)
            moves = _programme(lattice, values, points, float(best), reach, numbers)
            if moves is None or not moves.any():
                break
            trial = lattice.within(numbers + moves)
            error = lattice.error(lattice.values(trial))
            if not error < best * (1 - 1e-9):
                break
            best, numbers = error, trial
    return numbers


def _programme(
    lattice: Lattice, values: Array, points: NDArray[np.intp], best: float, reach: int, numbers: Array
) -> Array | None:
    x, n, full = lattice.x[points], lattice.gates.branches - 1, lattice.full(values)
    by = lattice.gates.jacobian(full, x)
    by[:n] /= values[:n, None]
    w = lattice.weight[points] / best
    rows = np.array([(by[g] * lattice.unit[g][:, None]).sum(axis=0) for g in lattice.groups]).T * w[:, None]
    error = (lattice.gates.values(full, x) - lattice.y[points]) * w
    # A point whose error cannot reach the best level by any move bounds nothing.
    held = np.abs(error) + reach * np.abs(rows).sum(axis=1) > 0.7
    rows, error = rows[held], error[held]
    m, k = rows.shape
    ones = np.ones((m, 1))
    low = lattice.within(np.full(k, -np.inf)) - numbers
    high = lattice.within(np.full(k, np.inf)) - numbers
    with quiet():
        result = milp(
            np.append(np.zeros(k), 1.0),
            constraints=LinearConstraint(
                np.vstack([np.hstack([rows, -ones]), np.hstack([-rows, -ones])]),
                -np.inf,
                np.concatenate([-error, error]),
            ),
            integrality=np.append(np.ones(k), 0.0),
            bounds=Bounds(
                np.append(np.maximum(low, -reach), 0.0), np.append(np.minimum(high, reach), np.inf)
            ),
            options={"node_limit": NODES, "mip_rel_gap": 1e-3},
        )
    return None if result.x is None else np.round(result.x[:k])


def _moves(count: int) -> Array:
    rows = []
    for k in range(count):
        for d in SINGLE:
            rows.append(np.zeros(count))
            rows[-1][k] = d
    for j, k in combinations(range(count), 2):
        for a in PAIR:
            for b in PAIR:
                rows.append(np.zeros(count))
                rows[-1][[j, k]] = a, b
    return np.array(rows).reshape(len(rows), count)
