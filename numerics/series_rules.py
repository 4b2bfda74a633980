"""Taylor series c_0 + .. + c_n h**n of functions of a series, as truncated power series of balls.

With u = u_0 + d, d without a constant term, each rule is F(u_0) and ratios of it (exact ends,
numerics.functions) times power series in d whose constant terms are exact: exp(u) = exp(u_0) exp(d),
sin(u) = sin(u_0) cos d + cos(u_0) sin d. So c_0 neither overflows nor gives nan on wide boxes,
and an enclosure of u_0 enters the other coefficients as few times as possible. What holds for the
coefficients at each point of a box holds for enclosures over the box.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import flint
from flint import arb, arb_series

from gateproof.numerics import functions as fn
from gateproof.numerics import interval as iv
from gateproof.numerics.errors import MaybeUndefined, NotSmooth

#: A series of balls; its ``prec`` is n + 1.
Series = arb_series
Rule = Callable[[Series], Series]

#: Balls this thin take the ball function itself, which is one evaluation instead of one for each end.
_THIN, _FAR = arb(2) ** -30, arb(2) ** 40
_HALF = arb(0.5)


def _at(name: str, value: arb) -> arb:
    """The function named by its head, on a ball."""
    direct = fn.BALLS.get(name)
    if direct is not None and value.rad() < _THIN and -_FAR < value < _FAR:
        found: arb = direct(value)
        return found
    return iv.to_ball(fn.FUNCTIONS[name](iv.of_ball(value)))


def _squared(value: arb) -> arb:
    return iv.to_ball(iv.integer_power(iv.of_ball(value), 2))


def constant(value: arb, length: int) -> Series:
    """A series of order 0, of the given length."""
    return arb_series([value], prec=length)


def with_first(u: Series, value: arb) -> Series:
    """The series with another constant term."""
    c = u.coeffs()
    if c:
        c[0] = value
    else:
        c = [value]
    return arb_series(c, prec=u.prec)


def _rest(u: Series) -> Series:
    """u - u_0, without a constant term."""
    return with_first(u, iv.ZERO)


def _integral(slope: Series, first: arb) -> Series:
    """g with g_0 = first and the given derivative."""
    return with_first(slope.integral(), first)


def square(u: Series) -> Series:
    """u*u, not below 0 at order 0."""
    return with_first(u * u, _squared(u[0]))


def inverse(u: Series) -> Series:
    """1/u; the enclosure of u_0 must not hold 0."""
    if not (u[0] > 0 or u[0] < 0):
        raise MaybeUndefined("division by an enclosure of 0")
    return u.inv()


def quotient(a: Series, b: Series) -> Series:
    """a/b; the enclosure of b_0 must not hold 0."""
    if not (b[0] > 0 or b[0] < 0):
        raise MaybeUndefined("division by an enclosure of 0")
    return a / b


def integer_power(u: Series, n: int) -> Series:
    """u**n by repeated squaring."""
    if n < 0:
        return inverse(integer_power(u, -n))
    result: Series | None = None
    power = u
    while n:
        if n & 1:
            result = power if result is None else result * power
        n >>= 1
        if n:
            power = square(power)
    return constant(iv.ONE, u.prec) if result is None else result


def _relative(u: Series) -> Series:
    """u/u_0 for u_0 > 0, with the constant term 1."""
    return with_first(u * (1 / u[0]), iv.ONE)


def real_power(u: Series, a: arb) -> Series:
    """u**a for u_0 > 0: u_0**a exp(a log(u/u_0))."""
    first = iv.to_ball(fn.real_power(iv.of_ball(u[0]), iv.of_ball(a)))
    if u.prec == 1:
        return constant(first, 1)
    if not u[0] > 0:
        raise NotSmooth("a power at the end of its domain")
    return (_relative(u).log() * a).exp() * first


def varying_power(u: Series, v: Series) -> Series:
    """u**v = exp(v log(u)) for u_0 > 0; where u_0 may be 0 only the value, 0**v = 0 for v > 0."""
    first = fn.real_power(iv.of_ball(u[0]), iv.of_ball(v[0]))
    if u.prec == 1:
        return constant(iv.to_ball(first), 1)
    if not u[0] > 0:
        raise NotSmooth("a power at the end of its domain")
    return exp(v * log(u))


def exp(u: Series) -> Series:
    """Exponential."""
    return _rest(u).exp() * _at("exp", u[0])


def log(u: Series) -> Series:
    """Logarithm; u_0 > 0."""
    return with_first(_relative(u).log(), _at("log", u[0]))


def sqrt(u: Series) -> Series:
    """Square root; smooth where u_0 > 0."""
    first = _at("sqrt", u[0])
    if u.prec == 1:
        return constant(first, 1)
    if not u[0] > 0:
        raise NotSmooth("a square root near 0")
    return _relative(u).sqrt() * first


def _changes(u: Series) -> list[arb]:
    """The coefficients u_1, 2 u_2, .. of u'."""
    c = u.derivative().coeffs()
    return c + [iv.ZERO] * (u.prec - 1 - len(c))


