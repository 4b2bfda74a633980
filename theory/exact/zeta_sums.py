"""Sums up to oo that are known: of c/(k+s)**(2m) (Euler), of c (-1)**k/(k+s)**(2m), log(2) and pi/4.

Sources: NIST Digital Library of Mathematical Functions, 25.6.1, 25.2.3 and 4.6.1, 4.24.3 at 1.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb, factorial

from gateproof.theory.exact.alternation import split_signs
from gateproof.theory.exact.domain import Assumptions, Domain
from gateproof.theory.exact.prove import prove_relation
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Const, Expr, Series, Var, num
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.printer import to_text

MAX_POWER, MAX_SHIFT, MAX_HEAD = 8, 3, 50


def bernoulli(n: int) -> Fraction:
    """B_n, with B_1 = -1/2."""
    found = [Fraction(1)]
    for m in range(1, n + 1):
        found.append(-sum((comb(m + 1, k) * found[k] for k in range(m)), Fraction(0)) / (m + 1))
    return found[n]


def zeta_even(m: int) -> tuple[Fraction, int]:
    """zeta(2m) as a rational number times pi**(2m): (that number, 2m)."""
    sign = -1 if m % 2 == 0 else 1
    return sign * bernoulli(2 * m) * Fraction(2 ** (2 * m - 1), factorial(2 * m)), 2 * m


def known_sum(series: Series) -> tuple[Expr, str] | None:
    """The sum up to oo as an expression, and the step that gives it; None where it is not one of these."""
    first = constant_value(series.lo)
    if series.op != "sum" or first is None or first.denominator != 1:
        return None
    parts = split_signs(series.body, series.index)
    if parts is None:
        return None
    plain, alternating = parts
    given = Assumptions({series.index: Domain(num(first), None, True, False)})
    for shift in range(-MAX_SHIFT, MAX_SHIFT + 1):
        low = int(first) + shift
        if not 1 <= low <= MAX_HEAD:
            continue
        place = App("add", (Var(series.index), num(shift)))
        for power in range(1, MAX_POWER + 1):
            value = _value(power, alternating)
            if value is None:
                continue
            factor = _factor(plain, place, power, series.index, int(first), given)
            if factor is not None:
                return _closed(series, value, factor, power, shift, low, alternating)
    if alternating:
        return _leibniz(series, plain, int(first), given)
    return _telescoped(series, plain, int(first), given)


def _telescoped(series: Series, plain: Expr, first: int, given: Assumptions) -> tuple[Expr, str] | None:
    """c/((k+s)(k+s+d)) = (c/d) (1/(k+s) - 1/(k+s+d)): the first d terms 1/(k+s) are left."""
    k = Var(series.index)
    for double in range(-2 * MAX_SHIFT, 2 * MAX_SHIFT + 1):
        shift = Fraction(double, 2)
        if first + shift <= 0:
            continue
        for gap in range(1, MAX_SHIFT + 1):
            place = App("mul", (App("add", (k, num(shift))), App("add", (k, num(shift + gap)))))
            factor = _factor(plain, place, 1, series.index, first, given)
            if factor is not None:
                total = sum((1 / (first + shift + j) for j in range(gap)), Fraction(0))
                found = num(factor * total / gap)
                return found, f"{to_text(series)} = {to_text(found)}, differences that cancel"
    return None


def _value(power: int, alternating: bool) -> Expr | None:
    """The sum of 1/j**power, or of (-1)**j/j**power, over all j >= 1."""
    if power == 1:
        return App("neg", (App("log", (num(2),)),)) if alternating else None
    if power % 2:
        return None
    factor, exponent = zeta_even(power // 2)
    if alternating:
        factor *= Fraction(1, 2 ** (power - 1)) - 1
    return App("mul", (num(factor), App("pow", (Const("pi"), num(exponent)))))


def _factor(
    plain: Expr, place: Expr, power: int, name: str, first: int, given: Assumptions
) -> Fraction | None:
    """c with plain == c/place**power, or None."""
    at = {name: num(first)}
    size = App("pow", (place, num(power)))
    value = constant_value(substitute(App("mul", (plain, size)), at))
    if value is None or value == 0:
        return None
    return value if prove_relation(plain, "==", App("div", (num(value), size)), given) is not None else None


def _closed(
    series: Series, value: Expr, factor: Fraction, power: int, shift: int, low: int, alternating: bool
) -> tuple[Expr, str]:
    """factor * (all - the first low - 1), with (-1)**k = (-1)**shift (-1)**j for j = k + shift."""
    if alternating and shift % 2:
        factor = -factor
    head = sum((Fraction((-1) ** j if alternating else 1, j**power) for j in range(1, low)), Fraction(0))
    found = App("mul", (num(factor), App("add", (value, num(-head)))))
    return found, f"{to_text(series)} = {to_text(found)}, a value of the zeta function"


def _leibniz(series: Series, plain: Expr, first: int, given: Assumptions) -> tuple[Expr, str] | None:
    """c (-1)**k/(2k+1): pi/4 without its first terms."""
    if not 0 <= first <= MAX_HEAD:
        return None
    place = App("add", (App("mul", (num(2), Var(series.index))), num(1)))
    factor = _factor(plain, place, 1, series.index, first, given)
    if factor is None:
        return None
    head = sum((Fraction((-1) ** k, 2 * k + 1) for k in range(first)), Fraction(0))
    whole = App("div", (Const("pi"), num(4)))
    found = App("mul", (num(factor), App("add", (whole, num(-head)))))
    return found, f"{to_text(series)} = {to_text(found)}, the series of the arc tangent at 1"
