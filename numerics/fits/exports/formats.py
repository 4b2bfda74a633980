"""Exact numbers in a floating format: rounded once, to nearest or downwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from importlib.util import find_spec

from gateproof.numerics.errors import NumericsError
from gateproof.numerics.points import enclosure
from gateproof.theory.formula.errors import FormulaError
from gateproof.theory.formula.expand import expand
from gateproof.theory.formula.nodes import Expr
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.formula.printer import to_text

_BITS = (256, 1024, 4096)


class RefusedExport(ValueError):
    """A gate that a format cannot hold, or an unknown format; one line."""


def refuse_missing(package: str, what: str) -> None:
    """Raise RefusedExport, in one line, where a package is not installed that something needs."""
    if find_spec(package) is None:
        raise missing(package, what)


def missing(package: str, what: str) -> RefusedExport:
    """The refusal of something that needs a package that is not installed."""
    return RefusedExport(f"{what} needs the package {package}: pip install {package}")


@dataclass(frozen=True)
class Floating:
    """An IEEE format: ``digits`` bits of precision; 2**``least`` is its smallest positive number."""

    name: str
    digits: int
    least: int
    largest: Fraction

    @property
    def unit(self) -> Fraction:
        """The unit roundoff u: rounding to nearest changes a normal number by at most u of itself."""
        return Fraction(1, 2**self.digits)


DOUBLE = Floating("double", 53, -1074, Fraction(2**53 - 1) * 2**971)
SINGLE = Floating("float", 24, -149, Fraction(2**24 - 1) * 2**104)


def bounds(node: Expr, bits: int = 256) -> tuple[Fraction, Fraction]:
    """Rational bounds of a closed expression; equal for a rational number. Raises RefusedExport."""
    known = constant_value(node)
    if known is not None:
        return known, known
    try:
        return enclosure(expand(node), bits)
    except (NumericsError, FormulaError) as error:
        raise RefusedExport(f"{to_text(node)} has no value: {error}") from None


def rounded(value: Fraction, form: Floating, *, down: bool = False) -> float:
    """The number of the format nearest to the value (ties to even), or the largest that is not above it.

    Raises RefusedExport past the format's largest number.
    """
    if value == 0:
        return 0.0
    top = abs(value.numerator).bit_length() - value.denominator.bit_length()
    exponent = top if abs(value) >= Fraction(2) ** top else top - 1
    quantum = Fraction(2) ** max(exponent - form.digits + 1, form.least)
    units = value / quantum
    found = (units.numerator // units.denominator if down else round(units)) * quantum
    if abs(found) > form.largest:
        raise RefusedExport(f"{float_text(value)} is too large for {form.name}")
    return float(found)


def nearest(node: Expr, form: Floating) -> float:
    """The number of the format nearest to a closed expression."""
    return settled(partial(bounds, node), form)


def settled(ends: Callable[[int], tuple[Fraction, Fraction]], form: Floating, *, down: bool = False) -> float:
    """The rounded number that rational bounds, given at a number of bits, enclose.

    Bounds that round alike settle it. A number that 4096 bits do not tell from a midpoint is rounded as its
    lower bound.
    """
    found = 0.0
    for bits in _BITS:
        lo, hi = ends(bits)
        found = rounded(lo, form, down=down)
        if lo == hi or found == rounded(hi, form, down=down):
            break
    return found


def float_text(value: Fraction) -> str:
    """A rational number in a few digits, for a message; any size."""
    from gateproof.numerics.decimals import magnitude

    if value == 0:
        return "0"
    exponent = magnitude(value)
    return (
        f"{float(value / Fraction(10) ** exponent):.4g}e{exponent}"
        if abs(exponent) > 5
        else f"{float(value):.6g}"
    )
