"""Membership in a set of points, the empty set, and whether two sets of points are the same.

c lies in zeros(f, x in S) if c lies in S and f(c) = 0, and in argmax(f, x in S) if it lies in S and f(c) is
the maximum; an argmax without points has no meaning. Two sets are the same if one list of exact points is
each of them; they differ if a point of one is apart from all points of the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gateproof.numerics.points import enclosure
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.definedness import decide_defined
from gateproof.proofs_check.engine.outcome import (
    CERTIFIED,
    PROVED,
    IllPosedError,
    NotYetError,
    Outcome,
    composite,
    ill_posed,
    negation,
    undecided,
)
from gateproof.proofs_check.engine.root_certificates import Places, resting_on, zeros_certificate
from gateproof.proofs_check.engine.space import Space, build, is_empty
from gateproof.theory.exact.critical import equal_constants, exact_extremum_candidates
from gateproof.theory.exact.domain import Domain
from gateproof.theory.formula.library import substitute, substitute_node
from gateproof.theory.formula.nodes import (
    And,
    App,
    Const,
    Expr,
    Extremum,
    FiniteSet,
    In,
    NamedSet,
    Or,
    PointSet,
    Rel,
    Stmt,
    num,
)
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names

_LARGEST = {"argmax": "max", "argmin": "min"}
_MINUS_OO = App("neg", (Const("oo"),))


def decide_point_member(space: Space, stmt: In, context: Context) -> Outcome:
    """``item in zeros(...)``, ``argmax``, ``argmin`` or ``{a, b}``, for all of a space."""
    from gateproof.proofs_check.engine.statements import forall

    assert isinstance(stmt.within, PointSet)
    points, item = stmt.within.points, stmt.item
    if isinstance(points, FiniteSet):
        if not points.items:
            found = decide_defined(space, item, context)
            return replace(found, truth=False) if found.truth is True else found
        same: tuple[Stmt, ...] = tuple(Rel(("==",), (item, p)) for p in points.items)
        return forall(space, same[0] if len(same) == 1 else Or(same), context)
    if not isinstance(points, Extremum) or points.op not in ("zeros", "argmax", "argmin"):
        raise IllPosedError(f"{to_text(points)} is not a set of points")
    own = build(points.scope)
    if len(own.domains) != 1 or own.facts or own.vectors or space.vectors:
        raise NotYetError(f"membership in {points.op} over several names or with conditions")
    ((name, domain),) = own.domains.items()
    if name in free_names(item) or is_empty(domain):
        raise NotYetError(f"membership in {to_text(points)}")
    meaning = _meaning(space, points, context)
    if meaning.truth is not True:
        return meaning
    inside = _inside(item, domain)
    if inside is not None:
        belongs = forall(space, inside, context)
        if belongs.truth is not True:
            return belongs
    value = substitute_node(points.body, {name: item})
    assert isinstance(value, Expr)
    if points.op == "zeros":
        return forall(space, Rel(("==",), (value, num(0))), context)
    largest = replace(points, op=_LARGEST[points.op])
    return forall(space, Rel(("==",), (largest, value)), context)


def _meaning(space: Space, points: Extremum, context: Context) -> Outcome:
    """The function has a value on its set, and an argmax has points."""
    from gateproof.proofs_check.engine.statements import forall
    from gateproof.theory.formula.nodes import Pred

    if points.op == "zeros":
        found = forall(space, Pred("defined", points.body, points.scope), context)
        return ill_posed(found.steps[0], found.witness) if found.truth is False else found
    largest = replace(points, op=_LARGEST[points.op])
    return forall(space, Rel((">",), (largest, _MINUS_OO)), context)


def _inside(item: Expr, domain: Domain) -> Stmt | None:
    """The item lies in a domain, as a statement; None where every real number does."""
    parts: list[Stmt] = [In(item, NamedSet("Z"))] if domain.integer else []
    if domain.lo is not None:
        parts.append(Rel(("<=" if domain.lo_closed else "<",), (domain.lo, item)))
    if domain.hi is not None:
        parts.append(Rel(("<=" if domain.hi_closed else "<",), (item, domain.hi)))
    parts += [Rel(("!=",), (item, p)) for p in domain.without]
    if not parts:
        return None
    return parts[0] if len(parts) == 1 else And(tuple(parts))


def decide_empty(node: Extremum, body: Expr, context: Context) -> Outcome | None:
    """``node == {}``; None where the other methods must look."""
    from gateproof.proofs_check.engine.statements import forall

    if node.op != "zeros":
        # An argmax without points has no meaning, and one with points is not empty.
        return negation(_meaning(Space(), node, context))
    space = build(node.scope)
    found = forall(space, Rel(("!=",), (body, num(0))), context.deeper())
    return found if found.truth is not None or found.ill_posed else None


def decide_same(a: Extremum, b: Extremum, bodies: tuple[Expr, Expr], context: Context) -> Outcome:
    """``a == b`` for two sets of points."""
    from gateproof.proofs_check.engine.sets import decide_set, isolated

    for node in (a, b):
        meaning = _meaning(Space(), node, context)
        if meaning.truth is not True:
            return meaning
    places: list[Places] = []
    for node, body in zip((a, b), bodies, strict=True):
        found = isolated(node, body, context)[1]
        if isinstance(found, str):
            return undecided(found)
        places.append(found)
    for node, first, second in ((a, places[0], places[1]), (b, places[1], places[0])):
        # Every isolating interval holds a zero; of several places of an argmax some may hold nothing.
        for lo, hi in first if node.op == "zeros" or len(first) == 1 else ():
            if all(hi < p[0] or p[1] < lo for p in second):
                step = f"a point of one set lies in [{lo}, {hi}], and none of the other does"
                apart = Outcome(False, CERTIFIED, "certified enclosure", ("arb",), (step,))
                return resting_on(apart, _certificate((a, b), bodies, places))
    if len(places[0]) != len(places[1]) and a.op == b.op == "zeros":
        step = f"{len(places[0])} points and {len(places[1])} points"
        more = Outcome(False, CERTIFIED, "isolated zeros", ("arb",), (step,))
        return resting_on(more, _certificate((a, b), bodies, places))
    if not places[0] and not places[1]:
        empty = Outcome(True, CERTIFIED, "isolated zeros", ("arb",), ("both sets are empty",))
        return resting_on(empty, _certificate((a, b), bodies, places))
    for node, body in zip((a, b), bodies, strict=True):
        items = _exact_points(node, body, places[0])
        if items is None:
            continue
        outcomes = [decide_set(n, e, items, context) for n, e in zip((a, b), bodies, strict=True)]
        if all(o.truth is True for o in outcomes):
            shown = "{" + ", ".join(map(to_text, items)) + "}"
            rigor = PROVED if all(o.rigor == PROVED for o in outcomes) else CERTIFIED
            steps = (*(s for o in outcomes for s in o.steps), f"both sets are {shown}")
            trust = tuple(dict.fromkeys(t for o in outcomes for t in o.trust))
            certificates = [dict(o.certificate) for o in outcomes if o.certificate is not None]
            kept = composite(certificates)
            return Outcome(True, rigor, "one list of exact points", trust, steps, certificate=kept)
        if {o.truth for o in outcomes} == {True, False}:
            return next(o for o in outcomes if o.truth is False)
    return undecided("the points of the two sets agree to 20 digits; that they are the same was not proved")


def _certificate(
    nodes: tuple[Extremum, Extremum], bodies: tuple[Expr, Expr], places: list[Places]
) -> Mapping[str, Any] | None:
    """What the two lists of zeros rest on, where the checker accepts both."""
    found = []
    for node, body, own in zip(nodes, bodies, places, strict=True):
        ((name, domain),) = build(node.scope).domains.items()
        document = zeros_certificate(body, name, domain, own) if node.op == "zeros" else None
        if document is None:
            return None
        found.append(dict(document))
    return composite(found, "the zeros of two functions")


def _exact_points(node: Extremum, body: Expr, places: object) -> tuple[Expr, ...] | None:
    """An exact point in each of the places, from the critical points of the body or of its square."""
    assert isinstance(places, list | tuple)
    space = build(node.scope)
    ((name, _),) = space.domains.items()
    wanted = App("pow", (body, num(2))) if node.op == "zeros" else body
    candidates = exact_extremum_candidates(wanted, name, space.assumptions()) or ()
    found: list[Expr] = []
    for lo, hi in places:
        near = []
        for candidate in candidates:
            low, high = enclosure(candidate)
            zero = node.op != "zeros" or equal_constants(substitute(body, {name: candidate}), num(0)) is True
            if low <= hi and lo <= high and zero:
                near.append(candidate)
        if not near:
            return None
        found.append(near[0])
    return tuple(found)
