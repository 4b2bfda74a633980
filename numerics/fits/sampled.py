"""A fit as a problem on points: the error of a gate there, its derivatives, its peaks between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gateproof.numerics.fits.gates import Array, Evaluated, Gates

#: About how many points of the grid a first look needs; how far out, and how much fewer are taken there.
POINTS, OUTSIDE, SPARSE = 130, 16.0, 0.25
#: Peaks below this share of the error are left out.
FOLLOWED = 0.2
#: Neighbouring peaks of one sign with a dip below this share between them are one: rounding on a plateau.
DIP = 1e-9


@dataclass(frozen=True)
class Sampled:
    """The error of a gate on a grid, ``weight * (gate - function)``; free parameters q in base + basis q.

    ``function`` is None for data, whose peaks are then those of the grid. ``weight`` is positive and finite.
    ``low`` and ``high`` bound q. ``inequality`` gives values (m,), wanted >= 0, and their derivatives
    (m, free), at q; with ``slopes=False`` the latter have no columns.
    """

    gates: Gates
    base: Array
    basis: Array
    x: Array
    y: Array
    function: Callable[[Array], Array] | None = None
    weight: Callable[[Array], Array] | None = None
    low: Array | None = None
    high: Array | None = None
    inequality: Callable[..., tuple[Array, Array]] | None = None

    def full(self, q: Array) -> Array:
        """All parameters; q of shape (..., free)."""
        return np.asarray(self.base + q @ self.basis.T)

    def free(self, full: Array) -> Array:
        """The free parameters nearest to all parameters, within the bounds."""
        q = (full - self.base) @ self.basis / np.maximum(1.0, (self.basis**2).sum(axis=0))
        return self.clipped(np.asarray(q))

    def clipped(self, q: Array) -> Array:
        """The nearest within the bounds."""
        if self.low is not None:
            q = np.maximum(q, self.low)
        return q if self.high is None else np.minimum(q, self.high)

    @cached_property
    def curved(self) -> NDArray[np.bool_]:
        """Which free parameters the gate is not linear in: log tau and theta."""
        return np.asarray(np.abs(self.basis[: self.gates.place("slope", 0)]).sum(axis=0) > 0)

    @cached_property
    def weights(self) -> Array:
        """The weight on the grid."""
        return self.scale(self.x)

    def scale(self, x: Array) -> Array:
        """The weight at x."""
        return np.ones_like(x) if self.weight is None else self.weight(x)

    def error(self, q: Array) -> Array:
        """The error on the grid, shape (..., points)."""
        return np.asarray(self.weights * (self.gates.values(self.full(q), self.x) - self.y))

    def error_at(self, q: Array, x: Array) -> Array:
        """The error at other points of a problem that has a function."""
        assert self.function is not None
        return np.asarray(self.scale(x) * (self.gates.values(self.full(q), x) - self.function(x)))

    def slopes(self, q: Array, x: Array) -> Array:
        """Derivatives of the error at x by the free parameters, shape (..., points, free)."""
        found = (self.scale(x) * self.gates.jacobian(self.full(q), x)).swapaxes(-1, -2) @ self.basis
        return np.asarray(found)

    def slopes_of_many(self, q: Array, known: Evaluated | None = None) -> Array:
        """Derivatives on the grid for q of shape (m, free): (m, free, points). ``known`` as at q."""
        full = self.full(q)
        if known is None:
            known = self.gates.evaluated(full, self.x)
        first = self.gates.place("slope", 0)
        lines = self.basis[first:].T @ self.gates.lines_jacobian(self.x, known)
        curved = self.basis[:first, self.curved].T @ self.gates.curved_jacobian(full, self.x, known)
        lines[..., self.curved, :] += curved
        return np.asarray(self._weighted(lines))

    def line_slopes(self, known: Evaluated) -> Array:
        """Those by the free parameters of lines alone: (m, such, points)."""
        first = self.gates.place("slope", 0)
        return self._weighted(self.basis[first:, ~self.curved].T @ self.gates.lines_jacobian(self.x, known))

    def error_of(self, q: Array, known: Evaluated) -> Array:
        """The error on the grid of gates evaluated before, shape (m, points)."""
        _, _, slope, intercept = self.gates.parts(self.full(q))
        values = ((slope[..., None, :] @ known.gates)[..., 0, :]) * self.x
        values += (intercept[..., None, :] @ known.gates)[..., 0, :]
        return self._weighted(values - self.y)

    def _weighted(self, values: Array) -> Array:
        return values if self.weight is None else self.weights * values

    def peaks(
        self, q: Array, error: Array, *, follow: float = FOLLOWED, fine: int = 1
    ) -> tuple[Array, Array]:
        """The places of the peaks of |error| and the errors there, between grid points by parabolas.

        With ``fine`` = 1 places are off by about the square of the grid's step; each parabola more, on a
        narrower stencil, squares that.
        """
        at = self._tops(error, follow)
        if self.function is None or not len(at):
            return self.x[at], error[at]
        places, here = self.x[at].copy(), error[at].copy()
        inner = (at > 0) & (at < len(self.x) - 1)
        k = at[inner]
        left, right = self.x[k] - self.x[k - 1], self.x[k + 1] - self.x[k]
        move = _vertex(left, right, error[k - 1], error[k], error[k + 1])
        trial = self.x[k] + move
        for _ in range(fine):
            there = self.error_at(q, trial)
            # At a kink the parabola is wrong and the point of the grid stands.
            better = np.abs(there) > np.abs(here[inner])
            places[inner], here[inner] = (
                np.where(better, trial, places[inner]),
                np.where(better, there, here[inner]),
            )
            if fine == 1:
                break
            left, right = left / 20, right / 20
            step = np.minimum(left, right)
            middle = places[inner]
            sides = self.error_at(q, np.concatenate([middle - step, middle + step]))
            move = _vertex(step, step, sides[: len(k)], here[inner], sides[len(k) :])
            trial = middle + move
        return places, here

    def _tops(self, error: Array, follow: float) -> NDArray[np.intp]:
        size = np.abs(error)
        before = np.concatenate([[True], size[1:] >= size[:-1]])
        after = np.concatenate([size[:-1] > size[1:], [True]])
        at = np.flatnonzero(before & after & (size > follow * size.max(initial=0.0)))
        if len(at) < 2:
            return at
        kept = [int(at[0])]
        for k in at[1:]:
            j = kept[-1]
            if error[j] * error[k] > 0:
                between = np.sign(error[k]) * error[j : k + 1]
                if between.min() >= (1 - DIP) * min(size[j], size[k]):
                    if size[k] > size[j]:
                        kept[-1] = int(k)
                    continue
            kept.append(int(k))
        return np.asarray(kept)


def _vertex(left: Array, right: Array, before: Array, here: Array, after: Array) -> Array:
    """How far the vertex of the parabola through three points is from the middle one."""
    rise, fall = (here - before) / left, (after - here) / right
    bend = (fall - rise) / (left + right)
    with np.errstate(all="ignore"):
        move = -(rise * right + fall * left) / (left + right) / (2 * np.where(bend == 0, np.inf, bend))
    return np.asarray(np.clip(np.nan_to_num(move), -left, right))


def thinned(problem: Sampled, points: int = POINTS) -> Sampled:
    """The problem on about ``points`` of its grid points, fewer of those far out."""
    n = len(problem.x)
    if n <= points:
        return problem
    share = np.cumsum(np.where(np.abs(problem.x) < OUTSIDE, 1.0, SPARSE))
    share = (share - share[0]) / (share[-1] - share[0])
    keep = np.unique(np.searchsorted(share, np.linspace(0, 1, points)).clip(0, n - 1))
    return replace(problem, x=problem.x[keep], y=problem.y[keep])
