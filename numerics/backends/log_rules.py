"""Stable forms of logarithms and exponentials of functions."""

from __future__ import annotations

from fractions import Fraction

from gateproof.numerics.backends.algebra import (
    ONE,
    as_product,
    as_sum,
    exponent_of,
    minus,
    plus,
    scaled,
    times,
)
from gateproof.numerics.backends.rules import fn, scaled_sum, whole
from gateproof.theory.formula.nodes import App, Expr, num

_POSITIVE = frozenset({"exp", "cosh", "sech", "sigmoid", "softplus", "erfc"})


def log_of(u: Expr) -> Expr | None:
    """A stable form of log(u), or None."""
    number, factors = as_product(u)
    if len(factors) == 1:
        g, power = next(iter(factors.items()))
        if isinstance(g, App) and g.head == "sigmoid":
            gate = scaled(fn("softplus", minus(g.args[0])), -power)
            return gate if number == 1 else (plus(gate, fn("log", num(number))) if number > 0 else None)
        if isinstance(g, App) and g.head in ("cosh", "sech") and number > 0:
            size = fn("abs", g.args[0])
            sign = power if g.head == "cosh" else -power
            log2 = fn("log", num(2))
            body = plus(size, fn("softplus", scaled(size, Fraction(-2))))
            if g.head == "cosh" and power == 1 and number == 2:
                return body
            parts = [scaled_sum(plus(body, scaled(log2, Fraction(-1))), sign)]
            return plus(*parts, fn("log", num(number))) if number != 1 else parts[0]
        if number == 1 and (w := exponent_of(g)) is not None:
            return scaled_sum(w, power)
    if number > 0 and len(factors) > 1 and all(isinstance(g, App) and g.head in _POSITIVE for g in factors):
        # A product may overflow where its logarithm does not.
        parts = [scaled(fn("log", g), p) for g, p in factors.items()]
        return plus(*parts, fn("log", num(number))) if number != 1 else plus(*parts)
    terms = as_sum(u)
    area = _area(u)
    if area is not None:
        return fn("asinh", area)
    if len(terms) == 2:
        (m, a), (n, b) = sorted(terms.items(), key=lambda t: t[0] == ONE)
        w, v = exponent_of(m), exponent_of(n) if n != ONE else num(0)
        if a == b == 1 and w is not None and v is not None:
            return plus(v, fn("softplus", plus(w, minus(v))))
    return None


def _area(u: Expr) -> Expr | None:
    """v where u is v + sqrt(v**2 + 1)."""
    terms = as_sum(u)
    for root, number in terms.items():
        if number == 1 and isinstance(root, App) and root.head == "sqrt":
            v = plus(*(scaled(m, c) for m, c in terms.items() if m != root))
            inside = as_sum(root.args[0])
            if as_sum(plus(times(v, v), num(1))) == inside:
                return v
    return None


def exp_of(u: Expr) -> Expr | None:
    """A stable form of exp(u), or None."""
    number, factors = as_product(u)
    if len(factors) == 1 and number.denominator == 1:
        g, power = next(iter(factors.items()))
        if isinstance(g, App) and g.head == "softplus" and power == 1 and number < 0:
            return App("pow", (fn("sigmoid", minus(g.args[0])), whole(int(-number))))
    return None
