"""Formulas at random, and their values by mpmath at high precision."""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath as mp
from hypothesis import strategies as st

from gateproof.theory.formula import expand, parse_expr
from gateproof.theory.formula.nodes import App, Const, Expr, Num, Rel, Var, Where


def core(text: str) -> Expr:
    return expand(parse_expr(text))


def mpf(value: Fraction) -> Any:
    return mp.mpf(value.numerator) / value.denominator


_MP: dict[str, Any] = {
    "neg": lambda a: -a,
    "abs": abs,
    "sign": mp.sign,
    "exp": mp.exp,
    "sin": mp.sin,
    "cos": mp.cos,
    "atan": mp.atan,
    "sinh": mp.sinh,
    "cosh": mp.cosh,
    "tanh": mp.tanh,
    "sech": mp.sech,
    "asinh": mp.asinh,
    "sigmoid": lambda a: 1 / (1 + mp.exp(-a)),
    "softplus": lambda a: mp.log1p(mp.exp(a)) if a < 0 else a + mp.log1p(mp.exp(-a)),
    "erf": mp.erf,
    "erfc": mp.erfc,
    "sqrt": mp.sqrt,
    "log": mp.log,
    "tan": mp.tan,
    "asin": mp.asin,
    "acos": mp.acos,
    "acosh": mp.acosh,
    "atanh": mp.atanh,
}
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


def by_mpmath(expr: Expr, x: Any) -> Any:
    """The value at x, or at a point of several names, at mpmath's current precision."""
    if isinstance(expr, Num):
        return mpf(expr.value)
    if isinstance(expr, Var):
        return x[expr.name] if isinstance(x, dict) else x
    if isinstance(expr, Const):
        return {"pi": mp.pi, "e": mp.e}[expr.name] * mp.mpf(1)
    if isinstance(expr, Where):
        cond = expr.cond
        assert isinstance(cond, Rel)
        sides = [by_mpmath(t, x) for t in cond.terms]
        holds = all(_COMPARE[op](a, b) for op, a, b in zip(cond.ops, sides, sides[1:], strict=False))
        return by_mpmath(expr.then if holds else expr.other, x)
    assert isinstance(expr, App)
    args = [by_mpmath(a, x) for a in expr.args]
    if expr.head == "add":
        return mp.fsum(args)
    if expr.head == "mul":
        return mp.fprod(args)
    if expr.head == "div":
        return args[0] / args[1]
    if expr.head == "pow":
        return args[0] ** args[1]
    if expr.head in ("max", "min"):
        return {"max": max, "min": min}[expr.head](args)
    return _MP[expr.head](args[0])


SMOOTH = ("neg", "sin", "atan", "tanh", "sech", "sigmoid", "softplus", "erf", "erfc", "asinh")
KINKED = (*SMOOTH, "abs", "cos")
NUMBERS = st.fractions(min_value=-4, max_value=4, max_denominator=12)


def formulas(heads: tuple[str, ...] = KINKED, depth: int = 6) -> st.SearchStrategy[Expr]:
    """Expressions in x that are defined everywhere."""
    leaves = st.one_of(st.just(Var("x")), NUMBERS.map(Num))

    def grow(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
        pairs = st.tuples(inner, inner)
        options = [
            pairs.map(lambda p: App("add", p)),
            pairs.map(lambda p: App("mul", p)),
            st.tuples(st.sampled_from(heads), inner).map(lambda p: App(p[0], (p[1],))),
            inner.map(lambda a: App("pow", (a, Num(Fraction(2))))),
            pairs.map(lambda p: App("div", (p[0], App("cosh", (App("tanh", (p[1],)),))))),
        ]
        if "abs" in heads:
            options.append(pairs.map(lambda p: App("max", p)))
            options.append(pairs.map(lambda p: App("min", p)))
        return st.one_of(*options)

    return st.recursive(leaves, grow, max_leaves=depth)
