"""Extrema and zeros over integers, as ``certify`` prints them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from gateproof.numerics.errors import NotImplementedOperator
from gateproof.numerics.exact_point import exact_value
from gateproof.numerics.integers import largest, zeros_over
from gateproof.numerics.points import at_point, rational_bounds
from gateproof.theory.exact.critical import equal_constants
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Expr, Extremum, IntRange, NamedSet, SetExpr, SetMinus, num
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.printer import to_text

MAX_TIES = 50


@dataclass(frozen=True)
class Found:
    """``points`` where the extremum is reached (or the zeros), and the extremum; None: infinite."""

    points: tuple[int, ...]
    value: tuple[Fraction, Fraction] | None


def over_integers(node: Extremum) -> bool:
    """Whether the one name of an extremum ranges over integers."""
    return len(node.scope.binds) == 1 and _base(node.scope.binds[0].within) is not None


def _base(within: SetExpr) -> IntRange | NamedSet | None:
    if isinstance(within, SetMinus):
        return _base(within.base)
    if isinstance(within, IntRange) or (isinstance(within, NamedSet) and within.name != "R"):
        return within
    return None


def integer_extremum(node: Extremum, digits: int) -> Found | str:
    """What an extremum over integers is, or why that was not found.

    Raises NotImplementedOperator for ends that are no plain integers, Undefined where the body has no value.
    """
    if node.scope.conditions or any(isinstance(n, Extremum) for n in node.body.walk()):
        raise NotImplementedOperator(f"{node.op} over integers of such an expression")
    bind = node.scope.binds[0]
    first, last, holes = _range(bind.within)
    if node.op == "zeros":
        found = zeros_over(node.body, bind.name, first, last, holes)
        if isinstance(found, str):
            return found
        if not all(equal_constants(substitute(node.body, {bind.name: num(n)}), num(0)) for n in found):
            return "a value near 0 was not proved to be 0"
        return Found(found, None)
    up = node.op in ("sup", "max", "argmax")
    at = largest(node.body if up else App("neg", (node.body,)), bind.name, first, last, holes)
    if at.status == "infinite":
        return Found((), None)
    if at.limit is not None:
        value = at.limit if up else -at.limit
        return Found((), (value, value))
    values = [substitute(node.body, {bind.name: num(n)}) for n in at.points[: MAX_TIES + 1]]
    if not values or len(values) > MAX_TIES or not all(equal_constants(v, values[0]) for v in values[1:]):
        return at.reason or "several values were not told apart"
    return Found(at.points, _enclosed(values[0], digits))


def _enclosed(value: Expr, digits: int) -> tuple[Fraction, Fraction]:
    exact = exact_value(value, {})
    return (exact, exact) if exact is not None else rational_bounds(at_point(value, {}, 4 * digits + 64))


def _range(within: SetExpr) -> tuple[int | None, int | None, list[int]]:
    if isinstance(within, SetMinus):
        first, last, holes = _range(within.base)
        return first, last, [*holes, *(n for p in within.points if (n := _integer(p)) is not None)]
    if isinstance(within, IntRange):
        first, last = _integer(within.lo), _integer(within.hi)
        if first is None or last is None:
            raise NotImplementedOperator(f"a range of integers with the ends of {to_text(within)}")
        return first, last, []
    assert isinstance(within, NamedSet)
    return {"N": 0, "N1": 1}.get(within.name), None, []


def _integer(node: Expr) -> int | None:
    value = constant_value(node)
    if value is None:
        raise NotImplementedOperator(f"{to_text(node)} as a bound of integers")
    return int(value) if value.denominator == 1 else None
