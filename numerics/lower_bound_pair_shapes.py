"""The functions A0, A3 and tanh z of a gate with two sharpnesses, in the charts of :mod:`lower_bound_pair`.

Numbers are balls, or series in one coordinate of length 3 whose coefficients are balls that hold for the
whole box, so that the coefficient of the second power encloses half the second derivative.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import factorial
from typing import Any

from flint import arb, arb_series

from gateproof.numerics import interval as iv

FAR, SMALL, APART, FLAT = Fraction(3), Fraction(1, 16), Fraction(7, 10), Fraction(3, 8)
#: Terms of sinh(sqrt s)/sqrt s, for s up to _TOP.
_TERMS, _TOP = 22, 200
_COEFFICIENTS = [1 / arb(factorial(2 * k + 1)) for k in range(_TERMS)]
#: How A0 falls and A3 grows: exp(-+(t + rate d) x).
RATES = {"cross": (0, 0), "beyond": (0, 2), "near": (1, 1)}

Side = tuple[Fraction, Fraction | None]
Ratio = Side | None
Number = Any


@dataclass(frozen=True)
class Box:
    """Sides of t, d and place (None: infinite), and of c1/c0 where it is split."""

    chart: str
    sides: tuple[Side, Side, Side]
    ratio: Ratio = None


def hull(side: Side) -> arb:
    """A ball around a side; of an infinite one only its start."""
    lo = iv.rational(side[0])
    return lo if side[1] is None else lo.union(iv.rational(side[1]))


def factors(box: Box, x: Fraction, d: Number, place: Number) -> tuple[Number, Number, Number]:
    """A0 and A3 without exp(-+(t + rate d) x), and tanh z, up to positive factors and a sign without x.

    On an infinite side of d the enclosures hold for all of it, whatever ``d`` is.
    """
    y, start = iv.rational(x), box.sides[1][0]
    endless = box.sides[1][1] is None
    if box.chart == "near":
        if endless:
            raise OverflowError
        bowl, cosh, sinh = _bowl(y, d, flatness(box))
        return bowl, bowl, (cosh - place * sinh) * bowl
    if box.chart == "beyond":
        reach = 2 * iv.rational(x - FAR)
        if endless and x >= FAR:
            raise OverflowError
        growth = (iv.rational(start) * reach).exp().union(arb(0)) if endless else (d * reach).exp()
        n = reciprocal(place * growth)
        return n, n, 2 * n - 1
    u = y - place
    if endless:
        down, up = _steep(iv.rational(start), u)
        return down, up, up - down
    z = d * u
    down, up = sigmoid(-2 * z), sigmoid(2 * z)
    turn = up - down if start else 2 * u * sinhc(z * z) / (z.exp() + (-z).exp())
    return down, up, turn


def second(value: Number) -> arb:
    """The coefficient of the second power."""
    return value[2] if isinstance(value, arb_series) else arb(0)


def _steep(d: arb, u: arb) -> tuple[arb, arb]:
    """sigmoid(-2 z) and sigmoid(2 z), z = d' u, for all d' >= d."""
    whole = arb(0).union(arb(1))
    if u > 0:
        down = arb(0).union(sigmoid(-2 * d * u.lower()))
        return down, 1 - down
    if u < 0:
        up = arb(0).union(sigmoid(2 * d * u.upper()))
        return 1 - up, up
    return whole, whole


def sigmoid(z: Number) -> Number:
    """1/(1 + exp(-z)) of a ball or series, by its monotone ends and s' = s(1 - s), s'' = s'(1 - 2 s)."""
    z0 = z if isinstance(z, arb) else z[0]
    lo, hi = (1 / (1 + (-end).exp()) for end in (z0.lower(), z0.upper()))
    s = lo.union(hi)
    if isinstance(z, arb):
        return s
    rise = (lo * (1 - lo)).union(hi * (1 - hi))
    if not (hi < 0.5 or lo > 0.5):
        rise = rise.union(arb(0.25))
    return arb_series([s, rise * z[1], rise * z[2] + rise * (1 - 2 * s) / 2 * z[1] * z[1]], prec=3)


def reciprocal(q: Number) -> Number:
    """1/(1 + q) for q >= 0."""
    q0 = q if isinstance(q, arb) else q[0]
    low = q0.lower()
    n = (1 / (1 + (low if low > 0 else arb(0)))).union(1 / (1 + q0.upper()))
    if isinstance(q, arb):
        return n
    return arb_series([n, -n * n * q[1], n * n * (n * q[1] * q[1] - q[2])], prec=3)


def sinhc(s: Number) -> Number:
    """sinh(sqrt s)/sqrt s for |s| <= 200: its power series; terms of the rest fall by more than half."""
    s0 = s if isinstance(s, arb) else s[0]
    top = s0.abs_upper()
    if not top <= _TOP:
        raise OverflowError
    error = arb(0, 1) * 2 / arb(factorial(2 * _TERMS + 1))
    value = _horner(_COEFFICIENTS, s0) + error * top**_TERMS
    if isinstance(s, arb):
        return value
    once = [k * c for k, c in enumerate(_COEFFICIENTS)][1:]
    twice = [arb(k * (k - 1)) / 2 * c for k, c in enumerate(_COEFFICIENTS)][2:]
    by = _horner(once, s0) + error * 2 * _TERMS * top ** (_TERMS - 1)
    bend = _horner(twice, s0) + error * 2 * _TERMS**2 * top ** (_TERMS - 2)
    return arb_series([value, by * s[1], by * s[2] + bend * s[1] * s[1]], prec=3)


def _horner(coefficients: Sequence[arb], s: arb) -> arb:
    total = arb(0)
    for c in reversed(coefficients):
        total = total * s + c
    return total


def flatness(box: Box) -> tuple[Fraction, Fraction]:
    """Where k = d/y lies in a box of the chart *near*; with the ends reversed nowhere."""
    (_, (d, most), (least, y)) = box.sides
    assert most is not None
    assert y is not None
    return d / y, min(FLAT, most / least) if least else FLAT


def empty(box: Box) -> bool:
    """Whether no gate is in the box."""
    return box.chart == "near" and flatness(box)[0] > FLAT


def _bowl(x: arb, d: Number, flat: Side) -> tuple[Number, Number, Number]:
    """C for all k there, cosh d x and sinh(d x)/d."""
    grown = (d * x).exp()
    cosh, sinh = (grown + 1 / grown) / 2, x * sinhc(d * x * (d * x))
    return 1 / (cosh - hull(flat) * d * sinh), cosh, sinh


def flat_enough() -> bool:
    """Whether FLAT bounds tanh(d c) in the chart *near*."""
    r = iv.rational(APART) * (-2 * iv.rational(SMALL) * iv.rational(FAR)).exp()
    return bool((1 - r) / (1 + r) <= iv.rational(FLAT))