def _dot(a: list[arb], b: list[arb], k: int) -> arb:
    """Coefficient k of a product."""
    total = a[0] * b[k]
    for j in range(1, k + 1):
        total += a[j] * b[k - j]
    return total


def _logistic(x: arb) -> tuple[arb, arb, arb]:
    """sigmoid(x), tanh(x/2) and sech(x/2)**2 on a ball."""
    if x.rad() < _THIN and -_FAR < x < _FAR:
        return fn.logistic(x)
    s, t, q = fn.logistic_on(iv.of_ball(x))
    return iv.to_ball(s), iv.to_ball(t), iv.to_ball(q)


def _tanh(changes: list[arb], first: arb, slope: arb) -> list[arb]:
    """The coefficients of g with g' = (1 - g**2) u', where g_0 and 1 - g_0**2 are known.

    Coefficient by coefficient: what cancels in g is not multiplied out again, which keeps it narrow on boxes.
    """
    g, w = [first], [slope]
    for k in range(1, len(changes) + 1):
        g.append(_dot(changes, w, k - 1) / k)
        if k < len(changes):
            w.append(-_self_dot(g, k))
    return g


def _self_dot(g: list[arb], k: int) -> arb:
    """Coefficient k of a square."""
    total = g[0] * g[k]
    for j in range(1, (k + 1) // 2):
        total += g[j] * g[k - j]
    total *= 2
    return total if k % 2 else total + g[k // 2] * g[k // 2]


def tanh(u: Series) -> Series:
    """Hyperbolic tangent, with the derivative sech(u)**2."""
    _, first, slope = _logistic(2 * u[0])
    return arb_series(_tanh(_changes(u), first, slope), prec=u.prec)


def sigmoid(u: Series) -> Series:
    """Logistic function, (1 + tanh(u/2))/2."""
    first, tilt, slope = _logistic(u[0])
    found = [_HALF * c for c in _tanh(_changes(u * _HALF), tilt, slope)]
    found[0] = first
    return arb_series(found, prec=u.prec)


def sech(u: Series) -> Series:
    """1/cosh, with the derivative -sech(u) tanh(u)."""
    first, changes = _at("sech", u[0]), _changes(u)
    t = _tanh(changes, _at("tanh", u[0]), _squared(first))
    g, w = [first], list[arb]()
    for k in range(1, u.prec):
        w.append(-_dot(g, t, k - 1))
        g.append(_dot(changes, w, k - 1) / k)
    return arb_series(g, prec=u.prec)


def softplus(u: Series) -> Series:
    """log(1 + exp(u)), with the derivative sigmoid(u)."""
    return _by_slope(u, "softplus", sigmoid)


def _by_slope(u: Series, name: str, slope: Rule) -> Series:
    """The function with the given derivative F'(u)."""
    first = _at(name, u[0])
    return constant(first, 1) if u.prec == 1 else _integral(slope(u) * u.derivative(), first)


def _gauss(u: Series, sign: int) -> Series:
    return exp(-square(u)) * (sign * _slope_of_erf(flint.ctx.prec))


@lru_cache(maxsize=64)
def _slope_of_erf(bits: int) -> arb:
    """2/sqrt(pi) at the precision, which must be the current one."""
    assert bits == flint.ctx.prec
    return 2 / arb.pi().sqrt()


def erf(u: Series) -> Series:
    """Error function, with the derivative 2/sqrt(pi) exp(-u**2)."""
    return _by_slope(u, "erf", lambda v: _gauss(v, 1))


def erfc(u: Series) -> Series:
    """1 - erf."""
    return _by_slope(u, "erfc", lambda v: _gauss(v, -1))


def sin(u: Series) -> Series:
    """sin(u_0) cos d + cos(u_0) sin d."""
    s, c = _rest(u).sin_cos()
    first = _at("sin", u[0])
    return with_first(c * first + s * _at("cos", u[0]), first)


def cos(u: Series) -> Series:
    """cos(u_0) cos d - sin(u_0) sin d."""
    s, c = _rest(u).sin_cos()
    first = _at("cos", u[0])
    return with_first(c * first - s * _at("sin", u[0]), first)


def _hyperbolic(u: Series, same: str, other: str) -> Series:
    up = _rest(u).exp()
    down = up.inv()
    first = _at(same, u[0])
    value = ((up + down) * first + (up - down) * _at(other, u[0])) * _HALF
    return with_first(value, first)


def sinh(u: Series) -> Series:
    """sinh(u_0) cosh d + cosh(u_0) sinh d."""
    return _hyperbolic(u, "sinh", "cosh")


def cosh(u: Series) -> Series:
    """cosh(u_0) cosh d + sinh(u_0) sinh d."""
    return _hyperbolic(u, "cosh", "sinh")


def tan(u: Series) -> Series:
    """t + (1 + t**2) tan d / (1 - t tan d) with t = tan(u_0)."""
    first = _at("tan", u[0])
    bend = _rest(u).tan()
    return with_first(bend * (1 - bend * first).inv() * (1 + _squared(first)), first)


def _shifted(u: Series, sign: int, number: int) -> Series:
    return square(u) * sign + number


def absolute(u: Series) -> Series:
    """|u| where the sign of u_0 is decided."""
    if u[0] > 0:
        return u
    if u[0] < 0:
        return -u
    if u.prec == 1:
        return constant(_at("abs", u[0]), 1)
    raise NotSmooth("an absolute value near 0")


def sign(u: Series) -> Series:
    """+-1 where decided."""
    if u[0] > 0 or u[0] < 0:
        return constant(iv.ONE if u[0] > 0 else iv.MINUS_ONE, u.prec)
    if u.prec == 1:
        return constant(_at("sign", u[0]), 1)
    raise NotSmooth("a sign near 0")


def select(items: list[Series], larger: bool) -> Series:
    """The largest (or smallest) of the series where order 0 decides which."""
    best = items[0]
    for other in items[1:]:
        if (best[0] < other[0]) if larger else (best[0] > other[0]):
            best = other
        elif not ((best[0] > other[0]) if larger else (best[0] < other[0])):
            raise NotSmooth("max or min of values that may be equal")
    return best


RULES: dict[str, Rule] = {
    "neg": lambda u: -u, "abs": absolute, "sign": sign, "exp": exp, "log": log, "sqrt": sqrt,
    "sigmoid": sigmoid, "softplus": softplus, "tanh": tanh, "sech": sech, "erf": erf, "erfc": erfc,
    "sin": sin, "cos": cos, "tan": tan, "sinh": sinh, "cosh": cosh,
    "atan": lambda u: _by_slope(u, "atan", lambda v: inverse(_shifted(v, 1, 1))),
    "asinh": lambda u: _by_slope(u, "asinh", lambda v: inverse(sqrt(_shifted(v, 1, 1)))),
    "acosh": lambda u: _by_slope(u, "acosh", lambda v: inverse(sqrt(_shifted(v, 1, -1)))),
    "asin": lambda u: _by_slope(u, "asin", lambda v: inverse(sqrt(_shifted(v, -1, 1)))),
    "acos": lambda u: _by_slope(u, "acos", lambda v: -inverse(sqrt(_shifted(v, -1, 1)))),
    "atanh": lambda u: _by_slope(u, "atanh", lambda v: inverse(_shifted(v, -1, 1))),
}  # fmt: skip
