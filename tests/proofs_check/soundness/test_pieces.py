"""Random functions of straight pieces, whose every property is decided here in fractions.

Jumps, kinks, open and closed ends, single points: what is easy to get wrong at an edge is
exact here, so each statement's truth is known and compared with the verdict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from wall_clock import within

from gateproof.proofs_check.engine import decide
from gateproof.proofs_check.records import Reading, Settings

TRUE, FALSE, NEITHER = "true", "false", "ill-posed"
ACCEPTED = {
    TRUE: {"proved", "certified", "inconclusive"},
    FALSE: {"refuted", "inconclusive"},
    NEITHER: {"ill-posed", "inconclusive"},
}


@dataclass(frozen=True)
class Line:
    slope: Fraction
    level: Fraction

    def __call__(self, x: Fraction) -> Fraction:
        return self.slope * x + self.level

    def text(self) -> str:
        return f"({self.slope})*x + ({self.level})"


@dataclass(frozen=True)
class Part:
    """A line over an interval of the domain, which may be a single point."""

    lo: Fraction
    lo_in: bool
    hi: Fraction
    hi_in: bool
    line: Line

    @property
    def point(self) -> bool:
        return self.lo == self.hi

    def holds(self, x: Fraction) -> bool:
        above = x > self.lo or (self.lo_in and x == self.lo)
        return above and (x < self.hi or (self.hi_in and x == self.hi))


@dataclass(frozen=True)
class Pieces:
    """Lines between breaks; at a break the left line holds if ``left`` says so."""

    breaks: tuple[Fraction, ...]
    left: tuple[bool, ...]
    lines: tuple[Line, ...]
    lo: Fraction
    lo_in: bool
    hi: Fraction
    hi_in: bool

    def text(self) -> str:
        shown = self.lines[-1].text()
        for at, left, line in reversed(list(zip(self.breaks, self.left, self.lines, strict=False))):
            shown = f"where(x {'<=' if left else '<'} ({at}), {line.text()}, {shown})"
        return shown

    def domain(self) -> str:
        return f"x in {'[' if self.lo_in else '('}{self.lo}, {self.hi}{']' if self.hi_in else ')'}"

    def parts(self) -> list[Part]:
        found = []
        lo, lo_in = self.lo, self.lo_in
        for i, line in enumerate(self.lines):
            last = i == len(self.breaks)
            end, end_in = (self.hi, self.hi_in) if last else (self.breaks[i], self.left[i])
            if end > self.hi or (end == self.hi and not self.hi_in):
                end, end_in = self.hi, self.hi_in
            elif end == self.hi:
                end_in = end_in if not last else self.hi_in
            if lo < end or (lo == end and lo_in and end_in):
                found.append(Part(lo, lo_in, end, end_in, line))
                lo, lo_in = end, not end_in
            if lo > self.hi or (lo == self.hi and not (lo_in and self.hi_in)):
                break
        return found

    def value(self, x: Fraction) -> Fraction:
        return next(p.line(x) for p in self.parts() if p.holds(x))


# --- properties ------------------------------------------------------------------


def joins(f: Pieces) -> list[tuple[Part, Part]]:
    parts = f.parts()
    return list(pairwise(parts))


def continuous(f: Pieces) -> bool:
    return all(a.line(a.hi) == b.line(a.hi) for a, b in joins(f))


def differentiable(f: Pieces) -> bool:
    return continuous(f) and all(a.point or b.point or a.line == b.line for a, b in joins(f))


def increasing(f: Pieces) -> bool:
    rising = all(p.point or p.line.slope > 0 for p in f.parts())
    return rising and all(a.line(a.hi) <= b.line(a.hi) for a, b in joins(f))


def decreasing(f: Pieces) -> bool:
    falling = all(p.point or p.line.slope < 0 for p in f.parts())
    return falling and all(a.line(a.hi) >= b.line(a.hi) for a, b in joins(f))


def convex(f: Pieces) -> bool:
    for a, b in joins(f):
        left, right = a.line(a.hi), b.line(a.hi)
        if a.point or b.point:
            # A single end may jump up, never down.
            fine = left >= right if a.point else right >= left
        else:
            fine = left == right and a.line.slope <= b.line.slope
        if not fine:
            return False
    return True


def supremum(f: Pieces) -> tuple[Fraction, list[Fraction]]:
    """The supremum and where it is attained (no piece is level)."""
    ends = [(p.line(x), x, p.holds(x)) for p in f.parts() for x in {p.lo, p.hi}]
    best = max(v for v, _, _ in ends)
    return best, sorted({x for v, x, attained in ends if v == best and attained})


def zeros(f: Pieces) -> list[Fraction]:
    roots = [(p, -p.line.level / p.line.slope) for p in f.parts()]
    return sorted({x for p, x in roots if p.holds(x)})


# --- statements ------------------------------------------------------------------

Case = tuple[str, str]
STEP = Fraction(1, 10**6)


def points(values: list[Fraction]) -> str:
    return str(values[0]) if len(values) == 1 else "{" + ", ".join(map(str, values)) + "}"


def predicate(name: str, test: Callable[[Pieces], bool]) -> Callable[[Pieces, Any], Case]:
    return lambda f, _: (f"{name}({f.text()}, {f.domain()})", TRUE if test(f) else FALSE)


def bound(f: Pieces, draw: Any) -> Case:
    best, where = supremum(f)
    shift = draw(st.sampled_from([Fraction(0), STEP, -STEP]))
    sign = draw(st.sampled_from(["<=", "<"]))
    limit = best + shift
    holds = best < limit or (best == limit and (sign == "<=" or not where))
    return f"for {f.domain()}: {f.text()} {sign} {limit}", TRUE if holds else FALSE


def sup_value(f: Pieces, draw: Any) -> Case:
    best, _ = supremum(f)
    shift = draw(st.sampled_from([Fraction(0), STEP]))
    return f"sup({f.text()}, {f.domain()}) == {best + shift}", FALSE if shift else TRUE


def max_value(f: Pieces, draw: Any) -> Case:
    best, where = supremum(f)
    return f"max({f.text()}, {f.domain()}) == {best}", TRUE if where else NEITHER


def places_of_max(f: Pieces, draw: Any) -> Case:
    _, where = supremum(f)
    if not where:
        return f"argmax({f.text()}, {f.domain()}) == {f.hi}", NEITHER
    wrong = draw(st.booleans())
    shown = [x + STEP for x in where] if wrong else where
    return f"argmax({f.text()}, {f.domain()}) == {points(shown)}", FALSE if wrong else TRUE


def places_of_zeros(f: Pieces, draw: Any) -> Case:
    where = zeros(f)
    if not where or draw(st.booleans()):
        extra = next(x for x in map(Fraction, range(-9, 9)) if x not in where)
        return f"not (zeros({f.text()}, {f.domain()}) == {points([*where, extra])})", TRUE
    return f"zeros({f.text()}, {f.domain()}) == {points(where)}", TRUE


def exists(f: Pieces, draw: Any) -> Case:
    best, where = supremum(f)
    sign = draw(st.sampled_from([">=", ">", "=="]))
    true = bool(where) and sign != ">"
    return f"exists {f.domain()}: ({f.text()} {sign} {best})", TRUE if true else FALSE


def at_whole_numbers(f: Pieces, draw: Any) -> Case:
    lo, hi = draw(st.integers(-5, 0)), draw(st.integers(1, 6))
    whole = Pieces(f.breaks, f.left, f.lines, Fraction(lo), True, Fraction(hi), True)
    best = max(whole.value(Fraction(n)) for n in range(lo, hi + 1))
    sign = draw(st.sampled_from(["<=", "<"]))
    return f"for x in {lo}..{hi}: {f.text()} {sign} {best}", TRUE if sign == "<=" else FALSE


STATEMENTS: dict[str, Callable[[Pieces, Any], Case]] = {
    "continuous": predicate("continuous", continuous),
    "differentiable": predicate("differentiable", differentiable),
    "increasing": predicate("increasing", increasing),
    "decreasing": predicate("decreasing", decreasing),
    "convex": predicate("convex", convex),
    "bound": bound,
    "sup": sup_value,
    "max": max_value,
    "argmax": places_of_max,
    "zeros": places_of_zeros,
    "exists": exists,
    "whole numbers": at_whole_numbers,
}

SMALL = st.builds(Fraction, st.integers(-6, 6), st.sampled_from([1, 1, 2, 3]))


@st.composite
def pieces(draw: Any) -> Pieces:
    count = draw(st.sampled_from([1, 1, 2, 3]))
    breaks = tuple(sorted(draw(st.sets(SMALL, min_size=count, max_size=count))))
    left = tuple(draw(st.booleans()) for _ in breaks)
    slopes = [draw(st.sampled_from([1, 2, -1, -2, Fraction(1, 2), -3])) for _ in range(count + 1)]
    if draw(st.booleans()):
        slopes.sort()
    lines = [Line(Fraction(slopes[0]), draw(SMALL))]
    for at, slope in zip(breaks, slopes[1:], strict=True):
        jump = draw(st.sampled_from([0, 0, 0, 1, -1, STEP]))
        lines.append(Line(Fraction(slope), lines[-1](at) + jump - slope * at))
    # An end is often a break, where one line holds at a single point only.
    lo = draw(st.sampled_from([Fraction(-7), breaks[0]]))
    hi = draw(st.sampled_from([Fraction(7), breaks[-1]]))
    lo, hi = (lo, hi) if lo < hi else (lo, lo + 1)
    return Pieces(breaks, left, tuple(lines), lo, draw(st.booleans()), hi, draw(st.booleans()))


def run(kind: str, examples: int) -> Counter[str]:
    seen: Counter[str] = Counter()

    @settings(
        max_examples=examples,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=(HealthCheck.too_slow, HealthCheck.filter_too_much),
        phases=(Phase.explicit, Phase.generate),
    )
    @given(pieces(), st.data())
    def check(f: Pieces, data: st.DataObject) -> None:
        statement, truth = STATEMENTS[kind](f, data.draw)
        with within(60):
            found = decide(Reading("random", statement), Settings(boxes=2_000)).verdict
        seen[found] += 1
        assert found in ACCEPTED[truth], f"{found}, but {truth}: {statement}"

    check()
    return seen


@pytest.mark.parametrize("kind", STATEMENTS)
def test_pieces(kind: str) -> None:
    print(kind, dict(run(kind, 5)))


@pytest.mark.deep
@pytest.mark.parametrize("kind", STATEMENTS)
def test_pieces_deep(kind: str) -> None:
    print(kind, dict(run(kind, 150)))
