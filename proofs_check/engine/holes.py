"""Suprema and infima over a set without some points: of the intervals that are left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from gateproof.numerics.points import compare, enclosure
from gateproof.proofs_check.engine.outcome import (
    IllPosedError,
    NotYetError,
    Outcome,
    conjunction,
    undecided,
)
from gateproof.proofs_check.engine.space import Space, is_empty
from gateproof.theory.exact.domain import Domain
from gateproof.theory.formula.nodes import Expr
from gateproof.theory.formula.printer import to_text

_INWARD = {"<=": "all", "<": "all", ">=": "some", ">": "some"}
_FLIP = {"all": "some", "some": "all"}


def intervals(domain: Domain) -> list[Domain]:
    """The intervals that the points taken out leave, ascending; NotYetError where they are not placed."""
    lo_closed, hi_closed = domain.lo_closed, domain.hi_closed
    inside: list[Expr] = []
    for hole in sorted(domain.without, key=lambda h: enclosure(h)[0]):
        below = -1 if domain.lo is None else compare(domain.lo, hole)
        above = -1 if domain.hi is None else compare(hole, domain.hi)
        order = compare(inside[-1], hole) if inside else -1
        if None in (below, above, order):
            raise NotYetError("a set without points that are not told apart")
        if order == 0:
            continue
        if below == 0:
            lo_closed = False
        elif above == 0:
            hi_closed = False
        elif below == -1 and above == -1:
            inside.append(hole)
    lows: list[Expr | None] = [domain.lo, *inside]
    highs: list[Expr | None] = [*inside, domain.hi]
    last = len(inside)
    return [
        Domain(lo, hi, lo_closed if i == 0 else False, hi_closed if i == last else False)
        for i, (lo, hi) in enumerate(zip(lows, highs, strict=True))
    ]


def _on(part: Domain, outcome: Outcome) -> Outcome:
    ends = ("-oo" if part.lo is None else to_text(part.lo), "oo" if part.hi is None else to_text(part.hi))
    return replace(outcome, steps=tuple(f"between {ends[0]} and {ends[1]}: {s}" for s in outcome.steps))


def over_parts(space: Space, up: bool, op: str, decide: Callable[[Space, str], Outcome]) -> Outcome:
    """``sup op bound`` (``inf`` where not ``up``) on the union, from the same on each interval."""
    ((name, domain),) = space.domains.items()
    if domain.integer:
        raise NotYetError("an extremum over integers with holes")
    parts = [space.with_domain(name, part) for part in intervals(domain) if not is_empty(part)]
    if not parts:
        raise IllPosedError(f"no value of {name} is left without the points taken out")
    if op == "==":
        both = [over_parts(space, up, link, decide) for link in (("<=", ">=") if up else (">=", "<="))]
        return next((b for b in both if b.truth is False), conjunction(both))
    wanted = _INWARD[op] if up else _FLIP[_INWARD[op]]
    outcomes: list[Outcome] = []
    for part in parts:
        # The value on a part is not that on the whole set.
        outcomes.append(replace(_on(part.domains[name], decide(part, op)), value=None))
        if outcomes[-1].ill_posed or (wanted == "some" and outcomes[-1].truth is True):
            return outcomes[-1]
    if wanted == "all":
        return next((o for o in outcomes if o.truth is False), conjunction(outcomes))
    if any(o.truth is None for o in outcomes):
        return undecided(next(o.reason for o in outcomes if o.truth is None))
    steps = tuple(step for o in outcomes for step in o.steps)
    return replace(outcomes[0], steps=steps, witness=None)
