"""The right sign or direction: attained bounds, opposites, and identities up to a factor or a constant."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import islice

from gateproof.numerics.errors import NumericsError
from gateproof.numerics.points import at_point, rational_bounds
from gateproof.proofs_check.engine import nearest_numbers as numbers
from gateproof.proofs_check.engine.nearest_question import STOPS, Change, Question, is_literal, is_plain
from gateproof.proofs_check.engine.sample import points
from gateproof.proofs_check.engine.space import infinite_sign
from gateproof.theory.formula.nodes import App, Expr, Implies, Pred, Rel
from gateproof.theory.formula.scopes import free_names

_OPPOSITE_PREDICATE = {"odd": "even", "even": "odd", "increasing": "decreasing", "decreasing": "increasing"}
_MIRROR = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
#: Points at which the quotient and the difference of two sides are looked at.
_POINTS = 12


def attained_changes(ask: Question, op: str, a: Expr, b: Expr) -> Iterator[Change]:
    """``<=`` for ``<``."""
    if op in ("<", ">") and not infinite_sign(a) and not infinite_sign(b):
        yield ask.change("attained", Rel((op + "=",), (a, b)))


def direction_changes(ask: Question, op: str, a: Expr, b: Expr) -> Iterator[Change]:
    """The relation the other way round."""
    if op in _MIRROR:
        turned = _MIRROR[op]
        for sign in dict.fromkeys((turned[0], turned[0] + "=")):
            yield ask.change("direction", Rel((sign,), (a, b)))


def identity_changes(ask: Question, a: Expr, b: Expr) -> Iterator[Change]:
    """``a == b`` up to a sign, a rational factor, or a constant that is added."""
    try:
        space = ask.space()
        left, right = ask.core(a, space), ask.core(b, space)
    except STOPS:
        return
    if space.vectors or not is_plain(left) or not is_plain(right):
        return
    ratios: list[tuple[Fraction, Fraction]] = []
    gaps: list[tuple[Fraction, Fraction]] = []
    for point in islice(points(space, (left, right), ask.context.settings.seed, _POINTS), _POINTS):
        try:
            x = rational_bounds(at_point(left, point, 128))
            y = rational_bounds(at_point(right, point, 128))
        except NumericsError:
            continue
        gaps.append((x[0] - y[1], x[1] - y[0]))
        if y[0] > 0 or y[1] < 0:
            quotients = [p / q for p in x for q in y]
            ratios.append((min(quotients), max(quotients)))
    factor, shift = _common(ratios), _common(gaps)
    if factor is not None and not is_literal(b):
        for k in numbers.names_of(*factor):
            scaled = App("neg", (b,)) if factor[1] == factor[0] == -1 or _is(k, -1) else App("mul", (k, b))
            yield ask.change("sign" if _is(k, -1) else "factor", Rel(("==",), (a, scaled)))
    if shift is not None:
        for k in numbers.names_of(*shift):
            if _is(k, 0):
                continue
            moved = _moved(ask, b, k)
            yield ask.change("constant", Rel(("==",), (a, moved)))


def _moved(ask: Question, b: Expr, shift: Expr) -> Expr:
    """The right side plus a constant; a right side that is a number is replaced by the sum."""
    if is_literal(b) and not free_names(b):
        found = ask.value(App("add", (b, shift)))
        names = numbers.names_of(found.lo, found.hi) if found is not None else []
        if names:
            return names[0]
    return App("add", (b, shift))


def _is(node: Expr, value: int) -> bool:
    return node == numbers.number(Fraction(value))


def _common(ends: list[tuple[Fraction, Fraction]]) -> tuple[Fraction, Fraction] | None:
    """What all enclosures have in common, if they have and are several."""
    if len(ends) < 4:
        return None
    lo, hi = max(e[0] for e in ends), min(e[1] for e in ends)
    return (lo, hi) if lo <= hi else None


def predicate_changes(ask: Question, part: Pred) -> Iterator[Change]:
    """Odd for even, decreasing for increasing, concave for convex."""
    opposite = _OPPOSITE_PREDICATE.get(part.name)
    if opposite is not None:
        yield ask.change("direction", Pred(opposite, part.body, part.scope))
    elif part.name == "convex":
        yield ask.change("direction", Pred("convex", App("neg", (part.body,)), part.scope))


def converse_changes(ask: Question, part: Implies) -> Iterator[Change]:
    """The implication the other way round."""
    yield ask.change("direction", Implies(part.right, part.left))
