"""Rational arithmetic at a rational point, where balls cannot see that a part is exactly 0."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from gateproof.numerics.errors import Undefined
from gateproof.theory.formula.nodes import And, App, Expr, Not, Num, Or, Rel, Stmt, Var, Where
from gateproof.theory.formula.powers import constant_value, digits_of_power
from gateproof.theory.special import find
from gateproof.theory.special.symbolic import has_no_value, value_at

Point = Mapping[str, Fraction]
#: Digits of a power that is formed here; above it the value is left to balls.
_MAX_DIGITS = 1_000
#: Functions that map one rational to a rational, and nowhere else by a rule used here.
_FIXED: dict[str, tuple[Fraction, Fraction]] = {
    name: (Fraction(x), Fraction(y))
    for name, x, y in (
        ("exp", 0, 1), ("sin", 0, 0), ("cos", 0, 1), ("tan", 0, 0), ("asin", 0, 0), ("atan", 0, 0),
        ("sinh", 0, 0), ("cosh", 0, 1), ("tanh", 0, 0), ("sech", 0, 1), ("asinh", 0, 0),
        ("atanh", 0, 0), ("erf", 0, 0), ("erfc", 0, 1), ("log", 1, 0), ("acosh", 1, 0),
        ("acos", 1, 0),
    )
}  # fmt: skip
_FIXED["sigmoid"] = (Fraction(0), Fraction(1, 2))


def exact_value(expr: Expr, point: Point) -> Fraction | None:
    """The value where rational arithmetic alone gives it, else None.

    Raises Undefined where a part surely has no value: division by exactly 0, the
    logarithm of a number <= 0, the square root of a negative one.
    """
    if isinstance(expr, Num):
        return expr.value
    if isinstance(expr, Var):
        return point.get(expr.name)
    if isinstance(expr, Where):
        truth = exact_truth(expr.cond, point)
        # An undecided condition: neither branch is looked at, whatever is wrong in it.
        return None if truth is None else exact_value(expr.then if truth else expr.other, point)
    if not isinstance(expr, App):
        return None
    return _apply(expr, [exact_value(a, point) for a in expr.args])


def _apply(expr: App, found: list[Fraction | None]) -> Fraction | None:
    head = expr.head
    if head == "div" and found[1] == 0:
        raise Undefined("division by 0")
    if head == "pow":
        return _power(expr, found[0])
    args = [a for a in found if a is not None]
    if len(args) < len(found):
        return None
    first = args[0]
    if head == "add":
        return sum(args, Fraction(0))
    if head == "mul":
        product = Fraction(1)
        for a in args:
            product *= a
        return product
    if head in ("max", "min"):
        return max(args) if head == "max" else min(args)
    if head == "div":
        return first / args[1]
    if head == "neg":
        return -first
    if head == "abs":
        return abs(first)
    if head == "sign":
        return Fraction((first > 0) - (first < 0))
    if (head == "log" and first <= 0) or (head == "sqrt" and first < 0):
        raise Undefined(f"{head} of {first}")
    special = find(head)
    if special is not None:
        if has_no_value(special, first):
            raise Undefined(f"{special.family.name} of {first}")
        value = value_at(head, first)
        return None if value is None else constant_value(value)
    place = _FIXED.get(head)
    return place[1] if place is not None and place[0] == first else None


def _power(expr: App, base: Fraction | None) -> Fraction | None:
    n = constant_value(expr.args[1])
    if base is None or n is None:
        return None
    if base == 0 and n < 0:
        raise Undefined("a power of 0 with an exponent below 0")
    if n.denominator != 1:
        if base < 0:
            raise Undefined("a fractional power of a negative number")
        return Fraction(0) if base == 0 else None
    return base ** int(n) if digits_of_power(base, n) <= _MAX_DIGITS else None


def exact_truth(cond: Stmt, point: Point) -> bool | None:
    """The truth of a condition where rational arithmetic alone gives it, else None."""
    if isinstance(cond, Not):
        inner = exact_truth(cond.part, point)
        return None if inner is None else not inner
    if isinstance(cond, And | Or):
        found = [exact_truth(p, point) for p in cond.parts]
    elif isinstance(cond, Rel):
        values = [exact_value(t, point) for t in cond.terms]
        pairs = zip(cond.ops, values, values[1:], strict=False)
        found = [_compare(op, a, b) for op, a, b in pairs]
    else:
        return None
    deciding = isinstance(cond, Or)
    if deciding in found:
        return deciding
    return None if None in found else not deciding


def _compare(op: str, a: Fraction | None, b: Fraction | None) -> bool | None:
    if a is None or b is None:
        return None
    return {"<": a < b, "<=": a <= b, "==": a == b, "!=": a != b, ">": a > b, ">=": a >= b}[op]
