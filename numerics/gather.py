"""From candidates for a maximum to its value, its places, and whether it is attained."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from gateproof.numerics import interval as iv
from gateproof.numerics.far import Far
from gateproof.numerics.hunt import Spot
from gateproof.numerics.interval import Interval
from gateproof.numerics.jets import value_near
from gateproof.numerics.newton import refine
from gateproof.numerics.problem import Problem
from gateproof.numerics.results import Extremum
from gateproof.theory.formula.nodes import App, Expr, Where

#: The reason where a maximum stands inside, at a point where only continuity is in doubt.
MAY_JUMP = "the maximum lies at a point where the formula may jump"


@dataclass(frozen=True)
class Candidate:
    """A place with its score: kind 'critical' (attained there), 'end', 'open end' or 'tiny'."""

    place: Interval
    value: Interval
    kind: str


def from_spots(
    problem: Problem, spots: list[Spot], inside: tuple[Fraction, Fraction], bits: int
) -> list[Candidate]:
    """The refined candidates; spots without a critical point drop out."""
    found: list[Candidate] = []
    for spot in spots:
        if not spot.sign:
            place = (iv.down(iv.rational(spot.lo)), iv.up(iv.rational(spot.hi)))
            low = problem.score(problem.line.value((spot.lo + spot.hi) / 2))
            # Exact ends: a ball would widen a value that a wide box attains.
            whole = problem.score(problem.line.natural(spot.lo, spot.hi))
            found.append(Candidate(place, (min(low[0], whole[1]), whole[1]), "tiny"))
            continue
        root = refine(problem.line, spot.lo, spot.hi, 1, bits, inside)
        if root is None:
            continue
        value = problem.score(value_near(problem.line, root.ball))
        place = iv.of_ball(root.ball)
        if root.unique:
            found.append(Candidate(place, value, "critical"))
        else:
            sample = problem.score(problem.line.value((spot.lo + spot.hi) / 2))
            found.append(Candidate(place, (min(sample[0], value[1]), value[1]), "tiny"))
    return found


def _merged(places: list[Interval], gap: arb) -> list[Interval]:
    """Places that touch or nearly touch as one, ascending."""
    merged: list[Interval] = []
    for lo, hi in sorted(places, key=lambda p: iv.to_fraction(p[0])):
        if merged and lo <= merged[-1][1] + gap * (1 + abs(lo)):
            merged[-1] = (merged[-1][0], max(merged[-1][1], hi))
        else:
            merged.append((lo, hi))
    return merged


def may_jump(expr: Expr) -> bool:
    """Whether the expression may be discontinuous where it is defined."""
    return any(isinstance(n, Where) or (isinstance(n, App) and n.head == "sign") for n in expr.walk())


def conclude(problem: Problem, candidates: list[Candidate], tails: list[Far], seen: arb) -> Extremum:
    """The supremum over candidates and tails; ``seen`` is a value known to be reached."""
    far = [t for t in tails if t.value is not None]
    best = max([seen, *(c.value[0] for c in candidates)])
    # An end outside an open domain is a limit of values if f is continuous there, as its enclosure shows.
    kept = [c for c in candidates if not c.value[1] < best]
    low = iv.lower_fraction(best)
    for t in far:
        assert t.value is not None
        # Of a tail 'within' as well: all scores there are at least value[0].
        low = max(low, t.value[0])
    far = [t for t in far if t.value is not None and t.value[1] >= low]
    kept = [c for c in kept if iv.upper_fraction(c.value[1]) >= low] if far else kept
    tops = [c.value[1] for c in kept]
    if not tops and not far:
        return Extremum("unknown", reason="no candidate was left")
    if not all(t.is_finite() for t in tops):
        return Extremum("unknown", reason="an infinite enclosure")
    high = max([*(iv.upper_fraction(t) for t in tops), *(t.value[1] for t in far if t.value is not None)])
    high = max(high, low)
    attained, reason = _attained(problem, kept, far)
    gap = arb(2) ** -(problem.digits * 10 // 3)
    points: tuple[tuple[Fraction, Fraction], ...] | None
    places = _merged([c.place for c in kept if c.kind != "open end"], gap)
    points = tuple((iv.to_fraction(a), iv.to_fraction(b)) for a, b in places)
    wide = any(b - a > (1 + max(abs(a), abs(b))) / 10 ** min(problem.digits, 6) for a, b in points)
    if wide or any(t.kind == "constant" for t in far):
        points, reason = None, reason or "the places where it is attained are not isolated"
    if attained is False:
        points = ()
    sides = tuple(t.side for t in far if t.kind in ("limit", "within"))
    if not reason and high - low > abs(high) / 10**problem.digits and any(t.kind == "within" for t in far):
        reason = "the bound on a tail is coarse"
    if kept:
        middle = max(kept, key=lambda c: c.value[0])
        problem.witness = iv.to_fraction(arb(((middle.place[0] + middle.place[1]) / 2).mid()))
    else:
        problem.witness = None
    return Extremum("ok", (low, high), attained, points, sides, reason=reason)


def _attained(problem: Problem, kept: list[Candidate], far: list[Far]) -> tuple[bool | None, str]:
    if any(t.kind == "constant" for t in far):
        return True, ""
    if not kept:
        known = all(t.kind == "limit" for t in far)
        return (False, "") if known else (None, "whether a value far out reaches the limit")
    if far:
        return None, "a value inside and a limit at infinity agree to all digits"
    kinds = {c.kind for c in kept}
    if kinds == {"critical"}:
        return True, ""
    if kinds == {"open end"}:
        return False, ""
    if "open end" in kinds:
        return None, "a value inside and one at an open end agree to all digits"
    if kinds <= {"critical", "end"} or not may_jump(problem.body):
        return True, ""
    return None, MAY_JUMP
