"""The functions that closed forms are written in: one protocol for arrays, mpmath and balls.

A form holds a space and numbers of that space. With :class:`MpSpace` its values are mpf's at mpmath's
precision of the moment; the spaces of arrays stand in ``fast_space.py``, that of balls in
``closed_forms_balls.py``. Terms whose coefficient is 0 are left out, not computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from gateproof.theory.formula.nodes import Expr

#: A number or array of the space.
Value = Any


class Space(Protocol):
    """Elementary functions over one kind of numbers."""

    @property
    def pi(self) -> Value:
        """Pi."""
        ...

    @property
    def inf(self) -> Value:
        """Infinity."""
        ...

    def number(self, value: Expr) -> Value:
        """A closed expression as a number, to the full precision of the space."""
        ...

    @property
    def sqrt(self) -> Callable[[Value], Value]:
        """The square root."""
        ...

    @property
    def exp(self) -> Callable[[Value], Value]:
        """exp(x)."""
        ...

    @property
    def expm1(self) -> Callable[[Value], Value]:
        """exp(x) - 1."""
        ...

    @property
    def log1p(self) -> Callable[[Value], Value]:
        """log(1 + x)."""
        ...

    @property
    def sin(self) -> Callable[[Value], Value]:
        """sin(x)."""
        ...

    @property
    def cos(self) -> Callable[[Value], Value]:
        """cos(x)."""
        ...

    @property
    def asin(self) -> Callable[[Value], Value]:
        """The inverse sine."""
        ...

    @property
    def erf(self) -> Callable[[Value], Value]:
        """The error function."""
        ...

    @property
    def erfc(self) -> Callable[[Value], Value]:
        """1 - erf(x)."""
        ...

    @property
    def atan2(self) -> Callable[[Value, Value], Value]:
        """The angle of the point (x, y), given y first."""
        ...

    def where(self, condition: Value, a: Value, b: Value) -> Value:
        """a where the condition holds, else b; both are computed."""
        ...

    def sided(self, c: Value) -> tuple[Value, Value]:
        """(s, s*c), s the sign of c, 1 or -1; where that is not seen, either."""
        ...

    def sine_lag(self, x: Value) -> Value:
        """sin(x) - x cos(x) for 0 <= x <= pi, accurate near 0, where it is x**3/3."""
        ...

    def square_lag(self, x: Value) -> Value:
        """The integral of t**2 exp(-t**2/2) over t in [0, x], accurate near 0, where it is x**3/3; x >= 0."""
        ...

    def integral(self, f: Callable[..., Value], hi: Value, *values: Value) -> Value:
        """The integral of f(t, *values) over t in [0, hi], 0 <= hi <= pi.

        f may have essential singularities at 0 and pi like those of exp(-a/sin(t)**2).
        """
        ...


def vanishes(x: Value) -> bool:
    """Whether a number is seen to be 0; a ball that holds 0 is neither equal to 0 nor unequal."""
    return bool(x == 0)


def added(parts: Iterable[Value]) -> Value:
    """The sum of numbers or arrays, numbers that are 0 left out; 0 for none."""
    kept = [p for p in parts if not isinstance(p, int | float) or p != 0]
    total = kept[0] if kept else 0
    for part in kept[1:]:
        total = total + part
    return total


def powered(x: Value, n: int) -> Value:
    """x**n for n >= 1 by products, which arrays of a few thousand numbers take faster than a power."""
    value = x
    for _ in range(n - 1):
        value = value * x
    return value


class MpSpace:
    """mpmath at its current precision; scalars only."""

    def __init__(self) -> None:
        import mpmath

        self._mp: Any = mpmath
        self.sqrt, self.exp, self.expm1, self.log1p = mpmath.sqrt, mpmath.exp, mpmath.expm1, mpmath.log1p
        self.sin, self.cos, self.asin = mpmath.sin, mpmath.cos, mpmath.asin
        self.atan2, self.erf, self.erfc = mpmath.atan2, mpmath.erf, mpmath.erfc
        self.inf = mpmath.inf

    @property
    def pi(self) -> Value:
        """At the precision of the moment."""
        return +self._mp.pi

    def number(self, value: Expr) -> Value:
        """By the ball backend's midpoint, ten digits beyond the precision of the moment."""
        from gateproof.numerics.points import enclosure

        lo, hi = enclosure(value, self._mp.mp.prec + 32)
        middle = (lo + hi) / 2
        return self._mp.mpf(middle.numerator) / middle.denominator

    def where(self, condition: Value, a: Value, b: Value) -> Value:
        """One of two numbers."""
        return a if condition else b

    def sided(self, c: Value) -> tuple[Value, Value]:
        """The sign and the size."""
        return (1, c) if c >= 0 else (-1, -c)

    def sine_lag(self, x: Value) -> Value:
        """With as many more bits as the subtraction takes away."""
        if x == 0:
            return self._mp.mpf(0)
        with self._mp.workprec(self._mp.mp.prec + 16 + 2 * max(0, -self._mp.mag(x))):
            value = self._mp.sin(x) - x * self._mp.cos(x)
        return +value

    def square_lag(self, x: Value) -> Value:
        """With as many more bits as the subtraction takes away."""
        mp = self._mp
        if x == 0:
            return mp.mpf(0)
        with mp.workprec(mp.mp.prec + 16 + 2 * max(0, -mp.mag(x))):
            value = mp.sqrt(mp.pi / 2) * mp.erf(x / mp.sqrt(2)) - x * mp.exp(-(x**2) / 2)
        return +value

    def integral(self, f: Callable[..., Value], hi: Value, *values: Value) -> Value:
        """mpmath's tanh-sinh rule on parts that are graded towards both ends."""
        if hi <= 0:
            return self._mp.mpf(0)

        def inside(t: Value) -> Value:
            try:
                return f(t, *values)
            except ZeroDivisionError:
                # A node that rounding put on a singularity, where the integrand tends to 0.
                return self._mp.mpf(0)

        # The rule's degree follows from the precision, and near an essential singularity falls short of it.
        with self._mp.workprec(self._mp.mp.prec + 64):
            ends = [hi * k / 256 for k in (0, 1, 4, 16, 64, 128, 192, 240, 252, 255, 256)]
            value = self._mp.quad(inside, ends)
        return +value
