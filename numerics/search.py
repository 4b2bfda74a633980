"""Looking for a counterexample before anything is proved: cheap, deterministic, exact points."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from gateproof.numerics import interval as iv
from gateproof.numerics.ball import compiled
from gateproof.numerics.certificate import Bounds
from gateproof.numerics.errors import MaybeUndefined, Undefined
from gateproof.numerics.exact_point import exact_value
from gateproof.numerics.forms import at_point
from gateproof.numerics.interval import Interval
from gateproof.numerics.precision import precision
from gateproof.theory.formula.nodes import Expr

Point = Mapping[str, Fraction]
Ends = tuple[Fraction | None, Fraction | None]


@dataclass(frozen=True)
class Found:
    """A point where the bound is broken ('violated') or there is no value ('undefined')."""

    status: str
    point: dict[str, Fraction]
    value: tuple[Fraction, Fraction] | None = None


def breaks(value: Interval, bounds: Bounds) -> bool | None:
    """Whether the value surely breaks (True) or surely keeps (False) the bounds."""
    lo, hi = value
    kept = True
    if bounds.upper is not None:
        limit = iv.rational(bounds.upper)
        over = (lo >= limit) if bounds.upper_strict else (lo > limit)
        if over:
            return True
        kept = kept and bool((hi < limit) if bounds.upper_strict else (hi <= limit))
    if bounds.lower is not None:
        limit = iv.rational(bounds.lower)
        under = (hi <= limit) if bounds.lower_strict else (hi < limit)
        if under:
            return True
        kept = kept and bool((lo > limit) if bounds.lower_strict else (lo >= limit))
    return False if kept else None


def exactly(expr: Expr, point: Point, bounds: Bounds) -> Found | bool:
    """A finding by rational arithmetic; True: it shows that there is none, False: it cannot tell."""
    try:
        value = exact_value(expr, point)
    except Undefined:
        return Found("undefined", dict(point))
    if value is None:
        return False
    over = bounds.upper is not None and (
        value > bounds.upper or (bounds.upper_strict and value == bounds.upper)
    )
    under = bounds.lower is not None and (
        value < bounds.lower or (bounds.lower_strict and value == bounds.lower)
    )
    return Found("violated", dict(point), (value, value)) if over or under else True


def examine(expr: Expr, point: Point, bounds: Bounds, max_bits: int) -> Found | None:
    """A finding at an exact point, with as many bits as it takes to be sure (at most max_bits)."""
    exact = exactly(expr, point, bounds)
    if not isinstance(exact, bool):
        return exact
    if exact:
        return None
    run = compiled(expr)
    bits = 80
    while True:
        with precision(bits):
            try:
                value = at_point(run, point)
            except Undefined:
                return Found("undefined", dict(point))
            except MaybeUndefined:
                value = None
            if value is not None:
                broken = breaks(value, bounds)
                if broken and iv.moderate(value[0]) and iv.moderate(value[1]):
                    low, high = iv.to_fraction(value[0]), iv.to_fraction(value[1])
                    return Found("violated", dict(point), (low, high))
                if broken is not None:
                    # A value like exp(2**40) breaks the bound, but is too long to be shown.
                    return None
        bits *= 2
        if bits > max_bits:
            return None


def line_points(lo: Fraction | None, hi: Fraction | None, kinks: tuple[Fraction, ...]) -> Iterator[Fraction]:
    """Points of an interval: ends, kinks and their neighbours, a grid, far out."""
    inside = [k for k in kinks if (lo is None or lo <= k) and (hi is None or k <= hi)]
    yield from inside
    if lo is not None:
        yield lo
    if hi is not None:
        yield hi
    centre = [Fraction(0), *inside]
    steps = [Fraction(1, 2**k) for k in (40, 20, 10, 5, 3)]
    reach = [Fraction(2**k) for k in (3, 4, 5, 7, 10, 20, 40)]
    if lo is not None and hi is not None:
        width = hi - lo
        grid = [lo + width * Fraction(2 * i + 1, 96) for i in range(48)]
        near = [e + s * width * t for e, s in ((lo, 1), (hi, -1)) for t in steps]
        yield from (p for p in grid + near)
        centre, reach = inside, []
    else:
        base = lo if lo is not None else (hi if hi is not None else Fraction(0))
        centre.append(base)
        yield from (
            base + s * Fraction(i, 4)
            for i in range(33)
            for s in (1, -1)
            if _in(base + s * Fraction(i, 4), lo, hi)
        )
    for c in centre:
        for t in steps + reach:
            yield from (p for p in (c - t, c + t) if _in(p, lo, hi))


def few_points(lo: Fraction | None, hi: Fraction | None, kinks: tuple[Fraction, ...]) -> list[Fraction]:
    """Points of an interval to begin a search for the largest value with: kinks, ends, a coarse grid."""
    inside = [k for k in kinks if _in(k, lo, hi)]
    ends = [e for e in (lo, hi) if e is not None]
    if lo is not None and hi is not None:
        return [*inside, *ends, *(lo + (hi - lo) * Fraction(k, 16) for k in range(1, 16))]
    base = ends[0] if ends else Fraction(0)
    steps = [s * step for step in _REACH for s in (1, -1)]
    return [*inside, base, *(p for s in steps if _in(p := base + s, lo, hi))]


#: Distances from the middle of a line or the end of a half-line.
_REACH = tuple(Fraction(n, 4) for n in (1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 32, 128, 2**20, 2**42))


def _in(x: Fraction, lo: Fraction | None, hi: Fraction | None) -> bool:
    return (lo is None or lo <= x) and (hi is None or x <= hi)


def box_points(
    box: Mapping[str, Ends], kinks: Mapping[str, tuple[Fraction, ...]], seed: int
) -> Iterator[dict[str, Fraction]]:
    """Points of a box in several variables: corners and kinks combined, then random dyadic ones."""
    names = list(box)
    few = []
    for name in names:
        lo, hi = box[name]
        points = [p for p in (lo, hi) if p is not None] + [k for k in kinks[name] if _in(k, lo, hi)]
        points += [Fraction(0)] if _in(Fraction(0), lo, hi) else []
        few.append(list(dict.fromkeys(points))[:5] or [Fraction(0)])
    for combination in product(*few):
        yield dict(zip(names, combination, strict=True))
    rng = random.Random(seed)
    for _ in range(400):
        yield {n: _random(rng, *box[n]) for n in names}


def _random(rng: random.Random, lo: Fraction | None, hi: Fraction | None) -> Fraction:
    t = Fraction(rng.randrange(1, 2**20), 2**20)
    if lo is not None and hi is not None:
        return lo + (hi - lo) * t
    size = Fraction(2) ** rng.randrange(-6, 8) * t
    if lo is not None:
        return lo + size
    if hi is not None:
        return hi - size
    return size * rng.choice((-1, 1))


def climb(
    score: Callable[[dict[str, Fraction]], float | None],
    start: dict[str, Fraction],
    box: Mapping[str, Ends],
    rounds: int = 40,
) -> dict[str, Fraction]:
    """A local search by coordinates with halving and doubling steps, kept inside the box."""
    best, value = dict(start), score(start)
    if value is None:
        return best
    step = {n: _first_step(*box[n]) for n in box}
    for _ in range(rounds):
        moved = False
        for name, (lo, hi) in box.items():
            for s in (1, -1):
                x = best[name] + s * step[name]
                if not _in(x, lo, hi):
                    continue
                trial = {**best, name: x}
                found = score(trial)
                if found is not None and found > value:
                    best, value, moved = trial, found, True
                    break
        if not moved:
            step = {n: s / 4 for n, s in step.items()}
    return best


def _first_step(lo: Fraction | None, hi: Fraction | None) -> Fraction:
    if lo is None or hi is None:
        return Fraction(1, 8)
    width = hi - lo
    return width / 64 if width else Fraction(1, 64)
