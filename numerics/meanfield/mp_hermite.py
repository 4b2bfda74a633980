"""The Hermite coefficients of a smooth activation, and correlations as power series in c.

a_n = E phi(sqrt(q) z) h_n(z) with the orthonormal Hermite polynomials, so C = sum a_n^2 c^n. All terms of

    V - C = sum a_n^2 (1 - c^n),        D - E phi'(u) phi'(v) = sum n a_n^2 (1 - c^(n-1))/q

are positive: nothing cancels near c = 1. What is left out after N terms is known from
sum a_n^2 = V and sum n a_n^2 = q D.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log, sqrt

import gmpy2
from flint import arb
from gmpy2 import mpfr

from gateproof.numerics.meanfield.mp_means import Moment, densities, moment
from gateproof.numerics.meanfield.mp_numbers import to_mpfr
from gateproof.numerics.meanfield.mp_panels import NotReached
from gateproof.numerics.meanfield.mp_values import SHIFT, Grid, Values, level_of
from gateproof.numerics.precision import precision

#: Coefficients, and products of coefficients and points, beyond which another method is quicker.
MAX_TERMS = 12_000
MAX_WORK = 2_000_000


Sums = tuple[mpfr, mpfr, mpfr]


@dataclass(frozen=True)
class Powers:
    """C = sum of ``weights[n]`` c^n with weights a_n^2 >= 0, for one variance.

    ``rests[k]`` is what the terms left out of sum n (n-1) .. (n-k+1) a_n^2 add up to, k = 0, 1, 2, and
    ``errors[k]`` the sum of the errors of those kept, both by estimate.
    """

    weights: tuple[mpfr, ...]
    rests: Sums
    errors: Sums
    bits: int


def powers(values: Values, q: arb, digits: int) -> Powers:
    """The coefficients for the exact variance q > 0, so many that their sums are right to ``digits`` digits.

    The sums are V of a_n^2, q D of n a_n^2 and q^2 K2 of n (n-1) a_n^2.

    The activation must be one smooth formula. Raises NotReached where more than MAX_TERMS are needed, as
    they are for large q.
    """
    if values.phi.kinks:
        raise NotReached("kinks: the Hermite series converges too slowly")
    with precision(values.bits):
        wanted = [moment(values, Moment((k, k)), q, digits).value * q**k for k in range(3)]
        root = float(q.sqrt())
    first, second, third = (to_mpfr(w, values.bits) for w in wanted)
    sums = first, second, third
    reach = (2 * sqrt((digits + 2) * log(10)) + 2) * root
    level = level_of(root, digits) - 1
    small = mpfr(10) ** -digits
    while True:
        found = _on_grid(values, q, digits, Grid(level, 0), reach, sums)
        # A second grid, moved, tells the errors: see the trapezoid rule for one variable.
        found = _compared(found, _on_grid(values, q, digits, Grid(level, SHIFT), reach, sums))
        if all(e <= small * s for e, s in zip(found.errors, sums, strict=True)):
            if any(r > small * s for r, s in zip(found.rests, sums, strict=True)):
                raise NotReached("the Hermite series stalls")
            return found
        level -= 1


def _compared(fine: Powers, coarse: Powers) -> Powers:
    """The weights, their errors told by those from another grid."""
    with gmpy2.context(gmpy2.get_context(), precision=fine.bits):
        off = [abs(a - b) for a, b in zip(fine.weights, coarse.weights, strict=False)]
        rounding = mpfr(2) ** (10 - fine.bits)
        errors = [mpfr(0), mpfr(0), mpfr(0)]
        for n, (d, w) in enumerate(zip(off, fine.weights, strict=False)):
            part = d + rounding * w
            errors = [errors[0] + part, errors[1] + n * part, errors[2] + n * (n - 1) * part]
        return Powers(fine.weights, fine.rests, (errors[0], errors[1], errors[2]), fine.bits)


def _on_grid(values: Values, q: arb, digits: int, grid: Grid, reach: float, sums: Sums) -> Powers:
    count = ceil(reach / 2.0**grid.level)
    parity = values.phi.parity
    fold = parity != 0 and grid.shift == 0
    indices = range(count + 1) if fold else range(-count, count + 1)
    if len(indices) > MAX_TERMS:
        raise NotReached("the Hermite series needs too many points")
    bits = values.bits
    with precision(bits):
        scale = arb((1, grid.level)) / (2 * arb.pi() * q).sqrt()
        root = q.sqrt()
        heights = values.on_grid(0, grid, indices)
        weights = densities(q, grid, indices, bits)
        terms = [v * scale * w for v, w in zip(heights, weights, strict=True)]
        if fold:
            terms = [terms[0], *(2 * t for t in terms[1:])]
        points = [grid.point(i) / root for i in indices]
    with gmpy2.context(gmpy2.get_context(), precision=bits):
        return _summed(
            [to_mpfr(p, bits) for p in points], [to_mpfr(t, bits) for t in terms], parity, sums, digits, bits
        )


def _summed(points: list[mpfr], terms: list[mpfr], parity: int, sums: Sums, digits: int, bits: int) -> Powers:
    """Coefficients one by one, until what is left of their sums is below the digits or stops to fall."""
    small = mpfr(10) ** -digits
    previous, current = [mpfr(0)] * len(points), terms
    weights: list[mpfr] = []
    left = list(sums)
    best, reached, n = sums[2], 0, 0
    patience = 60 + 40 * min(MAX_TERMS, int(1 + sums[1] / sums[0] if sums[0] else 1))
    while True:
        mine = not parity or (n % 2 == 0) == (parity == 1)
        weight = gmpy2.fsum(current) ** 2 if mine else mpfr(0)
        weights.append(weight)
        left = [left[0] - weight, left[1] - n * weight, left[2] - n * (n - 1) * weight]
        if abs(left[2]) < best / 2:
            best, reached = abs(left[2]), n
        # On a grid that is too coarse the sum is never reached; the comparison of two grids tells.
        done = all(abs(r) <= small * s for r, s in zip(left, sums, strict=True))
        if done or n > 3 * reached + patience or left[2] < -small * sums[2]:
            break
        n += 1
        if n > MAX_TERMS or n * len(points) > MAX_WORK:
            raise NotReached("the Hermite series needs too many terms")
        a, b = gmpy2.rec_sqrt(mpfr(n)), gmpy2.sqrt(mpfr(n - 1) / n)
        previous, current = (
            current,
            [(z * c) * a - b * p for z, c, p in zip(points, current, previous, strict=True)],
        )
    none = mpfr(0), mpfr(0), mpfr(0)
    return Powers(tuple(weights), (abs(left[0]), abs(left[1]), abs(left[2])), none, bits)


def correlation(found: Powers, c: mpfr) -> tuple[mpfr, mpfr]:
    """C = sum a_n^2 c^n for c in [-1, 1], and its error by estimate."""
    with gmpy2.context(gmpy2.get_context(), precision=found.bits):
        total, power = mpfr(0), mpfr(1)
        for weight in found.weights:
            total += weight * power
            power *= c
        return total, found.errors[0] + abs(power) * found.rests[0]


def slope(found: Powers, c: mpfr) -> tuple[mpfr, mpfr]:
    """dC/dc = sum n a_n^2 c^(n-1), and its error."""
    with gmpy2.context(gmpy2.get_context(), precision=found.bits):
        total, power = mpfr(0), mpfr(1)
        for n, weight in enumerate(found.weights[1:], 1):
            total += n * weight * power
            power *= c
        return total, found.errors[1] + abs(power) * found.rests[1]


def gap(found: Powers, eps: mpfr) -> tuple[mpfr, mpfr]:
    """V - C at c = 1 - eps for eps in [0, 2], and its error, which falls with eps."""
    with gmpy2.context(gmpy2.get_context(), precision=found.bits):
        total = mpfr(0)
        for weight, lost in zip(found.weights, _lost(eps, len(found.weights)), strict=True):
            total += weight * lost
        error = min(2 * (found.errors[0] + found.rests[0]), eps * (found.errors[1] + found.rests[1]))
        return total, error


def slope_gap(found: Powers, eps: mpfr) -> tuple[mpfr, mpfr]:
    """q (D - E phi'(u) phi'(v)) = sum n a_n^2 (1 - c^(n-1)) at c = 1 - eps, and its error."""
    with gmpy2.context(gmpy2.get_context(), precision=found.bits):
        total = mpfr(0)
        lost = _lost(eps, len(found.weights))
        for n, (weight, part) in enumerate(zip(found.weights[1:], lost, strict=False), 1):
            total += n * weight * part
        error = min(2 * (found.errors[1] + found.rests[1]), eps * (found.errors[2] + found.rests[2]))
        return total, error


def _lost(eps: mpfr, count: int) -> list[mpfr]:
    """1 - c^n for n = 0, 1, ..: a sum of positive terms for c >= 0."""
    c = 1 - eps
    found = [mpfr(0)]
    power = mpfr(1)
    for _ in range(count - 1):
        power *= c
        found.append(eps + c * found[-1] if c >= 0 else 1 - power)
    return found
