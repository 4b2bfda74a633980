"""argmax, argmin and zeros as sets, held against points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor
from typing import Any

from gateproof.numerics.decimals import decimal_enclosure
from gateproof.numerics.extrema import Extremum as Found
from gateproof.numerics.gather import MAY_JUMP
from gateproof.numerics.points import compare, enclosure
from gateproof.proofs_check.engine.attainment import attained
from gateproof.proofs_check.engine.boxes import bounded_below
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.definedness import decide_defined
from gateproof.proofs_check.engine.exact_zeros import by_given_points, numeric_zeros, through_factors
from gateproof.proofs_check.engine.extremum import Side, numeric, set_of
from gateproof.proofs_check.engine.holes import intervals
from gateproof.proofs_check.engine.integers import decide_integer_set, over_integers
from gateproof.proofs_check.engine.outcome import (
    CERTIFIED,
    IllPosedError,
    NotYetError,
    Outcome,
    conjunction,
    undecided,
)
from gateproof.proofs_check.engine.periodic import one_period
from gateproof.proofs_check.engine.point_certificates import sign_certificate
from gateproof.proofs_check.engine.root_certificates import Places, resting_on, zeros_certificate
from gateproof.proofs_check.engine.sample import points
from gateproof.proofs_check.engine.sets_with_holes import argmax_with_holes, zeros_with_holes
from gateproof.proofs_check.engine.space import Space
from gateproof.proofs_check.engine.touching import is_zero
from gateproof.proofs_check.engine.zeros_of_pieces import zeros_of_pieces
from gateproof.theory.exact.critical import equal_constants, exact_extremum_candidates
from gateproof.theory.exact.derivative import derivative, kinks
from gateproof.theory.exact.domain import Domain
from gateproof.theory.exact.piecewise import resolve
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Expr, Extremum, Num, Rel
from gateproof.theory.formula.printer import to_text

#: Isolating intervals are widened to multiples of 1/_GRID; for the signs of kinks to short fractions.
_GRID, _COARSE = 2**48, 2**10


def decide_set(node: Extremum, body: Expr, items: tuple[Expr, ...], context: Context) -> Outcome:
    """Decide ``node == {items}`` for argmax, argmin or zeros of a core body."""
    side = Side(node, body, set_of(node, context), node.op == "argmax")
    if over_integers(side.space):
        return decide_integer_set(node, body, side.space, items)
    if len(side.space.domains) > 1:
        raise IllPosedError(f"{node.op} over several names is a set of points of a plane, not of numbers")
    if len(side.space.domains) != 1 or side.space.facts or side.space.vectors:
        raise NotYetError(f"{node.op} over several names or with conditions")
    if side.space.domains[side.name].without:
        if node.op != "zeros":
            return argmax_with_holes(node, body, side.space, items, context)
        on_part = lambda part, own: decide_set(part, body, own, context)  # noqa: E731
        return zeros_with_holes(node, body, side.space, items, on_part, context)
    if node.op == "zeros":
        return _zeros(side, items, context)
    return _arg(side, items, context)


def _zeros(side: Side, items: tuple[Expr, ...], context: Context) -> Outcome:
    domain = side.space.domains[side.name]
    if domain.integer or domain.without:
        raise NotYetError("zeros over integers or with holes")
    if _multiple(side, items):
        # Boxes never isolate these.
        given = by_given_points(side.space, side.body, items, "a multiple zero", context)
        if given.truth is not None or given.ill_posed:
            return given
    found = numeric_zeros(side.body, side.name, domain, context)
    if found.status == "unknown" and decide_defined(side.space, side.body, context).truth is True:
        found = zeros_of_pieces(side.body, side.name, domain, 20, context) or found
    if found.status == "undefined":
        return by_given_points(side.space, side.body, items, found.reason, context)
    if found.status != "ok":
        factored = through_factors(side.body, side.name, domain, context)
        if factored is None or decide_defined(side.space, side.body, context).truth is not True:
            return by_given_points(side.space, side.body, items, found.reason, context)
        found = factored
    shown = points_text(found.points)
    certificate = zeros_certificate(side.body, side.name, domain, found.points)
    matched = _match(found.points, items)
    if isinstance(matched, str):
        other = Outcome(
            False, method="isolated zeros", trust=("arb",), steps=(shown, matched), witness={"zeros": shown}
        )
        return resting_on(other, certificate)
    for item in items:
        if not is_zero(substitute(side.body, {side.name: item})):
            return undecided(
                f"{to_text(item)} agrees with a zero to 20 digits; that it is one was not proved"
            )
    same = Outcome(
        True,
        CERTIFIED,
        "isolated zeros, each exact",
        ("arb", "flint"),
        (shown, "each isolating interval holds exactly one zero, and each given point is exactly a zero"),
    )
    return resting_on(same, certificate)


def _multiple(side: Side, items: tuple[Expr, ...]) -> bool:
    """Whether the slope is exactly 0 at one of the given zeros."""
    if kinks(side.body, side.name):
        return False
    slope = derivative(side.body, side.name)
    at = [{side.name: item} for item in items]
    return slope is not None and any(
        is_zero(substitute(slope, p)) and is_zero(substitute(side.body, p)) for p in at
    )


def isolated(node: Extremum, body: Expr, context: Context) -> tuple[Side, Places | str]:
    """The isolating intervals of an argmax, argmin or zeros, or why there are none."""
    side = Side(node, body, set_of(node, context), node.op == "argmax")
    if len(side.space.domains) != 1 or side.space.facts or side.space.vectors:
        raise NotYetError(f"{node.op} over several names or with conditions")
    if node.op == "zeros":
        return side, _isolated_zeros(side, context)
    found = numeric(side, 20, context)
    reached = attained(side.body, side.space, found, up=side.up, context=context)
    if reached is False:
        raise IllPosedError(f"{to_text(node)} is empty: the extremum is not attained")
    found = _trusted(found)
    if found.status != "ok" or found.points is None or reached is not True:
        return side, f"{node.op}: {found.reason or 'the points were not isolated'}"
    return side, found.points


def _trusted(found: Found) -> Found:
    """What was found without its places where an extremum may lie elsewhere: at an open end, say."""
    if found.attained is None and found.reason != MAY_JUMP:
        return replace(found, points=None)
    return found


def _isolated_zeros(side: Side, context: Context) -> Places | str:
    domain = side.space.domains[side.name]
    if domain.integer or domain.without:
        raise NotYetError("zeros over integers or with holes")
    if decide_defined(side.space, side.body, context).truth is not True:
        return "zeros: whether the function has a value everywhere was not decided"
    if one_period(side.space, side.body) is not None:
        return "zeros: a function that repeats"
    found = numeric_zeros(side.body, side.name, domain, context)
    return found.points if found.status == "ok" else f"zeros: {found.reason}"


def points_text(places: Places) -> str:
    """Isolating intervals as decimals."""
    texts = [decimal_enclosure(lo, hi, 20) for lo, hi in places]
    return "{" + ", ".join(f"[{t['lo']}, {t['hi']}]" for t in texts) + "}"


def _match(places: Places, items: tuple[Expr, ...]) -> str | None:
    """None where each item lies in its own place and none is left over, else why not."""
    left = list(places)
    for item in items:
        lo, hi = enclosure(item)
        near = [p for p in left if p[0] <= hi and lo <= p[1]]
        if not near:
            return f"{to_text(item)} is apart from all of them"
        left.remove(near[0])
    return f"{len(left)} more than the given point(s)" if left else None


def _arg(side: Side, items: tuple[Expr, ...], context: Context) -> Outcome:
    period = one_period(side.space, side.body)
    whole = side
    side = side if period is None else replace(side, space=period)
    found = numeric(side, 20, context)
    reached = attained(side.body, side.space, found, up=side.up, context=context)
    if reached is False:
        raise IllPosedError(f"{to_text(side.node)} is empty: the extremum is not attained")
    if period is not None and reached is True:
        step = f"{to_text(whole.body)} repeats, so {whole.node.op} has no end of points"
        return Outcome(False, CERTIFIED, "period", ("arb", "flint"), (step,), witness={"points": "no end"})
    found = _trusted(found)
    if found.status == "ok" and found.points is None and reached is True:
        another = _another(side, items, context)
        if another is not None:
            return another
    if found.status != "ok" or found.points is None:
        return undecided(f"{side.node.op}: {found.reason or 'the points were not isolated'}")
    if not found.points:
        return undecided(f"{side.node.op}: whether there is a point was not told")
    shown = points_text(found.points)
    if reached is not True:
        return undecided(f"{side.node.op}: whether the extremum is attained was not decided")
    for item in items:
        lo, hi = enclosure(item)
        if all(hi < p[0] or p[1] < lo for p in found.points):
            step = f"all points lie in {shown}; {to_text(item)} does not"
            apart = Outcome(
                False, method="certified enclosure", trust=("arb",), steps=(step,), witness={"points": shown}
            )
            return resting_on(apart, _better(side, item, found.points[0]))
    another = _another(side, items, context)
    if another is not None:
        return another
    if len(found.points) != len(items):
        return undecided(f"the points lie in {shown}; which of them is exact was not proved")
    return _exactly(side, items, found.points, shown, context)


def _better(side: Side, item: Expr, place: tuple[Fraction, Fraction]) -> Mapping[str, Any] | None:
    """An accepted certificate that a point of the set has a better value than the item, or None."""
    best = Num((place[0] + place[1]) / 2)
    if not belongs(best, side.space.domains[side.name]):
        return None
    values = [substitute(side.body, {side.name: x}) for x in (best, item)]
    return sign_certificate(App("add", (values[0], App("neg", (values[1],)))), {}, 1 if side.up else -1)


def _another(side: Side, items: tuple[Expr, ...], context: Context) -> Outcome | None:
    """A point with exactly the value of a given one that is not among them: then the sets differ."""
    first = substitute(side.body, {side.name: items[0]})
    exact = exact_extremum_candidates(side.body, side.name, side.space.assumptions()) or ()
    samples = (Num(p[side.name]) for p in points(side.space, (side.body,), context.settings.seed, 40))
    for candidate in (*exact, *samples):
        lo, hi = enclosure(candidate)
        if any(not (hi < enclosure(i)[0] or enclosure(i)[1] < lo) for i in items):
            continue
        if equal_constants(substitute(side.body, {side.name: candidate}), first) is True:
            step = f"the value at {to_text(candidate)} is exactly that at {to_text(items[0])}"
            return Outcome(
                False,
                method="exact witness",
                trust=("flint",),
                steps=(step,),
                witness={side.name: to_text(candidate)},
            )
    return None


def _exactly(side: Side, items: tuple[Expr, ...], places: Places, shown: str, context: Context) -> Outcome:
    from gateproof.proofs_check.engine.relation import decide_relation

    best = substitute(side.body, {side.name: items[0]})
    relation = Rel(("<=" if side.up else ">=",), (side.body, best))
    strictly = _alone(side, items, best, context)
    if strictly is not None:
        return strictly
    outcomes = [decide_relation(side.space, relation, context.deeper())]
    if outcomes[0].truth is not True:
        return outcomes[0]
    for item in items[1:]:
        value = substitute(side.body, {side.name: item})
        if equal_constants(value, best) is not True:
            return undecided(f"that {to_text(item)} and {to_text(items[0])} have equal values was not proved")
    for lo, hi in places:
        outcomes.append(only_one(side, lo, hi, context))
        if outcomes[-1].truth is not True:
            return undecided(
                f"that [{lo}, {hi}] holds only one such point was not proved: {outcomes[-1].reason}"
            )
    together = conjunction(outcomes)
    steps = (*together.steps, f"all points lie in {shown}, one in each by the sign of the second derivative")
    return replace(together, steps=steps, rigor=CERTIFIED)


def _alone(side: Side, items: tuple[Expr, ...], best: Expr, context: Context) -> Outcome | None:
    """The given points have one value, and everywhere else it is not reached, where kinks are in the way."""
    from gateproof.proofs_check.engine.relation import decide_relation

    domain = side.space.domains[side.name]
    if not kinks(side.body, side.name) or domain.without:
        return None
    values = [substitute(side.body, {side.name: item}) for item in items]
    if any(equal_constants(v, best) is not True for v in values[1:]):
        return None
    if any(not belongs(item, domain) for item in items):
        return None
    beyond = Rel(("<" if side.up else ">",), (side.body, best))
    parts = intervals(replace(domain, without=items))
    outcomes = [decide_relation(side.space.with_domain(side.name, p), beyond, context) for p in parts]
    return conjunction(outcomes) if all(o.truth is True for o in outcomes) else None


def belongs(item: Expr, domain: Domain) -> bool:
    """Whether a closed expression is seen to lie in an interval."""
    below = -1 if domain.lo is None else compare(domain.lo, item)
    above = -1 if domain.hi is None else compare(item, domain.hi)
    low = below == -1 or (below == 0 and domain.lo_closed)
    return low and (above == -1 or (above == 0 and domain.hi_closed))


def only_one(side: Side, lo: Fraction, hi: Fraction, context: Context) -> Outcome:
    """On [lo, hi] the body is strictly concave (convex for argmin), or the interval is an end point."""
    domain = side.space.domains[side.name]
    for end in (domain.lo, domain.hi):
        if end is not None and enclosure(end)[0] <= lo and hi <= enclosure(end)[1]:
            return Outcome(True, trust=("arb",))
    part = _widened(side.name, lo, hi, _GRID)
    body = resolve(side.body, _widened(side.name, lo, hi, _COARSE).assumptions())
    if not isinstance(body, Expr) or kinks(body, side.name):
        return undecided("the body has kinks")
    first = derivative(body, side.name)
    second = derivative(first, side.name) if first is not None else None
    if second is None:
        return undecided("no second derivative")
    curved = App("neg", (second,)) if side.up else second
    return bounded_below(part, curved, strict=True, context=context)


def _widened(name: str, lo: Fraction, hi: Fraction, grid: int) -> Space:
    left, right = Fraction(floor(lo * grid), grid), Fraction(ceil(hi * grid), grid)
    return Space({name: Domain(Num(left), Num(right), True, True)})
