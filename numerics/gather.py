"""From candidates for a maximum to its value, its places, and whether it is attained."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

from flint import arb

from gateproof.numerics import interval as iv
from gateproof.numerics.ends import End, beside, end
from gateproof.numerics.errors import MaybeUndefined, Undefined
from gateproof.numerics.exact_point import exact_value
from gateproof.numerics.far import Far
from gateproof.numerics.forms import Line, outer
from gateproof.numerics.hunt import Spot
from gateproof.numerics.interval import Interval
from gateproof.numerics.jets import value_near
from gateproof.numerics.newton import LOW, summit
from gateproof.numerics.precision import precision
from gateproof.numerics.problem import Problem
from gateproof.numerics.results import Extremum
from gateproof.numerics.smooth import Piece, at_kink
from gateproof.numerics.ties import Place, tied
from gateproof.theory.exact.piecewise import may_jump
from gateproof.theory.formula.nodes import Expr

#: The reason where a maximum stands inside, at a point where only continuity is in doubt.
MAY_JUMP = "the maximum lies at a point where the formula may jump"
#: Bits that are tried, as a multiple of those needed, before a tie is called undecided.
PATIENCE = 4


@dataclass(frozen=True)
class Candidate:
    """A place with its score: kind 'critical' (attained there), 'end', 'open end' or 'tiny'.

    ``piece``: of a critical point, to be refined; ``line`` with ``point``: the value at an end or a kink.
    """

    place: Interval
    value: Interval
    kind: str
    piece: Piece | None = None
    line: Line | None = None
    point: End | None = None


def at_end(problem: Problem, line: Line, point: End, place: Interval | None = None) -> Candidate:
    """The value at an end, or the limit at an open one. Raises Undefined and MaybeUndefined."""
    ends = place or point.sliver()
    kind = "end" if point.closed else "open end"
    exact = None
    if place is None and point.inner is not None and point.inner == point.outer:
        exact = exact_value(line.expr, {line.var: point.inner})
        if exact is None and may_jump(line.expr):
            # Beside the point, where its rational is no number of so many bits, another case may stand.
            line = Line(at_kink(line.expr, line.var, point.inner, {}), line.var, line.order)
    value = line.natural_run({line.var: ends}) if exact is None else iv.of_ball(iv.rational(exact))
    # Beside a jump a value is not that of a point, and no precision narrows it to one.
    return Candidate(ends, problem.score(value), kind, None, None if place else line, point)


def at_kinks(problem: Problem, pieces: list[Piece]) -> list[Candidate]:
    """Values and one-sided limits where pieces meet. Raises Undefined."""
    found: list[Candidate] = []
    jumps = may_jump(problem.body)
    for piece in pieces[1:]:
        with suppress(MaybeUndefined):
            found.append(at_end(problem, problem.line, End(piece.lo, piece.lo)))
    # At the ends of the domain as well: a closed end may have a value that is not the limit from inside.
    sides = [side for p in pieces for side in ((p, p.lo, -1), (p, p.hi, 1))] if jumps else ()
    for piece, k, side in sides:
        # Where a piece's formula has no value at its end, no box that touches it is discarded as monotone.
        with suppress(MaybeUndefined, Undefined):
            if not _continues(problem, piece, k):
                kink = End(k, k, False)
                # A case that is undecided inside may stand otherwise at the end itself.
                place = beside(kink, piece.hi - piece.lo, side) if piece.jumps else None
                found.append(at_end(problem, piece.line, kink, place))
    return found


def _continues(problem: Problem, piece: Piece, k: Fraction) -> bool:
    """Whether the value at the kink is seen to be the limit from the piece."""
    if problem.line.expr == piece.line.expr:
        return True
    if at_kink(problem.body, problem.var, k, piece.signs) == piece.line.expr:
        return True
    if piece.jumps:
        return False
    limit = exact_value(piece.line.expr, {problem.var: k})
    return limit is not None and limit == exact_value(problem.body, {problem.var: k})


def from_spots(problem: Problem, spots: list[Spot]) -> list[Candidate]:
    """The candidates at spots, at flint's current precision."""
    found: list[Candidate] = []
    for spot in spots:
        line = spot.piece.line
        if spot.root is not None and spot.root.unique:
            value = problem.score(value_near(line, spot.root.ball))
            place = iv.of_ball(spot.root.ball)
            found.append(Candidate(place, value, "critical", spot.piece))
            continue
        # Exact ends: a ball would widen a value that a wide box attains.
        place, whole = (spot.lo, spot.hi), problem.score(line.natural_run({line.var: (spot.lo, spot.hi)}))
        if spot.piece.narrow:
            # One point, known as an enclosure, like an irrational end.
            found.append(at_end(problem, line, End(spot.piece.lo, spot.piece.hi)))
            continue
        if spot.piece.constant:
            found.append(Candidate(place, whole, "end"))
            continue
        middle = ((spot.lo + spot.hi) / 2).mid()
        low = iv.NEG_INF
        first, last = iv.rational(spot.piece.lo), iv.rational(spot.piece.hi)
        if first < middle < last or (first <= middle <= last and not spot.piece.jumps):
            low = problem.score(line.natural_run({line.var: (middle, middle)}))[0]
        if spot.root is not None:
            place = iv.of_ball(spot.root.ball)
            whole = problem.score(value_near(line, spot.root.ball))
        high = min(whole[1], spot.upper)
        found.append(Candidate(place, (min(low, high), high), "tiny"))
    return found


