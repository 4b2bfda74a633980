"""Devices whose parameters are off at random: what a sample of them says, never a proof.

Each varied component of tau=, theta=, slope= and intercept= is drawn from a normal distribution about its
nominal value, its standard deviation a part of that value or an absolute number, all independently; a
sharpness that comes out <= 0 is drawn again. The supremum over x of each device is searched in floats on a
grid and about its largest points, so it is a little too small rather than too large. Device i draws from
Random("seed:i"), so that the sample does not depend on how the work is shared.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import fsum, inf, isfinite, sqrt

from gateproof.numerics.float_lists import Columns
from gateproof.numerics.points import enclosure
from gateproof.numerics.tolerance import KEYS, NO_GATE, Tolerance, ToleranceError, still
from gateproof.theory.formula.expand import expand
from gateproof.theory.formula.nodes import Const, Expr, Node, Tg, Var, rebuild
from gateproof.theory.formula.scopes import free_names

#: Redraws of one sharpness before the noise is called too large.
REDRAWS = 1_000


@dataclass(frozen=True)
class Draw:
    """One noisy component: its name, nominal value, standard deviation, and whether it must be positive."""

    name: str
    nominal: float
    deviation: float
    positive: bool


@dataclass(frozen=True)
class Noisy:
    """A body with names for its noisy components."""

    body: Expr
    draws: tuple[Draw, ...]
    thresholds: tuple[tuple[str | float, ...], ...]


@dataclass(frozen=True)
class Sample:
    """The searched suprema, ascending; sharpnesses drawn again; devices whose thresholds crossed."""

    values: tuple[float, ...]
    redrawn: int
    crossed: int


def noisy(node: Expr, noise: Mapping[str, Tolerance]) -> Noisy:
    """The formula's gates with noisy components as names; equal ones are one. Raises ToleranceError."""
    draws: list[Draw] = []
    thresholds: list[tuple[str | float, ...]] = []
    known: dict[Tg, Tg] = {}

    def visit(part: Node) -> Node:
        if isinstance(part, Tg) and part in known:
            return known[part]
        done = rebuild(part, visit)
        assert isinstance(done, Node)
        if not isinstance(part, Tg) or not isinstance(done, Tg):
            return done
        number = len(known) + 1
        given: dict[str, tuple[Expr, ...]] = {}
        for key in KEYS:
            values: tuple[Expr, ...] = getattr(done, key)
            given[key] = tuple(
                _drawn(key, k, v, noise.get(key), number, draws) for k, v in enumerate(values, 1)
            )
        thresholds.append(tuple(v.name if isinstance(v, Var) else _number(v) for v in given["theta"]))
        known[part] = Tg(done.x, given["tau"], given["theta"], given["slope"], given["intercept"])
        return known[part]

    body = visit(node)
    assert isinstance(body, Expr)
    if not known:
        raise ToleranceError(NO_GATE)
    for key in (k for k, size in noise.items() if size.size):
        if not any(d.name.partition("_")[2].startswith(key) for d in draws):
            raise ToleranceError(f"nothing varies; {still(key, known)}", key)
    return Noisy(expand(body), tuple(draws), tuple(thresholds))


def _drawn(key: str, place: int, value: Expr, noise: Tolerance | None, gate: int, draws: list[Draw]) -> Expr:
    if noise is None or value == Const("oo"):
        return value
    nominal = _number(value)
    deviation = float(noise.size) * (abs(nominal) if noise.relative else 1.0)
    if deviation == 0:
        return value
    # No name of the language starts so.
    name = f"gate{gate}_{key}{place}"
    draws.append(Draw(name, nominal, deviation, key == "tau"))
    return Var(name)


def _number(value: Expr) -> float:
    if free_names(value):
        raise ToleranceError("it is for parameters that are numbers, not names")
    lo, hi = enclosure(expand(value))
    return float((lo + hi) / 2)


