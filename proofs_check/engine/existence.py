"""``exists x in S: (...)``."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from gateproof.numerics.bounds import prove_bounds
from gateproof.numerics.errors import MaybeUndefined, Undefined
from gateproof.numerics.points import difference_sign, truth_at
from gateproof.proofs_check.engine.calculus import eliminate
from gateproof.proofs_check.engine.conditions import absorbed
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.definedness import defined_everywhere
from gateproof.proofs_check.engine.enumeration import some_case, split_finite
from gateproof.proofs_check.engine.existence_under import decide_exists_under, shown_to_exist
from gateproof.proofs_check.engine.logic import links_of, negate
from gateproof.proofs_check.engine.nested import decide_nested, of_extremum
from gateproof.proofs_check.engine.numbers import rational_text
from gateproof.proofs_check.engine.outcome import (
    CERTIFIED,
    NotYetError,
    Outcome,
    composite,
    negation,
    undecided,
)
from gateproof.proofs_check.engine.point_certificates import order_certificate
from gateproof.proofs_check.engine.root_certificates import resting_on, sign_change_certificate
from gateproof.proofs_check.engine.sample import points
from gateproof.proofs_check.engine.space import Space, build
from gateproof.theory.formula.nodes import App, Claim, Exists, Extremum, Rel, Scope, Stmt
from gateproof.theory.formula.printer import to_text


def decide_exists(outer: Space, stmt: Exists, context: Context) -> Outcome:
    """A witness, a sign change of a continuous difference, or a proof that there is none."""
    from gateproof.proofs_check.engine.statements import forall

    if outer.domains:
        return decide_exists_under(outer, stmt, context)
    cases = split_finite(stmt.scope, stmt.body)
    if cases is not None:
        return some_case(*cases, lambda case: _case(case, context))
    space = build(stmt.scope)
    if space.vectors:
        raise NotYetError("exists over vectors")
    inside = of_extremum(stmt)
    if inside is not None:
        return decide_nested(*inside, context)
    if any(isinstance(n, Extremum) for n in stmt.body.walk()):
        raise NotYetError("an extremum inside exists")
    body = eliminate(stmt.body, space)
    stmt = Exists(stmt.scope, body)
    defined_everywhere(space, body, context)
    for point in points(space, (stmt.body,), context.settings.seed, 600):
        try:
            if truth_at(stmt.body, point, 512) is True:
                at = {n: rational_text(v) for n, v in point.items()}
                where = ", ".join(f"{n} = {v}" for n, v in at.items())
                there = Outcome(
                    True, CERTIFIED, "exact witness", ("arb",), (f"it holds at {where}",), witness=at
                )
                return resting_on(there, _at_point(stmt.body, point))
        except (Undefined, MaybeUndefined):
            continue
    crossing = _crossing(space, stmt, context)
    if crossing is not None:
        return crossing
    shown = shown_to_exist(absorbed(space), stmt, context)
    if shown is not None:
        return shown
    found = forall(space, negate(stmt.body), context.deeper())
    if found.truth is True:
        return negation(found)
    return undecided(f"no witness was found, nor a proof that there is none: {found.reason}")


def _at_point(body: Stmt, point: Mapping[str, Fraction]) -> Mapping[str, Any] | None:
    """An accepted certificate that relations hold at a point, or None."""
    parts = links_of(body) if isinstance(body, Rel) else []
    found = []
    for part in parts:
        left, right = part.terms
        sign = difference_sign(left, right, point, 512)
        document = None if sign is None else order_certificate(part, point, sign)
        if document is None:
            return None
        found.append(dict(document))
    return composite(found)


def _case(case: Claim, context: Context) -> Outcome:
    """One value put in: the rest of the scope still asks for existence."""
    from gateproof.proofs_check.engine.statements import decide_claim

    inner = Exists(case.scope, case.body) if case.scope.binds or case.scope.conditions else case.body
    return decide_claim(Claim(Scope((), ()), inner), context)


def _crossing(space: Space, stmt: Exists, context: Context) -> Outcome | None:
    """A == b in one real name: the intermediate value theorem between two sample points."""
    body = stmt.body
    if not isinstance(body, Rel) or body.ops != ("==",) or len(space.domains) != 1 or space.facts:
        return None
    (name,) = space.domains
    if space.domains[name].integer or space.domains[name].without:
        return None
    a, b = body.terms
    gap = App("add", (a, App("neg", (b,))))
    from gateproof.proofs_check.engine.continuity import continuous

    if continuous(gap, name, space).truth is not True:
        return None
    last: tuple[int, Fraction] | None = None
    ordered = sorted(points(space, (body,), context.settings.seed, 200), key=lambda p: p[name])
    for point in ordered:
        try:
            sign = difference_sign(a, b, point, 256)
        except (Undefined, MaybeUndefined):
            last = None
            continue
        if sign in (1, -1):
            if last is not None and last[0] == -sign:
                lo, hi = last[1], point[name]
                if prove_bounds(gap, {name: (lo, hi)}, budget=context.budget()).status == "proved":
                    step = f"the difference of {to_text(body)} changes sign between {name} = {lo} and {hi}"
                    shown = Outcome(True, CERTIFIED, "intermediate value theorem", ("arb",), (step,))
                    return resting_on(shown, sign_change_certificate(gap, name, lo, hi))
            last = (sign, point[name])
    return None
