"""Signs and rational bounds of closed constants, by ball arithmetic with proven error."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import flint

from gateproof.theory.formula.nodes import App, Const, Expr, Node, Num
from gateproof.theory.special import find

_PRECISIONS = (64, 256, 1024)
_LARGE, _SMALL = flint.arb(2) ** 20_000, flint.arb(2) ** -20_000

_METHODS = {
    "exp": "exp",
    "log": "log",
    "sqrt": "sqrt",
    "sin": "sin",
    "cos": "cos",
    "tan": "tan",
    "asin": "asin",
    "acos": "acos",
    "atan": "atan",
    "sinh": "sinh",
    "cosh": "cosh",
    "tanh": "tanh",
    "sech": "sech",
    "asinh": "asinh",
    "acosh": "acosh",
    "atanh": "atanh",
    "erf": "erf",
    "erfc": "erfc",
}


def enclose(node: Expr) -> flint.arb | None:
    """A finite ball around a closed expression at the working precision, or None."""
    value = _enclose(node)
    return value if value is not None and value.is_finite() else None


def _enclose(node: Expr) -> flint.arb | None:
    if isinstance(node, Num):
        return flint.arb(flint.fmpq(node.value.numerator, node.value.denominator))
    if isinstance(node, Const):
        return {"pi": flint.arb.pi, "e": flint.arb.const_e}[node.name]() if node.name != "oo" else None
    if not isinstance(node, App):
        return None
    args = [enclose(a) for a in node.args]
    values = [a for a in args if a is not None]
    if len(values) != len(args):
        return None
    return _apply(node.head, values, node.args)


def _apply(head: str, values: list[flint.arb], args: tuple[Expr, ...]) -> flint.arb | None:
    first = values[0]
    if head in _METHODS:
        result = getattr(first, _METHODS[head])()
        return result if isinstance(result, flint.arb) else None
    if head == "add":
        return sum(values[1:], first)
    if head == "mul":
        for v in values[1:]:
            first = first * v
        return first
    if head == "neg":
        return -first
    if head == "div":
        return first / values[1]
    if head == "abs":
        return abs(first)
    if head == "pow":
        exponent = args[1]
        if isinstance(exponent, Num) and exponent.value.denominator == 1:
            return first ** int(exponent.value) if abs(exponent.value) <= 10_000 else None
        return first ** values[1] if first > 0 else None
    if head in ("max", "min"):
        return _extreme(head, values)
    if head == "softplus":
        return (1 + first.exp()).log()
    if head == "sigmoid":
        return 1 / (1 + (-first).exp())
    special = find(head)
    return None if special is None else special.ball(first)


def _extreme(head: str, values: list[flint.arb]) -> flint.arb:
    best = values[0]
    for v in values[1:]:
        if best > v or best < v:
            best = best if (best > v) == (head == "max") else v
        else:
            best = best.union(v)
    return best


def differ(a: Node, b: Node, at: Mapping[str, Fraction]) -> bool:
    """Whether balls show different values of two expressions at a point; False where they do not tell."""
    from gateproof.theory.formula.library import substitute

    put: dict[str, Expr] = {name: Num(value) for name, value in at.items()}
    if not isinstance(a, Expr) or not isinstance(b, Expr):
        return False
    with flint.ctx.workprec(_PRECISIONS[0]):
        left, right = enclose(substitute(a, put)), enclose(substitute(b, put))
        return left is not None and right is not None and not (left - right).contains(0)


def sign_of_constant(node: Expr) -> int | None:
    """1 or -1 where balls separate the constant from 0, else None."""
    for bits in _PRECISIONS:
        with flint.ctx.workprec(bits):
            ball = enclose(node)
            if ball is None:
                return None
            if ball > 0:
                return 1
            if ball < 0:
                return -1
    return None


def rational_bounds(node: Expr, bits: int = 128) -> tuple[Fraction, Fraction] | None:
    """Rationals below and above a closed expression, close to it."""
    with flint.ctx.workprec(bits):
        ball = enclose(node)
        if ball is None or abs(ball) > _LARGE:
            return None
        return _exact(ball.lower()), _exact(ball.upper())


def _exact(value: flint.arb) -> Fraction:
    # The fraction of exp(-10**9) would fill the memory; 0 lies within 2**-20000 of it.
    if abs(value) < _SMALL:
        return Fraction(0) if value == 0 else Fraction(1 if value > 0 else -1, 2**20_000)
    mantissa, exponent = value.mid().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
