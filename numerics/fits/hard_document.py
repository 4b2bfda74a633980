"""The certificate of a lower bound for hard gates: each inequality that it rests on, as a closed value >= 0.

A composite of ranges without names (docs/certificates.md), which the independent checker re-checks; what they
give together is the argument of :mod:`...hard_check`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from gateproof.numerics.certificate import Bounds, composite_document, range_certificate
from gateproof.numerics.fits.hard_check import is_jump, tip_of
from gateproof.numerics.fits.hard_spots import Spot, at_spot, spot_of
from gateproof.theory.formula import expand, parse_expr, to_text
from gateproof.theory.formula.nodes import App, Expr, Num

BITS = 192
JUMPS = (
    "no line of its kind is within the bound on any of these {k} blocks of points, which do not overlap; {k} "
    "pieces have {n} thresholds, so one block is in one piece. Points: {points}"
)
SIDES = "; p- and p+ are the limits at p, which a branch that holds left of p, or right of it, approaches"
JUMP = (
    "the branch that holds at {p} holds on the left of it as well, and no line is within the bound of both "
    "the value there and the limit from the left"
)
TORN = "a continuous function has one value at {p}, which is not within the bound of both {points}"
WHOLE = (
    "every continuous function of {k} lines within the bound meets the line of each block between its last "
    "two points with a piece of a higher number than the block's, so it has more pieces. Points: {points}"
)


def document_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """The certificate of a record that holds."""
    values = _Terms(
        expand(parse_expr(record["target"])),
        None if record["weight"] is None else expand(parse_expr(record["weight"])),
        Fraction(record["bound"]),
    )
    chain = record["continuous"] and not is_jump(record)
    made = _of_chain(record, values) if chain else _of_blocks(record, values)
    parts = [
        range_certificate(
            one, {}, Bounds(Fraction(0)), ["leaf", "natural"], bits=BITS, text=f"{to_text(one)} >= 0"
        )
        for one in made
    ]
    start = f"{_gates(record)} is off by {record['bound']} or more"
    if is_jump(record):
        return composite_document(parts, f"{start}: {_at_jump(record)}")
    k = record["branches"]
    points = "; ".join(", ".join(block["points"]) for block in record["blocks"])
    said = (WHOLE if record["continuous"] else JUMPS).format(k=k, n=k - 1, points=points)
    if any(spot_of(p).side for block in record["blocks"] for p in block["points"]):
        said += SIDES
    return composite_document(parts, f"{start}: {said}")


def _at_jump(record: Mapping[str, Any]) -> str:
    points = record["blocks"][0]["points"]
    place = str(spot_of(points[0]).x)
    if not record["continuous"]:
        return JUMP.format(p=place)
    words = {-1: "the limit from the left", 0: "the value there", 1: "the limit from the right"}
    return TORN.format(p=place, points=" and ".join(words[spot_of(p).side] for p in points))


def _gates(record: Mapping[str, Any]) -> str:
    """Which gates the bound is about, in words."""
    kind = "continuous function of" if record["continuous"] else "hard gate with"
    lo, hi = record["domain"]
    text = f"on {'(-oo' if lo is None else f'[{lo}'}, {'oo)' if hi is None else f'{hi}]'} every {kind} "
    text += f"{record['branches']} lines"
    text += {"constant": " of slope 0", "multiplicative": " through the origin"}.get(record["family"], "")
    for name, tip in (("first", record["left"]), ("last", record["right"])):
        if tip is not None:
            line = f"{tip['slope']}*x + {tip['intercept']}" if tip["pinned"] else f"of slope {tip['slope']}"
            text += f", the {name} one {line}"
    weight = "" if record["weight"] is None else f", weighted by {record['weight']},"
    return f"{text}, for {record['target']}{weight}"


@dataclass(frozen=True)
class _Terms:
    """The target, one over the weight, and the walls at a distance of the bound, as closed expressions."""

    target: Expr
    weight: Expr | None
    bound: Fraction

    def f(self, x: Fraction | Spot) -> Expr:
        return _at(self.target, x)

    def v(self, x: Fraction | Spot) -> Expr:
        if self.weight is None:
            return Num(Fraction(1))
        return App("div", (Num(Fraction(1)), _at(self.weight, x)))

    def wall(self, x: Fraction, side: int) -> Expr:
        if self.weight is None:
            return _sum((Fraction(1), self.f(x)), (side * self.bound, Num(Fraction(1))))
        return _sum((Fraction(1), self.f(x)), (side * self.bound, self.v(x)))


def _at(expr: Expr, x: Fraction | Spot) -> Expr:
    found = at_spot(expr, x if isinstance(x, Spot) else Spot(x))
    assert found is not None, "a record that holds has limits that are known"
    return found


def _sum(*terms: tuple[Fraction, Expr]) -> Expr:
    """A sum of multiples."""
    made: list[Expr] = []
    for factor, term in terms:
        if isinstance(term, Num):
            made.append(Num(factor * term.value))
        elif factor:
            made.append(term if factor == 1 else App("mul", (Num(factor), term)))
    return made[0] if len(made) == 1 else App("add", tuple(made))


def _of_blocks(record: Mapping[str, Any], values: _Terms) -> Iterator[Expr]:
    """For each block: its error times the sum of the weights, less the bound times it."""
    one = Fraction(1)
    for number, block in enumerate(record["blocks"]):
        spots = [spot_of(p) for p in block["points"]]
        x, f, v = [p.x for p in spots], [values.f(p) for p in spots], [values.v(p) for p in spots]
        tip = None if is_jump(record) else tip_of(record, number)
        if len(x) == 2 and x[0] == x[1]:
            away, spread = _sum((one, f[0]), (-one, f[1])), [(one, v[0]), (one, v[1])]
        elif tip is not None and (tip["pinned"] or len(x) == 1):
            line = _line(tip, x[-1])
            spread = [(one, v[-1])] if tip["pinned"] else [(Fraction(2), Num(one))]
            away = _sum((one, f[-1]), (-one, line))
        elif record["family"] == "multiplicative" and len(x) == 1:
            away, spread = f[0], [(one, v[0])]
        elif record["family"] == "multiplicative":
            away = _sum((x[1], f[0]), (-x[0], f[1]))
            spread = [(abs(x[1]), v[0]), (abs(x[0]), v[1])]
        elif len(x) == 2:
            slope = Num(Fraction(0)) if tip is None else expand(parse_expr(tip["slope"]))
            away = _sum((one, f[0]), (-one, f[1]), (x[1] - x[0], slope))
            spread = [(one, v[0]), (one, v[1])]
        else:
            share = (x[1] - x[0]) / (x[2] - x[0])
            away = _sum((one, f[1]), (share - 1, f[0]), (-share, f[2]))
            spread = [(one, v[1]), (1 - share, v[0]), (share, v[2])]
        yield _sum((one, App("abs", (away,))), *((-values.bound * s, term) for s, term in spread))


def _line(tip: Mapping[str, Any], x: Fraction) -> Expr:
    slope, intercept = (expand(parse_expr(tip[name])) for name in ("slope", "intercept"))
    return _sum((x, slope), (Fraction(1), intercept))


class _Window:
    """The line of a block: through one wall with a given slope, through two, or given up to the bound."""

    def __init__(self, record: Mapping[str, Any], number: int, values: _Terms) -> None:
        block = record["blocks"][number]
        self.points = [Fraction(p) for p in block["points"]]
        self.side = int(block["side"])
        side = self.side
        sides = {1: (side,), 2: (-side, side)}.get(len(self.points), (side, -side, side))
        self.contacts = list(zip(self.points, sides, strict=True))
        self.t = self.points[-1]
        self.p = self.points[-2] if len(self.points) > 1 else None
        self.tip = tip_of(record, number) or (record["left"] if len(self.points) == 2 else None)
        self.values = values

    def at(self, x: Fraction) -> list[tuple[Fraction, Expr]]:
        """Its height at x, as a sum of multiples."""
        one = Fraction(1)
        if len(self.points) == 3:
            a, b, _ = self.points
            share = (x - a) / (b - a)
            first, second = (self.values.wall(q, s) for q, s in self.contacts[:2])
            return [(1 - share, first), (share, second)]
        assert self.tip is not None
        if len(self.points) == 2:
            slope = expand(parse_expr(self.tip["slope"]))
            return [(one, self.values.wall(*self.contacts[0])), (x - self.points[0], slope)]
        shift = Fraction(0) if self.tip["pinned"] else -self.side * self.values.bound
        return [(one, _line(self.tip, x)), (shift, Num(one))]


def _of_chain(record: Mapping[str, Any], values: _Terms) -> Iterator[Expr]:
    """Each line is beyond its wall at its end; its contacts are within what the line before leaves free."""
    before: _Window | None = None
    for number in range(record["branches"]):
        here = _Window(record, number, values)
        side = Fraction(here.side)
        yield _sum(
            *((side * c, term) for c, term in here.at(here.t)), (-side, values.wall(here.t, here.side))
        )
        for x, s in here.contacts if before is not None else ():
            assert before is not None
            if x < before.t and x != before.p:
                yield _sum((Fraction(s), values.wall(x, s)), *((-s * c, term) for c, term in before.at(x)))
        before = here
