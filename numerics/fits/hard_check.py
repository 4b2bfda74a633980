"""The check of a lower bound for hard gates, in balls, from its record alone.

With jumps. A block of points forbids error below e for one line: three points, of a line with given slope or
with intercept 0 two, of a given line one. (If sum l_i L(x_i) = 0 for all lines L of a kind, each of them has
a weighted error of at least |sum l_i f(x_i)| / sum |l_i| v_i at one of the x_i, where v = 1/weight.) A
threshold in [a, b) cuts a block from a to b; limits at a jump stand for places as near to it as need be
(:mod:`...hard_spots`). K blocks that do not overlap cannot all be cut by K - 1 thresholds, and one that no
threshold cuts is enough. The first block counts from -oo where the first line is bound, the last one up to
oo. So every gate has an error of at least the least e of the blocks.

Continuous. At a jump a continuous function has one value, as a line has. Otherwise let g be continuous with
K pieces and an error below e. Block j is a line, its window from p to t, and a side s. The line passes
through the wall f + s e v at x_1 and f - s e v at x_2 = p, and is at t on the wall f + s e v or beyond it;
x_1 < x_2 < t. So g is on one side of the line at p and on the other at t. Let it meet the line at a last
place a in between, and G be the piece of g that goes on from there. Claim: G has at least number j + 1 (from
1). Let the claim hold for the window before (line l', ends p', t', side s', last meeting a'), with the piece
G'. Left of a' G' is beyond l', so within the wall of side -s' wherever l' is; from a' on it is g as far as
it goes. So G' respects all walls at x >= t', and walls of side -s' at x >= p' where l' does. If x_1 and x_2
are such places, and x_2 >= t', G' cannot meet the line of block j right of x_2; so the piece that does has a
higher number. A first line that is given is met from p = -oo on, by a piece of number 2 or more, whose slope
it bounds on one side; there one contact stands for two. A given last line has number K, and breaks a wall
that it should respect. So there is no such g. (Windows: Suri 1986, "A linear time algorithm for minimum link
paths inside a simple polygon".)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from flint import arb

from gateproof.numerics import interval as iv
from gateproof.numerics.ball import evaluate
from gateproof.numerics.errors import NumericsError
from gateproof.numerics.fits.hard_spots import Spot, at_spot, spot_of
from gateproof.numerics.precision import precision
from gateproof.theory.formula import expand, parse_expr
from gateproof.theory.formula.nodes import Expr

KIND = "hard-gate-lower-bound"
BITS = 192


def holds(record: Mapping[str, Any]) -> bool:
    """Whether a record proves its bound. It is read from its texts alone."""
    try:
        expr = expand(parse_expr(record["target"]))
        weight = None if record["weight"] is None else expand(parse_expr(record["weight"]))
        bound = Fraction(record["bound"])
        if record["kind"] != KIND or bound <= 0:
            return False
        if len(record["blocks"]) != record["branches"] and not is_jump(record):
            return False
        lo, hi = (None if end is None else Fraction(end) for end in record["domain"])
        points = [spot_of(p) for block in record["blocks"] for p in block["points"]]
        if not all(p.inside(lo, hi) for p in points):
            return False
        if (lo is not None and record["left"]) or (hi is not None and record["right"]):
            return False
        if record["continuous"] and not is_jump(record):
            return _chained(record, Values(expr, weight), bound)
        least = least_of(record, expr, weight)
    except (NumericsError, ArithmeticError, KeyError, ValueError, TypeError):
        return False
    return least is not None and bound <= least


@dataclass(frozen=True)
class Values:
    """The target, and one over the weight, in balls."""

    expr: Expr
    weight: Expr | None

    def at(self, x: Fraction) -> tuple[arb, arb]:
        """Both at x."""
        place = {"x": iv.rational(x)}
        value = evaluate(self.expr, place, BITS)
        return value, arb(1) if self.weight is None else 1 / evaluate(self.weight, place, BITS)

    def near(self, spot: Spot) -> tuple[arb, arb]:
        """Both at a place, or their limits. ValueError where these are not known."""
        if not spot.side:
            return self.at(spot.x)
        value, weight = at_spot(self.expr, spot), None if self.weight is None else at_spot(self.weight, spot)
        if value is None or (weight is None and self.weight is not None):
            raise ValueError(f"no limit at {spot.text}")
        return evaluate(value, {}, BITS), arb(1) if weight is None else 1 / evaluate(weight, {}, BITS)


def _closed(text: str) -> arb:
    return evaluate(expand(parse_expr(text)), {}, BITS)


def is_jump(record: Mapping[str, Any]) -> bool:
    """Whether the record is of one block that no threshold cuts; for continuous gates, of a jump's sides."""
    blocks = [[spot_of(p) for p in block["points"]] for block in record["blocks"]]
    if len(blocks) != 1:
        return False
    first, last = blocks[0][0], blocks[0][-1]
    return first.x == last.x if record["continuous"] else first.cut == last.cut


def least_of(record: Mapping[str, Any], expr: Expr, weight: Expr | None) -> Fraction | None:
    """The least bound of blocks that do not overlap; None if they do."""
    values = Values(expr, weight if record["weight"] is not None else None)
    least: arb | None = None
    last: Spot | None = None
    with precision(BITS):
        for number, block in enumerate(record["blocks"]):
            points = [spot_of(p) for p in block["points"]]
            ordered = all(a < b for a, b in pairwise(points))
            if not points or not ordered or (last is not None and points[0].cut < last.cut):
                return None
            last = points[-1]
            tip = None if is_jump(record) else tip_of(record, number)
            value = _of_block(record["family"], tip, points, values)
            if value is None:
                return None
            low = iv.down(value)
            least = low if least is None or low < least else least
        if least is None or not least > 0 or not least.is_finite():
            return None
        return iv.lower_fraction(least)