def sample(
    subject: Noisy,
    name: str,
    ends: tuple[Fraction | None, Fraction | None],
    count: int,
    seed: int,
    sign: int = 1,
) -> Sample:
    """The supremum (sign -1: infimum) over ``name`` of each of ``count`` devices."""
    run = Columns(subject.body, name, tuple(d.name for d in subject.draws))
    grid = _grid(ends, [t for gate in subject.thresholds for t in _nominal(gate, subject.draws)])
    base = run.prepared(grid)
    values, redrawn, crossed = [], 0, 0
    for device in range(count):
        rng = random.Random(f"{seed}:{device}")
        drawn: dict[str, float] = {}
        for d in subject.draws:
            drawn[d.name], again = _one(rng, d)
            redrawn += again
        crossed += any(_crosses(gate, drawn) for gate in subject.thresholds)
        values.append(sign * _largest(run, base, grid, drawn, sign))
    return Sample(tuple(sorted(values)), redrawn, crossed)


def _one(rng: random.Random, d: Draw) -> tuple[float, int]:
    for again in range(REDRAWS):
        value = rng.gauss(d.nominal, d.deviation)
        if value > 0 or not d.positive:
            return value, again
    raise ToleranceError(f"{d.deviation:g} about {d.nominal:g} leaves no positive sharpness", "tau")


def _crosses(gate: tuple[str | float, ...], drawn: Mapping[str, float]) -> bool:
    theta = [drawn[t] if isinstance(t, str) else t for t in gate]
    return any(b < a for a, b in pairwise(theta))


def _nominal(gate: tuple[str | float, ...], draws: Sequence[Draw]) -> list[float]:
    known = {d.name: d.nominal for d in draws}
    return [known[t] if isinstance(t, str) else t for t in gate]


def _grid(ends: tuple[Fraction | None, Fraction | None], theta: list[float]) -> list[float]:
    """Points of the range: even ones, and, where it is infinite, ever farther ones."""
    reach = 12.0 + 2 * max((abs(t) for t in theta), default=0.0)
    lo = -reach if ends[0] is None else float(ends[0])
    hi = reach if ends[1] is None else float(ends[1])
    if ends[0] is None:
        lo = min(lo, hi - 2 * reach)
    if ends[1] is None:
        hi = max(hi, lo + 2 * reach)
    found = [lo + (hi - lo) * k / 480 for k in range(481)]
    far = [reach * 2.0**k for k in range(1, 12)]
    found += [hi + f for f in far] if ends[1] is None else []
    found += [lo - f for f in far] if ends[0] is None else []
    return sorted({*found, *(t for t in theta if lo <= t <= hi)})


def _largest(run: Columns, base: object, grid: list[float], drawn: Mapping[str, float], sign: int) -> float:
    """The largest value on the grid and between its neighbours at the two highest peaks."""
    found = [sign * v for v in run.values(base, drawn)]
    best = max((v for v in found if v == v), default=-inf)
    peaks = [
        k
        for k, v in enumerate(found)
        if (k == 0 or not found[k - 1] > v) and (k + 1 == len(found) or not found[k + 1] > v)
    ]
    for k in sorted(peaks, key=lambda k: -found[k])[:2]:
        lo, hi = grid[max(k - 1, 0)], grid[min(k + 1, len(grid) - 1)]
        for _ in range(3):
            near = [lo + (hi - lo) * j / 16 for j in range(17)]
            here = [sign * v for v in run.values(run.prepared(near), drawn)]
            top = max(range(17), key=lambda j: here[j] if here[j] == here[j] else -inf)
            best = max(best, here[top] if here[top] == here[top] else -inf)
            lo, hi = near[max(top - 1, 0)], near[min(top + 1, 16)]
    if not isfinite(best):
        raise ToleranceError("a device without a finite value was drawn")
    return best


def spread_of(values: Sequence[float]) -> tuple[float, float]:
    """Mean and standard deviation."""
    n = len(values)
    mean = fsum(values) / n
    return mean, sqrt(fsum((v - mean) ** 2 for v in values) / (n - 1)) if n > 1 else 0.0
