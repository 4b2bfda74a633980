"""The sharp constant of a universal bound: the supremum of what it bounds, rounded outward."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import islice

from gateproof.numerics.errors import NumericsError
from gateproof.numerics.points import at_point, rational_bounds
from gateproof.proofs_check.engine import nearest_numbers as numbers
from gateproof.proofs_check.engine.nearest_guess import guessed
from gateproof.proofs_check.engine.nearest_question import STOPS, Change, Question, Value, is_plain
from gateproof.proofs_check.engine.nearest_values import extremum_forms
from gateproof.proofs_check.engine.sample import points, values
from gateproof.proofs_check.engine.space import Space
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import (
    App,
    Bind,
    Const,
    Expr,
    Extremum,
    In,
    IntervalSet,
    NamedSet,
    Num,
    Rel,
    Scope,
    SetExpr,
)
from gateproof.theory.formula.scopes import free_names

_FLIP = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
#: Values of the other names at which the supremum over one name is looked at.
_SLICES = 3


def bound_changes(ask: Question, op: str, a: Expr, b: Expr) -> Iterator[Change]:
    """``f <= c`` or ``f <= c*h`` for all values, with the constant that makes it true."""
    if op not in ("<", "<=", ">", ">="):
        return
    names = set(ask.scope.names())
    subject, other, flipped = (a, b, False) if free_names(a) & names else (b, a, True)
    sides = [(subject, other, flipped)]
    if free_names(other) & names:
        # Both sides vary: the one with a number in front is the bound.
        sides = [(x, y, f) for x, y, f in ((a, b, False), (b, a, True)) if leading(y) is not None]
    for f, bound, turned in sides:
        sign = _FLIP[op] if turned else op
        yield from _one_bound(ask, sign, f, bound, turned)


def _one_bound(ask: Question, op: str, f: Expr, bound: Expr, flipped: bool) -> Iterator[Change]:
    factor = leading(bound) if free_names(bound) & set(ask.scope.names()) else None
    if factor is None and free_names(bound) & set(ask.scope.names()):
        return
    target = f if factor is None else App("div", (f, factor[1]))
    up = op[0] == "<"
    found = sharp(ask, target, up=up)
    if found is None or found.infinite:
        return

    def stated(sign: str, constant: Expr) -> Change:
        value = constant if factor is None else with_factor(bound, constant)
        part = Rel((_FLIP[sign],), (value, f)) if flipped else Rel((sign,), (f, value))
        return ask.change("constant", part)

    strict, loose = op[0], op[0] + "="
    exact = numbers.names_of(found.lo, found.hi)
    exact += [found.exact] if found.exact is not None and found.exact not in exact else []
    old = bound if factor is None else Num(factor[0])
    for value in (numbers.styled(v, old) for v in exact):
        if found.attained is False:
            yield stated(strict, value)
        yield stated(loose, value)
    yield stated(loose, numbers.decimal(found.hi if up else found.lo, up=up))


def leading(node: Expr) -> tuple[Fraction, Expr] | None:
    """The number in front of a product or quotient, and the rest; None where there is none."""
    if isinstance(node, App) and node.head == "div":
        over, below = node.args
        if isinstance(over, Num):
            return over.value, App("div", (Num(Fraction(1)), below))
        inner = leading(over)
        return None if inner is None else (inner[0], App("div", (inner[1], below)))
    if isinstance(node, App) and node.head == "mul" and isinstance(node.args[0], Num):
        rest = node.args[1:]
        return node.args[0].value, rest[0] if len(rest) == 1 else App("mul", rest)
    return None


def with_factor(node: Expr, constant: Expr) -> Expr:
    """The product or quotient with another number in front."""
    assert isinstance(node, App)
    first = node.args[0]
    changed = constant if isinstance(first, Num) else with_factor(first, constant)
    if node.head == "mul" and changed == Num(Fraction(1)):
        return node.args[1] if len(node.args) == 2 else App("mul", node.args[1:])
    return App(node.head, (changed, *node.args[1:]))


def sharp(ask: Question, f: Expr, *, up: bool) -> Value | None:
    """The supremum (infimum) of an expression over the scope.

    With several names it is the largest over some values of all but one of them: then a guess.
    """
    try:
        space = ask.space()
        core = ask.core(f, space)
    except STOPS:
        return None
    if space.vectors or space.facts or not is_plain(core):
        return None
    best: Value | None = None
    name = next((n for n in space.domains if n in free_names(core)), None)
    if name is None or space.domains[name].integer:
        return _over_integers(space, core, up=up)
    for values_of_others in _slices(space, core, name, ask.context.settings.seed):
        body = substitute(core, {n: Num(v) for n, v in values_of_others.items()})
        found = _extremum(ask, space, name, body, up=up)
        if found is None:
            return None
        if found.infinite:
            return found
        if best is None or (found.hi > best.hi if up else found.lo < best.lo):
            best = found
    return best


def _over_integers(space: Space, core: Expr, *, up: bool) -> Value | None:
    """The largest value at a few points of a scope of integers: a guess."""
    ends: list[tuple[Fraction, Fraction]] = []
    for point in islice(points(space, (core,), 0, 60), 60):
        try:
            ends.append(rational_bounds(at_point(core, point, 128)))
        except NumericsError:
            return None
    if not ends:
        return None
    lo, hi = max(ends, key=lambda e: e[1]) if up else min(ends, key=lambda e: e[0])
    return Value(lo, hi)


def _slices(space: Space, core: Expr, name: str, seed: int) -> Iterator[dict[str, Fraction]]:
    import random

    others = [n for n in space.domains if n != name and n in free_names(core)]
    columns = [values(space.domains[n], [], random.Random(seed))[: _SLICES + 2] for n in others]
    if any(not c for c in columns):
        return
    for k in range(_SLICES if others else 1):
        yield {n: c[min(k, len(c) - 1)] for n, c in zip(others, columns, strict=True)}


def _extremum(ask: Question, space: Space, name: str, body: Expr, *, up: bool) -> Value | None:
    domain = space.domains[name]
    if domain.integer:
        return None
    within = interval(domain.lo, domain.hi, domain.lo_closed, domain.hi_closed)
    node = Extremum("sup" if up else "inf", body, Scope((Bind(name, within),), ()))
    found = ask.value(node)
    if found is None:
        return guessed(space, name, body, up=up)
    if found.infinite:
        return found
    forms = extremum_forms(ask, node, found)
    return Value(found.lo, found.hi, forms[0] if forms else None, 0, found.attained)


def interval(lo: Expr | None, hi: Expr | None, lo_closed: bool, hi_closed: bool) -> SetExpr:
    """An interval as a set of the language; None is an infinite end."""
    if lo is None and hi is None:
        return NamedSet("R")
    infinity: Expr = Const("oo")
    left: Expr = App("neg", (infinity,)) if lo is None else lo
    return IntervalSet(left, infinity if hi is None else hi, lo_closed, hi_closed)


def membership_changes(ask: Question, part: In) -> Iterator[Change]:
    """``f in [a, b]`` with the set of values of f."""
    if not isinstance(part.within, IntervalSet):
        return
    low, high = sharp(ask, part.item, up=False), sharp(ask, part.item, up=True)
    if low is None or high is None:
        return
    written = [_end(low, up=False), _end(high, up=True)]
    for exact in (True, False):
        ends = [(w[0] if exact and w[0] is not None else w[1]) for w in written]
        within = IntervalSet(
            *_as_ends(ends),
            not low.infinite and (low.attained is not False or ends[0] is not written[0][0]),
            not high.infinite and (high.attained is not False or ends[1] is not written[1][0]),
        )
        yield ask.change("set", In(part.item, within))


def _end(found: Value, *, up: bool) -> tuple[Expr | None, Expr]:
    if found.infinite:
        end: Expr = Const("oo") if up else App("neg", (Const("oo"),))
        return end, end
    names = numbers.names_of(found.lo, found.hi)
    exact = names[0] if names else found.exact
    return exact, numbers.decimal(found.hi if up else found.lo, up=up)


def _as_ends(ends: list[Expr]) -> tuple[Expr, Expr]:
    return ends[0], ends[1]


def distance_changes(ask: Question, a: Expr, b: Expr) -> Iterator[Change]:
    """How far the sides of a false identity are apart at most."""
    gap = App("abs", (App("add", (a, App("neg", (b,)))),))
    found = sharp(ask, gap, up=True)
    if found is None or found.infinite:
        return
    for value in numbers.names_of(found.lo, found.hi)[:1]:
        yield ask.change("distance", Rel(("<=",), (gap, value)))
    yield ask.change("distance", Rel(("<=",), (gap, numbers.decimal(found.hi, up=True))))
