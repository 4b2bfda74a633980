"""The infimum over difference gates of one sharpness, merged thresholds included.

Searched in the closed family of :mod:`...fits.infimum_gates`, where merged thresholds are regular points.
Where thresholds come together there, they are tied, and the fit is levelled again with fewer parameters: the
difference gates near it have lines that grow like 1/distance, and errors that fall to that value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from gateproof.numerics.fits.embedding import Contradiction
from gateproof.numerics.fits.gates import Array, Gates
from gateproof.numerics.fits.infimum_gates import Products, to_differences, to_products
from gateproof.numerics.fits.levelling import Levelled, level
from gateproof.numerics.fits.normal import Normal
from gateproof.numerics.fits.sampled import Sampled
from gateproof.numerics.fits.setting import Setting, embedding, problem

#: Programmes for a start.
TRIED = 40
#: Thresholds closer than this many widths 1/tau are tried as one.
CLOSE = 0.5
#: Merged and free thresholds are as good within this share, and this much of a function of size 1.
SAME, ROUNDING = 1e-6, 1e-12


@dataclass(frozen=True)
class Closed:
    """The best of the closed family, in the basis of Products; ``merged``: groups of equal thresholds."""

    setting: Setting
    gates: Gates
    full: Array
    error: float
    merged: tuple[tuple[int, ...], ...]


def closed_optimum(
    found: Normal, setting: Setting, x: Array, seeds: list[Array], known: Array | None = None
) -> Closed:
    """The infimum in normal coordinates. ``seeds`` are parameters of difference gates.

    ``known``: the best that a search of the closed family found, in the basis of Products.
    """
    gates = Products(setting.branches)
    wide = replace(setting, algebra="difference", sharpness="shared", largest=np.inf)
    best: Closed | None = None
    for symmetric in (True, False) if found.symmetry and known is None else (False,):
        here = replace(wide, symmetric=symmetric)
        try:
            sampled = problem(found, here, x, gates)
        except Contradiction:
            continue
        if not sampled.basis.shape[1]:
            continue
        given = [sampled.free(to_products(Gates(setting.branches), s)) for s in seeds]
        given += [sampled.free(s) for s in (_together(sampled, gates) if known is None else [known])]
        if best is not None:
            given.insert(0, sampled.free(best.full))
        q = descended(sampled, given)
        trial = Closed(here, gates, sampled.full(q.q), q.error, ())
        if best is None or trial.error < best.error * (1 - 1e-9):
            best = trial
    if best is None:
        raise Contradiction
    return _merged(found, best, x)


def descended(sampled: Sampled, starts: list[Array]) -> Levelled:
    """The best of levelling from each start."""
    done = [level(sampled, q, steps=TRIED) for q in starts]
    return level(sampled, min(done, key=lambda r: r.error).q, steps=200, reach=0.05, digits=11)


def _together(sampled: Sampled, gates: Products) -> list[Array]:
    """Starts with all thresholds at one place."""
    n, starts = gates.branches, []
    for place in (-1.0, 0.0, 1.0):
        for sharp in (0.7, 1.5):
            full = sampled.base.copy()
            full[: n - 1], full[n - 1 : 2 * n - 2] = np.log(sharp), place + 0.01 * np.arange(n - 1)
            starts.append(full)
    return starts


def _merged(found: Normal, best: Closed, x: Array) -> Closed:
    """The optimum with its close thresholds tied, where that is as good."""
    tau, theta, _, _ = best.gates.parts(best.full)
    order = np.argsort(theta, kind="stable")
    groups: list[list[int]] = [[int(order[0])]]
    for before, k in pairwise(order):
        if (theta[k] - theta[before]) * tau[0] < CLOSE:
            groups[-1].append(int(k))
        else:
            groups.append([int(k)])
    close = tuple(tuple(g) for g in groups if len(g) > 1)
    if not close:
        return best
    full = best.full.copy()
    first = best.gates.place("theta", 0)
    tied = embedding(found, best.setting, best.gates)
    try:
        for group in close:
            full[[first + k for k in group]] = theta[list(group)].mean()
            for k in group[1:]:
                tied.tie(first + k, first + group[0])
        base, basis = tied.matrices()
    except Contradiction:
        return best
    sampled = problem(found, best.setting, x, best.gates)
    sampled = replace(sampled, base=base, basis=basis, low=None, high=None)
    levelled: Levelled = level(sampled, sampled.free(full), steps=200, reach=0.05, digits=11)
    if levelled.error > best.error * (1 + SAME) + ROUNDING:
        return best
    return replace(best, full=sampled.full(levelled.q), error=levelled.error, merged=close)


def taken_apart(closed: Closed, half: float) -> Array:
    """A difference gate near the optimum: merged thresholds up to ``half`` widths 1/tau off their mean."""
    full = closed.full.copy()
    first, tau = closed.gates.place("theta", 0), closed.gates.parts(closed.full)[0][0]
    for group in closed.merged:
        for k, offset in zip(group, np.linspace(-half, half, len(group)), strict=True):
            full[first + k] += offset / tau
    return to_differences(closed.gates, full)
