"""The one table of operations: each written once in terms of a backend's elementary functions.

``ops`` has exp, expm1, log, log1p, sqrt, sin ... on the backend's arrays, and where(condition, a, b). Values
are arrays or Python floats; a float takes on the type of the array that it meets.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gateproof.numerics.backends import error_functions as gauss

Array = Any
Ops = Any
#: Functions that every backend has under the same name.
ELEMENTARY = (
    "exp", "expm1", "log", "log1p", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan",
    "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
)  # fmt: skip


def _elementary(name: str) -> Callable[..., Array]:
    return lambda ops, u: getattr(ops, name)(u)


def maximum(ops: Ops, a: Array, b: Array) -> Array:
    """The greater; not-a-number if one of them is."""
    return ops.where((a > b) | (a != a), a, b)


def minimum(ops: Ops, a: Array, b: Array) -> Array:
    """The lesser; not-a-number if one of them is."""
    return ops.where((a < b) | (a != a), a, b)


def sign(ops: Ops, u: Array) -> Array:
    """-1, 0 or 1."""
    return ops.where(u > 0, 1.0, ops.where(u < 0, -1.0, u * 0.0))


def sigmoid(ops: Ops, u: Array) -> Array:
    """1/(1 + exp(-u)) by one exponential that does not overflow."""
    e = ops.exp(-abs(u))
    r = 1.0 / (1.0 + e)
    return ops.where(u >= 0, r, e * r)


def softplus(ops: Ops, u: Array) -> Array:
    """log(1 + exp(u))."""
    return maximum(ops, u, 0.0) + ops.log1p(ops.exp(-abs(u)))


def sech(ops: Ops, u: Array) -> Array:
    """1/cosh(u)."""
    e = ops.exp(-abs(u))
    return 2.0 * e / (1.0 + e * e)


def hypot(ops: Ops, u: Array, c: float) -> Array:
    """sqrt(u**2 + c**2) for a number c > 0, without overflow."""
    a = abs(u)
    large, small = maximum(ops, a, c), minimum(ops, a, c)
    ratio = small / large
    return large * ops.sqrt(1.0 + ratio * ratio)


def expasinh(ops: Ops, u: Array) -> Array:
    """exp(asinh(u)), that is u + sqrt(u**2 + 1) without its cancellation on the left."""
    size = abs(u) + hypot(ops, u, 1.0)
    return ops.where(u >= 0, size, 1.0 / size)


def log1psq(ops: Ops, u: Array) -> Array:
    """log(1 + u**2) without overflow; 1 is below a unit of u**2 from 2**27 on."""
    a = abs(u)
    large = a > 2.0**27
    small = ops.where(large, 1.0, a)
    return ops.where(large, 2.0 * ops.log(a), ops.log1p(small * small))


def product0(ops: Ops, falling: Array, growing: Array) -> Array:
    """The product, 0 where the falling factor is: it falls faster than the other grows."""
    return ops.where(falling == 0, 0.0, falling * growing)


def least(ops: Ops, right: Array, left: Array) -> Array:
    """The number of least size between two."""
    low, high = minimum(ops, right, left), maximum(ops, right, left)
    between = ops.where(low == low, 0.0, low)
    return ops.where(low > 0, low, ops.where(high < 0, high, between))


def horner(_: Ops, u: Array, *coefficients: float) -> Array:
    """A polynomial."""
    value: Array = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        value = value * u + c
    return value if len(coefficients) > 1 else u * 0.0 + value


def at_ends(ops: Ops, value: Array, u: Array, right: float, left: float) -> Array:
    """The value, with its limits where u is infinite."""
    infinity = float("inf")
    value = ops.where(u == infinity, right, value) if right == right else value
    return ops.where(u == -infinity, left, value) if left == left else value


def not_a_number(ops: Ops, value: Array, u: Array) -> Array:
    """The value, but not-a-number where u is."""
    return ops.where(u != u, u, value)


HEADS: dict[str, Callable[..., Array]] = {
    **{name: _elementary(name) for name in ELEMENTARY},
    "add": lambda _, a, b: a + b,
    "sub": lambda _, a, b: a - b,
    "mul": lambda _, a, b: a * b,
    "div": lambda _, a, b: a / b,
    "neg": lambda _, a: -a,
    "abs": lambda _, a: abs(a),
    "power": lambda ops, a, b: ops.power(a, b),
    "eq": lambda _, a, b: a == b,
    "ne": lambda _, a, b: a != b,
    "lt": lambda _, a, b: a < b,
    "le": lambda _, a, b: a <= b,
    "gt": lambda _, a, b: a > b,
    "ge": lambda _, a, b: a >= b,
    "and": lambda _, a, b: a & b,
    "or": lambda _, a, b: a | b,
    "not": lambda ops, a: ops.logical_not(a),
    "where": lambda ops, c, a, b: ops.where(c, a, b),
    "max": maximum,
    "min": minimum,
    "sign": sign,
    "sigmoid": sigmoid,
    "softplus": softplus,
    "sech": sech,
    "hypot": hypot,
    "expasinh": expasinh,
    "log1psq": log1psq,
    "product0": product0,
    "least": least,
    "poly": horner,
    "at_ends": at_ends,
    "not_a_number": not_a_number,
    "erf": gauss.erf,
    "erfc": gauss.erfc,
    "ncdf": gauss.ncdf,
    "expsq": gauss.expsq,
}
