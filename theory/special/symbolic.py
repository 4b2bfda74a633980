"""Of a special function as expressions: its slope, its domain, its values at rational points."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache

from gateproof.theory.formula.errors import FormulaError
from gateproof.theory.formula.nodes import App, Expr, Num, num
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.special.family import Function
from gateproof.theory.special.registry import find

#: Signs that an expression may have.
NOT_ZERO, POSITIVE, NOT_NEGATIVE = frozenset({-1, 1}), frozenset({1}), frozenset({0, 1})


@lru_cache(maxsize=512)
def formula(text: str) -> Expr:
    """A closed formula, or one in x and parameters, as core nodes."""
    from gateproof.theory.formula.expand import expand
    from gateproof.theory.formula.read import parse_expr

    return expand(parse_expr(text))


@lru_cache(maxsize=512)
def slope(head: str) -> Expr | None:
    """The derivative as an expression in ``x``; None where there is none in the language."""
    from gateproof.theory.formula.expand import expand
    from gateproof.theory.formula.library import substitute
    from gateproof.theory.formula.read import parse_expr

    found = find(head)
    if found is None:
        return None
    text = found.family.slope
    text = text if isinstance(text, str) else text(found.params)
    values: Mapping[str, Expr] = dict(zip(found.family.parameters, map(Num, found.params), strict=True))
    try:
        return expand(substitute(parse_expr(text), values))
    except FormulaError:
        # An order beyond those that are taken.
        return None


def slope_at(head: str, u: Expr) -> Expr | None:
    """The derivative at u."""
    from gateproof.theory.formula.library import substitute

    found = slope(head)
    return None if found is None else substitute(found, {"x": u})


def value_at(head: str, x: Fraction) -> Expr | None:
    """The exact value at a rational point, where one is known."""
    found = find(head)
    text = None if found is None else found.family.value_at(found.params, x)
    return None if text is None else formula(text)


def conditions(found: Function, u: Expr) -> list[tuple[Expr, frozenset[int]]]:
    """Expressions and the signs that they must have, all of them; poles at 0, -1, .. are not among them."""
    span = found.span
    needed: list[tuple[Expr, frozenset[int]]] = []
    if span.lo is not None:
        needed.append((_minus(u, formula(span.lo)), NOT_NEGATIVE if span.lo_closed else POSITIVE))
    if span.hi is not None:
        needed.append((_minus(formula(span.hi), u), NOT_NEGATIVE if span.hi_closed else POSITIVE))
    needed += [(_minus(u, Num(h)), NOT_ZERO) for h in span.holes]
    return needed


def off_poles(u: Expr) -> tuple[tuple[Expr, frozenset[int]], ...]:
    """Conditions each of which keeps u off 0, -1, -2, ..."""
    turns = App("sin", (App("mul", (formula("pi"), u)),))
    return (u, POSITIVE), (turns, NOT_ZERO)


def kinks(found: Function, u: Expr) -> list[Expr]:
    """What is 0 where the function has a value but no derivative."""
    return [_minus(u, formula(text)) for text in found.family.kinks(found.params)]


def _minus(a: Expr, b: Expr) -> Expr:
    if b == num(0):
        return a
    if isinstance(a, Num) and isinstance(b, Num):
        return Num(a.value - b.value)
    if isinstance(b, Num):
        return App("add", (a, Num(-b.value)))
    if isinstance(b, App) and b.head == "neg":
        return App("add", (a, b.args[0]))
    return App("add", (a, App("neg", (b,))))


def has_no_value(found: Function, x: Fraction) -> bool:
    """Whether a rational point is seen to lie outside the domain; an irrational end tells nothing here."""
    span = found.span
    if x in span.holes or (span.poles and x.denominator == 1 and x <= 0):
        return True
    lo = None if span.lo is None else constant_value(formula(span.lo))
    hi = None if span.hi is None else constant_value(formula(span.hi))
    if lo is not None and (x < lo or (x == lo and not span.lo_closed)):
        return True
    return hi is not None and (x > hi or (x == hi and not span.hi_closed))
