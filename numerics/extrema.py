"""Suprema and infima over one variable, to any number of digits."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from flint import arb

from gateproof.numerics import interval as iv
from gateproof.numerics.bounds import Budget
from gateproof.numerics.decimals import agreed_digits
from gateproof.numerics.ends import End, EndExpr, as_expr, beside, end
from gateproof.numerics.errors import MaybeUndefined, NotReal, NumericsError, Undefined
from gateproof.numerics.far import Far, look
from gateproof.numerics.gather import (
    Candidate,
    at_end,
    at_kinks,
    conclude,
    from_spots,
    settle,
    told_apart,
)
from gateproof.numerics.hunt import Hunt, Loose, OutOfBoxes
from gateproof.numerics.newton import LOW
from gateproof.numerics.precision import precision
from gateproof.numerics.problem import Problem
from gateproof.numerics.results import Enclosure, Extremum, Zeros
from gateproof.numerics.roots import zeros
from gateproof.numerics.search import few_points
from gateproof.numerics.smooth import opened, pieces
from gateproof.numerics.steep_ends import by_steep_ends
from gateproof.numerics.supremum_certificate import certificate_of
from gateproof.numerics.turns import turns_of
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.infinity import side as infinite_side
from gateproof.theory.exact.piecewise import may_jump, resolve
from gateproof.theory.formula.nodes import App, Expr

#: Newton steps from the best sample point.
_STEPS = 5
_LINE = (iv.NEG_INF, iv.INF)

__all__ = ["Enclosure", "Extremum", "Zeros", "extremum", "zeros"]


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
    apart: bool = False,
    prove_ends: bool = False,
) -> Extremum:
    """The supremum ('sup') or infimum ('inf') of a core expression on an interval (None: infinite).

    ``sup abs(g)`` is found on g itself, and its certificate bounds g from both sides. ``apart``: places
    whose values agree to all digits are told apart or proved equal, or the result is ``tied``.
    ``prove_ends``: beside ends that no box closes the exact prover is asked, which takes its time and leaves
    no certificate.
    """
    if which not in ("sup", "inf"):
        raise ValueError("which is 'sup' or 'inf'")
    budget = budget or Budget()
    folded = which == "sup" and isinstance(expr, App) and expr.head == "abs"
    body = expr.args[0] if folded and isinstance(expr, App) else expr
    if which == "inf":
        body = body.args[0] if isinstance(body, App) and body.head == "neg" else App("neg", (body,))
    body = _inside(body, var, (lo, lo_closed), (hi, hi_closed))
    problem, found = _searched(body, var, folded, (lo, lo_closed), (hi, hi_closed), digits, budget, apart)
    if found.status == "unknown" and prove_ends:
        steep = by_steep_ends(
            body,
            var,
            (lo, hi),
            (lo_closed, hi_closed),
            folded,
            digits,
            lambda a, b, c, d: _searched(body, var, folded, (a, c), (b, d), digits, budget, apart)[1],
        )
        if steep is not None:
            found, with_certificate = steep, False
    if found.status != "ok" or found.value is None:
        return found
    low, high = found.value
    if with_certificate:
        document = certificate_of(problem, found, which == "inf", digits, text)
        found = replace(found, certificate=document)
    return replace(found, value=(-high, -low)) if which == "inf" else found


def _searched(
    body: Expr, var: str, folded: bool, low: tuple[EndExpr, bool], high: tuple[EndExpr, bool],
    digits: int, budget: Budget, apart: bool,
) -> tuple[Problem, Extremum]:  # fmt: skip
    """The problem and what a search at rising precision finds."""
    problem = Problem(body, var, folded, low[0], high[0], low[1], high[1], digits, budget, apart=apart)
    found = Extremum("unknown", reason="bits")
    bits = max(64, int(digits * 3.33) + 48)
    while bits <= budget.cap(digits):
        try:
            found = _solve(problem, bits)
        except Undefined as error:
            return problem, Extremum("undefined", reason=error.where)
        except NotReal as error:
            return problem, Extremum("unknown", reason=str(error))
        except OutOfBoxes:
            return problem, Extremum("unknown", reason="boxes")
        if found.status != "ok" or found.digits >= digits or found.reason:
            break
        bits *= 2
    return problem, found


def _inside(body: Expr, var: str, low: tuple[EndExpr, bool], high: tuple[EndExpr, bool]) -> Expr:
    """The body as it is on the interval: at an open end itself a case or a sign may stand otherwise."""
    opened = any(e is not None and not closed for e, closed in (low, high))
    if not opened or not may_jump(body):
        return body
    ends = [None if e is None or infinite_side(as_expr(e)) else as_expr(e) for e, _ in (low, high)]
    domain = Domain(ends[0], ends[1], low[1] and ends[0] is not None, high[1] and ends[1] is not None)
    found = resolve(body, Assumptions({var: domain}))
    return found if isinstance(found, Expr) else body


def _solve(problem: Problem, bits: int) -> Extremum:
    """One attempt with a value of about so many bits."""
    with precision(bits + 32):
        (lo, lo_closed), (hi, hi_closed) = problem.given
        problem.ends = left, right = end(lo, -1, lo_closed), end(hi, 1, hi_closed)
        problem.turns = turns_of(problem.var, int(bits * 0.302))
        if not left.infinite and not right.infinite and _at(left) > _at(right):
            return Extremum("unknown", reason="the interval is empty or too narrow")
        if problem.line.constant:
            value = problem.score(problem.line.natural_run({}))
            both = iv.lower_fraction(value[0]), iv.upper_fraction(value[1])
            reason = "the formula is constant"
            return Extremum("ok", both, True, None, digits=agreed_digits(*both), reason=reason)
    try:
        with precision(LOW):
            seen = _look(problem, LOW, isolating=True)
    except Loose:
        # What is not a simple critical point, a kink or an end at few bits is looked at with all of them.
        with precision(bits + 32):
            seen = _look(problem, bits, isolating=False)
    if isinstance(seen, Extremum):
        return seen
    candidates, best = seen
    candidates = settle(problem, candidates, bits)
    if problem.apart:
        candidates, bits = told_apart(problem, candidates, bits)
    with precision(bits + 32):
        found = conclude(problem, candidates, problem.tails, best)
        if found.status != "ok" or found.value is None:
            return found
        return replace(found, digits=min(agreed_digits(*found.value), 10**6))


def _look(problem: Problem, bits: int, *, isolating: bool) -> tuple[list[Candidate], arb] | Extremum:
    """All candidates, and a value that is reached, at flint's current precision. Raises Loose."""
    left, right = problem.ends
    best, candidates = _start(problem, left, right)
    if best is None or not best.is_finite():
        return Extremum("unknown", reason="no finite value was found")
    found = _tails(problem, best)
    if isinstance(found, Extremum):
        return found
    a = -_start_of(problem.tails, "-") if left.infinite else _at(left)
    b = _start_of(problem.tails, "+") if right.infinite else _at(right)
    if not a < b:
        return candidates, best
    # At a jump it matters on which side a point lies, and a zero that is not rational is not known exactly.
    jumps = may_jump(problem.body)
    parts = pieces(problem.line, a, b, None if jumps else problem.turns)
    parts = [opened(p) for p in parts] if jumps else parts
    candidates += at_kinks(problem, parts)
    best = max([found, *(c.value[0] for c in candidates if c.value[0].is_finite())])
    hunt = Hunt(problem.folded, best, bits, problem.budget.boxes, isolating)
    spots = hunt.run(parts)
    if hunt.doubtful and any(s.root is None for s in spots):
        near = next(s for s in spots if s.root is None)
        lo, hi = iv.to_fraction(near.lo), iv.to_fraction(near.hi)
        edge = any(not e.closed and lo <= _at(e) <= hi for e in (left, right) if not e.infinite)
        reason = "open end" if edge else f"may be undefined ({hunt.doubtful}) near {float(lo):.12g}"
        return Extremum("unknown", reason=reason)
    return candidates + from_spots(problem, spots), hunt.best


