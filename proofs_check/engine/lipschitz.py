"""``abs(f(x) - f(y)) <= L*abs(x - y)`` for all x and y of one interval, by the slope of f.

A continuous f that is smooth between finitely many kinks, with abs(f') <= L there, keeps the
bound (mean value theorem, piece by piece). Where abs(f') > L at a point, two inputs beside it
break it; they are looked for and re-evaluated.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from gateproof.numerics.points import enclosure
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.continuity import continuous
from gateproof.proofs_check.engine.outcome import Outcome, conjunction, undecided
from gateproof.proofs_check.engine.space import Space
from gateproof.proofs_check.engine.witness import failure_at
from gateproof.theory.exact.derivative import derivative
from gateproof.theory.exact.domain import Domain
from gateproof.theory.exact.piecewise import cut_points, smooth_pieces
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Expr, Rel, Var, num
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names

#: Half distances of the two inputs tried about a point that is too steep: 2**-k.
_STEPS = range(2, 60, 3)


def lipschitz(space: Space, op: str, left: Expr, right: Expr, context: Context) -> Outcome | None:
    """The outcome of ``left op right``, None where the relation is no such bound or its slope is unclear."""
    from gateproof.proofs_check.engine.relation import decide_relation

    if op != "<=" or len(space.domains) != 2 or space.facts or space.vectors:
        return None
    first, second = space.domains
    domain = space.domains[first]
    if domain != space.domains[second] or domain.integer or domain.without:
        return None
    function, bound = _function(left, first, second), _bound(right, first, second)
    if function is None or bound is None:
        return None
    alone = Space({first: domain})
    smooth = continuous(function, first, alone)
    pieces = smooth_pieces(function, first, domain)
    if pieces is None:
        return None
    if smooth.truth is False:
        at = [enclosure(cut) for cut in cut_points(pieces)]
        pairs = (_pair((lo + hi) / 2, Rel((op,), (left, right)), first, second) for lo, hi in at)
        return next((p for p in pairs if p is not None), None)
    if smooth.truth is None:
        return None
    outcomes = [smooth]
    for piece in pieces:
        slope = derivative(piece.expr, first)
        if slope is None:
            return None
        inside = Domain(piece.domain.lo, piece.domain.hi)
        steep = Rel(("<=",), (App("abs", (slope,)), bound))
        found = decide_relation(Space({first: inside}), steep, context.deeper())
        if found.truth is False:
            return _beside(found, inside, Rel((op,), (left, right)), first, second)
        if found.truth is None:
            return undecided(f"the slope of {to_text(function)}: {found.reason}")
        outcomes.append(found)
    together = conjunction(outcomes)
    step = f"{to_text(function)} is continuous, and its slope is at most {to_text(bound)} between kinks"
    return replace(together, steps=(*together.steps, step))


def _function(left: Expr, first: str, second: str) -> Expr | None:
    """The f of abs(f(x) - f(y))."""
    if not (isinstance(left, App) and left.head == "abs"):
        return None
    (inside,) = left.args
    if not (isinstance(inside, App) and inside.head == "add" and len(inside.args) == 2):
        return None
    a, b = inside.args
    if not (isinstance(b, App) and b.head == "neg"):
        return None
    (b,) = b.args
    if free_names(a) == {second}:
        a, b = b, a
    fits = free_names(a) == {first} and substitute(a, {first: Var(second)}) == b
    return a if fits else None


def _bound(right: Expr, first: str, second: str) -> Expr | None:
    """The closed L of L*abs(x - y)."""
    factors = right.args if isinstance(right, App) and right.head == "mul" else (right,)
    rest = tuple(f for f in factors if free_names(f))
    if len(rest) != 1 or not (isinstance(rest[0], App) and rest[0].head == "abs"):
        return None
    differences = [App("add", (Var(a), App("neg", (Var(b),)))) for a, b in ((first, second), (second, first))]
    if rest[0].args[0] not in differences:
        return None
    closed = tuple(f for f in factors if not free_names(f))
    if not closed:
        return num(1)
    return closed[0] if len(closed) == 1 else App("mul", closed)


def _beside(found: Outcome, inside: Domain, relation: Rel, first: str, second: str) -> Outcome | None:
    """Two inputs near the point where the slope is too steep, or near an end that it is steepest at."""
    try:
        middles = [Fraction((found.witness or {})[first])]
    except (KeyError, ValueError):
        middles = []
    for end, inward in ((inside.lo, 1), (inside.hi, -1)):
        if end is not None:
            middles += [enclosure(end)[0] + inward * Fraction(1, 2**k) for k in (5, 10, 20)]
    pairs = (_pair(middle, relation, first, second) for middle in middles)
    return next((p for p in pairs if p is not None), None)


def _pair(middle: Fraction, relation: Rel, first: str, second: str) -> Outcome | None:
    """Two inputs about a point that is too steep, or a jump, at which the bound fails."""
    for k in _STEPS:
        half = Fraction(1, 2**k)
        failure = failure_at(relation, {first: middle - half, second: middle + half})
        if failure is not None:
            return failure
    return None
