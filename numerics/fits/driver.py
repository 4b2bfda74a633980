"""Fits of 1 to K branches, each seeded by the ones before it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from gateproof.numerics.fits.embedding import Contradiction
from gateproof.numerics.fits.gates import Array, Gates
from gateproof.numerics.fits.levelling import Levelled, level
from gateproof.numerics.fits.moves import inserted
from gateproof.numerics.fits.normal import Normal
from gateproof.numerics.fits.sampled import Sampled
from gateproof.numerics.fits.search import LAST, Effort, search
from gateproof.numerics.fits.setting import Setting, problem


@dataclass(frozen=True)
class Found:
    """A gate in normal coordinates and its sup error there."""

    setting: Setting
    gates: Gates
    full: Array
    error: float
    programmes: int


Watch = Callable[[Found], None]


def steps(
    found: Normal,
    setting: Setting,
    *,
    effort: Effort | None = None,
    seed: int = 0,
    watch: Watch | None = None,
) -> Iterator[Found]:
    """The best gates of 1 (where the ends allow it) to ``setting.branches`` branches, as they are done.

    ``watch`` is told of each better gate of the size that is worked on.
    """
    x, before = found.grid(), list[Found]()
    for n in range(1, setting.branches + 1):
        best = _size(found, setting.with_branches(n), x, before, effort, seed, watch)
        if best is not None:
            before = [best, *before[:1]]
            yield best


def fits(
    found: Normal,
    setting: Setting,
    *,
    effort: Effort | None = None,
    seed: int = 0,
    watch: Watch | None = None,
) -> list[Found]:
    """All of :func:`steps`."""
    return list(steps(found, setting, effort=effort, seed=seed, watch=watch))


def smallest(
    found: Normal,
    setting: Setting,
    tol: float,
    *,
    most: int = 16,
    effort: Effort | None = None,
    seed: int = 0,
    watch: Watch | None = None,
) -> tuple[Found | None, bool]:
    """The first gate with an error of at most ``tol`` in the target's units, True; or the last, False."""
    last = None
    for one in steps(found, setting.with_branches(most), effort=effort, seed=seed, watch=watch):
        last = one
        if one.error * found.height <= tol:
            return one, True
    return last, False


def _size(
    found: Normal,
    here: Setting,
    x: Array,
    before: list[Found],
    effort: Effort | None,
    seed: int,
    watch: Watch | None,
) -> Found | None:
    """The best of one size: symmetric ones first, then all; with one sharpness first, then with several."""
    best: Found | None = None
    seen: list[Sampled] = []
    for variant in _variants(found, here):
        try:
            sampled = problem(found, variant, x)
        except Contradiction:
            continue
        if any(np.array_equal(sampled.basis, s.basis) and len(sampled.x) == len(s.x) for s in seen):
            continue
        seen.append(sampled)
        spent = effort or _effort(here.branches)
        one = _one(sampled, variant, before, best, spent, seed, watch)
        best = _better(best, one)
    return best


def _variants(found: Normal, here: Setting) -> list[Setting]:
    variants = [here]
    if found.symmetry:
        variants.insert(0, replace(here, symmetric=True))
    if here.sharpness == "free" and here.branches > 2:
        variants = [replace(v, sharpness=s) for v in variants for s in ("shared", "free")]
    return variants


def _effort(n: int) -> Effort:
    if n <= 2:
        return Effort(starts=24, disturbed=12, levelled=3, idle=1, most=2)
    return Effort()


def _one(
    sampled: Sampled,
    setting: Setting,
    before: list[Found],
    best: Found | None,
    effort: Effort,
    seed: int,
    watch: Watch | None,
) -> Found | None:
    seeds = [] if best is None else [best.full]
    for one in before[:1]:
        if one.setting.branches == setting.branches - 1:
            seeds += _split(one, sampled)
    if not sampled.basis.shape[1]:
        size = float(np.abs(sampled.error(np.zeros(0))).max())
        return Found(setting, sampled.gates, sampled.base, size, 0)

    def as_found(levelled: Levelled) -> Found:
        return Found(setting, sampled.gates, sampled.full(levelled.q), levelled.error, levelled.programmes)

    def tell(levelled: Levelled) -> None:
        if watch is not None and (best is None or levelled.error < best.error):
            watch(as_found(levelled))

    return as_found(search(sampled, effort, [sampled.free(s) for s in seeds], seed, tell)[0])


def _better(a: Found | None, b: Found | None) -> Found | None:
    """The one with the smaller error; the simpler a where they are as good."""
    if a is None or b is None:
        return a or b
    return b if b.error < a.error * (1 - 1e-9) else a


def _split(one: Found, sampled: Sampled) -> list[Array]:
    """The gate with one branch more: a threshold where its error is largest, or beside each of its own."""
    tau, theta, slope, intercept = one.gates.parts(one.full)
    error = np.abs(one.gates.values(one.full, sampled.x) - sampled.y)
    worst = sampled.x[np.argsort(-error)[:1]]
    sharp = float(np.log(tau).mean()) if len(tau) else float(np.log(2.0))
    beside = 1 / (tau + 0.1)
    places = (*worst, *-worst, *theta, *(theta + beside), *(theta - beside))
    return [
        inserted(np.log(tau), theta, slope, intercept, at=float(at), log_sharp=sharp + factor)
        for at in places
        for factor in (-0.35, 0.7)
    ]


def finish(found: Normal, one: Found, x: Array) -> Found:
    """The same fit levelled again on another grid."""
    sampled = problem(found, one.setting, x)
    levelled: Levelled = level(sampled, sampled.free(one.full), steps=LAST, reach=0.02, digits=10)
    return Found(one.setting, one.gates, sampled.full(levelled.q), levelled.error, levelled.programmes)
