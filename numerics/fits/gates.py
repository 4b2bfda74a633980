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

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
ALGEBRAS = ("difference", "stick", "softmax")


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
        """Tau, theta, slope, intercept."""
        n = self.branches
        return np.exp(full[: n - 1]), full[n - 1 : 2 * n - 2], full[2 * n - 2 : 3 * n - 2], full[3 * n - 2 :]

    def weights(self, full: Array, x: Array) -> Array:
        """The K gates at n points, shape (K, n); they sum to 1."""
        return self._weights(self._arguments(full, x))

    def _weights(self, z: Array) -> Array:
        if self.branches == 1:
            return np.ones((1, z.shape[1]))
        above, below = _sigmoids(z)
        if self.algebra == "difference":
            return np.vstack([below[:1], above[:-1] - above[1:], above[-1:]])
        if self.algebra == "stick":
            passed = np.vstack([np.ones((1, z.shape[1])), np.cumprod(above, axis=0)])
            return np.asarray(np.vstack([passed[:-1] * below, passed[-1:]]), dtype=np.float64)
        logit = np.vstack([np.zeros((1, z.shape[1])), np.cumsum(z, axis=0)])
        power = np.exp(logit - logit.max(axis=0))
        return np.asarray(power / power.sum(axis=0))

    def values(self, full: Array, x: Array) -> Array:
        """Y at n points."""
        _, _, slope, intercept = self.parts(full)
        lines = slope[:, None] * x + intercept[:, None]
        return np.asarray((self.weights(full, x) * lines).sum(axis=0))

    def jacobian(self, full: Array, x: Array) -> Array:
        """Derivatives of y by every parameter, shape (4K - 2, n)."""
        tau, _, slope, intercept = self.parts(full)
        z = self._arguments(full, x)
        gates = self._weights(z)
        lines = slope[:, None] * x + intercept[:, None]
        by_z = self._by_argument(z, gates, lines)
        return np.vstack([by_z * z, -by_z * tau[:, None], gates * x, gates])

    def _arguments(self, full: Array, x: Array) -> Array:
        tau, theta, _, _ = self.parts(full)
        return np.asarray(tau[:, None] * (x - theta[:, None]))

    def _by_argument(self, z: Array, gates: Array, lines: Array) -> Array:
        if self.branches == 1:
            return np.zeros((0, z.shape[1]))
        above, below = _sigmoids(z)
        if self.algebra == "difference":
            return np.asarray(above * below * (lines[1:] - lines[:-1]))
        if self.algebra == "softmax":
            apart = gates * (lines - (gates * lines).sum(axis=0))
            return np.asarray(np.cumsum(apart[::-1], axis=0)[::-1][1:])
        found, rest, passed = np.empty_like(z), lines[-1], np.vstack([np.ones((1, z.shape[1])), above[:-1]])
        passed = np.cumprod(passed, axis=0)
        for k in range(len(z) - 1, -1, -1):
            found[k] = passed[k] * above[k] * below[k] * (rest - lines[k])
            rest = below[k] * lines[k] + above[k] * rest
        return found


def _sigmoids(z: Array) -> tuple[Array, Array]:
    """sigmoid(z) and sigmoid(-z)."""
    small = np.exp(-np.abs(z))
    near, up = 1.0 / (1.0 + small), z >= 0
    far = small * near
    return np.where(up, near, far), np.where(up, far, near)
