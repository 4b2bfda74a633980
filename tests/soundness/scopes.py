"""Where the names of a statement range: points, drawn at random and chosen, and grids of an interval."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice, product
from typing import Any

from mpmath import mp, mpf
from soundness import values
from soundness.values import CannotSay, split, value

#: Where bounds are attained and where divisors vanish, more often than elsewhere.
_NICE = ("0", "1", "-1", "1/2", "2", "-1/2", "-2", "3", "pi/2", "-pi/2", "pi", "pi/4", "-pi/4", "e", "3/2",
         "1/e", "-3", "1/3", "pi/3", "2*pi", "-pi", "4", "-3/2", "sqrt(2)", "-4", "5", "1/4",
         "pi/6")  # fmt: skip
_CHOSEN = 150


@dataclass(frozen=True)
class Set:
    """A range: its ends, which of them belong to it, what is left out, and whether it holds integers only."""

    lo: Any
    hi: Any
    lo_closed: bool = False
    hi_closed: bool = False
    without: tuple[Any, ...] = ()
    integer: bool = False

    def __contains__(self, x: Any) -> bool:
        above = x >= self.lo if self.lo_closed else x > self.lo
        below = x <= self.hi if self.hi_closed else x < self.hi
        whole = not self.integer or x == mp.nint(x)
        return above and below and whole and all(abs(x - w) > mpf("1e-20") for w in self.without)

    def draw(self, rng: random.Random) -> Any:
        """A random point, also next to the ends, which a widened domain has to be caught at."""
        lo, hi = self.lo, self.hi
        if self.integer:
            low = int(max(lo, -9))
            return mpf(rng.randint(low, max(low, int(min(hi, 12)))))
        near = mpf(rng.choice((0.01, 0.3, 1, 4, 15))) * mpf(rng.random() + 1e-3)
        if mp.isinf(lo) and mp.isinf(hi):
            return mpf(rng.choice((0.1, 1, 4, 15))) * mpf(rng.uniform(-1, 1))
        if mp.isinf(hi):
            return lo + near
        if mp.isinf(lo):
            return hi - near
        return lo + (hi - lo) * mpf(rng.choice((rng.random(), rng.random(), 0.002, 0.998)))

    def chosen(self) -> list[Any]:
        """Ends and simple numbers in it."""
        ends = [e for e in (self.lo, self.hi) if not mp.isinf(e)]
        middle = [(self.lo + self.hi) / 2] if len(ends) == 2 else []
        simple = [value(t, {}) for t in _NICE]
        return [x for x in (*ends, *middle, *simple) if x in self]


@dataclass(frozen=True)
class Scope:
    """Ranges of the names and conditions on them."""

    names: tuple[tuple[str, Set], ...]
    conditions: tuple[str, ...]

    def __contains__(self, point: dict[str, Any]) -> bool:
        return all(values.CONDITION[0](c, point) is True for c in self.conditions)

    def points(self, rng: random.Random, many: int) -> Iterator[dict[str, Any]]:
        """Random points, at most ``many``; one without names."""
        for _ in range(many if self.names else 1):
            point = {name: over.draw(rng) for name, over in self.names}
            if point in self:
                yield point

    def chosen(self) -> Iterator[dict[str, Any]]:
        """Points with simple coordinates, those with equal ones among them."""
        if not self.names:
            yield {}
            return
        lists = [over.chosen() for _, over in self.names]
        same = [x for x in lists[0] if all(x in s for _, s in self.names)]
        rows: list[tuple[Any, ...]] = [(x,) * len(lists) for x in same]
        short = [xs[: 60 if len(lists) == 1 else 12 if len(lists) == 2 else 5] for xs in lists]
        rows += list(islice(product(*short), _CHOSEN))
        for row in rows:
            point = dict(zip([name for name, _ in self.names], row, strict=True))
            if point in self:
                yield point


def read(binds: list[str]) -> Scope:
    """The scope of ``for`` binds. Raises CannotSay for vectors."""
    names: dict[str, Set] = {}
    conditions = []
    for bind in binds:
        m = re.fullmatch(r"(\w+) in (.*)", bind)
        n = re.fullmatch(r"([a-z]\w*) (>=|>|<=|<) ([^<>=]+)", bind)
        if m and "**" in m[2]:
            raise CannotSay(bind)
        if m:
            names[m[1]] = read_set(m[2])
        elif n and n[1] not in names:
            c = value(n[3], {})
            closed = "=" in n[2]
            names[n[1]] = Set(c, mp.inf, closed) if ">" in n[2] else Set(-mp.inf, c, hi_closed=closed)
        else:
            conditions.append(bind)
    return Scope(tuple(names.items()), tuple(conditions))


def read_set(text: str) -> Set:
    """A range from its text."""
    text, _, left_out = text.partition(" \\ ")
    text = text.strip()
    without = tuple(value(t, {}) for t in split(left_out.strip()[1:-1])) if left_out else ()
    if text == "R":
        return Set(-mp.inf, mp.inf, without=without)
    if text in ("N", "N1", "Z"):
        lo = {"N": mpf(0), "N1": mpf(1), "Z": -mp.inf}[text]
        return Set(lo, mp.inf, lo_closed=True, without=without, integer=True)
    if ".." in text:
        lo, hi = (value(t, {}) for t in text.split(".."))
        return Set(lo, hi, True, True, without, integer=True)
    lo, hi = (value(t, {}) for t in split(text[1:-1]))
    return Set(lo, hi, text[0] == "[" and not mp.isinf(lo), text[-1] == "]" and not mp.isinf(hi), without)


def grid(within: str, count: int) -> list[Any]:
    """Many points of an interval, its ends and points far out among them."""
    over = read_set(within) if not re.match(r"\w+ (>|<)", within) else read([within]).names[0][1]
    if over.integer:
        raise CannotSay(within)
    lo, hi, rng = over.lo, over.hi, random.Random(7)
    steps: Callable[[Any], list[Any]] = lambda side: [  # noqa: E731
        mpf(40) * (mpf(k + mpf("0.001")) / count) ** 3 * side for k in range(count + 1)
    ]
    if mp.isinf(lo) and mp.isinf(hi):
        far = [s * mpf(10) ** k for k in (2, 4, 8) for s in (-1, 1)]
        xs = [*far, *(mpf(30) * (2 * mpf(k) / count - 1) ** 3 for k in range(count + 1))]
    elif mp.isinf(hi):
        xs = [*(lo + mpf(10) ** k for k in (2, 4, 8)), *(lo + s for s in steps(1))]
    elif mp.isinf(lo):
        xs = [hi + s for s in steps(-1)]
    else:
        inner = [lo + (hi - lo) * (k + mpf("0.0001")) / (count + mpf("0.001")) for k in range(count + 1)]
        xs = [*inner, lo + (hi - lo) * rng.random()]
    return [x for x in (*xs, *(e for e in (lo, hi) if not mp.isinf(e))) if x in over]
