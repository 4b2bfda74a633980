"""Primitives of polynomials times exponentials, bell curves, waves and error functions.

Each is a candidate, checked by differentiation before it is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from gateproof.theory.exact.antiderivatives import antiderivative
from gateproof.theory.exact.kernels import (
    ONE,
    PI,
    ZERO,
    Kernel,
    exponential,
    kernels,
    linear_in,
    minus,
    over,
    plus,
    raised,
    root,
    times,
)
from gateproof.theory.formula.nodes import App, Expr, Num, Var, num
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.scopes import free_names


def primitives(body: Expr, var: str) -> Iterator[tuple[Expr, Expr]]:
    """Candidates F, each with a form of the body that its derivative is to be held against.

    The form is the body itself, or what kernels() makes of it: products of waves taken apart.
    """
    found = kernels(body, var)
    if found is not None:
        parts = [_of_kernel(t, Var(var)) for t in found]
        known = [p for p in parts if p is not None]
        if len(known) == len(parts):
            whole = plus(*known)
            waves = any(t.wave is not None for t in found)
            yield whole, plus(*(written(t, Var(var)) for t in found)) if waves else body
    power = _as_power(body, var)
    if power is not None:
        c, (a, b), r = power
        line = plus(times(a, Var(var)), b)
        if r == -1:
            yield over(times(c, App("log", (line,))), a), body
            yield over(times(c, App("log", (minus(line),))), a), body
        else:
            yield over(times(c, App("pow", (line, Num(r + 1)))), times(Num(r + 1), a)), body
    symbolic = _symbolic_power(body, var)
    if symbolic is not None:
        c, exponent = symbolic
        raised_once = App("pow", (Var(var), plus(exponent, ONE)))
        yield over(times(c, raised_once), plus(exponent, ONE)), body
    table = antiderivative(body, var)
    if table is not None:
        yield table, body


def written(t: Kernel, x: Expr) -> Expr:
    """The kernel as an expression."""
    parts = [t.c, raised(x, t.k)]
    parts.append(exponential(plus(minus(times(t.quad, raised(x, 2))), times(t.lin, x))))
    parts += [App("erf", (plus(times(a, x), b),)) for a, b in t.erfs]
    if t.wave is not None:
        parts.append(App("cos", (plus(times(t.wave[0], x), t.wave[1]),)))
    return times(*parts)


def _symbolic_power(expr: Expr, var: str) -> tuple[Expr, Expr] | None:
    """c and p where the expression is c x**p with names in p, or None."""
    if not isinstance(expr, App):
        return None
    if expr.head == "pow" and expr.args[0] == Var(var) and free_names(expr.args[1]) - {var}:
        return None if var in free_names(expr.args[1]) else (ONE, expr.args[1])
    if expr.head != "mul":
        return None
    moving = [a for a in expr.args if var in free_names(a)]
    inner = _symbolic_power(moving[0], var) if len(moving) == 1 else None
    if inner is None:
        return None
    return times(inner[0], *(a for a in expr.args if a is not moving[0])), inner[1]


_Power = tuple[Expr, tuple[Expr, Expr], Fraction]


def _as_power(expr: Expr, var: str) -> _Power | None:
    """c (a x + b)^r for a rational r, or None."""
    if not isinstance(expr, App):
        return None
    head, args = expr.head, expr.args
    if head == "neg":
        inner = _as_power(args[0], var)
        return None if inner is None else (minus(inner[0]), *inner[1:])
    if head in ("mul", "div"):
        moving = [i for i, a in enumerate(args) if var in free_names(a)]
        if len(moving) != 1:
            return None
        (i,) = moving
        inner = _as_power(args[i], var) or _plain(args[i], var)
        if inner is None:
            return None
        c, line, r = inner
        if head == "div":
            return (over(c, args[1]), line, r) if i == 0 else (over(args[0], c), line, -r)
        return times(c, *(a for j, a in enumerate(args) if j != i)), line, r
    if head == "sqrt":
        return _plain(args[0], var, Fraction(1, 2))
    if head == "pow":
        exponent = constant_value(args[1])
        return None if exponent is None else _plain(args[0], var, exponent)
    return None


def _plain(expr: Expr, var: str, r: Fraction = Fraction(1)) -> _Power | None:
    line = linear_in(expr, var)
    return None if line is None or line[0] == ZERO else (ONE, line, r)


def _of_kernel(t: Kernel, x: Expr) -> Expr | None:
    if t.erfs:
        found = _error_function(t, x) if len(t.erfs) == 1 and t.wave is None else None
    elif t.wave is not None:
        found = None
        if t.quad == ZERO:
            found = _wave(t.k, *t.wave, x) if t.lin == ZERO else _damped(t.k, t.lin, *t.wave, x)
    elif t.quad != ZERO:
        found = _bell(t, x)
    elif t.lin != ZERO:
        found = _exponential(t.k, t.lin, x)
    else:
        found = over(raised(x, t.k + 1), num(t.k + 1))
    return None if found is None else times(t.c, found)


def _exponential(k: int, rate: Expr, x: Expr) -> Expr:
    """x^k exp(r x): by parts."""
    value = over(times(raised(x, k), exponential(times(rate, x))), rate)
    return plus(value, minus(over(times(num(k), _exponential(k - 1, rate, x)), rate))) if k else value


def _wave(k: int, w: Expr, p: Expr, x: Expr) -> Expr:
    """x^k cos(w x + p): by parts."""
    quarter = times(num(Fraction(-1, 2)), PI)
    sine = App("cos", (plus(times(w, x), p, quarter),))
    value = over(times(raised(x, k), sine), w)
    return plus(value, minus(over(times(num(k), _wave(k - 1, w, plus(p, quarter), x)), w))) if k else value


def _damped(k: int, r: Expr, w: Expr, p: Expr, x: Expr) -> Expr:
    """x^k exp(r x) cos(w x + p): by parts."""
    quarter, scale = times(num(Fraction(-1, 2)), PI), plus(raised(r, 2), raised(w, 2))
    cosine, sine = (App("cos", (plus(times(w, x), p, shift),)) for shift in (ZERO, quarter))
    front = times(raised(x, k), exponential(times(r, x)), plus(times(r, cosine), times(w, sine)))
    if not k:
        return over(front, scale)
    lower = plus(times(r, _damped(k - 1, r, w, p, x)), times(w, _damped(k - 1, r, w, plus(p, quarter), x)))
    return over(plus(front, minus(times(num(k), lower))), scale)


def _bell(t: Kernel, x: Expr) -> Expr:
    """x^k exp(-A x^2 + B x): by parts down to an error function."""
    a, b, k = t.quad, t.lin, t.k
    twice = times(num(2), a)
    if k == 0:
        shifted = times(root(a), plus(x, minus(over(b, twice))))
        scale = over(root(PI), times(num(2), root(a)))
        return times(exponential(over(raised(b, 2), times(num(4), a))), scale, App("erf", (shifted,)))
    bell = exponential(plus(minus(times(a, raised(x, 2))), times(b, x)))
    terms = [minus(times(raised(x, k - 1), bell))]
    if k > 1:
        terms.append(times(num(k - 1), _bell(replace(t, k=k - 2), x)))
    if b != ZERO:
        terms.append(times(b, _bell(replace(t, k=k - 1), x)))
    return over(plus(*terms), twice)


def _error_function(t: Kernel, x: Expr) -> Expr | None:
    """x^k erf(a x + b): by parts."""
    if t.quad != ZERO or t.lin != ZERO:
        return None
    ((a, b),) = t.erfs
    factor = times(num(2), a, over(exponential(minus(raised(b, 2))), root(PI)))
    slope = Kernel(ONE, t.k + 1, raised(a, 2), times(num(-2), a, b))
    first = times(raised(x, t.k + 1), App("erf", (plus(times(a, x), b),)))
    return over(plus(first, minus(times(factor, _bell(slope, x)))), num(t.k + 1))
