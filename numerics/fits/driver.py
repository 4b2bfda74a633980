"""Fits of 1 to K branches, each seeded by the ones before it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from gateproof.numerics.fits.embedding import Contradiction
from gateproof.numerics.fits.gates import Array, Gates
from gateproof.numerics.fits.infimum_gates import Products, to_products
from gateproof.numerics.fits.jumps import at_jump, half_jump
from gateproof.numerics.fits.levelling import Levelled, level
from gateproof.numerics.fits.merging import separated, together
from gateproof.numerics.fits.moves import inserted
from gateproof.numerics.fits.normal import Normal
from gateproof.numerics.fits.sampled import Sampled
from gateproof.numerics.fits.search import LAST, Effort, search
from gateproof.numerics.fits.setting import Setting, problem

#: Beyond it gates of several sharpnesses begin from those of fewer branches, not from one sharpness too.
MANY = 5
#: Where gates with a branch less are off by less, of a function of size 1, less effort is enough.
SMALL = 2e-7


@dataclass(frozen=True)
class Found:
    """A gate in normal coordinates and its sup error there.

    ``closed``, for difference gates of one sharpness: parameters of the best found in the closed family
    (:mod:`...fits.infimum_gates`), where thresholds may merge.
    """

    setting: Setting
    gates: Gates
    full: Array
    error: float
    programmes: int
    closed: Array | None = None


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
        if best is not None and best.error <= half_jump(found):
            break
        seen.append(sampled)
        spent = effort or _effort(here, variant, before)
        one = _one(found, sampled, variant, before, best, spent, seed, watch)
        best, closed = _better(best, one), None if one is None else one.closed
        if best is not None and closed is not None:
            # Begun from those before it, it is the best so far.
            best = replace(best, closed=closed)
    return best


def _variants(found: Normal, here: Setting) -> list[Setting]:
    variants = [here]
    if found.symmetry:
        variants.insert(0, replace(here, symmetric=True))
    if here.sharpness == "free" and here.branches > 2:
        kinds = ("shared", "free") if here.branches <= MANY else ("free",)
        variants = [replace(v, sharpness=s) for v in variants for s in kinds]
    return variants


def _effort(here: Setting, variant: Setting, before: list[Found]) -> Effort:
    n = here.branches
    if n <= 2:
        return Effort(starts=24, disturbed=12, levelled=3, idle=1, most=2)
    if n > 2 * MANY:
        return Effort(starts=24, disturbed=16, levelled=3, idle=1, most=2)
    if before and before[0].error < SMALL:
        return Effort(starts=32, disturbed=32, levelled=4, idle=1, most=3)
    if n > MANY:
        # The seeds of the size before do most of it, and each start costs more.
        return Effort(starts=64, disturbed=64, idle=1, most=6)
    if n > 3 and variant.sharpness != here.sharpness:
        # Only what the search with several begins from.
        return Effort(starts=48, disturbed=32, idle=1, most=2)
    if n > 3:
        return Effort(starts=160, disturbed=128, levelled=6, idle=3, most=10)
    return Effort()


def _one(
    found: Normal,
    sampled: Sampled,
    setting: Setting,
    before: list[Found],
    best: Found | None,
    effort: Effort,
    seed: int,
    watch: Watch | None,
) -> Found | None:
    if not sampled.basis.shape[1]:
        size = level(sampled, np.zeros(0), steps=0).error
        return Found(setting, sampled.gates, sampled.base, size, 0)
    seeds = [] if best is None else [best.full]
    for one in before[:1]:
        if one.setting.branches == setting.branches - 1:
            seeds += _split(one, sampled)
    closed = None
    if _merges(sampled, setting):
        closed = _closed(found, sampled, setting, seeds, best, effort, seed)
    # The first of all seeds is a gate that is known, which the result is no worse than.
    if closed is not None:
        seeds = [*seeds[:1], *separated(sampled.gates, closed, setting.largest)]
        effort = replace(effort, starts=8, disturbed=8, idle=1)
    elif setting.algebra == "stick" and setting.sharpness == "shared" and setting.branches > 2:
        seeds += together(sampled.gates, found.symmetry)
    seeds = [*seeds[:1], *at_jump(found, sampled.gates), *seeds[1:]]
    # Between the points of a grid beside a jump a gate may seem better than any is.
    least = half_jump(found)

    def as_found(levelled: Levelled) -> Found:
        full = in_order(sampled, levelled.q)
        size = max(levelled.error, least)
        return Found(setting, sampled.gates, full, size, levelled.programmes, closed)

    def tell(levelled: Levelled) -> None:
        if watch is not None and (best is None or levelled.error < best.error):
            watch(as_found(levelled))

    return as_found(search(sampled, effort, [sampled.free(s) for s in seeds], seed, tell, least)[0])


def in_order(sampled: Sampled, q: Array) -> Array:
    """All parameters, thresholds ascending where that is the same gate and within the same conditions."""
    full = sampled.full(q)
    found = sampled.gates.ordered(full)
    again = sampled.full(sampled.free(found))
    kept = np.abs(again - found) <= 1e-12 * (1 + np.abs(found))
    if not kept.all():
        return full
    if sampled.inequality is not None and sampled.inequality(sampled.free(found))[0].min(initial=0.0) < 0:
        return full
    return found


def _merges(sampled: Sampled, setting: Setting) -> bool:
    """Whether thresholds can merge in a family that the basis of products describes."""
    difference = setting.algebra == "difference" and setting.sharpness == "shared"
    return difference and setting.branches > 2 and setting.family == "general" and sampled.inequality is None


def _closed(
    found: Normal,
    sampled: Sampled,
    setting: Setting,
    seeds: list[Array],
    best: Found | None,
    effort: Effort,
    seed: int,
) -> Array | None:
    """The best in the closed family."""
    gates = Products(setting.branches)
    wide = problem(found, replace(setting, largest=np.inf), sampled.x, gates)
    given = [wide.free(to_products(sampled.gates, s)) for s in seeds]
    if best is not None and best.closed is not None:
        given.insert(0, wide.free(best.closed))
    given += [wide.free(s) for s in together(gates, found.symmetry)]
    return wide.full(search(wide, effort, given, seed)[0].q)


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


def finish(found: Normal, one: Found, more: Array | None = None) -> Found:
    """The same fit levelled to the last digits on a finer grid: around its thresholds, its peaks, ``more``.

    Places in normal coordinates. The sup error of the result is that between the points too, to about 1e-12
    of the function's height.
    """
    if one.closed is not None:
        one = replace(one, closed=None)
    places = [] if more is None else [more]
    for _ in range(4):
        x = _finer(found, one, places)
        sampled = problem(found, one.setting, x)
        if not sampled.basis.shape[1]:
            return replace(one, error=level(sampled, np.zeros(0), steps=0).error)
        levelled = level(sampled, sampled.free(one.full), steps=LAST, reach=0.01, digits=12)
        one = replace(one, full=in_order(sampled, levelled.q), error=levelled.error)
        # Points between those of the grid: nothing there is higher, or the grid was too coarse.
        middle = (sampled.x[1:] + sampled.x[:-1]) / 2
        if sampled.function is None or not len(middle):
            break
        beyond = np.abs(sampled.error_at(levelled.q, middle)) > levelled.error * (1 + 1e-10) + 1e-14
        if not beyond.any():
            break
        places.append(middle[beyond])
    return one


def _finer(found: Normal, one: Found, places: list[Array]) -> Array:
    """The grid with points around thresholds, as dense as their sharpness asks for, and the given places."""
    x = found.grid()
    if found.target.points is not None:
        return x
    tau, theta, _, _ = one.gates.parts(one.full)
    steps_ = 0.6 * np.sinh(np.linspace(-4.5, 4.5, 121))
    extra = [h + steps_ / t for t, h in zip(tau, theta, strict=True)]
    if one.setting.symmetric:
        extra += [-e for e in extra]
    extra += places
    inside = np.concatenate([x, *extra])
    return np.unique(inside[(inside >= x[0]) & (inside <= x[-1])])
