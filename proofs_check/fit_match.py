"""Whether accepted certificates are about a fit: their formulas, and bounds that give what is printed."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from gateproof.proofs_check.fit_numbers import leaves, size_bound
from gateproof.theory.exact.budget import Unsupported
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula import substitute
from gateproof.theory.formula.nodes import App, Expr, Node, Num, Var, num, rebuild
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.serial import from_json
from gateproof.theory.gate import Gate
from gateproof.theory.threshold_gate import branch, is_hard

if TYPE_CHECKING:
    from gateproof.numerics.fits.target import Target

Side = Fraction | None
#: Places at which formulas that are not one by algebra are compared, and bits of the balls.
PLACES, BITS = 60, 200
SAMPLED = "its formula agrees with that of this gate in balls at {} places (not proved to be one)"
PROVED = "its formula is proved to be that of this gate and target"
SAME = "its formula is that of this gate and target"
_SHIFT = re.compile(r"with x \+ (-?\d+(?:\.\d+|/\d+)?) for x: ")


@dataclass(frozen=True)
class Link:
    """Whether a certificate is about the fit (None: not proved), and how that is seen or why not."""

    holds: bool | None
    reason: str


@dataclass(frozen=True)
class Part:
    """A range: a formula, with x - centre for x, on [lo, hi] (None: infinite) and a bound on its size.

    With ``way`` the formula has that in place of x, from ``begin`` on, and the place ``apart`` is left out.
    ``places``, closed formulas, are those of its witnesses.
    """

    core: Expr
    centre: Fraction
    lo: Side
    hi: Side
    most: Fraction | None
    places: tuple[Expr, ...] = ()
    way: Expr | None = None
    begin: Fraction = Fraction(0)
    apart: Fraction | None = None


def matched(certificate: Mapping[str, Any], gate: Gate, target: Target, printed: Fraction) -> Link:
    """Whether the ranges of an accepted certificate bound |weight (gate - target)| by ``printed``."""
    parts = list(parts_of(certificate))
    how = SAME
    for error, lo, hi in pieces(gate, target):
        at, first = lo, lo == target.lo
        while True:
            part, seen = _covering(parts, error, at, hi, closed=first)
            if part is None:
                where = "-oo" if at is None else f"x = {_place(at)}"
                if seen is None:
                    return Link(
                        None, f"whether it is about this gate and target from {where} on was not seen"
                    )
                return Link(False, f"no part of it is seen to be about this gate and target from {where} on")
            if part.most is None or part.most > printed:
                return Link(False, "its bound is above the error that is printed")
            there = _holds_there(part, error, target, printed)
            if there is False:
                return Link(False, "its bound does not hold at an end")
            if there is None:
                return Link(None, "whether its bound holds at an end was not seen")
            how = max(how, str(seen), key=(SAME, PROVED, SAMPLED).index)
            if part.hi is None or (hi is not None and part.hi >= hi):
                break
            at, first = part.hi, False
    return Link(None if how is SAMPLED else True, how.format(PLACES))


def _place(at: Fraction) -> str:
    """The number where it is short, or near it."""
    text = str(at)
    return text if len(text) <= 30 else f"{float(at):.10g}.."


def pieces(gate: Gate, target: Target) -> Iterator[tuple[Expr, Side, Side]]:
    """The error on the domain, in pieces: a hard gate is a line between its thresholds."""
    from gateproof.numerics.fits.apart import apart

    assert target.expr is not None
    known = [constant_value(t) for t in gate.theta]
    if not gate.tau or not all(map(is_hard, gate.tau)) or any(t is None for t in known):
        yield apart(gate.expression(), target.expr, target.weight_expr), target.lo, target.hi
        return
    ends: list[Side] = [target.lo, *known, target.hi]
    for k in range(gate.branches):
        lo, hi = ends[k], ends[k + 1]
        if k and lo is not None and target.lo is not None:
            lo = max(lo, target.lo)
        if k < gate.branches - 1 and hi is not None and target.hi is not None:
            hi = min(hi, target.hi)
        if lo is None or hi is None or lo < hi:
            line = branch(Var("x"), gate.slope[k], gate.intercept[k])
            yield apart(line, target.expr, target.weight_expr), lo, hi


def parts_of(certificate: Mapping[str, Any]) -> Iterator[Part]:
    """The ranges in one variable x, moved back where a part says that x is counted from another place."""
    for one in leaves(certificate):
        if one["kind"] == "range" and {*one["domain"]} == {"x"}:
            yield _part(one)


def _part(certificate: Mapping[str, Any]) -> Part:
    from gateproof.numerics.fits.certified_ends import beside_of

    core, shift = from_json(certificate["core"]), _SHIFT.match(certificate["text"])
    centre = Fraction(shift[1]) if shift else Fraction(0)
    ends = certificate["domain"]["x"]
    lo, hi = (None if e in ("-oo", "oo") else Fraction(e) + centre for e in (ends["lo"], ends["hi"]))
    most = size_bound(certificate)
    seen = [Fraction(w["at"]["x"]) for w in certificate["witnesses"]]
    inner = core.args[0] if isinstance(core, App) and core.head == "abs" else core
    beside = beside_of(certificate["text"]) if lo is not None and hi is None else None
    if beside is not None and lo is not None:
        a, b = sorted((beside.c, beside.reach(lo)))
        places = tuple(substitute(beside.place, {"x": num(t)}) for t in seen)
        return Part(inner, Fraction(0), a, b, most, places, beside.place, lo, beside.c)
    return Part(inner, centre, lo, hi, most, tuple(num(t + centre) for t in seen))


def _holds_there(part: Part, error: Expr, target: Target, printed: Fraction) -> bool | None:
    """Whether the error where a part leaves out a place of the domain is at most so much, in balls."""
    from gateproof.numerics.errors import NumericsError
    from gateproof.numerics.points import enclosure

    at = part.apart
    ends = zip((target.lo, target.hi), target.left_out, strict=True)
    if at is None or any(at == end and out for end, out in ends):
        return True
    try:
        low, high = enclosure(substitute(error, {"x": num(at)}))
    except NumericsError:
        return None
    return True if max(-low, high) <= printed else False if abs_least(low, high) > printed else None


def abs_least(lower: Fraction, upper: Fraction) -> Fraction:
    """The least absolute value between two numbers."""
    return max(lower, -upper, Fraction(0))


def _covering(
    parts: list[Part], error: Expr, at: Side, hi: Side, *, closed: bool
) -> tuple[Part | None, str | None]:
    """A part about the error on what follows ``at`` (``closed``: and there), and how that is seen.

    Without one '' where all are seen to be about something else, None where one may be.
    """
    unseen = False
    for part in parts:
        begins = part.lo is None or (at is not None and part.lo <= at)
        if begins and (part.hi is None or at is None or part.hi > at):
            end = part.hi if hi is None or (part.hi is not None and part.hi < hi) else hi
            how = _equal(part, error, at, end, closed=closed)
            if how:
                return part, how
            unseen |= how is None
    return None, None if unseen else ""


def _equal(part: Part, error: Expr, lo: Side, hi: Side, *, closed: bool) -> str | None:
    """How a formula is seen to be the error between two places; '' where it is not, None if not seen."""
    one, other = part.core, error
    if part.way is not None:
        other, lo, hi = substitute(error, {"x": part.way}), part.begin, None
    elif part.centre:
        other = substitute(error, {"x": App("add", (Var("x"), num(part.centre)))})
        lo, hi = (None if e is None else e - part.centre for e in (lo, hi))
    if folded(one) == folded(other):
        return SAME
    ends = [None if e is None else Num(e) for e in (lo, hi)]
    domain = Domain(ends[0], ends[1], closed and lo is not None, hi is not None)
    same = agree(one, other, lo, hi)
    if not same:
        return None if same is None else ""
    try:
        if prove_relation(one, "==", other, Assumptions({"x": domain})) is not None:
            return PROVED
    except Unsupported:
        pass
    return SAMPLED


def folded(node: Node) -> Node:
    """The formula with -(2) as the number -2: it is written so, and read otherwise."""
    done: Node = rebuild(node, folded)
    if isinstance(done, App) and done.head == "neg" and isinstance(done.args[0], Num):
        return Num(-done.args[0].value)
    return done


def agree(one: Expr, other: Expr, lo: Side, hi: Side) -> bool | None:
    """Whether the difference holds 0 in balls at places spread over the interval; None: they are too wide."""
    from gateproof.numerics import interval as iv
    from gateproof.numerics.ball import compiled
    from gateproof.numerics.errors import NumericsError
    from gateproof.numerics.precision import precision

    left, right = compiled(one), compiled(other)
    narrow = 0
    with precision(BITS):
        for x in _spread(lo, hi):
            at = {"x": iv.of_ball(iv.rational(x))}
            try:
                a, b = iv.to_ball(left(at)), iv.to_ball(right(at))
            except NumericsError:
                continue
            if not a.overlaps(b):
                return False
            narrow += bool(a.rad() < 1e-20 * (1 + abs(a.mid())) and b.rad() < 1e-20 * (1 + abs(b.mid())))
    return True if narrow >= PLACES // 2 else None


def _spread(lo: Side, hi: Side) -> Iterator[Fraction]:
    """Places inside, near 0 and far out where the interval is infinite; the same ones each time."""
    draw = random.Random(1)
    for k in range(PLACES):
        part = Fraction(draw.randrange(1, 10**9), 10**9)
        if lo is not None and hi is not None:
            yield lo + (hi - lo) * part
            continue
        size = 8 * part if k % 3 else 100 * part
        if lo is None and hi is None:
            yield size if k % 2 else -size
        else:
            assert lo is not None or hi is not None
            yield lo + size if lo is not None else Fraction(hi or 0) - size
