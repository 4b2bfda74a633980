"""Fits of 1 to K branches, each seeded by the one before it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gateproof.numerics.fits.embedding import Contradiction
from gateproof.numerics.fits.gates import Array, Gates
from gateproof.numerics.fits.levelling import Levelled, Sampled, level
from gateproof.numerics.fits.normal import Normal
from gateproof.numerics.fits.search import LAST, Effort, lines_by_least_squares, search
from gateproof.numerics.fits.setting import Setting, problem


@dataclass(frozen=True)
class Found:
    """A gate in normal coordinates and its sup error there."""

    setting: Setting
    gates: Gates
    full: Array
    error: float
    programmes: int


def fits(found: Normal, setting: Setting, *, effort: Effort | None = None, seed: int = 0) -> list[Found]:
    """The best gates of 1 (where the ends allow it) to ``setting.branches`` branches, in that order."""
    x, results = found.grid(), list[Found]()
    for n in range(1, setting.branches + 1):
        here = setting.with_branches(n)
        best: Found | None = None
        variants = [here]
        if found.symmetry:
            variants.insert(0, replace(here, symmetric=True))
        if here.sharpness == "free" and n > 2:
            variants = [replace(v, sharpness=s) for v in variants for s in ("shared", "free")]
        for variant in variants:
            try:
                sampled = problem(found, variant, x)
            except Contradiction:
                continue
            spent = effort or _effort(n, variant)
            best = _better(best, _one(sampled, variant, results, best, spent, seed))
        if best is not None:
            results.append(best)
    return results


def _effort(n: int, setting: Setting) -> Effort:
    return Effort(starts=(4, 8, 16, 24)[min(n, 4) - 1] * (1 + (n > 4 and setting.symmetric)), finished=5)


def _one(
    sampled: Sampled, setting: Setting, before: list[Found], best: Found | None, effort: Effort, seed: int
) -> Found | None:
    seeds = [] if best is None else [best.full]
    if before and before[-1].setting.branches == setting.branches - 1:
        seeds += _split(before[-1], sampled)
    fresh = [lines_by_least_squares(sampled, sampled.free(s)) for s in seeds]
    start = [sampled.free(s) for s in seeds[:1]] if best is not None else []
    if not sampled.basis.shape[1]:
        return Found(setting, sampled.gates, sampled.base, float(np.abs(sampled.error(np.zeros(0))).max()), 0)
    levelled = search(sampled, effort, [*start, *fresh], seed)[0]
    return Found(setting, sampled.gates, sampled.full(levelled.q), levelled.error, levelled.programmes)


def _better(a: Found | None, b: Found | None) -> Found | None:
    """The one with the smaller error; the simpler a where they are as good."""
    if a is None or b is None:
        return a or b
    return b if b.error < a.error * (1 - 1e-9) else a


def _split(one: Found, sampled: Sampled) -> list[Array]:
    """The gate with one branch more: a threshold where its error is largest, or beside each of its own."""
    tau, theta, slope, intercept = one.gates.parts(one.full)
    error = one.gates.values(one.full, sampled.x) - sampled.y
    worst = sampled.x[np.argsort(-np.abs(error))[:1]]
    found = []
    for at in (*worst, *-worst, *theta, *(theta + 1 / (tau + 0.1)), *(theta - 1 / (tau + 0.1))):
        k = int(np.searchsorted(theta, at))
        sharp = float(np.mean(tau)) if len(tau) else 2.0
        parts = (np.insert(np.log(tau), k, np.log(sharp)), np.insert(theta, k, at),
                 np.insert(slope, k, slope[k]), np.insert(intercept, k, intercept[k]))  # fmt: skip
        found.append(np.concatenate(parts))
    return found


def finish(found: Normal, one: Found, x: Array) -> Found:
    """The same fit levelled again on another grid."""
    sampled = problem(found, one.setting, x)
    levelled: Levelled = level(sampled, sampled.free(one.full), steps=LAST, reach=0.02, digits=10)
    return Found(one.setting, one.gates, sampled.full(levelled.q), levelled.error, levelled.programmes)
