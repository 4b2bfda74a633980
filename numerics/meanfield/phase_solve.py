"""The phase of each point of a grid: the fixed point that the variance goes to, and what it brings there.

S(q) = q - sigma_w^2 V(q) is sampled on the table's grid; the fixed points at sigma_b^2 = s are where it
passes s. Where V increases, the variance moves to the next of them above or below its start, past none.
Where it does not, and there are several, the map is followed for 300 layers and the nearest one is taken.
A fixed point that is passed from above to below attracts: q V'/V = E phi^2 (u^2/q - 1)/(2 V) >= -1/2, so
that chi_parallel >= -1/2 always.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gateproof.numerics.meanfield.near_zero import sides
from gateproof.numerics.meanfield.phase_tables import Tables
from gateproof.numerics.points import at_point

Array = NDArray[np.float64]
#: Letters of the phases and what they say.
LEGEND = {
    "o": "ordered: chi_1 < 1, correlations go to 1",
    "c": "chaotic: chi_1 > 1, correlations go to c* < 1",
    "n": "no fixed point of the variance up to the largest one looked at",
    "u": "unbounded: there are fixed points, but the variance grows beyond the largest one looked at",
}
_LAYERS, _NEWTON, _PART = 300, 14, 2048


@dataclass(frozen=True)
class Block:
    """Arrays of one shape (sigma_w, sigma_b); NaN where there is no fixed point that the variance goes to."""

    phase: NDArray[np.str_]
    q_star: Array
    chi_1: Array
    chi_parallel: Array
    xi_c: Array


def solve(tables: Tables, sigma_w2: Array, sigma_b2: Array, start: float, at_zero: bool) -> Block:
    """All points of sigma_w2 x sigma_b2, from the variance ``start``; ``at_zero``: phi(0) = 0."""
    shape = len(sigma_w2), len(sigma_b2)
    q, kind = np.full(shape, np.nan), np.full(shape, "n", "<U1")
    for i, w in enumerate(sigma_w2):
        for first in range(0, shape[1], _PART):
            part = slice(first, first + _PART)
            q[i, part], kind[i, part] = _row(tables, float(w), sigma_b2[part], start, at_zero)
    w = np.broadcast_to(sigma_w2[:, None], shape)
    found = ~np.isnan(q)
    x = np.log(np.clip(np.where(found, q, 1.0), tables.lo, tables.hi))
    chi_1 = np.where(found, w * tables.d(x), np.nan)
    chi = np.where(found, w * tables.slope(x), np.nan)
    still = found & (q == 0)
    if still.any():
        # The tables begin above 0, where D and V' tend to the mean of phi'(0-)^2 and phi'(0+)^2.
        energy = float(at_point(sides(tables.phi).energy, {}, 64).mid())
        chi_1[still] = chi[still] = w[still] * energy
    with np.errstate(invalid="ignore", divide="ignore"):
        kind[found] = np.where(chi_1[found] > 1, "c", "o")
        rate = np.where(kind == "o", chi_1, np.nan)
        chaotic = kind == "c"
        if chaotic.any():
            rate[chaotic] = tables.rate(q[chaotic], chi_1[chaotic])
        xi_c = -1 / np.log(np.clip(rate, 0, 1))
    return Block(kind, q, chi_1, chi, np.where(np.isnan(rate), np.nan, abs(xi_c)))


def _row(tables: Tables, w: float, s: Array, start: float, at_zero: bool) -> tuple[Array, NDArray[np.str_]]:
    """q* and, where it is NaN, why, for one sigma_w2."""
    if tables.phi.homogeneous:
        return _lines(tables, w, s)
    heights = tables.q - w * tables.energy
    above = heights[None, :] > s[:, None]
    passes = above[:, 1:] != above[:, :-1]
    here = int(np.argmin(abs(tables.x - np.log(start))))
    falls = start - w * float(tables.ratio(np.log(start))) * start > s
    some = passes.any(axis=1)
    below, over = passes[:, :here], passes[:, here:]
    left = here - 1 - np.argmax(below[:, ::-1], axis=1)
    right = here + np.argmax(over, axis=1)
    index = np.where(falls, left, right)
    there = np.where(falls, below.any(axis=1), over.any(axis=1))
    if not tables.monotone:
        several = passes.sum(axis=1) > 1
        if several.any():
            index[several] = _followed(tables, w, s[several], start, passes[several])
            there[several] = True
    q = np.where(there, _refined(tables, w, s, index), np.nan)
    # Falling below the table: q* is between 0 and its lower end; 0 itself where sigma_b and phi(0) are 0.
    low = falls & ~there
    q[low] = np.where((s[low] == 0) & at_zero, 0.0, tables.lo)
    kind = np.where(some | ((s == 0) & at_zero), "u", "n")
    return q, kind


def _lines(tables: Tables, w: float, s: Array) -> tuple[Array, NDArray[np.str_]]:
    """phi(a x) = a phi(x): the map is q -> chi q + s."""
    chi = w * float(tables.d(0.0))
    if chi < 1:
        return s / (1 - chi), np.full(len(s), "o")
    return np.full(len(s), np.nan), np.where(s > 0, "n", "u")


def _refined(tables: Tables, w: float, s: Array, index: NDArray[np.intp]) -> Array:
    """The zero of w V + s - q in each one's interval, by Newton's steps that a bracket keeps inside."""
    lo, hi = tables.x[index], tables.x[index + 1]
    sign = np.sign(w * tables.energy[index] + s - tables.q[index])
    x = (lo + hi) / 2
    slope = tables.ratio.derivative()
    for _ in range(_NEWTON):
        q, ratio = np.exp(x), tables.ratio(x)
        value = q * (w * ratio - 1) + s
        rise = q * (w * (ratio + slope(x)) - 1)
        same = np.sign(value) == sign
        lo, hi = np.where(same, x, lo), np.where(same, hi, x)
        with np.errstate(divide="ignore", invalid="ignore"):
            ahead = x - value / rise
        x = np.where((ahead >= lo) & (ahead <= hi), ahead, (lo + hi) / 2)
    return np.asarray(np.exp(x))


def _followed(
    tables: Tables, w: float, s: Array, start: float, passes: NDArray[np.bool_]
) -> NDArray[np.intp]:
    """The interval of the fixed point nearest to where the variance is after some layers."""
    q = np.full(len(s), start)
    for _ in range(_LAYERS):
        q = np.clip(w * q * tables.ratio(np.log(q)) + s, tables.lo, tables.hi)
    places = (tables.x[1:] + tables.x[:-1]) / 2
    far = np.where(passes, abs(places - np.log(q)[:, None]), np.inf)
    return np.asarray(np.argmin(far, axis=1))
