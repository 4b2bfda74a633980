"""Balls: rigorous enclosures by Arb at flint's current precision."""

from __future__ import annotations

from fractions import Fraction
from math import isfinite
from typing import Any

import flint
from flint import arb

from gateproof.numerics.backends.filled import limit_at
from gateproof.numerics.ball import evaluate
from gateproof.numerics.errors import MaybeUndefined, NotReal, NumericsError, Undefined
from gateproof.numerics.points import at_point, exact_arb
from gateproof.numerics.precision import precision
from gateproof.theory.formula.nodes import App, Const, Expr
from gateproof.theory.formula.printer import decimal_text, to_text

_DOUBLINGS = 7


def exact(value: Any) -> Fraction | None:
    """The rational that a number or a decimal string is; None for a ball.

    A Python float is the binary number that it is. Raises TypeError for other things, ValueError for infinite
    numbers and for text that is no number.
    """
    if isinstance(value, arb):
        return None
    if isinstance(value, bool):
        raise TypeError("a number is expected, found a truth value")
    if isinstance(value, float) and not isfinite(value):
        raise ValueError(f"a finite number is expected, found {value}")
    if isinstance(value, str):
        try:
            return Fraction(value)
        except (ValueError, ZeroDivisionError):
            raise ValueError(f"a number such as '0.1' or '1/3' is expected, found {value!r}") from None
    if isinstance(value, int | float | Fraction):
        return Fraction(value)
    if hasattr(value, "_mpf_"):
        sign, mantissa, exponent, bits = value._mpf_
        if not mantissa and exponent:
            raise ValueError("a finite number is expected")
        return (-1) ** sign * Fraction(int(mantissa)) * Fraction(2) ** int(exponent) if bits else Fraction(0)
    raise TypeError(f"a ball, a rational or a decimal string is expected, found {type(value).__name__}")


def run(expr: Expr, names: tuple[str, ...], args: tuple[Any, ...]) -> arb:
    """An enclosure of the value at every point of the arguments.

    Where the text has no value but a limit (sin(x)/x at 0), that limit. Raises Undefined where there is
    none, MaybeUndefined where a ball may hold such a point, ValueError for infinite arguments.
    """
    points = [exact(a) for a in args]
    balls = [a if p is None else exact_arb(p) for a, p in zip(args, points, strict=True)]
    if not all(b.is_finite() for b in balls):
        raise ValueError("finite balls are expected")
    known = {n: p for n, p in zip(names, points, strict=True) if p is not None}
    try:
        if len(known) == len(names):
            return _at(expr, known)
        return evaluate(expr, dict(zip(names, balls, strict=True)), flint.ctx.prec)
    except (Undefined, MaybeUndefined) as error:
        if len(names) == 1 and len(known) == 1:
            ((name, point),) = known.items()
            found = limit_at(expr, name, point)
            if found is not None and found not in (Const("oo"), App("neg", (Const("oo"),))):
                return _at(found, {})
        places = ", ".join(f"{n} = {decimal_text(p)}" for n, p in known.items()) or "the ball"
        raise type(error)(f"{_short(expr)} has no value at {places}: {error.where}") from None
    except NotReal as error:
        raise Undefined(str(error)) from None


def _short(expr: Expr) -> str:
    text = to_text(expr)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _at(expr: Expr, point: dict[str, Fraction]) -> arb:
    """The value at a rational point to about the current precision."""
    wanted = flint.ctx.prec
    bits = wanted + 16
    last: NumericsError | None = None
    value: arb | None = None
    for _ in range(_DOUBLINGS):
        try:
            value = at_point(expr, point, bits)
        except MaybeUndefined as error:
            last = error
        else:
            if value.is_zero() or value.rel_accuracy_bits() >= wanted:
                break
        bits *= 2
    if value is None:
        assert last is not None
        raise last
    with precision(wanted):
        return value + 0
