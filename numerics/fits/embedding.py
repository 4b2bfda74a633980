"""Which parameters of a gate are free: shared sharpness, pinned ends, symmetry, kinds of branches.

Every condition ties two parameters, p_i = s p_j + d with s not 0, or fixes one. So a vector of free
parameters q gives all of them as base + basis @ q, with at most one entry in each row of the basis, and a 1
in each column.
"""

from __future__ import annotations

import numpy as np

from gateproof.numerics.fits.gates import Array, Gates


class Contradiction(ValueError):
    """The conditions leave no gate."""


class Embedding:
    """Free parameters within all parameters of ``gates``."""

    def __init__(self, gates: Gates) -> None:
        self.gates = gates
        self._root = list(range(gates.size))
        self._factor = [1.0] * gates.size
        self._shift = [0.0] * gates.size
        self._fixed: dict[int, float] = {}

    def fix(self, i: int, value: float) -> None:
        """Fix parameter i."""
        r = self._root[i]
        wanted = (value - self._shift[i]) / self._factor[i]
        if abs(self._fixed.setdefault(r, wanted) - wanted) > 1e-12 * (1 + abs(wanted)):
            raise Contradiction

    def tie(self, i: int, j: int, factor: float = 1.0, shift: float = 0.0) -> None:
        """p_i = factor * p_j + shift; a factor of 0 fixes p_i."""
        if factor == 0:
            self.fix(i, shift)
            return
        a, b = self._root[i], self._root[j]
        # p_i = s_i p_a + d_i and p_j = s_j p_b + d_j, so p_a = (factor (s_j p_b + d_j) + shift - d_i) / s_i.
        s = factor * self._factor[j] / self._factor[i]
        d = (factor * self._shift[j] + shift - self._shift[i]) / self._factor[i]
        if a == b:
            if abs(1 - s) > 1e-12:
                # p_a is a root: its own factor is 1 and its own shift 0.
                self.fix(a, d / (1 - s))
            elif abs(d) > 1e-12 * (1 + abs(self._shift[i]) + abs(self._shift[j])):
                raise Contradiction
            return
        known = self._fixed.pop(a, None)
        for k, r in enumerate(self._root):
            if r == a:
                self._shift[k] += self._factor[k] * d
                self._factor[k] *= s
                self._root[k] = b
        if known is not None:
            self.fix(b, (known - d) / s)

    def matrices(self) -> tuple[Array, Array]:
        """Base, of shape (4K - 2,), and basis, of shape (4K - 2, free)."""
        free = sorted({r for r in self._root if r not in self._fixed})
        base, basis = np.zeros(len(self._root)), np.zeros((len(self._root), len(free)))
        for i, r in enumerate(self._root):
            base[i] = self._shift[i]
            if r in self._fixed:
                base[i] += self._factor[i] * self._fixed[r]
            else:
                basis[i, free.index(r)] = self._factor[i]
        return base, basis
