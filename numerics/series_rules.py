"""Recurrences on Taylor coefficients: lists of balls c_0..c_n, all of one length."""

from __future__ import annotations

from collections.abc import Callable

from flint import arb

from gateproof.numerics import functions as fn
from gateproof.numerics import interval as iv
from gateproof.numerics.errors import MaybeUndefined, NotSmooth

Coefficients = list[arb]
Rule = Callable[[Coefficients], Coefficients]


def _at(function: fn.Function, value: arb) -> arb:
    return iv.to_ball(function(iv.of_ball(value)))


def total(terms: list[Coefficients]) -> Coefficients:
    """Sum of series."""
    result = terms[0]
    for other in terms[1:]:
        result = [a + b for a, b in zip(result, other, strict=True)]
    return result


def product(a: Coefficients, b: Coefficients) -> Coefficients:
    """Cauchy product."""
    return [_dot(a, b, k) for k in range(len(a))]


def _dot(a: Coefficients, b: Coefficients, k: int) -> arb:
    s = a[0] * b[k]
    for j in range(1, k + 1):
        s += a[j] * b[k - j]
    return s


def square(a: Coefficients) -> Coefficients:
    """a*a, not below 0 at order 0."""
    result = product(a, a)
    result[0] = iv.to_ball(iv.integer_power(iv.of_ball(a[0]), 2))
    return result


def quotient(a: Coefficients, b: Coefficients) -> Coefficients:
    """a/b; the enclosure of b_0 must not hold 0."""
    b0 = b[0]
    if not (b0 > 0 or b0 < 0):
        raise MaybeUndefined("division by an enclosure of 0")
    r = 1 / b0
    q: Coefficients = []
    for k in range(len(a)):
        s = a[k]
        for j in range(1, k + 1):
            s -= b[j] * q[k - j]
        q.append(s * r)
    return q


def integer_power(a: Coefficients, n: int) -> Coefficients:
    """a**n by repeated squaring."""
    if n < 0:
        return quotient(_one(len(a)), integer_power(a, -n))
    result: Coefficients | None = None
    power = a
    while n:
        if n & 1:
            result = power if result is None else product(result, power)
        n >>= 1
        if n:
            power = square(power)
    return _one(len(a)) if result is None else result


def _one(length: int) -> Coefficients:
    return [arb(1)] + [arb(0)] * (length - 1)


def real_power(u: Coefficients, a: arb) -> Coefficients:
    """u**a for u_0 > 0."""
    g = [iv.to_ball(fn.real_power(iv.of_ball(u[0]), iv.of_ball(a)))]
    if len(u) > 1 and not u[0] > 0:
        raise NotSmooth("a power at the end of its domain")
    for k in range(1, len(u)):
        s = arb(0)
        for j in range(1, k + 1):
            s += (a * j - (k - j)) * u[j] * g[k - j]
        g.append(s / (u[0] * k))
    return g


def _from_derivative(u: Coefficients, g0: arb, w: Coefficients) -> Coefficients:
    """g with g' = w u'."""
    return [g0, *(_slope(u, w, k) for k in range(1, len(u)))]


def _slope(u: Coefficients, w: Coefficients, k: int) -> arb:
    s = u[1] * w[k - 1]
    for j in range(2, k + 1):
        s += j * u[j] * w[k - j]
    return s / k if k > 1 else s


def exp(u: Coefficients) -> Coefficients:
    """Exponential."""
    g = [_at(fn.exp, u[0])]
    for k in range(1, len(u)):
        g.append(_slope(u, g, k))
    return g


def log(u: Coefficients) -> Coefficients:
    """Logarithm; u_0 > 0."""
    g0 = _at(fn.log, u[0])
    return _from_derivative(u, g0, quotient(_one(len(u)), u)) if len(u) > 1 else [g0]


def sqrt(u: Coefficients) -> Coefficients:
    """Square root; smooth where u_0 > 0."""
    g = [_at(fn.sqrt, u[0])]
    if len(u) > 1 and not u[0] > 0:
        raise NotSmooth("a square root near 0")
    for k in range(1, len(u)):
        s = u[k]
        for j in range(1, k):
            s -= g[j] * g[k - j]
        g.append(s / (2 * g[0]))
    return g


def sigmoid(u: Coefficients) -> Coefficients:
    """Logistic function: g' = g (1-g), with 1-g = sigmoid(-u)."""
    g, t, w = [_at(fn.sigmoid, u[0])], [_at(fn.sigmoid, -u[0])], list[arb]()
    for k in range(1, len(u)):
        w.append(_dot(g, t, k - 1))
        g.append(_slope(u, w, k))
        t.append(-g[k])
    return g


def softplus(u: Coefficients) -> Coefficients:
    """log(1 + exp(u)): g' = sigmoid(u)."""
    return _from_derivative(u, _at(fn.softplus, u[0]), sigmoid(u))


def tanh(u: Coefficients) -> Coefficients:
    """Hyperbolic tangent: g' = 1 - g**2 = sech(u)**2."""
    g = [_at(fn.tanh, u[0])]
    w: Coefficients = []
    for k in range(1, len(u)):
        w.append(_at(fn.sech, u[0]) ** 2 if k == 1 else -_dot(g, g, k - 1))
        g.append(_slope(u, w, k))
    return g


