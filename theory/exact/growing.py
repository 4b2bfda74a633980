"""Functions that grow at most like exp(a |x|): their mean over any normal variable exists."""

from __future__ import annotations

from typing import NamedTuple

from gateproof.theory.formula.nodes import App, Const, Expr, Num, Var, Where
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.scopes import free_names


class _Growth(NamedTuple):
    """|f| <= C (1 + |x|)^degree, times exp(a |x|) where ``fast``."""

    degree: float
    fast: bool = False


_BOUNDED = frozenset({"tanh", "erf", "erfc", "sin", "cos", "sigmoid", "sech", "atan", "sign"})
_SLOW = frozenset({"softplus", "asinh", "abs", "neg"})


def dominated(expr: Expr, *names: str) -> bool:
    """Whether |f| <= C exp(a (|x| + |y| ...)) for all real values of the names; f must be defined there.

    Local bounds are part of it: what is divided by stays away from 0.
    """
    return _growth(expr, frozenset(names)) is not None


def _growth(expr: Expr, names: frozenset[str]) -> _Growth | None:
    if not names & free_names(expr):
        return _Growth(0)
    if isinstance(expr, Var):
        return _Growth(1)
    if isinstance(expr, Where):
        return _largest(_growth(expr.then, names), _growth(expr.other, names))
    if not isinstance(expr, App):
        return None
    head, args = expr.head, expr.args
    if head in _BOUNDED:
        return _Growth(0)
    if head == "pow":
        return _power(args, names)
    if head == "div":
        top = _growth(args[0], names)
        return top if names.isdisjoint(free_names(args[1])) or _at_least_positive(args[1], names) else None
    found = [_growth(a, names) for a in args]
    if head in ("add", "max", "min"):
        return _largest(*found)
    if head in _SLOW:
        return found[0]
    if head == "mul":
        return _product(found)
    if head in ("exp", "sinh", "cosh") and found[0] is not None and not found[0].fast:
        return _Growth(0, fast=found[0].degree > 0) if found[0].degree <= 1 else None
    if head == "sqrt" and found[0] is not None:
        return _Growth(found[0].degree / 2, found[0].fast)
    return None


def _largest(*found: _Growth | None) -> _Growth | None:
    known = [g for g in found if g is not None]
    if len(known) != len(found):
        return None
    return _Growth(max(g.degree for g in known), any(g.fast for g in known))


def _product(found: list[_Growth | None]) -> _Growth | None:
    known = [g for g in found if g is not None]
    if len(known) != len(found):
        return None
    return _Growth(sum(g.degree for g in known), any(g.fast for g in known))


def _power(args: tuple[Expr, ...], names: frozenset[str]) -> _Growth | None:
    base, n = _growth(args[0], names), constant_value(args[1])
    if base is None or n is None or n < 0 or n > 1000:
        return None
    return _Growth(base.degree * float(n), base.fast)


def _at_least_positive(expr: Expr, names: frozenset[str]) -> bool:
    """Whether the expression is visibly at least a positive number: 1 + exp(u), 2 + x**2."""
    if isinstance(expr, Num):
        return expr.value > 0
    if isinstance(expr, Const):
        return expr.name in ("pi", "e")
    if not isinstance(expr, App):
        return False
    if expr.head == "cosh":
        return True
    if expr.head == "sqrt":
        return _at_least_positive(expr.args[0], names)
    if expr.head != "add":
        return False
    return all(_not_negative(a) for a in expr.args) and any(_at_least_positive(a, names) for a in expr.args)


def _not_negative(expr: Expr) -> bool:
    value = constant_value(expr)
    if value is not None:
        return value >= 0
    if not isinstance(expr, App):
        return isinstance(expr, Const)
    if expr.head in ("exp", "abs", "softplus", "sigmoid", "cosh", "sech", "erfc", "sqrt"):
        return True
    if expr.head == "pow":
        n = constant_value(expr.args[1])
        return n is not None and n.denominator == 1 and n >= 0 and n % 2 == 0
    if expr.head in ("add", "mul"):
        return all(_not_negative(a) for a in expr.args)
    return False
