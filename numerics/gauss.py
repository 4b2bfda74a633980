"""Means over normal variables, enclosed.

One variable: z = m0 + s t with rational m0 and s near the mean and the deviation, so that kinks at rational
places stay rational and the tails start near 1; then an integral over t.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

from flint import arb

from gateproof.numerics import interval as iv
from gateproof.numerics.bounds import Budget
from gateproof.numerics.errors import MaybeUndefined, NotReal, Undefined
from gateproof.numerics.integral import Range, Stop, Value, Work, must_be_defined, over
from gateproof.numerics.points import at_point, compare, enclosure, rational_bounds
from gateproof.numerics.precision import precision
from gateproof.numerics.quadrature import Path, integrate
from gateproof.theory.exact.kernels import PI, ZERO, exponential, kernels, minus, plus, raised, root, times
from gateproof.theory.exact.kernels import over as quotient
from gateproof.theory.exact.primitives import written
from gateproof.theory.formula.library import substitute
from gateproof.theory.formula.nodes import App, Expr, Gauss, Num, Var, num
from gateproof.theory.formula.powers import constant_value

_TWO = num(2)
#: Evaluations where the variance is a box: the width of the box bounds what more of them can give.
_BOXED = 600


def density_form(body: Expr, var: str, q: Expr, mean: Expr, like: Expr | None = None) -> Expr:
    """The integrand over t in R whose integral is the mean, for a variance > 0.

    The variance is closed, or ``like`` is a closed one near it.
    """
    scale, centre = scale_of(like or q), _centre(mean, like or q)
    z = plus(centre, times(Num(scale), Var(var)))
    merged = _merged(body, var, q, mean)
    if merged is not None:
        return App("mul", (Num(scale), substitute(merged, {var: z})))
    off = plus(z, minus(mean))
    bell = exponential(quotient(minus(raised(off, 2)), times(_TWO, q)))
    weight = quotient(Num(scale), root(times(_TWO, PI, q)))
    return App("mul", (weight, substitute(body, {var: z}), bell))


def _merged(body: Expr, var: str, q: Expr, mean: Expr) -> Expr | None:
    """Body times density in ``var`` with one exponential a term, where the body holds exp(a z^2).

    Apart, one factor grows and the other falls faster than any exponential of z.
    """
    found = kernels(body, var)
    if found is None or all(t.quad == ZERO for t in found):
        return None
    twice = times(_TWO, q)
    weight = quotient(exponential(quotient(minus(raised(mean, 2)), twice)), root(times(PI, twice)))
    terms = []
    for t in found:
        quad = _sum_of(t.quad, quotient(num(1), twice))
        terms.append(written(replace(t, quad=quad, lin=plus(t.lin, quotient(mean, q))), Var(var)))
    return times(weight, plus(*terms))


def _sum_of(a: Expr, b: Expr) -> Expr:
    whole = plus(a, b)
    value = constant_value(whole)
    return whole if value is None else Num(value)


def scale_of(q: Expr) -> Fraction:
    """A power of 2 near the square root of the variance."""
    lo, hi = enclosure(q, 64)
    size = max(hi, lo)
    power = (size.numerator.bit_length() - size.denominator.bit_length()) // 2
    return Fraction(2) ** power


def _centre(mean: Expr, q: Expr) -> Expr:
    """The mean where it is rational, else a rational near it."""
    if constant_value(mean) is not None:
        return mean
    step = scale_of(q) / 16
    return Num(step * round(enclosure(mean)[0] / step))


def sign_of(expr: Expr) -> int | None:
    """The sign of a closed expression, or None."""
    return compare(expr, num(0))


@lru_cache(maxsize=512)
def gaussian(body: Expr, var: str, q: Expr, mean: Expr, digits: int, budget: Budget | None = None) -> Value:
    """The mean of the body for a normal variable; variance and mean are closed core expressions."""
    try:
        sign = sign_of(q)
        if sign is None:
            return Value("unknown", reason="the sign of the variance is not known")
        if sign < 0:
            return Value("undefined", reason="the variance is negative")
        if sign == 0:
            at = substitute(body, {var: mean})
            return Value("ok", rational_bounds(at_point(at, {}, 4 * digits + 64)))
        return over(Range(density_form(body, var, q, mean), var, None, None), digits, budget or Budget())
    except (Undefined, NotReal) as error:
        return Value("undefined", reason=str(error))
    except MaybeUndefined as error:
        return Value("unknown", reason=f"may be undefined: {error}")


def gaussian_over(node: Gauss, name: str, lo: Fraction, hi: Fraction, digits: int) -> Value:
    """Bounds of a mean for every variance in [lo, hi], lo > 0; ``name`` is the variance.

    Body and mean do not depend on it. Beyond the deviation of the largest variance the density
    exp(-x^2/(2 q))/sqrt(2 pi q) grows with q, so the tails are those of the largest.
    """
    if node.q != Var(name):
        return gaussian(node.body, node.var, node.q, node.mean, digits)
    largest = Num(hi)
    on = Range(density_form(node.body, node.var, largest, node.mean), node.var, None, None)
    try:
        must_be_defined(Range(node.body, node.var, None, None), Budget())
        with precision(64):
            bound = 1 + 2 * iv.rational(hi).sqrt() / iv.rational(scale_of(largest))
            beyond = rational_bounds(arb(bound.upper()))[1]
        cuts = Work(on).tails(Fraction(1, 10**digits), beyond)
        at = {side: cut for side, cut, _ in cuts}
        path = Path(
            density_form(node.body, node.var, node.q, node.mean, largest), node.var, -at["-"], at["+"]
        )
        bits = 4 * digits + 64
        with precision(bits):
            q = iv.rational(lo).union(iv.rational(hi))
            total = integrate(path, bits, arb(10) ** -digits, {name: q}, _BOXED)
            for _, _, rest in cuts:
                total += arb(0, rest)
        return (
            Value("ok", rational_bounds(total)) if total.is_finite() else Value("unknown", reason="too wide")
        )
    except Stop as stop:
        return stop.value
    except (Undefined, NotReal, MaybeUndefined) as error:
        return Value("unknown", reason=str(error))
