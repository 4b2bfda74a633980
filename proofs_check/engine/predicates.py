"""even, odd, increasing, decreasing, convex, continuous, differentiable, defined.

``increasing`` is f(a) <= f(b) whenever a < b (constant pieces allowed), ``decreasing``
likewise; ``convex`` is f below its chords. All are taken on the set given, which for
parity must be symmetric.
"""

from __future__ import annotations

from dataclasses import replace

from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.continuity import continuous, differentiable
from gateproof.proofs_check.engine.definedness import decide_defined
from gateproof.proofs_check.engine.outcome import (
    NotYetError,
    Outcome,
    UndecidedError,
    conjunction,
    ill_posed,
    undecided,
)
from gateproof.proofs_check.engine.space import Space
from gateproof.theory.exact.derivative import derivative
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.piecewise import smooth_pieces
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Expr, Rel, Var, num
from gateproof.theory.formula.printer import to_text


def together_with(space: Space, outer: Space) -> Space:
    """The names and conditions of a predicate's own space and of the one around it."""
    return replace(
        space,
        domains={**outer.domains, **space.domains},
        facts=outer.facts + space.facts,
        vectors={**outer.vectors, **space.vectors},
    )


def decide_predicate(name: str, body: Expr, space: Space, outer: Space, context: Context) -> Outcome:
    """Decide a predicate of a core body over its own space, for all of the outer one."""
    names = list(space.domains)
    together = together_with(space, outer)
    if name == "defined":
        found = decide_defined(together, body, context)
        if found.ill_posed:
            # Undefined somewhere: `defined` is false there, not without meaning.
            return replace(
                found, truth=False, ill_posed=False, steps=(found.reason,), reason="", trust=("arb",)
            )
        return found
    if len(names) != 1 or space.vectors or space.facts:
        raise NotYetError(f"{name} in several names or under conditions")
    (variable,) = names
    if space.domains[variable].integer or space.domains[variable].without:
        raise NotYetError(f"{name} over integers or with holes")
    defined = decide_defined(together, body, context)
    if defined.truth is not True:
        return defined
    if name in ("even", "odd"):
        return _parity(name, body, variable, together, context)
    if name == "continuous":
        return continuous(body, variable, together)
    if name == "differentiable":
        return differentiable(body, variable, together)
    if name == "convex":
        return _convex(body, variable, together, context)
    return _monotone(name, body, variable, together, context)


def _parity(name: str, body: Expr, variable: str, space: Space, context: Context) -> Outcome:
    from gateproof.proofs_check.engine.relation import decide_relation

    domain = space.domains[variable]
    if not _symmetric(domain):
        return ill_posed(f"the set of {variable} is not symmetric, so {name} has no meaning")
    mirrored = substitute(body, {variable: App("neg", (Var(variable),))})
    wanted = body if name == "even" else App("neg", (body,))
    return decide_relation(space, Rel(("==",), (mirrored, wanted)), context.deeper())


def _symmetric(domain: Domain) -> bool:
    if domain.lo is None or domain.hi is None:
        return domain.lo is None and domain.hi is None
    total = App("add", (domain.lo, domain.hi))
    return (
        domain.lo_closed == domain.hi_closed
        and prove_relation(total, "==", num(0), Assumptions()) is not None
    )


def _pair(body: Expr, variable: str, space: Space, op: str) -> tuple[Space, Rel]:
    """The definition itself: for a < b in the set, f(a) op f(b)."""
    first, second = f"{variable}_a", f"{variable}_b"
    domain = space.domains[variable]
    domains = {k: v for k, v in space.domains.items() if k != variable} | {first: domain, second: domain}
    order = Rel(("<",), (Var(first), Var(second)))
    left, right = (substitute(body, {variable: Var(n)}) for n in (first, second))
    return replace(space, domains=domains, facts=(*space.facts, order)), Rel((op,), (left, right))


def _monotone(name: str, body: Expr, variable: str, space: Space, context: Context) -> Outcome:
    from gateproof.proofs_check.engine.relation import nonnegative
    from gateproof.proofs_check.engine.witness import search

    pair_space, relation = _pair(body, variable, space, "<=" if name == "increasing" else ">=")
    failure = search(pair_space, relation, context.settings.seed, 900)
    if failure is not None:
        return failure
    smooth = continuous(body, variable, space)
    if smooth.truth is not True:
        return undecided(f"{name}: continuity was not shown: {smooth.reason}")
    outcomes = [smooth]
    for part, piece in _smooth(body, variable, space):
        slope = _derivative(piece, variable)
        gap = slope if name == "increasing" else App("neg", (slope,))
        outcomes.append(nonnegative(part, variable, gap, strict=False, context=context))
        if outcomes[-1].truth is not True:
            return undecided(f"{name}: the sign of {to_text(slope)} was not shown: {outcomes[-1].reason}")
    return conjunction(outcomes)


def _smooth(body: Expr, variable: str, space: Space) -> list[tuple[Space, Expr]]:
    """The space and formula of each piece between kinks."""
    pieces = smooth_pieces(body, variable, space.domains[variable], space.assumptions())
    if pieces is None:
        raise UndecidedError(f"the kinks of {to_text(body)} were not located")
    return [(space.with_domain(variable, p.domain), p.expr) for p in pieces]


def _derivative(body: Expr, variable: str) -> Expr:
    found = derivative(body, variable)
    if found is None:
        raise UndecidedError(f"no derivative of {to_text(body)} was found")
    return found


def _convex(body: Expr, variable: str, space: Space, context: Context) -> Outcome:
    from gateproof.proofs_check.engine.relation import nonnegative
    from gateproof.proofs_check.engine.witness import search

    first, second = f"{variable}_a", f"{variable}_b"
    domain = space.domains[variable]
    half = App("div", (App("add", (Var(first), Var(second))), num(2)))
    middle = substitute(body, {variable: half})
    ends = [substitute(body, {variable: Var(n)}) for n in (first, second)]
    chord = App("div", (App("add", tuple(ends)), num(2)))
    pair = replace(
        space,
        domains={k: v for k, v in space.domains.items() if k != variable} | {first: domain, second: domain},
    )
    failure = search(pair, Rel(("<=",), (middle, chord)), context.settings.seed, 900)
    if failure is not None:
        return failure
    smooth = continuous(body, variable, space)
    if smooth.truth is not True:
        return undecided(f"convex: continuity was not shown: {smooth.reason}")
    slopes: list[Expr] = []
    outcomes = [smooth]
    parts = _smooth(body, variable, space)
    for part, piece in parts:
        slopes.append(_derivative(piece, variable))
        bend = _derivative(slopes[-1], variable)
        outcomes.append(nonnegative(part, variable, bend, strict=False, context=context))
        if outcomes[-1].truth is not True:
            return undecided(f"convex: the sign of {to_text(bend)} was not shown: {outcomes[-1].reason}")
    for (part, _), left, right in zip(parts[1:], slopes, slopes[1:], strict=False):
        point = part.domains[variable].lo
        assert point is not None
        a, b = (substitute(slope, {variable: point}) for slope in (left, right))
        if prove_relation(a, "<=", b, Assumptions()) is None:
            return undecided(f"convex: the slopes at {variable} = {to_text(point)} were not compared")
    return conjunction(outcomes)
