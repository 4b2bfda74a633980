"""Difference gates of free sharpness, a pair of whose thresholds has merged with opposite lines.

Two terms M (S(p) - S(p')) with p' near p = (log tau, theta), M like 1/distance, tend to a line times a
derivative of S = sigmoid(z), z = tau (x - theta), along a direction in the plane of (log tau, theta):

    y = (gate of K-1 branches) + M (z cos(phi) + sin(phi)) sigmoid'(z),   z at its last threshold.

The order of thresholds does not matter, since y = L_1 + sum (L_(k+1) - L_k) S_k for any tau. Triples, and
two pairs at once, are not searched.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gateproof.numerics.fits.gates import Array, Gates
from gateproof.numerics.fits.infimum_merged import Closed, descended
from gateproof.numerics.fits.normal import Normal
from gateproof.numerics.fits.setting import Setting, embedding, problem


@dataclass(frozen=True)
class Paired(Gates):
    """Laid out like K branches: the last log tau is not used, the last theta is phi, line K-1 is M."""

    algebra: str = "pair"

    @property
    def _rest(self) -> list[int]:
        """Where the parameters of the gate of K-1 branches stand."""
        n = self.branches
        unused = {n - 2, 2 * n - 3, self.place("slope", n - 2), self.place("intercept", n - 2)}
        return [i for i in range(self.size) if i not in unused]

    def values(self, full: Array, x: Array) -> Array:
        """Y at n points, shape (..., n)."""
        gate = Gates(self.branches - 1).values(full[..., self._rest], x)
        line, factor, bump, *_ = self._pair(full, x)
        return np.asarray(gate + line * factor * bump)

    def jacobian(self, full: Array, x: Array) -> Array:
        """Derivatives of y by every parameter, shape (..., 4K - 2, n)."""
        n = self.branches
        found = np.zeros((*full.shape[:-1], self.size, len(x)))
        found[..., self._rest, :] = Gates(n - 1).jacobian(full[..., self._rest], x)
        line, factor, bump, z, odd, tau = self._pair(full, x)
        phi = full[..., 2 * n - 3, None]
        by_z = line * (np.cos(phi) * bump + factor * bump * odd)
        found[..., n - 3, :] += by_z * z
        found[..., 2 * n - 4, :] -= by_z * tau
        found[..., 2 * n - 3, :] = line * bump * (np.cos(phi) - z * np.sin(phi))
        found[..., self.place("slope", n - 2), :] = x * factor * bump
        found[..., self.place("intercept", n - 2), :] = factor * bump
        return found

    def _pair(self, full: Array, x: Array) -> tuple[Array, Array, Array, Array, Array, Array]:
        """M, its factor, sigmoid'(z), z, sigmoid''/sigmoid' and tau."""
        n = self.branches
        tau, theta = np.exp(full[..., n - 3, None]), full[..., 2 * n - 4, None]
        phi = full[..., 2 * n - 3, None]
        z = tau * (x - theta)
        small = np.exp(-np.abs(z))
        bump, odd = small / (1 + small) ** 2, -np.sign(z) * (1 - small) / (1 + small)
        slope, intercept = self.place("slope", n - 2), self.place("intercept", n - 2)
        line = full[..., slope, None] * x + full[..., intercept, None]
        return line, np.cos(phi) * z + np.sin(phi), bump, z, odd, tau


def paired_optimum(found: Normal, setting: Setting, x: Array, seeds: list[Array]) -> Closed:
    """The least error of a gate with one merged pair, in normal coordinates."""
    gates, n = Paired(setting.branches), setting.branches
    here = replace(setting, algebra="difference", sharpness="free", largest=np.inf, symmetric=False)
    tied = embedding(found, here, gates)
    tied.fix(n - 2, 0.0)
    base, basis = tied.matrices()
    whole = problem(found, here, x, gates)
    low, high = np.full(basis.shape[1], -np.inf), np.full(basis.shape[1], np.inf)
    low[: n - 2], high[: n - 2] = np.log(1e-2), np.log(1e4)
    sampled = replace(whole, base=base, basis=basis, low=low, high=high)
    starts = [sampled.free(s) for s in (_as_pair(gates, full, j) for full in seeds for j in range(n - 2))]
    done = descended(sampled, starts)
    return Closed(here, gates, sampled.full(done.q), done.error, ((n - 3, n - 2),))


def _as_pair(gates: Paired, full: Array, j: int) -> Array:
    """A gate's thresholds j and j+1 as a pair at their mean, the others before them."""
    n = gates.branches
    tau, theta, slope, intercept = Gates(n).parts(full)
    rest = [k for k in range(n - 1) if k not in (j, j + 1)]
    logs = [*np.log(tau[rest]), np.log(tau[[j, j + 1]]).mean(), 0.0]
    places = [*theta[rest], theta[[j, j + 1]].mean(), np.pi / 2]
    lines = []
    for line in (slope, intercept):
        steps = np.diff(line)
        both, apart = steps[j] + steps[j + 1], (steps[j + 1] - steps[j]) / 2
        width = float(tau[[j, j + 1]].mean() * (theta[j + 1] - theta[j]))
        outer = np.concatenate([line[:1], line[0] + np.cumsum([*steps[rest], both])])
        lines.append([*outer[:-1], -apart * width, outer[-1]])
    return np.concatenate([logs, places, *lines])


def pair_taken_apart(gates: Paired, full: Array, half: float) -> Array:
    """A difference gate near the limit: its pair at p + v and p - v, |v| = half."""
    n = gates.branches
    rest = Gates(n - 1).parts(full[gates._rest])
    tau, theta, slope, intercept = rest
    phi = float(full[2 * n - 3])
    step, move = half * np.cos(phi), -half * np.sin(phi) / tau[-1]
    taus = np.concatenate([tau[:-1], tau[-1] * np.exp([step, -step])])
    places = np.concatenate([theta[:-1], theta[-1] + np.array([move, -move])])
    order = np.argsort(places, kind="stable")
    lines = []
    for kind, line in (("slope", slope), ("intercept", intercept)):
        steps, extra = np.diff(line), float(full[gates.place(kind, n - 2)]) / (2 * half)
        steps = np.concatenate([steps[:-1], [steps[-1] / 2 + extra, steps[-1] / 2 - extra]])[order]
        lines.append(np.concatenate([line[:1], line[0] + np.cumsum(steps)]))
    return np.concatenate([np.log(taus[order]), places[order], *lines])
