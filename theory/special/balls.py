"""Balls for the declarations. flint loads with the first value: names alone need none of its 30 ms."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flint import acb, arb, arb_series


def real(value: Fraction | int) -> arb:
    """A number as a real ball."""
    from flint import arb, fmpq

    return arb(fmpq(value.numerator, value.denominator))


def unit() -> arb:
    """[-1, 1]."""
    from flint import arb

    return arb(0, 1)


def no_number() -> arb:
    """What stands for no value."""
    from flint import arb

    return arb.nan()


def root_of_pi() -> arb:
    """sqrt(pi)."""
    from flint import arb

    return arb.const_sqrt_pi()


def complex_ball(value: arb | Fraction | int) -> acb:
    """A number or a real ball as a complex ball."""
    from flint import acb

    return acb(real(value) if isinstance(value, Fraction | int) else value)


def line(x: arb, n: int) -> arb_series:
    """x + t up to t**n."""
    from flint import arb_series

    return arb_series([x, real(1)] if n else [x], prec=n + 1)


def padded(coefficients: list[arb], n: int) -> list[arb]:
    """n + 1 of them: flint leaves out zeros at the end."""
    return [*coefficients, *[real(0)] * (n + 1 - len(coefficients))][: n + 1]