def settle(problem: Problem, candidates: list[Candidate], bits: int) -> list[Candidate]:
    """Those that may be the largest, refined to ``bits`` bits or dropped where precision tells them apart."""
    work, kept = LOW, _leading(candidates)
    while work < bits:
        work = bits if len(kept) == 1 else min(4 * work, bits)
        kept = _leading([f for c in kept if (f := _refined(problem, c, work)) is not None])
    return kept


def told_apart(problem: Problem, candidates: list[Candidate], bits: int) -> tuple[list[Candidate], int]:
    """The candidates, and more bits than ``bits`` where these tell places apart that have no equal values."""
    more = bits
    for _ in range(2):
        with precision(more + 32):
            if _equal(problem, candidates):
                break
        more *= PATIENCE
        candidates = settle(problem, candidates, more)
    return candidates, more


def _equal(problem: Problem, candidates: list[Candidate]) -> bool:
    """Whether there is one place, or all are proved to have the same value."""
    kept = [c for c in candidates if c.kind != "open end"]
    merged = _merged([_clipped(c) for c in kept], _gap(problem))
    if len(merged) < 2:
        return True
    known = [
        Place(_clipped(c), c.value, _exactly(problem, c))
        for c in kept
        if c.kind == "critical" or (c.kind == "end" and _exactly(problem, c) is not None)
    ]
    # A box that was not told from a known place beside it adds nothing.
    chosen = [next((p for p in known if lo <= p.ends[0] and p.ends[1] <= hi), None) for lo, hi in merged]
    places = [p for p in chosen if p is not None]
    return len(places) == len(merged) and tied(problem.body, problem.var, problem.folded, places)


def _exactly(problem: Problem, c: Candidate) -> Fraction | Expr | None:
    """The place of an end or a kink, where it is rational or was given."""
    if c.point is None or c.point.inner == c.point.outer:
        return None if c.point is None else c.point.inner
    return problem.given_at(c.point)


