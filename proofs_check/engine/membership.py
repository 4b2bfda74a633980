"""Membership in the integers, in N, N1 and ranges of integers."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from math import lcm
from typing import Any

from gateproof.numerics.certificate import Bounds
from gateproof.numerics.errors import MaybeUndefined, Undefined
from gateproof.numerics.exact_point import exact_value
from gateproof.numerics.points import at_point, compare, rational_bounds
from gateproof.numerics.polynomials import expanded
from gateproof.proofs_check.engine.calculus import Elimination
from gateproof.proofs_check.engine.context import Context
from gateproof.proofs_check.engine.definedness import decide_defined
from gateproof.proofs_check.engine.numbers import ball_text, rational_text
from gateproof.proofs_check.engine.outcome import (
    PROVED,
    NotYetError,
    Outcome,
    conjunction,
    negation,
    undecided,
)
from gateproof.proofs_check.engine.point_certificates import point_certificate
from gateproof.proofs_check.engine.sample import Point, points
from gateproof.proofs_check.engine.space import Space, contains
from gateproof.theory.exact.critical import equal_constants
from gateproof.theory.formula.nodes import (
    App,
    Expr,
    In,
    IntRange,
    NamedSet,
    Num,
    Rel,
    SetExpr,
    SetMinus,
    Var,
    Where,
    num,
)
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.printer import to_text
from gateproof.theory.formula.scopes import free_names

#: Combinations of remainders that are gone through.
MAX_REMAINDERS = 5_000
_KEEPING = frozenset({"add", "mul", "neg", "abs", "max", "min"})


def holds_integers(within: SetExpr) -> bool:
    """Whether a set is one of integers."""
    if isinstance(within, SetMinus):
        return holds_integers(within.base)
    return isinstance(within, IntRange) or (isinstance(within, NamedSet) and within.name != "R")


def decide_member(space: Space, stmt: In, context: Context) -> Outcome:
    """Decide ``item in Z`` and the like for all of a space: a whole number, within its bounds."""
    from gateproof.proofs_check.engine.statements import forall

    if space.vectors:
        raise NotYetError("membership in a set of integers over vectors")
    item = _plain(space, stmt.item, context)
    if isinstance(item, Outcome):
        return item
    whole = _is_whole(space, item, context)
    if whole.truth is not True:
        return whole
    outcomes = [whole]
    for relation in _bounds(stmt.within, item):
        outcomes.append(forall(space, relation, context))
        if outcomes[-1].truth is not True:
            break
    return conjunction(outcomes)


def decide_no_member(space: Space, stmt: In, context: Context) -> Outcome:
    """Decide ``not (item in Z)`` for all of a space."""
    if space.vectors:
        raise NotYetError("membership in a set of integers over vectors")
    if not space.domains:
        return negation(decide_member(space, stmt, context))
    item = _plain(space, stmt.item, context)
    if isinstance(item, Outcome):
        return item
    for point in points(space, (item,), context.settings.seed, 400):
        value = exact_value(item, point)
        if value is not None and value.denominator == 1 and _inside(stmt.within, value):
            at = {n: rational_text(v) for n, v in point.items()}
            step = f"at {_text(at)} it is {rational_text(value)}, which is in {to_text(stmt.within)}"
            return Outcome(False, PROVED, "exact witness", ("fractions",), (step,), witness=at)
    remainders = _remainders(space, item, context)
    if remainders is not None and remainders[1] == 0:
        step = f"{to_text(item)} is a whole number for no remainders modulo {remainders[0]}"
        return Outcome(True, PROVED, "remainders", ("fractions",), (step,))
    return undecided(f"that {to_text(item)} is never in {to_text(stmt.within)} was not proved")


def _plain(space: Space, item: Expr, context: Context) -> Expr | Outcome:
    work = Elimination(space)
    plain = work.expr(item)
    if work.owed:
        raise NotYetError("membership of a derivative with kinks")
    found = decide_defined(space, plain, context)
    return plain if found.truth is True else found


def _bounds(within: SetExpr, item: Expr) -> list[Rel]:
    if isinstance(within, SetMinus):
        return [*_bounds(within.base, item), *(Rel(("!=",), (item, p)) for p in within.points)]
    if isinstance(within, IntRange):
        return [Rel(("<=",), (within.lo, item)), Rel(("<=",), (item, within.hi))]
    start = {"N": 0, "N1": 1}.get(within.name) if isinstance(within, NamedSet) else None
    return [] if start is None else [Rel((">=",), (item, num(start)))]


def _inside(within: SetExpr, value: Fraction) -> bool:
    """Whether a whole number certainly lies in a set of integers."""
    signs = {"<=": (-1, 0), ">=": (0, 1), "!=": (-1, 1)}
    for relation in _bounds(within, Num(value)):
        if any(free_names(t) for t in relation.terms):
            return False
        if compare(*relation.terms) not in signs[relation.ops[0]]:
            return False
    return True


def _is_whole(space: Space, item: Expr, context: Context) -> Outcome:
    """Whether the item is a whole number everywhere."""
    for point in points(space, (item,), context.settings.seed, 300):
        broken = _fraction_at(item, point)
        if broken is not None:
            return broken
    if _whole(space, item, context):
        return Outcome(True, PROVED, "whole parts", ("fractions",), (f"{to_text(item)} is a whole number",))
    remainders = _remainders(space, item, context)
    if remainders is not None:
        modulus, whole, total, broken_at = *remainders[:3], remainders[3]
        if whole == total:
            step = f"{to_text(item)} is a whole number for all remainders modulo {modulus} of its whole parts"
            return Outcome(True, PROVED, "remainders", ("fractions",), (step,))
        if broken_at is not None:
            broken = _fraction_at(item, broken_at)
            if broken is not None:
                return broken
    if not free_names(item):
        lo, hi = rational_bounds(at_point(item, {}, 256))
        nearest = round((lo + hi) / 2)
        if equal_constants(item, num(nearest)) is True:
            step = f"{to_text(item)} is {nearest}"
            return Outcome(True, PROVED, "exact arithmetic", ("flint",), (step,))
    return undecided(f"that {to_text(item)} is a whole number everywhere was not proved")


def _fraction_at(item: Expr, point: Point) -> Outcome | None:
    """The refuting outcome where the item is certainly no whole number at the point."""
    at = {n: rational_text(v) for n, v in point.items()}
    certificate: Mapping[str, Any] | None = None
    try:
        value = exact_value(item, point)
        if value is not None:
            if value.denominator == 1:
                return None
            text = rational_text(value)
            trust: tuple[str, ...] = ("fractions",)
        else:
            ball = at_point(item, point, 256)
            lo, hi = rational_bounds(ball)
            if lo.numerator // lo.denominator != hi.numerator // hi.denominator or lo.denominator == 1:
                return None
            text, trust = ball_text(ball), ("arb",)
            certificate = _between(item, point, lo.numerator // lo.denominator)
            trust = trust if certificate is None else ("arb", "mpfr")
    except (Undefined, MaybeUndefined):
        return None
    where = f"at {_text(at)} " if at else ""
    step = f"{where}{to_text(item)} = {text}, which is not a whole number"
    witness = {**at, "left": text}
    return Outcome(False, PROVED, "exact witness", trust, (step,), witness=witness, certificate=certificate)


def _between(item: Expr, point: Point, below: int) -> Mapping[str, Any] | None:
    """An accepted certificate that the value lies strictly between two whole numbers, or None."""
    place = {name: (value, value) for name, value in point.items()}
    bounds = Bounds(Fraction(below), Fraction(below + 1), True, True)
    return point_certificate(item, place, bounds)


def _text(at: dict[str, str]) -> str:
    return ", ".join(f"{n} = {v}" for n, v in at.items()) or "the numbers given"


def _whole(space: Space, item: Expr, context: Context) -> bool:
    """Whether it is built from whole numbers by operations that keep them whole."""
    value = constant_value(item)
    if value is not None:
        return value.denominator == 1
    if isinstance(item, Var):
        return item.name in space.domains and space.domains[item.name].integer
    if isinstance(item, Where):
        return _whole(space, item.then, context) and _whole(space, item.other, context)
    if not isinstance(item, App):
        return False
    if item.head == "sign":
        return True
    if item.head in _KEEPING:
        return all(_whole(space, a, context) for a in item.args)
    if item.head == "pow":
        base, exponent = item.args
        if not (_whole(space, base, context) and _whole(space, exponent, context)):
            return False
        from gateproof.proofs_check.engine.statements import forall

        return forall(space, Rel((">=",), (exponent, num(0))), context.deeper()).truth is True
    return False


def _remainders(space: Space, item: Expr, context: Context) -> tuple[int, int, int, Point | None] | None:
    """The modulus, how many combinations of remainders give whole numbers, of how many; one that does not.

    None where the item is no polynomial in whole parts, or there are too many combinations.
    """
    polynomial = expanded(item)
    if polynomial is None:
        return None
    parts = list(dict.fromkeys(base for monomial in polynomial for base, _ in monomial))
    if not all(_whole(space, p, context) for p in parts):
        return None
    modulus = lcm(*(c.denominator for c in polynomial.values())) if polynomial else 1
    if modulus ** len(parts) > MAX_REMAINDERS:
        return None
    whole = total = 0
    broken: tuple[int, ...] | None = None
    for remainders in product(range(modulus), repeat=len(parts)):
        at = dict(zip(parts, remainders, strict=True))
        value = Fraction(0)
        for monomial, c in polynomial.items():
            term = c
            for base, n in monomial:
                term *= at[base] ** n
            value += term
        total += 1
        whole += value.denominator == 1
        if value.denominator != 1 and broken is None:
            broken = remainders
    return modulus, whole, total, _a_point(space, parts, broken, modulus)


def _a_point(
    space: Space, parts: list[Expr], remainders: tuple[int, ...] | None, modulus: int
) -> Point | None:
    """A point of the space whose names have the remainders."""
    if remainders is None or space.facts or not all(isinstance(p, Var) for p in parts):
        return None
    point: dict[str, Fraction] = {}
    for part, remainder in zip(parts, remainders, strict=True):
        assert isinstance(part, Var)
        domain = space.domains[part.name]
        choices = (Fraction(remainder + s * k * modulus) for k in range(200) for s in (1, -1))
        value = next((v for v in choices if contains(domain, v) is True), None)
        if value is None:
            return None
        point[part.name] = value
    return point
