"""Elementary functions on Python floats, with infinities where ``math`` raises."""

from __future__ import annotations

import math
from collections.abc import Callable

from gateproof.numerics.backends.special_heads import of_float

_INFINITY, _NAN = math.inf, math.nan


def _guarded(f: Callable[[float], float], overflow: Callable[[float], float]) -> Callable[[float], float]:
    def run(u: float) -> float:
        try:
            return f(u)
        except OverflowError:
            return overflow(u)
        except ValueError:
            return _NAN

    return run


class Float(float):
    """A float whose quotients and products follow IEEE 754."""

    def __truediv__(self, other: float) -> Float:
        return divide(self, float(other))

    def __rtruediv__(self, other: float) -> Float:
        return divide(float(other), self)

    def __mul__(self, other: float) -> Float:
        return Float(float(self) * float(other))

    __rmul__ = __mul__

    def __add__(self, other: float) -> Float:
        return Float(float(self) + float(other))

    __radd__ = __add__

    def __sub__(self, other: float) -> Float:
        return Float(float(self) - float(other))

    def __rsub__(self, other: float) -> Float:
        return Float(float(other) - float(self))

    def __neg__(self) -> Float:
        return Float(-float(self))

    def __abs__(self) -> Float:
        return Float(abs(float(self)))


def divide(a: float, b: float) -> Float:
    """a/b with infinities."""
    if b == 0:
        return Float(_NAN if a == 0 or a != a else math.copysign(_INFINITY, a) * math.copysign(1.0, b))
    return Float(float(a) / float(b))


_NAMES = (
    "exp", "expm1", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh",
    "acosh",
)  # fmt: skip


class FloatOps:
    """Elementary functions of one float."""

    small = False

    def __init__(self) -> None:
        for name in _NAMES:
            f = _guarded(getattr(math, name), lambda u, n=name: _overflow(n, u))  # type: ignore[misc]
            setattr(self, name, lambda u, f=f: Float(f(float(u))))

    def log(self, u: float) -> Float:
        """Natural logarithm."""
        return Float(-_INFINITY if u == 0 else _NAN if u < 0 or u != u else math.log(u))

    def log1p(self, u: float) -> Float:
        """log(1 + u)."""
        return Float(-_INFINITY if u == -1 else _NAN if u < -1 or u != u else math.log1p(u))

    def atanh(self, u: float) -> Float:
        """Area hyperbolic tangent."""
        return Float(math.copysign(_INFINITY, u) if abs(u) == 1 else math.atanh(u) if abs(u) < 1 else _NAN)

    def floor(self, u: float) -> Float:
        """Rounded down."""
        return Float(math.floor(u)) if math.isfinite(u) else Float(u)

    def power(self, a: float, b: float) -> Float:
        """a**b."""
        try:
            return Float(math.pow(a, b))
        except OverflowError:
            return Float(_INFINITY if a > 0 or b % 2 == 0 else -_INFINITY)
        except ValueError:
            return Float(_INFINITY if a == 0 else _NAN)

    def special(self, head: str, u: float) -> Float:
        """A special function."""
        return Float(of_float(head, u))

    def where(self, condition: bool, a: float, b: float) -> Float:
        """A choice."""
        return Float(a if condition else b)

    def logical_not(self, a: bool) -> bool:
        """Negation."""
        return not a


def _overflow(name: str, u: float) -> float:
    return -_INFINITY if name == "sinh" and u < 0 else _INFINITY
