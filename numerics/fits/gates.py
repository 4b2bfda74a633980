"""Gates of three algebras in floating point, with derivatives by every parameter.

A parameter vector is (log tau_1 .. log tau_(K-1), theta_1 .., slope_1 .. slope_K, intercept_1 ..), branches
left to right. With z_k = tau_k (x - theta_k), S_k = sigmoid(z_k), C_k = 1 - S_k and lines L_k:

    difference  y = C_1 L_1 + sum (S_(k-1) - S_k) L_k + S_(K-1) L_K,       dy/dz_k = S_k C_k (L_(k+1) - L_k)
    stick       y = R_1,  R_k = C_k L_k + S_k R_(k+1),  R_K = L_K,         dy/dz_k = S_1 .. S_(k-1) S_k C_k (R_(k+1) - L_k)
    softmax     g_k proportional to exp(z_1 + .. + z_(k-1)),               dy/dz_k = sum_(j > k) g_j (L_j - y)

The three agree for K = 2. Difference gates are the papers' (threshold gating, "Method", item 1); they can be
negative where the tau differ, the other two cannot.
"""  # noqa: E501 - a table

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
#: exp of it is finite; sigmoid(-x) of larger ones is as good as 0.
FARTHEST = 700.0


class Evaluated(NamedTuple):
    """z, sigmoid(z) and sigmoid(-z), each of shape (..., K - 1, n), and the gates (..., K, n)."""

    z: Array
    above: Array
    below: Array
    gates: Array


