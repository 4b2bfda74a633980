"""Polynomials over the rationals in y, opaque constants and quantities that fall exponentially.

The key of a monomial is (k, constants, smalls): the power of y, and sorted tuples of Coq terms and of
places in a list of small quantities, each as often as it is a factor.
"""

from __future__ import annotations

from fractions import Fraction

Key = tuple[int, tuple[str, ...], tuple[int, ...]]
Poly = dict[Key, Fraction]
ONE: Key = (0, (), ())


def constant(value: Fraction | int) -> Poly:
    """A rational number."""
    return {ONE: Fraction(value)} if value else {}


def atom(text: str) -> Poly:
    """A constant that is kept as it is."""
    return {(0, (text,), ()): Fraction(1)}


def small(place: int) -> Poly:
    """The small quantity of that place."""
    return {(0, (), (place,)): Fraction(1)}


def add(a: Poly, b: Poly) -> Poly:
    """The sum; what cancels is gone."""
    total = dict(a)
    for key, value in b.items():
        total[key] = total.get(key, Fraction(0)) + value
    return {key: value for key, value in total.items() if value}


def scale(a: Poly, factor: Fraction | int) -> Poly:
    """A rational multiple."""
    return {key: value * factor for key, value in a.items()} if factor else {}


def mul(a: Poly, b: Poly) -> Poly:
    """The product."""
    total: Poly = {}
    for (k, c, s), value in a.items():
        for (m, d, t), other in b.items():
            key = (k + m, tuple(sorted(c + d)), tuple(sorted(s + t)))
            total[key] = total.get(key, Fraction(0)) + value * other
    return {key: value for key, value in total.items() if value}


def rational(a: Poly) -> Fraction | None:
    """The value of what is a rational number, else None."""
    return a.get(ONE, Fraction(0)) if set(a) <= {ONE} else None
