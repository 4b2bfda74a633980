"""Suprema and infima over one variable, to any number of digits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from flint import arb

from gateproof.numerics import interval as iv
from gateproof.numerics.bounds import Budget
from gateproof.numerics.decimals import agreed_digits
from gateproof.numerics.ends import End, EndExpr, end
from gateproof.numerics.errors import MaybeUndefined, NotReal, Undefined
from gateproof.numerics.far import Far, look
from gateproof.numerics.forms import Line
from gateproof.numerics.gather import Candidate, conclude, from_spots
from gateproof.numerics.hunt import Hunt, OutOfBoxes
from gateproof.numerics.precision import precision
from gateproof.numerics.roots import Zeros, zeros
from gateproof.numerics.search import line_points
from gateproof.numerics.special import special_points
from gateproof.numerics.supremum_certificate import certificate_of
from gateproof.theory.formula.nodes import App, Expr

Enclosure = tuple[Fraction, Fraction]

__all__ = ["Enclosure", "Extremum", "Zeros", "extremum", "zeros"]


@dataclass(frozen=True)
class Extremum:
    """A supremum or infimum.

    ``status`` is 'ok', 'infinite' (unbounded), 'undefined' or 'unknown' (``reason``).
    ``value`` encloses it; ``attained`` is None where undecided; ``points`` enclose,
    ascending, all places where it may be attained (None: not isolated); ``at_infinity``
    names sides ('+', '-') along which it is approached. ``digits`` are those reached.
    """

    status: str
    value: Enclosure | None = None
    attained: bool | None = None
    points: tuple[Enclosure, ...] | None = None
    at_infinity: tuple[str, ...] = ()
    digits: int = 0
    certificate: dict[str, Any] | None = None
    reason: str = ""


def extremum(
    expr: Expr,
    var: str,
    lo: EndExpr,
    hi: EndExpr,
    which: str = "sup",
    digits: int = 15,
    budget: Budget | None = None,
    *,
    text: str = "",
    lo_closed: bool = True,
    hi_closed: bool = True,
    with_certificate: bool = True,
) -> Extremum:
    """The supremum ('sup') or infimum ('inf') of a core expression on an interval (None: infinite).

    ``sup abs(g)`` is found on g itself, and its certificate bounds g from both sides.
    """
    if which not in ("sup", "inf"):
        raise ValueError("which is 'sup' or 'inf'")
    budget = budget or Budget()
    folded = which == "sup" and isinstance(expr, App) and expr.head == "abs"
    body = expr.args[0] if folded and isinstance(expr, App) else expr
    if which == "inf":
        body = body.args[0] if isinstance(body, App) and body.head == "neg" else App("neg", (body,))
    problem = Problem(body, var, folded, lo, hi, lo_closed, hi_closed, digits, budget)
    found = Extremum("unknown", reason="bits")
    bits = max(64, int(digits * 3.33) + 48)
    while bits <= max(budget.max_bits, 64):
        try:
            with precision(bits + 32):
                found = problem.solve(bits)
        except Undefined as error:
            return Extremum("undefined", reason=error.where)
        except NotReal as error:
            return Extremum("unknown", reason=str(error))
        except OutOfBoxes:
            return Extremum("unknown", reason="boxes")
        if found.status != "ok" or found.digits >= digits or found.reason:
            break
        bits *= 2
    if found.status == "ok" and found.value is not None:
        if with_certificate:
            found = replace(found, certificate=certificate_of(problem, found.value, which == "inf", digits, text))
        if which == "inf":
            found = replace(found, value=(-found.value[1], -found.value[0]))
    return found


class Problem:
    """Maximise f, or |f| where ``folded``, over one interval."""

    def __init__(
        self, body: Expr, var: str, folded: bool, lo: EndExpr, hi: EndExpr,
        lo_closed: bool, hi_closed: bool, digits: int, budget: Budget,
    ) -> None:  # fmt: skip
        self.body, self.var, self.folded = body, var, folded
        self.given = (lo, lo_closed), (hi, hi_closed)
        self.digits, self.budget = digits, budget
        self.line = Line(body, var)
        self.kinks = special_points(body, var)
        self.tails: list[Far] = []
        self.ends: tuple[End, End] = (End(None, None), End(None, None))
        self.witness: Fraction | None = None

    def score(self, value: iv.Interval) -> iv.Interval:
        """What is to be largest."""
        return iv.absolute(value) if self.folded else value

    def solve(self, bits: int) -> Extremum:
        """One attempt at flint's current precision."""
        left, right = (end(*self.given[0][:1], -1, self.given[0][1]), end(*self.given[1][:1], 1, self.given[1][1]))
        self.ends = left, right
        if not left.infinite and not right.infinite and _at(left) > _at(right):
            return Extremum("unknown", reason="the interval is empty or too narrow")
        best, candidates = self._start(left, right)
        if best is None or not best.is_finite():
            return Extremum("unknown", reason="no finite value was found")
        self.tails = []
        beyond = max([Fraction(1), *map(abs, self.kinks), *(abs(_at(e)) for e in (left, right) if not e.infinite)])
        for side, e in (("-", left), ("+", right)):
            if e.infinite:
                far = look(self.body, self.var, side, self.folded, iv.to_fraction(best), beyond, self.digits)
                self.tails.append(far)
                if far.kind == "infinite":
                    return Extremum("infinite", at_infinity=(side,))
                if far.kind == "unknown":
                    return Extremum("unknown", reason=f"tail: {far.reason}")
                if far.value is not None and far.kind != "within":
                    best = max(best, iv.down(iv.rational(far.value[0])))
        a = -_start_of(self.tails, "-") if left.infinite else _at(left)
        b = _start_of(self.tails, "+") if right.infinite else _at(right)
        hunt = Hunt(self.line, self.folded, best, bits, self.budget.boxes)
        spots = hunt.run(a, b, self.kinks) if a < b else []
        if hunt.doubtful and any(not s.sign for s in spots):
            near = next(s for s in spots if not s.sign)
            edge = any(not e.closed and _at(e) in (near.lo, near.hi) for e in (left, right) if not e.infinite)
            reason = "open end" if edge else f"may be undefined ({hunt.doubtful}) near {float(near.lo):.12g}"
            return Extremum("unknown", reason=reason)
        candidates += from_spots(self, spots, (a, b), bits)
        found = conclude(self, candidates, self.tails, hunt.best)
        if found.status != "ok" or found.value is None:
            return found
        return replace(found, digits=min(agreed_digits(*found.value), 10**6))

    def _start(self, left: End, right: End) -> tuple[arb | None, list[Candidate]]:
        """The best value at sample points, and the ends of the domain as candidates."""
        best: arb | None = None
        a = None if left.infinite else _at(left)
        b = None if right.infinite else _at(right)
        forbidden = {_at(e) for e in (left, right) if not e.infinite and not e.closed}
        for x in line_points(a, b, self.kinks):
            if x in forbidden:
                continue
            try:
                value = self.score(self.line.value(x))[0]
            except MaybeUndefined:
                continue
            if value.is_finite() and (best is None or value > best):
                best = value
        candidates = []
        for e in (left, right):
            if e.infinite:
                continue
            ends = e.sliver()
            try:
                value = self.score(self.line.natural_run({self.var: ends}))
            except (Undefined, MaybeUndefined):
                if e.closed:
                    raise
                continue
            candidates.append(Candidate(ends, value, "end" if e.closed else "open end"))
            if best is None or value[0] > best:
                best = value[0]
        return best, candidates


def _at(e: End) -> Fraction:
    assert e.inner is not None
    return e.inner


def _start_of(tails: list[Far], side: str) -> Fraction:
    return next(t.start for t in tails if t.side == side)
