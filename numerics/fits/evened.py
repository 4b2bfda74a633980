"""Three thresholds that stand close together, put at equal distances on the parabola through them.

Such a group with large lines is about a sum of derivatives of sigmoid up to the second. Many places of the
three give nearly the same sum; in the valley of all those, in which the bound of the lines alone decides, the
steps of a descent are short. At equal distances the lines of the group are about as small as they can be, so
from there the distances can shrink the most before the bound stops them.
"""

from __future__ import annotations

import itertools

import numpy as np

from gateproof.numerics.fits.crowd import lines_by_least_squares
from gateproof.numerics.fits.gates import Array
from gateproof.numerics.fits.permuted import MOST, permuted
from gateproof.numerics.fits.sampled import Sampled

#: Groups are at most so wide, in log tau and in widths 1/tau; lines smaller than this do not cancel.
CLOSE, LARGE = 0.7, 20.0
#: Distances tried, in shares of the present ones, and whether on the parabola or on a straight line.
TRIED = ((0.7, True), (1.0, True), (1.0, False))


def evened(problem: Sampled, q: Array) -> list[Array]:
    """Gates with the three closest thresholds evened and lines that suit, or none."""
    n = problem.gates.branches - 1
    lines = np.abs(q[~problem.curved]).max(initial=0.0)
    if problem.gates.algebra != "difference" or not 3 <= n <= MOST or lines < LARGE:
        return []
    full = problem.full(q)
    sharp, theta = full[:n], full[n : 2 * n]
    width = {g: _width(sharp[list(g)], theta[list(g)]) for g in itertools.combinations(range(n), 3)}
    group = min(width, key=lambda g: width[g])
    if width[group] > CLOSE:
        return []
    order = np.array(group)[np.argsort(theta[list(group)], kind="stable")]
    found = []
    for scale, bent in TRIED:
        trial = full.copy()
        places = theta[order]
        evenly = places.mean() + scale * (places[2] - places[0]) / 2 * np.array([-1.0, 0.0, 1.0])
        trial[n + order] = evenly
        trial[order] = _through(places, sharp[order], evenly, bent)
        there = lines_by_least_squares(problem, problem.free(trial)[None]).q[0]
        roomier = permuted(problem, there)
        found.append(there if roomier is None else roomier)
    return found


def _through(x: Array, y: Array, at: Array, bent: bool) -> Array:
    """The values at ``at`` of the parabola through three points, or of the line through the outer ones."""
    with np.errstate(all="ignore"):
        whole = (y[2] - y[0]) / (x[2] - x[0])
        bend = ((y[2] - y[1]) / (x[2] - x[1]) - whole) / (x[1] - x[0]) if bent else 0.0
        found = (
            y[0] + (at - x[0]) * (whole + bend * (at - x[2])) + (0.0 if bent else y.mean() - y[[0, 2]].mean())
        )
    near = np.isfinite(found) & (np.abs(found - y.mean()) <= 3 * np.ptp(y) + 1e-300)
    return found if near.all() else np.full(3, y.mean())


def _width(sharp: Array, theta: Array) -> float:
    return float(np.hypot(np.ptp(sharp), np.exp(sharp.mean()) * np.ptp(theta)))
