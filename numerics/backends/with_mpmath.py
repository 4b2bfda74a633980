"""mpmath: its current number of digits, all of them right, tails included."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from gateproof.numerics.backends.filled import limit_at
from gateproof.numerics.backends.point_balls import value_at
from gateproof.numerics.backends.with_balls import exact
from gateproof.numerics.errors import NumericsError, Undefined
from gateproof.theory.formula.nodes import App, Const, Expr


def run(expr: Expr, names: tuple[str, ...], args: tuple[Any, ...]) -> Any:
    """The value at mpmath's current precision; not-a-number where there is no real one.

    Takes mpmath numbers, Python numbers, rationals and decimal strings. The digits are those of a rigorous
    enclosure. Raises MaybeUndefined where no working precision up to the largest tells them from 0.
    """
    from mpmath import mp

    points: list[Fraction] = []
    for a in args:
        number = mp.mpf(a) if isinstance(a, float) else a
        if hasattr(number, "_mpf_") and not mp.isfinite(number):
            return _at_infinity(expr, names, args)
        point = exact(number)
        if point is None:
            raise TypeError("a number is expected, found a ball")
        points.append(point)
    try:
        return _value(expr, dict(zip(names, points, strict=True)))
    except NumericsError as error:
        found = limit_at(expr, names[0], points[0]) if len(names) == 1 else None
        if found is not None and not _is_infinite(found):
            return _value(found, {})
        if isinstance(error, Undefined):
            return mp.nan
        raise


def _at_infinity(expr: Expr, names: tuple[str, ...], args: tuple[Any, ...]) -> Any:
    from mpmath import mp

    x = mp.mpf(args[0])
    if len(names) != 1 or mp.isnan(x):
        return mp.nan
    found = limit_at(expr, names[0], None, 1 if x > 0 else -1)
    if found is None:
        return mp.nan
    if _is_infinite(found):
        return mp.inf if found == Const("oo") else -mp.inf
    return _value(found, {})


def _is_infinite(expr: Expr) -> bool:
    return expr in (Const("oo"), App("neg", (Const("oo"),)))


def _value(expr: Expr, where: dict[str, Fraction]) -> Any:
    from mpmath import mp

    mantissa, exponent = value_at(expr, where, mp.prec).mid().man_exp()
    return mp.ldexp(mp.mpf(int(mantissa)), int(exponent))
