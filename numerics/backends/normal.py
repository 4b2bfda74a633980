"""Core expressions in normal form with the stable rules applied, bottom up.

The result has the same value wherever the given expression has one, and may have values where it had a
hole that can be filled.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TypeGuard

from gateproof.numerics.backends import log_rules, rules
from gateproof.numerics.backends.algebra import (
    ONE,
    Factors,
    as_product,
    as_sum,
    exponent_of,
    is_closed,
    is_total,
    plus,
    product,
    scaled,
    split_sign,
    square_root,
    total,
)
from gateproof.numerics.points import SIGN_TESTS
from gateproof.theory.formula.nodes import And, App, Expr, Node, Not, Num, Or, Rel, Stmt, Where, num, rebuild

_ODD = frozenset({"tanh", "erf", "sinh", "asinh", "atan", "asin", "atanh", "sin", "tan", "sign"})
_EVEN = frozenset({"abs", "cosh", "sech", "cos"})
_ROUNDS = 60
#: A number raised to a power is written out up to this many digits.
_MAX_DIGITS = 200


@lru_cache(maxsize=8192)
def normal(node: Expr) -> Expr:
    """The normal form of a core expression."""
    if isinstance(node, Where):
        return _where(node)
    if not isinstance(node, App):
        return node
    args = tuple(normal(a) for a in node.args)
    head = node.head
    if head == "add":
        return sum_of(*args)
    if head == "neg":
        return sum_of(scaled(args[0], Fraction(-1)))
    if head == "mul":
        return product_of(*args)
    if head == "div":
        return product_of(args[0], power_of(args[1], Fraction(-1)))
    if head == "pow":
        return _power(*args)
    if head == "sqrt":
        return root_of(args[0])
    if head in ("max", "min"):
        return args[0] if len(set(args)) == 1 else App(head, args)
    return function_of(head, args[0]) if len(args) == 1 else App(head, args)


def statement(stmt: Stmt) -> Stmt:
    """The condition with its terms in normal form."""

    def change(child: Node) -> Node:
        if isinstance(child, Expr):
            return normal(child)
        return statement(child) if isinstance(child, Stmt) else child

    found = rebuild(stmt, change)
    assert isinstance(found, Stmt)
    return found


def truth(stmt: Stmt) -> bool | None:
    """The truth of a condition between rational numbers, None where it has others."""
    if isinstance(stmt, Rel) and all(isinstance(t, Num) for t in stmt.terms):
        values = [t.value for t in stmt.terms if isinstance(t, Num)]
        return all(SIGN_TESTS[op](a - b) for op, a, b in zip(stmt.ops, values, values[1:], strict=False))
    if isinstance(stmt, Not):
        inner = truth(stmt.part)
        return None if inner is None else not inner
    if isinstance(stmt, And | Or):
        parts = [truth(p) for p in stmt.parts]
        stop = isinstance(stmt, Or)
        return stop if stop in parts else None if None in parts else not stop
    return None


def _where(node: Where) -> Expr:
    cond = statement(node.cond)
    known = truth(cond)
    if known is not None:
        return normal(node.then if known else node.other)
    then, other = normal(node.then), normal(node.other)
    return then if then == other else type(node)(cond, then, other)


def sum_of(*args: Expr) -> Expr:
    """The sum with all rules applied."""
    found = plus(*args)
    for _ in range(_ROUNDS):
        terms = as_sum(found)
        simpler = rules.simpler_sum(terms)
        if simpler is None:
            return found
        found = plus(*(product_of(num(c), _again(m)) for m, c in simpler.items()))
    return found


def _again(node: Expr) -> Expr:
    """A monomial whose new factors have been made by a rule."""
    _, factors = as_product(node)
    return product_of(*(power_of(normal(f), p) for f, p in factors.items()))


def product_of(*args: Expr) -> Expr:
    """The product with all rules applied."""
    number, factors = as_product(App("mul", args)) if args else (Fraction(1), Factors())
    for _ in range(_ROUNDS):
        number, factors = _content(number, factors)
        found = rules.simpler_product(number, factors)
        if found is None:
            break
        number, factors, more = found
        for node in more:
            c, extra = as_product(normal(node))
            number *= c
            for base, power in extra.items():
                factors[base] = factors.get(base, Fraction(0)) + power
    return product(number, factors)


def _content(number: Fraction, factors: Factors) -> tuple[Fraction, Factors]:
    """Numbers out of sums, and square roots of numbers joined."""
    out, radicand = Factors(), Fraction(1)
    for base, power in factors.items():
        if isinstance(base, App) and base.head == "sqrt" and _is_positive(base.args[0]):
            whole, odd = divmod(power, 2) if power.denominator == 1 else (Fraction(0), Fraction(0))
            if power.denominator == 1:
                number *= base.args[0].value ** int(whole)
                radicand *= base.args[0].value if odd else 1
                continue
        if isinstance(base, App) and base.head == "add" and power.denominator == 1:
            terms = as_sum(base)
            common = next(iter(terms.values()))
            if common not in (0, 1, -1) and all(c == common or c == -common for c in terms.values()):
                size = abs(common)
                number *= size ** int(power)
                base = total({m: c / size for m, c in terms.items()})
        out[base] = out.get(base, Fraction(0)) + power
    outside, inside = square_root(radicand)
    number *= outside
    if inside != 1:
        node = App("sqrt", (num(inside),))
        out[node] = out.get(node, Fraction(0)) + 1
    return number, {b: p for b, p in out.items() if p != 0 or not is_total(b)}


def _is_positive(node: Expr) -> TypeGuard[Num]:
    return isinstance(node, Num) and node.value > 0


def power_of(base: Expr, power: Fraction) -> Expr:
    """base**power for a number."""
    if power == 1:
        return base
    if isinstance(base, Num) and power.denominator == 1 and (base.value or power > 0):
        size = (
            max(abs(base.value.numerator), base.value.denominator).bit_length() * abs(power) * Fraction(3, 10)
        )
        if size <= _MAX_DIGITS:
            return Num(base.value ** int(power))
    exponent = exponent_of(base)
    if exponent is not None:
        return function_of("exp", rules.scaled_sum(exponent, power))
    if power.denominator == 2:
        return power_of(root_of(base), Fraction(power.numerator))
    if power.denominator != 1:
        return App("pow", (base, Num(power)))
    one_more = _one_plus_exp(base)
    if one_more is not None and power >= 2:
        return function_of("exp", scaled(function_of("softplus", one_more), power))
    number, factors = as_product(base)
    if len(factors) == 1 and number == 1 and next(iter(factors)) == base:
        return product_of(product(Fraction(1), {base: power}))
    if number == 0 and power < 0:
        return App("pow", (base, Num(power)))
    parts = [power_of(product(Fraction(1), {b: Fraction(1)}), p * power) for b, p in factors.items()]
    return product_of(Num(number ** int(power)), *parts)


def _one_plus_exp(base: Expr) -> Expr | None:
    terms = as_sum(base)
    if len(terms) == 2 and terms.get(ONE) == 1:
        other = next(m for m in terms if m != ONE)
        if terms[other] == 1:
            return exponent_of(other)
    return None


def _power(base: Expr, exponent: Expr) -> Expr:
    if isinstance(exponent, Num):
        return num(1) if exponent.value == 0 else power_of(base, exponent.value)
    inner = exponent_of(base)
    if inner is not None:
        return function_of("exp", product_of(inner, exponent))
    return App("pow", (base, exponent))


def root_of(u: Expr) -> Expr:
    """sqrt(u), with squares taken out as absolute values."""
    exponent = exponent_of(u)
    if exponent is not None:
        return function_of("exp", rules.half(exponent))
    number, factors = as_product(u)
    if number < 0 or any(p.denominator != 1 for p in factors.values()):
        return App("sqrt", (u,))
    outside, rest = square_root(number)
    out: list[Expr] = []
    inside = Factors()
    for base, power in factors.items():
        if power % 2 == 0:
            out.append(power_of(function_of("abs", base), power / 2))
        else:
            inside[base] = power
    if inside and is_closed(product(Fraction(1), inside)):
        return product_of(Num(outside), *out, App("sqrt", (product(Fraction(rest), inside),)))
    parts: list[Expr] = [Num(outside), *out]
    if rest != 1:
        parts.append(App("sqrt", (num(rest),)))
    if inside:
        parts.append(App("sqrt", (product(Fraction(1), inside),)))
    return product_of(*parts)


def function_of(head: str, u: Expr) -> Expr:
    """A function of one argument in normal form."""
    if isinstance(u, Num) and u.value == 0 and head in _AT_ZERO:
        return num(_AT_ZERO[head])
    if head == "sqrt":
        return root_of(u)
    if head in _ODD or head in _EVEN:
        sign, inner = split_sign(u)
        if sign < 0:
            return scaled(App(head, (inner,)), Fraction(-1 if head in _ODD else 1))
    if head == "abs":
        return _absolute(u)
    if head in ("sech", "cosh") and isinstance(u, App) and u.head == "asinh":
        root = root_of(sum_of(num(1), power_of(u.args[0], Fraction(2))))
        return root if head == "cosh" else power_of(root, Fraction(-1))
    if head == "log":
        stable = log_rules.log_of(u)
        return normal(stable) if stable is not None else App("log", (u,))
    if head == "exp":
        stable = log_rules.exp_of(u)
        return normal(stable) if stable is not None else App("exp", (u,))
    return App(head, (u,))


_AT_ZERO = {
    "abs": 0, "sign": 0, "exp": 1, "sqrt": 0, "sin": 0, "cos": 1, "tan": 0, "asin": 0, "atan": 0, "sinh": 0,
    "cosh": 1, "tanh": 0, "sech": 1, "asinh": 0, "atanh": 0, "erf": 0, "erfc": 1,
}  # fmt: skip


def _absolute(u: Expr) -> Expr:
    number, factors = as_product(u)
    inside = Factors()
    out: list[Expr] = [Num(abs(number))]
    for base, power in factors.items():
        head = base.head if isinstance(base, App) else ""
        positive = head in ("exp", "cosh", "sech", "sigmoid", "softplus", "erfc", "abs", "sqrt")
        if positive or (power.denominator == 1 and power % 2 == 0):
            out.append(product(Fraction(1), {base: power}))
        else:
            inside[base] = power
    if not inside:
        return product_of(*out)
    rest = product(Fraction(1), inside)
    return product_of(*out, App("abs", (rest,)))