def tip_of(record: Mapping[str, Any], number: int) -> Mapping[str, Any] | None:
    """The outer line that block ``number``, from 0, is held against."""
    first = record["left"] if number == 0 else None
    return first or (record["right"] if number == record["branches"] - 1 else None)


def _of_block(family: str, tip: Mapping[str, Any] | None, points: list[Spot], values: Values) -> arb | None:
    """The least error that a line of the kind has on the points, in balls."""
    x = [iv.rational(p.x) for p in points]
    f, v = zip(*(values.near(p) for p in points), strict=True)
    if len(points) == 2 and points[0].x == points[1].x:
        # Whatever the line, it has one height there.
        return arb(abs(f[0] - f[1]) / (v[0] + v[1]))
    if tip is not None and tip["pinned"]:
        line = _closed(tip["slope"]) * x[-1] + _closed(tip["intercept"])
        return arb(abs(f[-1] - line) / v[-1]) if len(x) == 1 else None
    if family == "multiplicative":
        if len(x) == 1:
            return arb(abs(f[0]) / v[0]) if points[0].x == 0 else None
        return arb(abs(f[0] * x[1] - f[1] * x[0]) / (v[0] * abs(x[1]) + v[1] * abs(x[0])))
    if tip is not None or family == "constant":
        slope = arb(0) if tip is None else _closed(tip["slope"])
        if len(x) == 2:
            return arb(abs(f[0] - f[1] - slope * (x[0] - x[1])) / (v[0] + v[1]))
        if tip is None or len(x) != 1 or values.weight is not None:
            return None
        return arb(abs(f[0] - slope * x[0] - _closed(tip["intercept"])) / 2)
    if len(x) != 3:
        return None
    share = (x[1] - x[0]) / (x[2] - x[0])
    away = f[1] - (1 - share) * f[0] - share * f[2]
    return arb(abs(away) / (v[1] + (1 - share) * v[0] + share * v[2]))


@dataclass(frozen=True)
class _Window:
    """A line through (x, y), the window's ends (None: from -oo), and the side it leaves at."""

    slope: arb
    x: arb
    y: arb
    p: Fraction | None
    t: Fraction
    side: int

    def at(self, x: Fraction) -> arb:
        return self.y + self.slope * (iv.rational(x) - self.x)


def _chained(record: Mapping[str, Any], values: Values, bound: Fraction) -> bool:
    """The chain of windows for continuous gates, block by block."""
    if record["family"] != "general":
        return False
    with precision(BITS):
        e = iv.rational(bound)
        before: _Window | None = None
        for number, window in enumerate(_windows(record, values, e), 1):
            if window is None:
                return False
            made, contacts = window
            f, v = values.at(made.t)
            if not made.side * (made.at(made.t) - f - made.side * e * v) >= 0:
                return False
            if before is not None and not all(_allowed(before, x, s, values, e) for x, s in contacts):
                return False
            last = record["right"] is not None and number == record["branches"]
            if before is not None and not last and (made.p is None or made.p < before.t):
                return False
            before = made
    return True


def _allowed(before: _Window, x: Fraction, side: int, values: Values, e: arb) -> bool:
    """Whether the piece after a window respects the wall of this side at x."""
    if x >= before.t:
        return True
    if side != -before.side or (before.p is not None and x < before.p):
        return False
    if x == before.p:
        return True
    f, v = values.at(x)
    return bool(side * (f + side * e * v - before.at(x)) >= 0)


Contacts = list[tuple[Fraction, int]]


def _windows(record: Mapping[str, Any], values: Values, e: arb) -> Iterator[tuple[_Window, Contacts] | None]:
    """The line of each block with the walls that it rests on."""
    for number, block in enumerate(record["blocks"]):
        points, side = [Fraction(p) for p in block["points"]], int(block["side"])
        t = points[-1]
        if side not in (1, -1) or not all(a < b for a, b in pairwise(points)):
            yield None
            return
        sides = {1: (side,), 2: (-side, side)}.get(len(points), (side, -side, side))
        if len(sides) != len(points):
            yield None
            return
        walls = list(zip(points, sides, strict=True))
        y = [_wall(values, x, s, e) for x, s in walls]
        tip = tip_of(record, number)
        if tip is None and len(points) == 3:
            x1, x2 = iv.rational(points[0]), iv.rational(points[1])
            yield _Window((y[1] - y[0]) / (x2 - x1), x2, y[1], points[1], t, side), walls
        elif tip is None and number == 1 and len(points) == 2 and _from_infinity(record, side):
            slope = _closed(record["left"]["slope"])
            yield _Window(slope, iv.rational(points[0]), y[0], points[0], t, side), walls
        elif tip is not None and len(points) == 2 and not tip["pinned"]:
            yield _Window(_closed(tip["slope"]), iv.rational(points[0]), y[0], points[0], t, side), walls
        elif tip is not None and len(points) == 1 and (tip["pinned"] or values.weight is None):
            height = _closed(tip["intercept"])
            height = height if tip["pinned"] else height - side * e
            yield _Window(_closed(tip["slope"]), arb(0), height, None, t, side), walls
        else:
            yield None
            return


def _wall(values: Values, x: Fraction, side: int, e: arb) -> arb:
    f, v = values.at(x)
    return f + side * e * v


def _from_infinity(record: Mapping[str, Any], side: int) -> bool:
    """Whether the slope of the second piece is bounded by the first line's, on the side where it leaves."""
    first = record["blocks"][0]
    return record["left"] is not None and len(first["points"]) == 1 and side == -int(first["side"])