@dataclass(frozen=True)
class Gates:
    """A gate algebra with ``branches`` >= 1 branches."""

    branches: int
    algebra: str = "difference"

    @property
    def size(self) -> int:
        """Length of a parameter vector: 4K - 2."""
        return 4 * self.branches - 2

    def place(self, kind: str, k: int) -> int:
        """Where log tau ('sharpness'), 'theta', 'slope' or 'intercept' of number k, from 0, stands."""
        n = self.branches
        return {"sharpness": 0, "theta": n - 1, "slope": 2 * n - 2, "intercept": 3 * n - 2}[kind] + k

    def parts(self, full: Array) -> tuple[Array, Array, Array, Array]:
        """Tau, theta, slope, intercept; like all here, of one vector (4K - 2,) or of many (..., 4K - 2)."""
        n = self.branches
        return (
            np.exp(full[..., : n - 1]),
            full[..., n - 1 : 2 * n - 2],
            full[..., 2 * n - 2 : 3 * n - 2],
            full[..., 3 * n - 2 :],
        )

    def ordered(self, full: Array) -> Array:
        """The same function with ascending thresholds, of one vector; of other algebras as it is."""
        n = self.branches - 1
        order = np.argsort(full[n : 2 * n], kind="stable")
        if self.algebra != "difference" or (order == np.arange(n)).all():
            return full
        return self.reordered(full, order)

    def reordered(self, full: Array, orders: NDArray[np.intp]) -> Array:
        """One vector of a difference gate with its thresholds in other orders (..., K - 1): (..., 4K - 2).

        It is L_1 + sum S_k (L_(k+1) - L_k), in which each threshold takes its jump along.
        """
        n = self.branches - 1
        found = np.broadcast_to(full, (*orders.shape[:-1], self.size)).copy()
        found[..., :n], found[..., n : 2 * n] = full[:n][orders], full[n : 2 * n][orders]
        for first in (2 * n, 3 * n + 1):
            line = full[first : first + n + 1]
            # The last line is the same sum in another order, and may be pinned.
            jumps = np.cumsum(np.diff(line)[orders], axis=-1)
            found[..., first + 1 : first + n] = line[0] + jumps[..., :-1]
        return found

    def weights(self, full: Array, x: Array) -> Array:
        """The K gates at n points, shape (..., K, n); they sum to 1."""
        return self.evaluated(full, x).gates

    def evaluated(self, full: Array, x: Array) -> Evaluated:
        """What the values and all derivatives are made of."""
        tau, theta, _, _ = self.parts(full)
        z = tau[..., None] * (x - theta[..., None])
        above, below = sigmoids(z)
        return Evaluated(z, above, below, self.combined(z, above, below))

    def combined(self, z: Array, above: Array, below: Array) -> Array:
        """The K gates of z, sigmoid(z) and sigmoid(-z), which may be 0 and 1 (not for softmax)."""
        one = np.ones((*z.shape[:-2], 1, z.shape[-1]))
        if self.branches == 1:
            return one
        if self.algebra == "softmax":
            logit = np.concatenate([0 * one, np.cumsum(z, axis=-2)], axis=-2)
            power = np.exp(logit - logit.max(axis=-2, keepdims=True))
            return np.asarray(power / power.sum(axis=-2, keepdims=True))
        if self.algebra == "stick":
            passed = np.concatenate([one, np.cumprod(above, axis=-2)], axis=-2)
            parts = [passed[..., :-1, :] * below, passed[..., -1:, :]]
            return np.asarray(np.concatenate(parts, axis=-2), dtype=np.float64)
        # S - S' as S C' - C S': products of small numbers in either tail, so that nothing cancels there.
        middle = above[..., :-1, :] * below[..., 1:, :] - below[..., :-1, :] * above[..., 1:, :]
        return np.concatenate([below[..., :1, :], middle, above[..., -1:, :]], axis=-2)

    def values(self, full: Array, x: Array) -> Array:
        """Y at n points, shape (..., n)."""
        _, _, slope, intercept = self.parts(full)
        lines = slope[..., None] * x + intercept[..., None]
        return np.asarray((self.weights(full, x) * lines).sum(axis=-2))

    def jacobian(self, full: Array, x: Array) -> Array:
        """Derivatives of y by every parameter, shape (..., 4K - 2, n)."""
        known = self.evaluated(full, x)
        return np.concatenate([self.curved_jacobian(full, x, known), self.lines_jacobian(x, known)], axis=-2)

    def curved_jacobian(self, full: Array, x: Array, known: Evaluated) -> Array:
        """The derivatives by log tau and theta alone, shape (..., 2K - 2, n)."""
        tau, _, slope, intercept = self.parts(full)
        lines = slope[..., None] * x + intercept[..., None]
        by_z = self._by_argument(known, lines)
        return np.concatenate([by_z * known.z, -by_z * tau[..., None]], axis=-2)

    def lines_jacobian(self, x: Array, known: Evaluated) -> Array:
        """The derivatives by slopes and intercepts alone, shape (..., 2K, n)."""
        return np.concatenate([known.gates * x, known.gates], axis=-2)

    def _by_argument(self, known: Evaluated, lines: Array) -> Array:
        z, above, below, gates = known
        if self.branches == 1:
            return np.zeros_like(z)
        if self.algebra == "difference":
            return np.asarray(above * below * (lines[..., 1:, :] - lines[..., :-1, :]))
        if self.algebra == "softmax":
            apart = gates * (lines - (gates * lines).sum(axis=-2, keepdims=True))
            return np.asarray(np.cumsum(apart[..., ::-1, :], axis=-2)[..., ::-1, :][..., 1:, :])
        found, rest = np.empty_like(z), lines[..., -1, :]
        first = np.ones((*z.shape[:-2], 1, z.shape[-1]))
        passed = np.cumprod(np.concatenate([first, above[..., :-1, :]], axis=-2), axis=-2)
        for k in range(z.shape[-2] - 1, -1, -1):
            up, down = above[..., k, :], below[..., k, :]
            found[..., k, :] = passed[..., k, :] * up * down * (rest - lines[..., k, :])
            rest = down * lines[..., k, :] + up * rest
        return found


def sigmoids(z: Array) -> tuple[Array, Array]:
    """sigmoid(z) and sigmoid(-z), both with small relative errors."""
    power = np.exp(np.minimum(-z, FARTHEST))
    above = 1.0 / (1.0 + power)
    return above, power * above
