"""Predicates over a set without some points, and over the integers.

Continuity and differentiability are local, so they hold on a set without points as soon as they hold on the
intervals left. A function rises on all of it if it rises on each interval, and at each point taken out its
limit from the left is at most that from the right. Over the integers it rises if f(n) <= f(n + 1).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

from gateproof.numerics.points import compare
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.definedness import decide_defined
from gateproof.proofs_check.engine.holes import intervals
from gateproof.proofs_check.engine.outcome import IllPosedError, NotYetError, Outcome, conjunction, undecided
from gateproof.proofs_check.engine.space import Space, infinite_sign
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.limits import limit
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Expr, Rel, Var, num
from gateproof.theory.formula.printer import to_text

Decide = Callable[[Space], Outcome]
_LOCAL = ("continuous", "differentiable")
_MONOTONE = ("increasing", "decreasing")


def symmetric(domain: Domain) -> bool:
    """Whether -x lies in the domain with every x."""
    if (domain.lo is None) != (domain.hi is None):
        return False
    if domain.lo is not None and domain.hi is not None:
        total = App("add", (domain.lo, domain.hi))
        same = prove_relation(total, "==", num(0), Assumptions()) is not None
        if domain.lo_closed != domain.hi_closed or not same:
            return False
    return all(any(compare(App("neg", (p,)), q) == 0 for q in domain.without) for p in domain.without)


def over_intervals(name: str, body: Expr, variable: str, space: Space, decide: Decide) -> Outcome:
    """A predicate over the reals of a domain without points; ``decide`` takes it over one interval."""
    parts = intervals(space.domains[variable])
    if name == "convex":
        raise IllPosedError(f"the set of {variable} is not an interval, so convex has no meaning")
    outcomes = [decide(space.with_domain(variable, part)) for part in parts]
    found = next((o for o in outcomes if o.ill_posed), None) or next(
        (o for o in outcomes if o.truth is False), None
    )
    if found is not None:
        return found
    if name in _LOCAL:
        return conjunction(outcomes)
    if name not in _MONOTONE:
        raise NotYetError(f"{name} with holes")
    for before, _ in pairwise(parts):
        assert before.hi is not None
        sides = [limit(body, variable, before.hi, s, space.without(variable).assumptions()) for s in "-+"]
        left, right = sides if name == "increasing" else reversed(sides)
        if not isinstance(left, tuple) or not isinstance(right, tuple):
            return undecided(f"the limits of {to_text(body)} at {to_text(before.hi)} were not found")
        if not _at_most(left[0], right[0], space.without(variable).assumptions()):
            return undecided(f"that the limits at {to_text(before.hi)} are in order was not shown")
    found = conjunction(outcomes)
    return replace(found, steps=(*found.steps, "at each point taken out, the limits are in order"))


def _at_most(a: Expr, b: Expr, given: Assumptions) -> bool:
    if infinite_sign(a) or infinite_sign(b):
        return infinite_sign(a) <= infinite_sign(b)
    return prove_relation(a, "<=", b, given) is not None


def over_integers(name: str, body: Expr, variable: str, space: Space, context: Context) -> Outcome:
    """``increasing`` or ``decreasing`` over the integers of a domain, from each to the next."""
    from gateproof.proofs_check.engine.statements import forall

    domain = space.domains[variable]
    if name not in _MONOTONE or domain.without:
        raise NotYetError(f"{name} over integers" + (" with holes" if domain.without else ""))
    defined = decide_defined(space, body, context)
    if defined.truth is not True:
        return defined
    following = substitute(body, {variable: App("add", (Var(variable), num(1)))})
    hi = None if domain.hi is None else App("add", (domain.hi, num(-1)))
    if hi is not None and domain.lo is not None and compare(domain.lo, hi) != -1:
        raise NotYetError(f"{name} over fewer than three integers")
    steps = space.with_domain(variable, replace(domain, hi=hi))
    relation = Rel(("<=" if name == "increasing" else ">=",), (body, following))
    found = forall(steps, relation, context.deeper())
    return replace(found, steps=(*found.steps, f"{name} from each {variable} to the next"))