def _gap(problem: Problem) -> arb:
    """Places that are as near as this are one, relative to 1 + |x|."""
    return arb(2) ** -(problem.digits * 10 // 3)


def _leading(candidates: list[Candidate]) -> list[Candidate]:
    best = max((c.value[0] for c in candidates), default=iv.NEG_INF)
    return [c for c in candidates if not c.value[1] < best]


def _refined(problem: Problem, c: Candidate, bits: int) -> Candidate | None:
    if c.piece is not None:
        found = summit(c.piece.line, iv.to_ball(c.place), bits)
        with precision(bits + 32):
            if found is None:
                return c
            place = iv.of_ball(found[0])
            lo, hi = iv.rational(c.piece.lo), iv.rational(c.piece.hi)
            if place[1] < lo or place[0] > hi or _is_end(place, c.piece):
                # Outside, where f is another formula or nothing; or the end, which is a candidate of its own.
                return None
            value = problem.score(_within(c.piece.line, place, iv.of_ball(found[1])))
            if not (place[0] >= lo and place[1] <= hi):
                # At an end, to all bits: the value there is a candidate of its own, and hardly less.
                return replace(c, place=place, value=(iv.NEG_INF, value[1]), kind="tiny")
            return replace(c, place=place, value=value, kind="critical")
    if c.line is not None and c.point is not None:
        with precision(bits + 32):
            # A given end that is no rational is known to as many bits as are asked for.
            given = problem.given_at(c.point)
            sharper = c.point if given is None else end(given, -1, c.point.closed)
            return replace(at_end(problem, c.line, sharper), point=c.point)
    return c


def _within(line: Line, place: Interval, value: Interval) -> Interval:
    """The value, no farther than interval evaluation at few bits allows: sin is at most 1, exactly."""
    try:
        with precision(LOW):
            natural = line.natural_run({line.var: place})
    except MaybeUndefined:
        return value
    return max(value[0], natural[0]), min(value[1], natural[1])


def _is_end(place: Interval, piece: Piece) -> bool:
    return place[0] == place[1] and iv.to_fraction(place[0]) in (piece.lo, piece.hi)


def _clipped(c: Candidate) -> Interval:
    """The place, as far as it lies in the piece."""
    if c.piece is None:
        return c.place
    lo, hi = outer(c.piece.lo, c.piece.hi)
    return max(c.place[0], lo), min(c.place[1], hi)


def _merged(places: list[Interval], gap: arb) -> list[Interval]:
    """Places that touch or nearly touch as one, ascending."""
    merged: list[Interval] = []
    for lo, hi in sorted(places, key=lambda p: iv.to_fraction(p[0])):
        if merged and lo <= merged[-1][1] + gap * (1 + abs(lo)):
            merged[-1] = (merged[-1][0], max(merged[-1][1], hi))
        else:
            merged.append((lo, hi))
    return merged


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
    points: tuple[tuple[Fraction, Fraction], ...] | None
    places = _merged([_clipped(c) for c in kept if c.kind != "open end"], _gap(problem))
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
        if middle.point is not None and middle.point.inner is not None:
            problem.witness = middle.point.inner
    else:
        problem.witness = None
    undecided = problem.apart and bool(points) and not _equal(problem, kept)
    return Extremum("ok", (low, high), attained, points, sides, reason=reason, tied=undecided)


def _attained(problem: Problem, kept: list[Candidate], far: list[Far]) -> tuple[bool | None, str]:
    if any(t.kind == "constant" for t in far):
        return True, ""
    if not kept:
        known = all(t.kind == "limit" for t in far)
        return (False, "") if known else (None, "whether a value far out reaches the limit")
    if all(t.kind == "limit" for t in far) and _is_taken(kept, far):
        return True, ""
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


def _is_taken(kept: list[Candidate], far: list[Far]) -> bool:
    """Whether one candidate has exactly the largest value, as a number that is known."""
    tops = [iv.upper_fraction(c.value[1]) for c in kept] + [t.value[1] for t in far if t.value is not None]
    return any(
        c.kind in ("critical", "end")
        and c.value[0] == c.value[1]
        and iv.lower_fraction(c.value[0]) >= max(tops)
        for c in kept
    )