def sech(u: Coefficients) -> Coefficients:
    """1/cosh: g' = -g tanh(u)."""
    t = tanh(u)
    g, w = [_at(fn.sech, u[0])], list[arb]()
    for k in range(1, len(u)):
        w.append(-_dot(g, t, k - 1))
        g.append(_slope(u, w, k))
    return g


def _gauss(u: Coefficients, sign: int) -> Coefficients:
    factor = 2 * sign / arb.pi().sqrt()
    return [factor * c for c in exp([-c for c in square(u)])]


def erf(u: Coefficients) -> Coefficients:
    """Error function: g' = 2/sqrt(pi) exp(-u**2)."""
    return _from_derivative(u, _at(fn.erf, u[0]), _gauss(u, 1))


def erfc(u: Coefficients) -> Coefficients:
    """1 - erf."""
    return _from_derivative(u, _at(fn.erfc, u[0]), _gauss(u, -1))


def _pair(u: Coefficients, f: fn.Function, g: fn.Function, sign: int) -> tuple[Coefficients, Coefficients]:
    """(s, c) with s' = c u' and c' = sign s u'."""
    s, c = [_at(f, u[0])], [_at(g, u[0])]
    for k in range(1, len(u)):
        next_s, next_c = _slope(u, c, k), sign * _slope(u, s, k)
        s.append(next_s)
        c.append(next_c)
    return s, c


def tan(u: Coefficients) -> Coefficients:
    """Tangent: g' = 1 + g**2."""
    g = [_at(fn.tan, u[0])]
    w: Coefficients = []
    for k in range(1, len(u)):
        w.append(_dot(g, g, k - 1) + (1 if k == 1 else 0))
        g.append(_slope(u, w, k))
    return g


def _inverse(function: fn.Function, weight: Callable[[Coefficients], Coefficients]) -> Rule:
    def rule(u: Coefficients) -> Coefficients:
        g0 = _at(function, u[0])
        return [g0] if len(u) == 1 else _from_derivative(u, g0, weight(u))

    return rule


def _shifted(u: Coefficients, sign: int, constant: int) -> Coefficients:
    c = [sign * x for x in square(u)]
    c[0] += constant
    return c


def _reciprocal(c: Coefficients) -> Coefficients:
    return quotient(_one(len(c)), c)


def absolute(u: Coefficients) -> Coefficients:
    """|u| where the sign of u_0 is decided."""
    if u[0] > 0:
        return u
    if u[0] < 0:
        return [-c for c in u]
    if len(u) == 1:
        return [_at(iv.absolute, u[0])]
    raise NotSmooth("an absolute value near 0")


def sign(u: Coefficients) -> Coefficients:
    """+-1 where decided."""
    if u[0] > 0 or u[0] < 0:
        return [arb(1 if u[0] > 0 else -1)] + [arb(0)] * (len(u) - 1)
    if len(u) == 1:
        return [_at(fn.sign, u[0])]
    raise NotSmooth("a sign near 0")


def select(items: list[Coefficients], larger: bool) -> Coefficients:
    """The largest (or smallest) of the series where order 0 decides which."""
    best = items[0]
    for other in items[1:]:
        if best is other:
            continue
        if (best[0] < other[0]) if larger else (best[0] > other[0]):
            best = other
        elif not ((best[0] > other[0]) if larger else (best[0] < other[0])):
            raise NotSmooth("max or min of values that may be equal")
    return best


RULES: dict[str, Rule] = {
    "neg": lambda u: [-c for c in u], "abs": absolute, "sign": sign, "exp": exp, "log": log,
    "sqrt": sqrt, "sigmoid": sigmoid, "softplus": softplus, "tanh": tanh, "sech": sech,
    "erf": erf, "erfc": erfc, "tan": tan,
    "sin": lambda u: _pair(u, fn.sin, fn.cos, -1)[0],
    "cos": lambda u: _pair(u, fn.sin, fn.cos, -1)[1],
    "sinh": lambda u: _pair(u, fn.sinh, fn.cosh, 1)[0],
    "cosh": lambda u: _pair(u, fn.sinh, fn.cosh, 1)[1],
    "atan": _inverse(fn.atan, lambda u: _reciprocal(_shifted(u, 1, 1))),
    "asinh": _inverse(fn.asinh, lambda u: _reciprocal(sqrt(_shifted(u, 1, 1)))),
    "acosh": _inverse(fn.acosh, lambda u: _reciprocal(sqrt(_shifted(u, 1, -1)))),
    "asin": _inverse(fn.asin, lambda u: _reciprocal(sqrt(_shifted(u, -1, 1)))),
    "acos": _inverse(fn.acos, lambda u: [-c for c in _reciprocal(sqrt(_shifted(u, -1, 1)))]),
    "atanh": _inverse(fn.atanh, lambda u: _reciprocal(_shifted(u, -1, 1))),
}  # fmt: skip
