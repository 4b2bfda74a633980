"""Variances so large that the maps have no fixed point, or no critical one: the sign of a curve beyond Q.

For a bounded phi, sqrt(2 pi q) D(q) = int phi'^2 exp(-x^2/(2 q)) dx grows with q and V is at most sup phi^2.
Else let r be the function of the two asymptotes with one kink at 0. With A, B, C the numbers of
E r^2 = A q + B sqrt(q) + C, and

    I0(q) = int (phi^2 - r^2) exp(-x^2/(2 q)) dx,   I1(q) = int (phi'^2 - r'^2) exp(-x^2/(2 q)) dx,
    V = A q + B sqrt(q) + C + I0/sqrt(2 pi q),       D = A + I1/sqrt(2 pi q),

and |I(q) - I(Q)| <= int x^2 |..| dx/(2 Q) for q >= Q, so that one quadrature at Q encloses both I for all
larger q, and the curves become polynomials in 1/sqrt(q) with coefficients in balls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from flint import arb

from gateproof.numerics import interval as iv
from gateproof.numerics.meanfield.activation import Phi
from gateproof.numerics.meanfield.certified_panels import NoPanels
from gateproof.numerics.meanfield.certified_tails import NoTailBound
from gateproof.numerics.meanfield.closed_means import (
    Closed,
    edge_form,
    far_by_closed_form,
    fixed_point_form,
)
from gateproof.numerics.meanfield.curves import Maps, reachable
from gateproof.numerics.meanfield.far_lines import BITS, Lines, lines
from gateproof.numerics.meanfield.far_slow import elasticity, slow_lines, supremum
from gateproof.numerics.precision import precision
from gateproof.theory.formula.nodes import Expr

#: Where a search ends that no argument extends to infinity.
LARGEST = Fraction(4**8)
SLOWLY = "by bounds of what is left about the asymptotes, which phi approaches slowly"
LOGARITHMIC = "|x phi'(x)| is bounded, so that sqrt(V) grows at most like log q"
#: Powers of 4 tried for Q.
POWERS = (*range(2, 13), *range(14, 27, 2))


@dataclass(frozen=True)
class Far:
    """The curve has the sign ``sign`` for every q >= ``beyond``; ``why`` in words."""

    sign: int
    beyond: arb
    why: str


@lru_cache(maxsize=128)
def supremum_squared(phi: Phi) -> arb | None:
    """An upper bound of phi^2, or None where phi is not seen to be bounded."""
    top = supremum(phi.expr)
    return None if top is None else arb((top**2).upper())


def edge_far(maps: Maps, sigma_b2: Fraction) -> Far | None:
    """The sign of (q - s) D - V for all large q, or None."""
    return _edge_far(maps, iv.rational(sigma_b2)) or _closed(maps.phi, edge_form(sigma_b2))


def _closed(phi: Phi, curve: Callable[[Closed, Expr], Expr]) -> Far | None:
    found = far_by_closed_form(phi, curve)
    return None if found is None else Far(found[0], iv.rational(found[1]), "by the closed forms of V and D")


def _edge_far(maps: Maps, sigma_b2: arb) -> Far | None:
    top = supremum_squared(maps.phi)
    if top is not None:
        for power in POWERS:
            q = arb(4) ** power
            d = _moments(maps, q)
            if d is not None and (q - sigma_b2) * d[1] > top:
                return Far(1, q, "phi is bounded, and (q - sigma_b^2) D/V grows without bound")
        return None
    found = _by_lines(maps, lambda at, t, i0, i1: _edge_form(at, sigma_b2, t, i0, i1))
    return found or _edge_slow(maps, sigma_b2)


def _edge_slow(maps: Maps, s: arb) -> Far | None:
    """The same where phi approaches its lines slowly, or grows like a logarithm."""
    at, k = slow_lines(maps.phi), elasticity(maps.phi)
    if at is None and k is None:
        return None
    for q, v, d in _far_moments(maps):
        if at is not None:
            t = arb(0).union(1 / q.sqrt())
            # sqrt(q') (D(q') - A) for every q' >= q, then F/sqrt(q').
            level = q.sqrt() * (d - at.a) + arb(0, (at.loose(q) / (2 * arb.pi()).sqrt()).upper())
            value = level - at.b - t * (s * (at.a + t * level) + arb(0, at.top.upper()))
            if value > 0 or value < 0:
                return Far(1 if value > 0 else -1, q, SLOWLY)
        if k is not None and q > s and (q - s) * d > v and (q - s) * d >= 4 * k * k:
            return Far(1, q, LOGARITHMIC)
    return None


def _far_moments(maps: Maps) -> Iterator[tuple[arb, arb, arb]]:
    """Q with V and D there, ascending, for as long as they are found."""
    for power in POWERS[2:]:
        q = arb(4) ** power
        found = _moments(maps, q)
        if found is None:
            return
        with precision(BITS):
            yield q, *found


def _edge_form(at: Lines, s: arb, t: arb, i0: arb, i1: arb) -> arb:
    """F/sqrt(q), with t = 1/sqrt(q)."""
    root = (2 * arb.pi()).sqrt()
    return (i1 / root - at.b) - t * (s * at.a + at.c) - t * t * (s * i1 + i0) / root


def fixed_point_far(maps: Maps, sigma_w2: Fraction, sigma_b2: Fraction) -> Far | None:
    """The sign of w V + s - q for all large q, or None."""
    found = _fixed_point_far(maps, iv.rational(sigma_w2), iv.rational(sigma_b2), sigma_w2)
    return found or _closed(maps.phi, fixed_point_form(sigma_w2, sigma_b2))


def _fixed_point_far(maps: Maps, sigma_w2: arb, sigma_b2: arb, exact: Fraction) -> Far | None:
    top = supremum_squared(maps.phi)
    if top is not None:
        beyond = arb((sigma_w2 * top + sigma_b2).upper())
        return Far(-1, 1 + beyond, "phi is bounded, so that the image of every q is less than this")

    critical = exact * _exact_a(maps.phi) == 1

    def form(at: Lines, t: arb, i0: arb, _: arb) -> arb:
        """The curve over q; over sqrt(q) or 1 where the leading coefficients are exactly 0."""
        level, rest = sigma_w2 * at.c + sigma_b2, sigma_w2 * i0 / (2 * arb.pi()).sqrt()
        if critical and at.b.is_zero() and level.is_zero():
            return rest
        last = level + t * rest
        if critical and at.b.is_zero():
            return last
        second = sigma_w2 * at.b + t * last
        return second if critical else (sigma_w2 * at.a - 1) + t * second

    return _by_lines(maps, form) or _fixed_point_slow(maps, sigma_w2, sigma_b2)


def _fixed_point_slow(maps: Maps, w: arb, s: arb) -> Far | None:
    """The same where phi approaches its lines slowly, or grows like a logarithm."""
    at, k = slow_lines(maps.phi), elasticity(maps.phi)
    if at is None and k is None:
        return None
    for q, v, _ in _far_moments(maps):
        if at is not None:
            t = arb(0).union(1 / q.sqrt())
            value = (w * at.a - 1) + t * (w * at.b + t * (s + w * arb(0, at.top.upper())))
            if value > 0 or value < 0:
                return Far(1 if value > 0 else -1, q, SLOWLY)
        if k is not None and w * v + s < q and q - s >= w * k * k:
            return Far(-1, q, LOGARITHMIC)
    return None


def _exact_a(phi: Phi) -> Fraction:
    """A where it is rational, else 0."""
    found = lines(phi)
    return (found.exact_a if found is not None else None) or Fraction(0)


def _by_lines(maps: Maps, form: Callable[[Lines, arb, arb, arb], arb]) -> Far | None:
    """The first sign that the form takes for all 1/sqrt(q) from 0 on."""
    at = lines(maps.phi)
    if at is None:
        return None
    for power in POWERS:
        q = arb(4) ** power
        found = _moments(maps, q)
        if found is None:
            return None
        with precision(BITS):
            norm = (2 * arb.pi() * q).sqrt()
            i0 = norm * (found[0] - at.a * q - at.b * q.sqrt() - at.c) + arb(
                0, (at.loose[0] / (2 * q)).upper()
            )
            i1 = norm * (found[1] - at.a) + arb(0, (at.loose[1] / (2 * q)).upper())
            t = arb(0).union(1 / q.sqrt())
            value = form(at, t, i0, i1)
        if value > 0 or value < 0:
            return Far(1 if value > 0 else -1, q, "by the expansion in 1/sqrt(q) about the asymptotes")
    return None


def _moments(maps: Maps, q: arb) -> tuple[arb, arb] | None:
    """V and D to more digits than the cancellation of A q takes, or None."""
    try:
        m = maps.at(q, 32)
    except (NoPanels, NoTailBound):
        return None
    return m.first[0], m.second[0]


def last_variance(
    maps: Maps, lo: arb, sigma_b2: Fraction, given: Fraction | None, far: Far | None
) -> tuple[arb, Far | None]:
    """Where a search from lo ends, ``given`` or not, and what is known beyond: nothing where moments fail."""
    if given is not None and not (far is not None and far.beyond < iv.rational(given)):
        # All of (0, lo] is known: a range that ends there has nothing to be searched.
        hi, far = max(arb(iv.rational(given).upper()), lo), None
    else:
        hi = iv.rational(max(LARGEST, 4 * sigma_b2)) if far is None else far.beyond
        hi = max(arb(hi.upper()), 2 * lo)
    within = reachable(maps, lo, hi)
    if within is None:
        return 2 * lo, None
    return (hi, far) if within >= hi else (within, None)
