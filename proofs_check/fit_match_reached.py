"""A size that the error of a fit certainly has: its value at a place of the domain, by the checker.

Of witnesses only the places are taken. The formula is built again from the document's gate and target, so a
witness of something else, or of a place outside of the domain, shows nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from gateproof.numerics.decimals import floor_decimal, magnitude
from gateproof.proofs_check.fit_match import Side, abs_least, pieces
from gateproof.theory.formula import substitute
from gateproof.theory.formula.nodes import App, Expr, num
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.gate import Gate

if TYPE_CHECKING:
    from gateproof.numerics.fits.target import Target

#: How near to an end that is left out, as a share of the interval; digits of a value; values looked at.
BESIDE, DIGITS, TRIED = Fraction(1, 2**200), 20, 4
#: How far out the error is looked at where the domain is infinite.
FAR = (2**6, 2**10, 2**20, 2**40)


def reached(gate: Gate, target: Target, places: Iterable[Expr]) -> Fraction | None:
    """The largest size of the error at the places, if the checker accepts it; None where it accepts none."""
    from gateproof.numerics.certificate import Bounds
    from gateproof.numerics.errors import NumericsError
    from gateproof.numerics.points import enclosure
    from gateproof.proofs_check.engine.point_certificates import point_certificate

    found: list[tuple[Fraction, Expr]] = []
    for place in places:
        for error, at in _inside(gate, target, place):
            value = substitute(error, {"x": at})
            try:
                low, high = enclosure(value)
            except (NumericsError, ArithmeticError, ValueError):
                continue
            if abs_least(low, high) > 0:
                found.append((abs_least(low, high), value if low > 0 else App("neg", (value,))))
    for size, value in sorted(found, key=lambda entry: -entry[0])[:TRIED]:
        least = Fraction(floor_decimal(size, DIGITS - 1 - magnitude(size)))
        if point_certificate(value, {}, Bounds(lower=least)) is not None:
            return least
    return None


def far_out(target: Target) -> Iterator[Expr]:
    """Places far out, where the domain is infinite."""
    for end, other, sign in ((target.lo, target.hi, -1), (target.hi, target.lo, 1)):
        if end is None:
            yield from (num(sign * far + (other or 0)) for far in FAR)


def _inside(gate: Gate, target: Target, place: Expr) -> Iterator[tuple[Expr, Expr]]:
    """The error's formula at a place of the domain, and the place or one just beside it."""
    from gateproof.numerics.errors import NumericsError
    from gateproof.numerics.points import enclosure

    exact = constant_value(place)
    try:
        a, b = enclosure(place) if exact is None else (exact, exact)
    except NumericsError:
        return
    for error, lo, hi in pieces(gate, target):
        # A line of a hard gate holds up to its upper threshold, and right of its lower one.
        closed = lo == target.lo and not target.left_out[0], not (hi == target.hi and target.left_out[1])
        if (lo is None or lo < a) and (hi is None or b < hi):
            yield error, place
        elif lo is not None and exact == lo:
            yield error, num(lo if closed[0] else lo + _step(lo, hi))
        elif hi is not None and exact == hi:
            yield error, num(hi if closed[1] else hi - _step(lo, hi))


def _step(lo: Side, hi: Side) -> Fraction:
    return BESIDE * (1 if lo is None or hi is None else hi - lo)
