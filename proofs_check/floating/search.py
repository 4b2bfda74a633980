"""Where a floating-point claim may fail: ends, powers of two and their neighbours, chance, and a climb."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice, product

from gateproof.proofs_check.engine.outcome import UndecidedError
from gateproof.proofs_check.floating.exhaustive import Judge
from gateproof.proofs_check.floating.program import UndefinedError
from gateproof.proofs_check.floating.sizes import Sizes
from gateproof.proofs_check.floating.space import Places, Space
from gateproof.proofs_check.records import Settings
from gateproof.theory.formats import Format
from gateproof.theory.formula.nodes import App, Const, Fl, Node, Num, Stmt

Point = tuple[int, ...]
#: Shares of the budget: special points, chance, climbing; and starts of the climb.
_SPECIAL, _CHANCE, _STARTS = 0.4, 0.4, 12
#: By how much balls are slower than rational arithmetic.
_SLOWER = 8
_RATIONAL = frozenset({"add", "mul", "neg", "div", "pow", "abs", "max", "min", "sign", "fma"})


@dataclass(frozen=True)
class Found:
    """What was found among the points tried, as places of the format."""

    tried: int
    met: bool = False
    fails: Point | None = None
    undefined: Point | None = None
    reason: str = ""
    #: The point at which the left side of a bound comes nearest to the right one, or goes beyond it most.
    worst: Point | None = None


def search(space: Space, claim: Stmt, settings: Settings) -> Found:
    """Try as many points as the settings have boxes; those without a value count before those that fail."""
    work = _Search(space, claim, random.Random(settings.seed))
    budget = max(settings.boxes // (1 if _is_rational(claim) else _SLOWER), 100)
    work.all(islice(specials(space, claim, int(budget * _SPECIAL)), int(budget * _SPECIAL)))
    if work.open:
        work.all(work.chance(int(budget * _CHANCE)))
    if work.open:
        work.climb(int(budget * (1 - _SPECIAL - _CHANCE)))
    return work.found


def _is_rational(node: Node) -> bool:
    """Whether no exact side is irrational."""
    if isinstance(node, Fl):
        return True
    if isinstance(node, Const) or (isinstance(node, App) and node.head not in _RATIONAL):
        return False
    return all(map(_is_rational, node.children()))


class _Search:
    def __init__(self, space: Space, claim: Stmt, chance: random.Random) -> None:
        self.space, self.random = space, chance
        self.judge = Judge(space, claim)
        sizes = Sizes(self.judge.program, claim)
        self.size: Callable[[Point], float] = lambda at: sizes.at(self.judge.point(at))
        self.found = Found(0)
        self.best: list[tuple[float, Point]] = []

    @property
    def open(self) -> bool:
        """Whether there is anything left to be looked for."""
        return self.found.fails is None and self.found.undefined is None

    def all(self, points: Iterator[Point]) -> None:
        """Try the points until one has no value."""
        for at in points:
            self.at(at)
            if self.found.undefined is not None:
                return

    def at(self, at: Point) -> float:
        """Try a point; how near it comes to failing, -1 where that cannot be said."""
        self.found = replace(self.found, tried=self.found.tried + 1)
        try:
            holds = self.judge.at(at)
            if holds is None:
                return -1.0
            if not self.found.met:
                self.found = replace(self.found, met=True)
            if not holds and self.found.fails is None:
                self.found = replace(self.found, fails=at)
            size = self.size(at)
        except UndefinedError as error:
            self.found = replace(self.found, undefined=at, reason=str(error))
            return -1.0
        except UndecidedError:
            return -1.0
        if size > 0 and (not self.best or size > self.best[-1][0] or len(self.best) < _STARTS):
            self.best = sorted([*self.best, (size, at)], reverse=True)[:_STARTS]
            self.found = replace(self.found, worst=self.best[0][1])
        return size

    def chance(self, count: int) -> Iterator[Point]:
        """Points by chance: some names near the one before them, magnitudes and numbers alike likely."""
        for _ in range(count):
            at: list[int] = []
            for ends, whole in zip(self.space.box, self.space.whole, strict=True):
                near = at and self.random.random() < 0.3
                at.append(self._near(at[-1], ends) if near else self._anywhere(ends, whole))
            yield tuple(at)

    def _near(self, place: int, ends: Places) -> int:
        step = self.random.choice((0, 1, -1, 2, 1 << self.random.randrange(self.space.format.bits)))
        side = self.random.choice((1, 1, -1))
        return _clamped(side * place + step, ends)

    def _anywhere(self, ends: Places, whole: bool) -> int:
        lo, hi = ends
        if not whole and self.random.random() < 0.5:
            return self.random.randint(lo, hi)
        form = self.space.format
        low, high = form.number(lo), form.number(hi)
        value = low + (high - low) * Fraction(self.random.getrandbits(80), 1 << 80)
        return _clamped(form.at_most(Fraction(value // 1) if whole else value), ends)

    def climb(self, count: int) -> None:
        """From the best points on, steps of any length that bring it nearer to failing."""
        starts = list(self.best)
        for size, start in starts:
            at, top, step = start, size, max(self.space.format.bits, 4)
            for _ in range(count // max(len(starts), 1)):
                k = self.random.randrange(len(at)) if at else 0
                move = self.random.choice((1, -1)) << self.random.randrange(step)
                moved = (*at[:k], _clamped(at[k] + move, self.space.box[k]), *at[k + 1 :]) if at else at
                found = self.at(moved)
                if not self.open:
                    return
                if found >= top:
                    at, top = moved, found


def _clamped(place: int, ends: Places) -> int:
    return min(max(place, ends[0]), ends[1])


def specials(space: Space, claim: Stmt, count: int) -> Iterator[Point]:
    """Products of the special places of each name, at most about ``count`` of them."""
    parts = [*space.conditions, *(n for n in claim.walk() if isinstance(n, Fl))]
    numbers = {n.value for part in parts for n in part.walk() if isinstance(n, Num)}
    most = max(int(count ** (1 / max(len(space.names), 1))), 8)
    lists = [_thinned(special(space.format, ends, numbers), most) for ends in space.box]
    return product(*lists)


def special(form: Format, ends: Places, numbers: set[Fraction]) -> list[int]:
    """Places in a range where rounding changes, the most telling first, each once."""
    lo, hi = ends
    normal = 1 << (form.bits - 1)
    found = [lo, hi, 0, 1, -1, normal, -normal, normal - 1, 1 - normal]
    one = form.at_most(Fraction(1))
    for value in sorted({*numbers, *(Fraction(k) for k in range(1, 11)), Fraction(1, 3), Fraction(1, 10)}):
        if abs(value) <= form.largest:
            found += [side * form.at_most(abs(value)) + step for side in (1, -1) for step in (0, 1, -1)]
    found += [lo + 1, hi - 1, (lo + hi) // 2]
    # Powers of two outward from 1, each with its neighbours and the middle of its binade.
    for k in range(form.highest + form.bits):
        for at in (one + k * normal, one - k * normal):
            found += [s * (at + step) for s in (1, -1) for step in (0, 1, -1, normal // 2, normal // 2 + 1)]
    return list(dict.fromkeys(at for at in found if lo <= at <= hi))


def _thinned(places: Sequence[int], most: int) -> list[int]:
    """At most so many, the first third of them kept and the rest evenly drawn."""
    if len(places) <= most:
        return list(places)
    head = most // 3
    rest = places[head:]
    return [*places[:head], *(rest[k * len(rest) // (most - head)] for k in range(most - head))]
