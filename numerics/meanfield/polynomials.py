"""Polynomial activations with rational coefficients: V and D are polynomials in q, all points are exact.

Zeros are those of irreducible factors over Q, isolated in balls, with their multiplicity. At a zero of such a
factor f another polynomial vanishes only if f divides it: chi_1 and chi_parallel are told from 1, 0 and -1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import cast

from flint import acb, arb, fmpq, fmpq_poly

from gateproof.numerics import interval as iv
from gateproof.numerics.meanfield.activation import Phi, X
from gateproof.numerics.meanfield.outcome import DOUBLE, Point, stability, unless_told
from gateproof.theory.exact.kernels import polynomial_in
from gateproof.theory.formula.powers import constant_value

#: The highest degree of phi.
MOST = 24
WHY = "V and D are polynomials in q, whose zeros are isolated exactly"


@dataclass(frozen=True)
class Means:
    """V and D as polynomials in q."""

    v: fmpq_poly
    d: fmpq_poly


@dataclass(frozen=True)
class Zero:
    """A positive zero of a polynomial: a ball, its irreducible factor, and how often it is one."""

    q: arb
    factor: fmpq_poly
    times: int

    def also(self, other: fmpq_poly) -> bool:
        """Whether another polynomial is exactly 0 there."""
        return bool((other % self.factor).is_zero())

    def value(self, other: fmpq_poly) -> arb:
        """Another polynomial there: exact where that is -1, 0 or 1."""
        for exact in (0, 1, -1):
            if self.also(other - exact):
                return arb(exact)
        return at(other, self.q)


@lru_cache(maxsize=128)
def means(phi: Phi) -> Means | None:
    """The polynomials, or None where phi is none with rational coefficients, of degree 1 to MOST."""
    if len(phi.branches) != 1:
        return None
    found = polynomial_in(phi.branches[0].expr, X)
    if found is None or not 1 <= max(found, default=0) <= MOST or min(found) < 0:
        return None
    parts = [Fraction(0)] * (max(found) + 1)
    for k, c in found.items():
        exact = constant_value(c)
        if exact is None:
            return None
        parts[k] = exact
    slope = [k * a for k, a in enumerate(parts)][1:]
    return Means(_square(parts), _square(slope))


def _square(parts: list[Fraction]) -> fmpq_poly:
    """E f^2 by the even moments 1, 1, 3, 15, .. of a standard normal."""
    moments, total = [1], [Fraction(0)] * len(parts)
    for k in range(1, len(parts)):
        moments.append(moments[-1] * (2 * k - 1))
    for i, a in enumerate(parts):
        for j, b in enumerate(parts):
            if (i + j) % 2 == 0:
                total[(i + j) // 2] += a * b * moments[(i + j) // 2]
    return fmpq_poly([fmpq(t.numerator, t.denominator) for t in total])


def at(polynomial: fmpq_poly, q: arb) -> arb:
    """Its value on a ball."""
    total = arb(0)
    for c in reversed(polynomial.coeffs()):
        total = total * q + arb(c)
    return total


def zeros(polynomial: fmpq_poly, largest: Fraction | None) -> tuple[Zero, ...]:
    """Its zeros in (0, largest], ascending, at flint's precision; ArithmeticError where that is low."""
    return tuple(sorted(_zeros(polynomial, largest), key=lambda z: float(z.q.mid())))


def _zeros(polynomial: fmpq_poly, largest: Fraction | None) -> Iterator[Zero]:
    for factor, times in polynomial.factor()[1]:
        whole = fmpq_poly(factor)
        for root, _ in cast("list[tuple[acb, int]]", whole.complex_roots()):
            if not root.imag.is_zero():
                continue
            if whole.degree() == 1:
                c = whole.coeffs()
                q = arb(-c[0] / c[1])
            else:
                q = root.real
                if q.contains(0):
                    raise ArithmeticError("a zero was not told from 0")
            if q > 0 and (largest is None or not q > iv.rational(largest)):
                yield Zero(q, whole, times)


def fixed_points(
    m: Means, sigma_w2: Fraction, sigma_b2: Fraction, largest: Fraction | None
) -> tuple[Point, ...]:
    """All q* > 0 with q* = w V + s."""
    w, s = fmpq(sigma_w2.numerator, sigma_w2.denominator), fmpq(sigma_b2.numerator, sigma_b2.denominator)
    image = w * m.v + s
    curve = image - fmpq_poly([0, 1])
    balls = iv.rational(sigma_w2), iv.rational(sigma_b2)
    found = []
    for zero in zeros(curve, largest):
        chi = zero.value(image.derivative())
        stable, note = _stable(image, zero, chi)
        found.append(Point(zero.q, *balls, zero.value(w * m.d), chi, stable, note))
    return tuple(found)


def _stable(image: fmpq_poly, zero: Zero, chi: arb) -> tuple[bool | None, str]:
    """Whether the fixed point attracts, also where |chi_parallel| is exactly 1."""
    if chi == -1:
        # f(f(q)) = q + h - (f'''/3 + f''^2/2) h^3.
        bend, third = image.derivative().derivative(), image.derivative().derivative().derivative()
        form = 2 * third + 3 * bend * bend
        return _sign(zero.value(form)), "chi_parallel is exactly -1"
    if chi != 1:
        return stability(chi), unless_told(stability(chi))
    rest = image - fmpq_poly([0, 1])
    for _ in range(zero.times):
        rest = rest.derivative()
    grows = _sign(at(rest, zero.q))
    if grows is None:
        return None, "chi_parallel is exactly 1"
    if zero.times % 2:
        return not grows, "chi_parallel is exactly 1"
    side, other = ("below", "above") if grows else ("above", "below")
    return None, f"chi_parallel is exactly 1: the fixed point attracts from {side} and repels {other}"


def _sign(x: arb) -> bool | None:
    """Whether it is positive; None for 0, and where that is not told."""
    return True if x > 0 else False if x < 0 else None


def edge(m: Means, sigma_b2: Fraction, largest: Fraction | None) -> tuple[Point, ...]:
    """All q* > 0 with (q* - s) D = V; there w = 1/D."""
    s = fmpq(sigma_b2.numerator, sigma_b2.denominator)
    found = []
    for zero in zeros(fmpq_poly([-s, 1]) * m.d - m.v, largest):
        slope = m.v.derivative()
        d = at(m.d, zero.q)
        # chi_parallel = V'/D.
        chi = next((arb(k) for k in (0, 1, -1) if zero.also(slope - k * m.d)), at(slope, zero.q) / d)
        stable = stability(chi)
        note = DOUBLE if chi == 1 else unless_told(stable)
        bend = _sign(at(slope.derivative(), zero.q)) if chi == 1 else None
        if bend is not None:
            side = "below" if bend else "above"
            note += f"; the fixed point attracts from {side} and repels on the other side"
        found.append(Point(zero.q, 1 / d, iv.rational(sigma_b2), arb(1), chi, stable, note))
    return tuple(found)
