"""Rational points of a space, where a false statement is likely to show."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

from gateproof.numerics.errors import MaybeUndefined, Undefined
from gateproof.numerics.points import enclosure, truth_at
from gateproof.proofs_check.engine.space import Space, contains
from gateproof.theory.exact.domain import Domain
from gateproof.theory.formula.nodes import App, Expr, Node, Num
from gateproof.theory.formula.powers import constant_value

Point = Mapping[str, Fraction]

_NEAR = "0 1 -1 1/2 -1/2 2 -2 3 -3 1/10 -1/10 7/3 -7/3 1/1000 -1/1000 5 -5 10 -10 27/10 -27/10 3/4 -3/4"
_FAR = "8 -8 13/10 -13/10 20 -20 1/1000000 -1/1000000 40 -40 100 -100 1000 -1000"
_STEPS = "0 1 1/2 2 1/10 3 1/1000 5 10 1/4 3/2 1/1000000 27/10 20 50 100 1000 1/50"
_REALS = [Fraction(t) for t in f"{_NEAR} {_FAR}".split()]
#: Points taken from one name, and combinations taken in all.
PER_NAME = 160
MAX_POINTS = 1200
#: Names from which on points at random come between those of the grid.
MANY = 6
#: The simplest values of a name, those points are made of.
SIMPLE = 10


def landmarks(*nodes: Node) -> list[Fraction]:
    """Numbers that stand in the statement, and points just beside them."""
    found: dict[Fraction, None] = {}
    for node in nodes:
        for part in node.walk():
            number = constant_value(part) if isinstance(part, Num | App) else None
            if number is not None and abs(number) <= 10**6:
                for sign in (1, -1):
                    value = sign * number
                    for point in (value, value + Fraction(1, 1000), value - Fraction(1, 1000), value / 2):
                        found.setdefault(point)
        if len(found) > 60:
            break
    return list(found)


def values(domain: Domain, extra: list[Fraction], rng: random.Random) -> list[Fraction]:
    """Points of one domain, the likeliest first."""
    if domain.integer:
        candidates: list[Fraction] = [Fraction(k) for k in itertools.chain(range(-3, 13), (20, 50, 101))]
        if domain.lo is not None:
            start = -((-enclosure(domain.lo)[0].numerator) // enclosure(domain.lo)[0].denominator)
            candidates = [Fraction(start + k) for k in (0, 1, 2, 3, 4, 5, 7, 10, 16, 33)] + candidates
    elif domain.lo is None and domain.hi is None:
        grid = [Fraction(k, 8) for k in range(-48, 49)]
        far = [Fraction(rng.randint(-2_000, 2_000), 64) for _ in range(24)]
        candidates = _REALS[:12] + extra + _REALS[12:] + far + grid
    else:
        candidates = _in_interval(domain, extra, rng)
    chosen: dict[Fraction, None] = {}
    for value in candidates:
        if value not in chosen and contains(domain, value):
            chosen[value] = None
        if len(chosen) >= PER_NAME:
            break
    return list(chosen)


def _in_interval(domain: Domain, extra: list[Fraction], rng: random.Random) -> list[Fraction]:
    if domain.lo is not None and domain.hi is not None:
        (_, lo), (hi, _) = enclosure(domain.lo), enclosure(domain.hi)
        width = hi - lo
        near = [
            lo,
            hi,
            *(e + s * width * Fraction(1, 10**k) for k in (1, 2, 4, 8) for e, s in ((lo, 1), (hi, -1))),
        ]
        grid = [lo + width * Fraction(k, 64) for k in range(65)]
        rand = [lo + width * Fraction(rng.randint(1, 9999), 10_000) for _ in range(40)]
        return near + extra + grid[::4] + rand + grid
    end = domain.lo if domain.lo is not None else domain.hi
    assert end is not None
    sign = 1 if domain.lo is not None else -1
    start = enclosure(end)[1 if sign > 0 else 0]
    steps = [Fraction(t) for t in _STEPS.split()]
    rand = [Fraction(rng.randint(1, 6_000), 500) for _ in range(40)]
    grid = [Fraction(k, 8) for k in range(1, 65)]
    return [start + sign * s for s in steps] + extra + [start + sign * s for s in rand + grid]


def points(space: Space, nodes: tuple[Node, ...], seed: int, limit: int = MAX_POINTS) -> Iterator[Point]:
    """Points of the space that certainly meet its conditions; deterministic for a seed."""
    rng = random.Random(seed)
    extra = landmarks(*nodes)
    names = [n for n in space.domains if n not in space.vectors]
    columns = {n: values(space.domains[n], extra, rng) for n in names}
    if any(not c for c in columns.values()):
        return
    given = 0
    for combination in _combinations(names, columns, rng):
        point = dict(zip(names, combination, strict=True))
        if meets(space, point):
            yield point
            given += 1
            if given >= limit:
                return


def _combinations(
    names: list[str], columns: Mapping[str, list[Fraction]], rng: random.Random
) -> Iterator[tuple[Fraction, ...]]:
    if len(names) <= 1:
        yield from itertools.product(*(columns[n] for n in names))
        return
    small = max(2, round(400 ** (1 / len(names))))
    grid = itertools.product(*(columns[n][:small] for n in names))
    if len(names) < MANY:
        yield from grid
    for combination in grid if len(names) >= MANY else ():
        # A corner of 0s and 1s makes most products of many names vanish: a point at random beside each.
        yield combination
        yield tuple(rng.choice(columns[n][:SIMPLE]) for n in names)
    for _ in range(3 * MAX_POINTS):
        yield tuple(rng.choice(columns[n]) for n in names)


def meets(space: Space, point: Point) -> bool:
    """Whether the conditions of the space certainly hold at a point of its domains."""
    for fact in space.facts:
        try:
            if truth_at(fact, point, 256) is not True:
                return False
        except (Undefined, MaybeUndefined):
            return False
    return True


def inside(space: Space, point: Point) -> bool:
    """Whether a point certainly lies in the domains and meets the conditions."""
    return all(contains(space.domains[n], v) for n, v in point.items()) and meets(space, point)


def narrowed(space: Space, name: str, lo: Expr | None, hi: Expr | None) -> Space:
    """The space with one domain cut to closed ends (None leaves an end as it is)."""
    domain = space.domains[name]
    if lo is not None:
        domain = replace(domain, lo=lo, lo_closed=True)
    if hi is not None:
        domain = replace(domain, hi=hi, hi_closed=True)
    return space.with_domain(name, domain)