def _tails(problem: Problem, best: arb) -> arb | Extremum:
    """Look at the infinite sides: what is reached or approached with them, or what ends the search."""
    left, right = problem.ends
    problem.tails = []
    finite = [abs(_at(e)) for e in problem.ends if not e.infinite]
    beyond = max([Fraction(1), *map(abs, problem.kinks), *finite])
    # Both against the samples: a limit on one side would hide that the other has the same.
    reached = iv.lower_fraction(best)
    for side, e in (("-", left), ("+", right)):
        if not e.infinite:
            continue
        far = look(problem.body, problem.var, side, problem.folded, reached, beyond, problem.digits)
        problem.tails.append(far)
        if far.kind == "infinite":
            return Extremum("infinite", at_infinity=(side,))
        if far.kind == "unknown":
            return Extremum("unknown", reason=f"tail: {far.reason}")
        if far.value is not None and far.kind != "within":
            best = max(best, iv.down(iv.rational(far.value[0])))
    return best


def _start(problem: Problem, left: End, right: End) -> tuple[arb | None, list[Candidate]]:
    """The best value at sample points, and the ends of the domain as candidates."""
    best: arb | None = None
    a = None if left.infinite else _at(left)
    b = None if right.infinite else _at(right)
    forbidden = {_at(e) for e in (left, right) if not e.infinite and not e.closed}
    top: Fraction | None = None
    for x in few_points(a, b, problem.kinks):
        if x in forbidden:
            continue
        try:
            value = problem.line.value(x)
        except MaybeUndefined:
            continue
        reached = problem.score(value)[0]
        # A lower bound of what is reached serves as well, and exp(2**40) is too long.
        reached = min(reached, iv.HUGE)
        if reached > -iv.HUGE and (best is None or reached > best):
            best, top = reached, x
    candidates = []
    for e in (left, right):
        if e.infinite:
            continue
        # A value beside an open end, not at it, is one of those that the supremum is over.
        near = None
        if not e.closed and may_jump(problem.body):
            width = Fraction(1) if left.infinite or right.infinite else abs(_at(right) - _at(left))
            near = beside(e, width, -1 if e is left else 1)
        try:
            found = at_end(problem, problem.line, e, near)
        except (Undefined, MaybeUndefined):
            if e.closed:
                raise
            continue
        candidates.append(found)
        if found.value[0].is_finite() and (best is None or found.value[0] > best):
            best, top = min(found.value[0], iv.HUGE), None
    if best is not None and top is not None:
        best = _climbed(problem, top, best)
    return best, candidates


def _climbed(problem: Problem, start: Fraction, best: arb) -> arb:
    """The best value after a few Newton steps uphill from a point, inside the domain."""
    line, x = problem.line, iv.rational(start).mid()
    low, high = (
        inf if e.infinite else iv.rational(_at(e)) for e, inf in zip(problem.ends, _LINE, strict=True)
    )
    for _ in range(_STEPS):
        # A number rounded from an end may lie outside.
        if not low < x < high:
            break
        try:
            value, slope, bend = line.series({line.var: (x, x)}, 2)
        except (NumericsError, ZeroDivisionError):
            break
        best = max(best, min(problem.score(iv.of_ball(value))[0], iv.HUGE))
        rise = bend.mid() * (-1 if problem.folded and value < 0 else 1)
        if not rise < 0:
            break
        x = (x - slope / (2 * bend.mid())).mid()
    return best


def _at(e: End) -> Fraction:
    assert e.inner is not None
    return e.inner


def _start_of(tails: list[Far], side: str) -> Fraction:
    return next(t.start for t in tails if t.side == side)
