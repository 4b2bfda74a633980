"""even, odd, increasing, decreasing, convex, continuous, differentiable, defined.

``increasing`` is f(a) <= f(b) whenever a < b (constant pieces allowed), ``decreasing``
likewise; ``convex`` is f below its chords. All are taken on the set given, which for
parity must be symmetric.
"""

from __future__ import annotations

import itertools
from dataclasses import replace

from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.continuity import continuous, differentiable, one_sided_slope
from gateproof.proofs_check.engine.definedness import decide_defined
from gateproof.proofs_check.engine.numbers import rational_text
from gateproof.proofs_check.engine.outcome import (
    PROVED,
    NotYetError,
    Outcome,
    UndecidedError,
    conjunction,
    ill_posed,
    undecided,
)
from gateproof.proofs_check.engine.predicate_sets import over_integers, over_intervals, symmetric
from gateproof.proofs_check.engine.sample import points
from gateproof.proofs_check.engine.space import Space
from gateproof.theory.exact import infinity
from gateproof.theory.exact.derivative import derivative
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.piecewise import smooth_pieces
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Expr, Num, Rel, Var, num
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names

#: Values of the other names at which a refutation is looked for.
INSTANCES = 6
#: What to say of a part that was refuted, and so has no reason for being open.
NOT_SO = "it does not hold everywhere"


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
    found = _decide(name, body, space, outer, context)
    if found.truth is not None or found.ill_posed or not outer.domains or outer.vectors:
        return found
    return _at_instances(name, body, space, outer, context) or found


def _at_instances(name: str, body: Expr, space: Space, outer: Space, context: Context) -> Outcome | None:
    """A refutation at single values of the other names."""
    if any(n in outer.domains for d in space.domains.values() for n in _names(d)):
        return None
    for point in points(outer, (body,), context.settings.seed, INSTANCES):
        values = {n: Num(v) for n, v in point.items()}
        instance = substitute(body, dict(values))
        if free_names(instance) - set(space.domains):
            return None
        try:
            found = _decide(name, instance, space, Space(), context.deeper())
        except (UndecidedError, NotYetError):
            continue
        if found.truth is False:
            witness = {n: rational_text(v) for n, v in point.items()}
            return replace(found, witness={**witness, **(found.witness or {})})
    return None


def _names(domain: Domain) -> set[str]:
    return {n for e in (domain.lo, domain.hi, *domain.without) if e is not None for n in free_names(e)}


def _decide(name: str, body: Expr, space: Space, outer: Space, context: Context) -> Outcome:
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
    domain = space.domains[variable]
    if domain.integer and name not in ("even", "odd"):
        return over_integers(name, body, variable, together, context)
    if domain.without and name not in ("even", "odd"):
        if name in ("increasing", "decreasing"):
            failure = _pair_failure(name, body, variable, together, context)
            if failure is not None:
                return failure
        own = replace(space, domains={})

        def on_part(part: Space) -> Outcome:
            alone = own.with_domain(variable, part.domains[variable])
            return decide_predicate(name, body, alone, outer, context)

        return over_intervals(name, body, variable, together, on_part)
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
    if not symmetric(domain):
        return ill_posed(f"the set of {variable} is not symmetric, so {name} has no meaning")
    mirrored = substitute(body, {variable: App("neg", (Var(variable),))})
    wanted = body if name == "even" else App("neg", (body,))
    return decide_relation(space, Rel(("==",), (mirrored, wanted)), context.deeper())


def _two_names(variable: str, space: Space) -> tuple[str, str]:
    """Names for two values of the variable that no name of the statement is."""
    first, second = f"{variable}_a", f"{variable}_b"
    while {first, second} & set(space.domains):
        first, second = f"{first}_", f"{second}_"
    return first, second


def _pair(body: Expr, variable: str, space: Space, op: str) -> tuple[Space, Rel]:
    """The definition itself: for a < b in the set, f(a) op f(b)."""
    first, second = _two_names(variable, space)
    domain = space.domains[variable]
    domains = {k: v for k, v in space.domains.items() if k != variable} | {first: domain, second: domain}
    order = Rel(("<",), (Var(first), Var(second)))
    left, right = (substitute(body, {variable: Var(n)}) for n in (first, second))
    return replace(space, domains=domains, facts=(*space.facts, order)), Rel((op,), (left, right))


