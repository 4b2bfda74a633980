"""Errors of targets that are singular at an end or a break c, as x*log(x) at 0.

With x = c + s/t or c + s exp(-t), where log(x - c) = log(s) - t, what lies beside c is a tail in t, and the
limits and bounds of tails hold there. The value at c itself is a number of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

from gateproof.numerics.bounds import Budget
from gateproof.numerics.errors import NumericsError
from gateproof.numerics.fits.apart import apart, is_close, largest, together
from gateproof.numerics.fits.result import Error
from gateproof.numerics.points import enclosure
from gateproof.numerics.results import Extremum
from gateproof.theory.exact.budget import Unsupported
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.monotone import in_workspace
from gateproof.theory.exact.piecewise import resolve
from gateproof.theory.exact.writeback import write
from gateproof.theory.formula import substitute
from gateproof.theory.formula.nodes import App, Expr, Num, Rel, Var, Where, num
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.gate import Gate
from gateproof.theory.threshold_gate import branch

X = Var("x")
#: exp(-1) is more.
SHARE = Fraction(367, 1000)
SAID = "the error is the largest of these, on parts of the domain that cover it"

Side = Fraction | None

WAYS = (App("div", (num(1), X)), App("exp", (App("neg", (X,)),)))


@dataclass(frozen=True)
class Beside:
    """The places c + s/t or c + s exp(-t), t > 0, written with x for t."""

    c: Fraction
    s: Fraction
    way: App

    @property
    def place(self) -> Expr:
        """What stands for x."""
        scaled = self.way if self.s == 1 else App("mul", (Num(self.s), self.way))
        return scaled if self.c == 0 else App("add", (num(self.c), scaled))

    @property
    def text(self) -> str:
        """What a certificate says of it."""
        how = "exp(-x)" if self.way.head == "exp" else "1/x"
        return f"with {self.c} + {self.s}*{how} for x"

    def reach(self, t: Fraction) -> Fraction:
        """A place that is certainly reached from t on."""
        far = 1 / t if self.way == WAYS[0] else enclosure(substitute(self.way, {"x": num(t)}))[0]
        return self.c + self.s * far


_BESIDE = re.compile(r"with (-?\d+(?:/\d+)?) \+ (-?\d+(?:/\d+)?)\*(exp\(-x\)|1/x) for x: ")


def beside_of(text: str) -> Beside | None:
    """The places that the text of a certificate names; None where it names none."""
    found = _BESIDE.match(text)
    if found is None:
        return None
    return Beside(Fraction(found[1]), Fraction(found[2]), WAYS[found[3] != "1/x"])


@dataclass(frozen=True)
class _Piece:
    """A curve and a formula between two places, which belong to it where ``closed``.

    ``there`` is the formula for the places themselves, which may be another one.
    """

    curve: Expr
    target: Expr
    there: Expr
    lo: Side
    hi: Side
    closed: tuple[bool, bool]


def error_beside_ends(
    gate: Gate,
    target: Expr,
    lo: Side,
    hi: Side,
    weight: Expr | None,
    digits: int,
    budget: Budget | None = None,
    *,
    left_out: tuple[bool, bool] = (False, False),
) -> Error | str:
    """The supremum of |weight (gate - target)| on [lo, hi], or why it is not known.

    ``left_out``: ends that do not belong to the domain.
    """
    cuts = sorted({c for c in (*_breaks(target), *_steps(gate)) if _inside(c, lo, hi)})
    places = [lo, *cuts, hi]
    found: list[Extremum] = []
    try:
        for k, (a, b) in enumerate(pairwise(places)):
            closed = k == 0 and not left_out[0], k == len(places) - 2 and not left_out[1]
            piece = _Piece(_curve(gate, a), _resolved(target, a, b), target, a, b, closed)
            found += _on_piece(piece, weight, digits, budget)
        for c in cuts:
            found.append(_at(gate.expression(), target, c, weight, digits, budget))
    except (NumericsError, Unsupported, _Unknown) as problem:
        return str(problem) or type(problem).__name__
    whole = together(found, SAID)
    close = whole.hi is not None and is_close(whole.lo, whole.hi)
    return whole if close else "its enclosure is too wide"


def has_breaks(target: Expr) -> bool:
    """Whether a formula has conditions on x."""
    return next(_breaks(target), None) is not None


class _Unknown(Exception):
    """A supremum was not found; says why."""


def _inside(c: Fraction, lo: Side, hi: Side) -> bool:
    return (lo is None or lo < c) and (hi is None or c < hi)


def _breaks(target: Expr) -> Iterator[Fraction]:
    """Where conditions on x change."""
    for node in target.walk():
        if isinstance(node, Where) and isinstance(node.cond, Rel) and X in node.cond.terms:
            yield from (v for v in map(constant_value, node.cond.terms) if v is not None)


def _steps(gate: Gate) -> Iterator[Fraction]:
    """Hard thresholds that are rational."""
    for hard, place in zip(gate.hard, gate.theta, strict=True):
        at = constant_value(place)
        if hard and at is not None:
            yield at


def _curve(gate: Gate, a: Side) -> Expr:
    """The gate right of a place: of a hard gate the line that holds there."""
    known = [constant_value(t) for t in gate.theta]
    if not gate.tau or not all(gate.hard) or None in known:
        return gate.expression()
    k = sum(1 for t in known if t is not None and a is not None and t <= a)
    return branch(X, gate.slope[k], gate.intercept[k])


def _resolved(target: Expr, a: Side, b: Side) -> Expr:
    """The formula between two places, without conditions that are decided there."""
    ends = [None if e is None else num(e) for e in (a, b)]
    found = resolve(target, Assumptions({"x": Domain(ends[0], ends[1], False, False)}))
    return found if isinstance(found, Expr) else target


def _at(
    curve: Expr, target: Expr, c: Fraction, weight: Expr | None, digits: int, budget: Budget | None
) -> Extremum:
    """The error at one place."""
    error = resolve(substitute(apart(curve, target, weight), {"x": num(c)}), Assumptions())
    assert isinstance(error, Expr)
    return replace(_known(largest(error, c, c + 1, digits, budget)), points=((c, c),))


def _known(found: Extremum) -> Extremum:
    if found.status != "ok" or found.value is None or found.certificate is None:
        raise _Unknown(found.reason or found.status)
    return found


def _on_piece(piece: _Piece, weight: Expr | None, digits: int, budget: Budget | None) -> Iterator[Extremum]:
    """Suprema that cover a piece: in the middle, and beside each end that is singular."""
    error = apart(piece.curve, piece.target, weight)

    def plain(a: Side, b: Side, closed: bool) -> Extremum | None:
        """The supremum as it is; None where it is not found."""
        try:
            return _known(largest(error, a, b, digits, budget, lo_closed=closed))
        except (_Unknown, NumericsError):
            return None

    lo, hi = piece.lo, piece.hi
    whole = plain(lo, hi, piece.closed[0])
    if whole is not None:
        yield whole
        return
    room = hi - lo if lo is not None and hi is not None else Fraction(4)
    size = _power_of_two(room / 2)
    inner: list[Side] = [lo, hi]
    for k, (end, sign) in enumerate(((lo, 1), (hi, -1))):
        if end is None:
            continue
        place = end + sign * size * SHARE
        near = plain(min(end, place), max(end, place), piece.closed[0] and k == 0)
        inner[k] = place
        if near is not None:
            yield near
            continue
        yield _beside(piece, end, sign, size, weight, digits, budget)
        if piece.closed[k]:
            yield _at(piece.curve, piece.there, end, weight, digits, budget)
    yield _known(largest(error, inner[0], inner[1], digits, budget))


def _power_of_two(room: Fraction) -> Fraction:
    size = Fraction(1)
    while size > room:
        size /= 2
    while size * 2 <= room:
        size *= 2
    return size


def _beside(
    piece: _Piece, c: Fraction, sign: int, size: Fraction, weight: Expr | None, digits: int,
    budget: Budget | None,
) -> Extremum:  # fmt: skip
    """The supremum of the error between c and c + sign size/e, c left out."""
    found = Extremum("unknown", reason="no form of the error is known")
    for way in WAYS:
        beside = Beside(c, sign * size, way)
        moved, start = {"x": beside.place}, Fraction(1) if way.head == "exp" else 1 / SHARE
        curve = substitute(piece.curve, moved)
        factor = None if weight is None else substitute(weight, moved)
        for target in _forms(substitute(piece.target, moved)):
            error, said = apart(curve, target, factor), f"{beside.text}: "
            try:
                found = largest(error, start, None, digits, budget, said=said)
            except NumericsError:
                continue
            if found.certificate is not None and found.value is not None and is_close(*found.value):
                points = [_moved(beside.place, a, b) for a, b in found.points or ()]
                points += [(c, c)] if found.at_infinity else []
                return replace(found, points=tuple(points), at_infinity=())
    raise _Unknown(found.reason or found.status)


def _forms(target: Expr) -> Iterator[Expr]:
    """The formula simplified, with log(exp(-t)) as -t, and as it is."""
    given = Assumptions({"x": Domain(num(1), None)})
    simple = in_workspace(given, lambda work: write(work, work.form(target)))
    if simple is not None:
        yield simple
    yield target


def _moved(place: Expr, a: Fraction, b: Fraction) -> tuple[Fraction, Fraction]:
    ends = [enclosure(substitute(place, {"x": num(t)})) for t in (a, b)]
    return min(e[0] for e in ends), max(e[1] for e in ends)
