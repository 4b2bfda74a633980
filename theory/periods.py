"""Periods: a function that repeats, or repeats about a line.

Where every sine and cosine has an argument a*x + b with rational a, all of them repeat
after T = 2 pi/gcd(a). The rest is moved by T and compared by exact algebra. T is a period,
not always the smallest one.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce
from math import gcd

from gateproof.theory.exact.derivative import derivative
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Const, Expr, Node, Num, Var, num, rebuild
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.rewriting import mentions

_SAMPLES = tuple(num(Fraction(k, 7)) for k in (0, 1, 2, 5, -3))


@dataclass(frozen=True)
class Period:
    """f(x + length) = f(x) + rise for all x, and f(x) - rise/length*x is not constant."""

    length: Expr
    slope: Fraction


@lru_cache(maxsize=1024)
def period_of(expr: Expr, var: str = "x") -> Period | None:
    """A period of a core expression that is defined on R, about a line of rational slope; or None."""
    waves = {n.args[0] for n in expr.walk() if isinstance(n, App) and n.head in ("sin", "cos")}
    slopes = [_slope(u, var) for u in waves if mentions(u, var)]
    known = [abs(a) for a in slopes if a]
    if not known or len(known) != len(slopes):
        return None
    length = Num(2 / reduce(_common, known))
    step = App("mul", (length, Const("pi")))
    moved = _moved(expr, var, step)
    given = Assumptions({var: Domain()})
    for slope in _candidates(expr, var):
        rise = App("mul", (Num(slope), step))
        if prove_relation(moved, "==", App("add", (expr, rise)), given) is None:
            continue
        rest = App("add", (expr, App("neg", (App("mul", (Num(slope), Var(var))),))))
        return Period(step, slope) if _varies(rest, var) else None
    return None


def _slope(u: Expr, var: str) -> Fraction | None:
    """The rational slope of a linear argument."""
    slope = derivative(u, var)
    if slope is None:
        return None
    value = constant_value(slope)
    if value is not None:
        return value
    first, second = (constant_value(substitute(u, {var: num(k)})) for k in (0, 1))
    if first is None or second is None:
        return None
    line = App("mul", (Num(second - first), Var(var)))
    whole = App("add", (line, Num(first)))
    proved = prove_relation(u, "==", whole, Assumptions({var: Domain()}))
    return second - first if proved is not None else None


def _common(a: Fraction, b: Fraction) -> Fraction:
    """The largest number that divides both a whole number of times."""
    return Fraction(
        gcd(a.numerator * b.denominator, b.numerator * a.denominator), a.denominator * b.denominator
    )


def _moved(node: Expr, var: str, step: Expr) -> Expr:
    """f(x + step), with sines and cosines left as they are: step is a period of theirs."""

    def change(child: Node) -> Node:
        if isinstance(child, App) and child.head in ("sin", "cos"):
            return child
        if isinstance(child, Var) and child.name == var:
            return App("add", (child, step))
        changed = rebuild(child, change)
        assert isinstance(changed, Node)
        return changed

    found = change(node)
    assert isinstance(found, Expr)
    return found


def _candidates(expr: Expr, var: str) -> list[Fraction]:
    """Slopes to try: 0, and the coefficient of a linear term of the sum."""
    terms = expr.args if isinstance(expr, App) and expr.head == "add" else (expr,)
    linear = [_slope(t, var) for t in terms if not any(_is_wave(n) for n in t.walk())]
    total = sum((a for a in linear if a is not None), Fraction(0))
    return list(dict.fromkeys([Fraction(0), total]))


def _is_wave(node: Node) -> bool:
    return isinstance(node, App) and node.head in ("sin", "cos")


def _varies(expr: Expr, var: str) -> bool:
    """Whether two values are proved to differ."""
    values = [substitute(expr, {var: s}) for s in _SAMPLES]
    return any(prove_relation(values[0], "!=", v, Assumptions()) is not None for v in values[1:])
