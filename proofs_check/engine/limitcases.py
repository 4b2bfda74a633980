"""Limits whose value depends on the sign of another name: the space split at 0."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from gateproof.proofs_check.engine.calculus import Elimination
from gateproof.proofs_check.engine.numbers import rational_text
from gateproof.proofs_check.engine.outcome import Outcome, UndecidedError, conjunction
from gateproof.proofs_check.engine.sample import points
from gateproof.proofs_check.engine.space import Space, contains
from gateproof.theory.formula.library import substitute_node
from gateproof.theory.formula.nodes import Limit, Num, Rel, num
from gateproof.theory.formula.scopes import free_names

_TINY = Fraction(1, 10**6)


def limit_by_signs(space: Space, relation: Rel, decide: Callable[[Space, Rel], Outcome]) -> Outcome | None:
    """The relation where a name in a limit is negative, 0 and positive; None where no split helps."""
    limits = [n for n in relation.walk() if isinstance(n, Limit)]
    names = sorted({name for n in limits for name in free_names(n)} & set(space.domains))
    if not limits or not names or space.facts or not _stuck(space, limits):
        return None
    for point in points(space, (relation,), 0, 12):
        at = substitute_node(relation, {n: Num(v) for n, v in point.items()})
        assert isinstance(at, Rel)
        try:
            found = decide(Space(), at)
        except UndecidedError:
            continue
        if found.truth is False:
            witness = {n: rational_text(v) for n, v in point.items()}
            return replace(found, witness={**witness, **(found.witness or {})})
    for name in names:
        domain = space.domains[name]
        both = all(contains(domain, v) for v in (_TINY, -_TINY))
        if domain.integer or not both:
            continue
        zero = num(0)
        holes = tuple(h for h in domain.without if h != zero)
        above = replace(domain, lo=zero, lo_closed=False, without=holes)
        below = replace(domain, hi=zero, hi_closed=False, without=holes)
        outcomes = [decide(space.with_domain(name, part), relation) for part in (above, below)]
        if zero not in domain.without:
            at = substitute_node(relation, {name: zero})
            assert isinstance(at, Rel)
            outcomes.append(decide(space.without(name), at))
        return conjunction(outcomes)
    return None


def _stuck(space: Space, limits: list[Limit]) -> bool:
    for node in limits:
        try:
            Elimination(space).expr(node)
        except UndecidedError:
            return True
    return False
