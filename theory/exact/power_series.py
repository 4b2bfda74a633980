"""Power series at 0 with rational coefficients, by flint's exact series arithmetic."""

from __future__ import annotations

from fractions import Fraction

import flint

from gateproof.theory.formula.nodes import App, Expr, Num, Var

_PLAIN = frozenset({"exp", "sin", "cos", "tan", "asin", "atan", "sinh", "cosh", "tanh", "asinh", "atanh"})


def rational_series(expr: Expr, var: str, order: int) -> list[Expr] | None:
    """The first order + 1 coefficients where all of them are rational, else None.

    Functions are only composed with series that vanish at 0, where they are analytic.
    """
    with capped(order + 1):
        series = _series(expr, var)
        if series is None:
            return None
        return [_number(series[k]) for k in range(order + 1)]


class capped:  # noqa: N801 - used as a function
    """flint's longest power series inside the block; a number for the whole process, restored."""

    def __init__(self, cap: int) -> None:
        self.cap = cap
        self.old = 0

    def __enter__(self) -> None:
        self.old = flint.ctx.cap
        flint.ctx.cap = self.cap

    def __exit__(self, *_: object) -> None:
        flint.ctx.cap = self.old


def _number(value: flint.fmpq) -> Expr:
    return Num(Fraction(int(value.p), int(value.q)))


def _constant(value: Fraction) -> flint.fmpq_series:
    return flint.fmpq_series([flint.fmpq(value.numerator, value.denominator)])


def _series(node: Expr, var: str) -> flint.fmpq_series | None:
    if isinstance(node, Num):
        return _constant(node.value)
    if isinstance(node, Var):
        return flint.fmpq_series([0, 1]) if node.name == var else None
    if not isinstance(node, App):
        return None
    args = [_series(a, var) for a in node.args]
    values = [a for a in args if a is not None]
    if len(values) != len(args):
        return None
    return _apply(node, values)


def _apply(node: App, values: list[flint.fmpq_series]) -> flint.fmpq_series | None:
    head, u = node.head, values[0]
    if head == "add":
        return sum(values[1:], u)
    if head == "mul":
        for v in values[1:]:
            u = u * v
        return u
    if head == "neg":
        return -u
    if head == "div":
        return u / values[1] if values[1][0] != 0 else None
    if head == "pow":
        exponent = node.args[1]
        if not isinstance(exponent, Num) or exponent.value.denominator != 1:
            return None
        n = int(exponent.value)
        if abs(n) > 1000 or (n <= 0 and u[0] == 0):
            return None
        result = _constant(Fraction(1))
        for _ in range(abs(n)):
            result = result * u
        return result if n >= 0 else 1 / result
    if head == "log":
        return u.log() if u[0] == 1 else None
    if head == "sqrt":
        return u.sqrt() if u[0] == 1 else None
    if u[0] != 0:
        return None
    if head in _PLAIN:
        result = getattr(u, head)()
        return result if isinstance(result, flint.fmpq_series) else None
    one = _constant(Fraction(1))
    if head == "sech":
        return one / u.cosh()
    if head == "sigmoid":
        return one / (one + (-u).exp())
    return None