def _pair_failure(name: str, body: Expr, variable: str, space: Space, context: Context) -> Outcome | None:
    """Two inputs a < b whose values are in the wrong order."""
    from gateproof.proofs_check.engine.witness import search

    pair_space, relation = _pair(body, variable, space, "<=" if name == "increasing" else ">=")
    return search(pair_space, relation, context.settings.seed, 900)


def _monotone(name: str, body: Expr, variable: str, space: Space, context: Context) -> Outcome:
    from gateproof.proofs_check.engine.relation import nonnegative

    failure = _pair_failure(name, body, variable, space, context)
    if failure is not None:
        return failure
    pair_space, relation = _pair(body, variable, space, "<=" if name == "increasing" else ">=")
    smooth = continuous(body, variable, space)
    if smooth.truth is not True:
        return _by_definition(
            pair_space, relation, f"{name}: continuity was not shown: {smooth.reason or NOT_SO}"
        )
    outcomes = [smooth]
    try:
        parts = _smooth(body, variable, space)
    except UndecidedError as error:
        return _by_definition(pair_space, relation, f"{name}: {error}")
    for part, piece in parts:
        slope = _derivative(piece, variable)
        gap = slope if name == "increasing" else App("neg", (slope,))
        outcomes.append(nonnegative(part, variable, gap, strict=False, context=context))
        if outcomes[-1].truth is not True:
            reason = f"the sign of {to_text(slope)} was not shown: {outcomes[-1].reason or NOT_SO}"
            return _by_definition(pair_space, relation, f"{name}: {reason}")
    return conjunction(outcomes)


def _by_definition(pairs: Space, relation: Rel, reason: str) -> Outcome:
    """The relation for all pairs of inputs, by algebra alone; else undecided for the reason given."""
    (op,), (a, b) = relation.ops, relation.terms
    proof = prove_relation(a, op, b, pairs.assumptions(), defined=True)
    if proof is None:
        return undecided(reason)
    return Outcome(True, PROVED, "the definition, for all pairs", proof.trust, proof.steps)


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
    from gateproof.proofs_check.engine.witness import search

    first, second = _two_names(variable, space)
    domain = space.domains[variable]
    half = App("div", (App("add", (Var(first), Var(second))), num(2)))
    middle = substitute(body, {variable: half})
    ends = [substitute(body, {variable: Var(n)}) for n in (first, second)]
    chord = App("div", (App("add", tuple(ends)), num(2)))
    pair = replace(
        space,
        domains={k: v for k, v in space.domains.items() if k != variable} | {first: domain, second: domain},
    )
    below = Rel(("<=",), (middle, chord))
    failure = search(pair, below, context.settings.seed, 900)
    if failure is not None:
        return failure
    smooth = continuous(body, variable, space)
    if smooth.truth is not True:
        return undecided(f"convex: continuity was not shown: {smooth.reason or NOT_SO}")
    found = _by_bends(body, variable, space, smooth, context)
    if found.truth is not None:
        return found
    # A continuous function that is at most the mean of its values halfway between is convex.
    return _by_definition(pair, below, found.reason)


def _by_bends(body: Expr, variable: str, space: Space, smooth: Outcome, context: Context) -> Outcome:
    """Second derivatives on the pieces between kinks, and slopes that do not fall at kinks."""
    from gateproof.proofs_check.engine.relation import nonnegative

    outcomes = [smooth]
    try:
        parts = _smooth(body, variable, space)
    except UndecidedError as error:
        return undecided(f"convex: {error}")
    for part, piece in parts:
        bend = _derivative(_derivative(piece, variable), variable)
        outcomes.append(nonnegative(part, variable, bend, strict=False, context=context))
        if outcomes[-1].truth is not True:
            return undecided(
                f"convex: the sign of {to_text(bend)} was not shown: {outcomes[-1].reason or NOT_SO}"
            )
    given = space.without(variable).assumptions()
    for (_, before), (part, after) in itertools.pairwise(parts):
        point = part.domains[variable].lo
        assert point is not None
        a, b = (one_sided_slope(e, variable, point, s, space) for e, s in ((before, "-"), (after, "+")))
        if a is None or b is None or not _at_most(a, b, given):
            return undecided(f"convex: the slopes at {variable} = {to_text(point)} were not compared")
    return conjunction(outcomes)


def _at_most(a: Expr, b: Expr, given: Assumptions) -> bool:
    if infinity.side(a) or infinity.side(b):
        return infinity.side(a) < infinity.side(b)
    return prove_relation(a, "<=", b, given) is not None
