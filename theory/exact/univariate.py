"""The sign of a polynomial in one variable on an interval: exact, by Sturm's theorem."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import flint

from gateproof.theory.exact.budget import spend

MAX_DEGREE = 80


@dataclass(frozen=True)
class Range:
    """An interval with rational or infinite ends."""

    lo: Fraction | None = None
    hi: Fraction | None = None
    lo_closed: bool = False
    hi_closed: bool = False

    def meet(self, other: Range) -> Range:
        """The intersection."""
        lo, lo_closed = self.lo, self.lo_closed
        if other.lo is not None and (lo is None or other.lo > lo):
            lo, lo_closed = other.lo, other.lo_closed
        elif other.lo is not None and other.lo == lo:
            lo_closed = lo_closed and other.lo_closed
        hi, hi_closed = self.hi, self.hi_closed
        if other.hi is not None and (hi is None or other.hi < hi):
            hi, hi_closed = other.hi, other.hi_closed
        elif other.hi is not None and other.hi == hi:
            hi_closed = hi_closed and other.hi_closed
        return Range(lo, hi, lo_closed, hi_closed)

    @property
    def is_empty(self) -> bool:
        """Whether no number is left."""
        if self.lo is None or self.hi is None:
            return False
        return self.lo > self.hi or (self.lo == self.hi and not (self.lo_closed and self.hi_closed))

    def inner(self) -> Fraction:
        """A number inside (or the only one)."""
        if self.lo is not None and self.hi is not None:
            return (self.lo + self.hi) / 2
        if self.lo is not None:
            return self.lo + 1
        if self.hi is not None:
            return self.hi - 1
        return Fraction(0)


def value_at(coefficients: dict[int, Fraction], x: Fraction) -> Fraction:
    """The polynomial's value."""
    return sum((c * x**k for k, c in coefficients.items()), Fraction(0))


def signs_on(coefficients: dict[int, Fraction], on: Range) -> frozenset[int]:
    """All signs that the polynomial takes on the interval, or a superset."""
    everything = frozenset({-1, 0, 1})
    if max(coefficients, default=0) > MAX_DEGREE or on.is_empty:
        return everything
    if on.lo is not None and on.lo == on.hi:
        return frozenset({_sign(value_at(coefficients, on.lo))})
    found: set[int] = set()
    if on.lo is not None and on.lo_closed:
        found.add(_sign(value_at(coefficients, on.lo)))
    if on.hi is not None and on.hi_closed:
        found.add(_sign(value_at(coefficients, on.hi)))
    if not has_root_inside(coefficients, on):
        return frozenset(found | {_sign(value_at(coefficients, on.inner()))})
    return everything


def has_root_inside(coefficients: dict[int, Fraction], on: Range) -> bool:
    """Whether the polynomial has a root in the open interval.

    Sturm: V(a) - V(b) counts the distinct roots in (a, b], for p(a) and p(b) not 0;
    roots at the ends are divided out first.
    """
    spend(1 + max(coefficients) ** 2 // 20)
    x = flint.fmpq_poly([0, 1])
    p = flint.fmpq_poly([_rational(coefficients.get(k, Fraction(0))) for k in range(max(coefficients) + 1)])
    for end in (on.lo, on.hi):
        if end is not None:
            while p.degree() > 0 and p(_rational(end)) == 0:
                p = p // (x - _rational(end))
    chain = [p, p.derivative()]
    while chain[-1].degree() > 0:
        remainder = chain[-2] % chain[-1]
        if remainder.degree() < 0:
            break
        chain.append(-remainder)
    return _changes(chain, on.lo, -1) != _changes(chain, on.hi, 1)


def _changes(chain: list[flint.fmpq_poly], end: Fraction | None, side: int) -> int:
    signs = []
    for p in chain:
        if p.degree() < 0:
            continue
        if end is None:
            lead = p[p.degree()]
            value = lead if side > 0 or p.degree() % 2 == 0 else -lead
        else:
            value = p(_rational(end))
        if value != 0:
            signs.append(value > 0)
    return sum(a != b for a, b in pairwise(signs))


def _rational(value: Fraction) -> flint.fmpq:
    return flint.fmpq(value.numerator, value.denominator)


def _sign(x: Fraction) -> int:
    return (x > 0) - (x < 0)
