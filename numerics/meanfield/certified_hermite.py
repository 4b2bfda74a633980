"""Correlation maps in balls by Hermite series: C(q, c) = sum of a_n(q)^2 c^n with all terms >= 0.

a_n = E phi(sqrt(q) z) h_n(z), h_n the orthonormal Hermite polynomials. By Cauchy's integral of their
generating function on the circle of radius sqrt(n),

    |h_n(x + i y)| <= (2 pi n)^(1/4) exp(1/(24 n)) exp(sqrt(n) |y| + x^2/4)

and |h_n(x)| <= 1.09 exp(x^2/4) on the line (Cramer). What is left after N terms is V - sum of a_n^2.
"""

from __future__ import annotations

from itertools import pairwise
from math import ceil, exp, log, log2, pi, sqrt

from flint import acb, arb

from gateproof.numerics.meanfield.activation import Phi
from gateproof.numerics.meanfield.certified_cuts import branch_at, cuts
from gateproof.numerics.meanfield.certified_panels import (
    Complex,
    Sizes,
    Span,
    bell,
    evaluator,
    legendre,
    panels,
    size,
)
from gateproof.numerics.meanfield.certified_tails import beyond, growth, tail
from gateproof.numerics.precision import precision

PANELS = 24


def coefficients(phi: Phi, q: arb, orders: int, digits: int, scale: float) -> list[arb]:
    """a_0 .. a_orders for every q of a narrow ball, with errors near 10^-digits times ``scale``.

    Raises NoPanels, NoTailBound.
    """
    span = Span(float(q.lower()) * (1 - 1e-15), float(q.upper()) * (1 + 1e-15))
    # Beyond the cut h_n makes the law one of twice the variance.
    double = Span(2 * span.lo, 2 * span.hi)
    reach = sqrt(4 * (digits * log(10) + 15)) * sqrt(span.hi)
    half = phi.parity != 0
    rest = 0.0
    for side in ("+",) if half else ("+", "-"):
        square = tail(phi.expr, side, arb(reach), double, growth(phi.expr, side))
        rest += 1.09 * sqrt(2 * square * beyond(arb(reach), double)) * 1.0001
    goal = exp(-digits * log(10)) * scale / PANELS
    bits = ceil(digits * log2(10)) + 64 + _lost(reach / sqrt(span.lo), orders)
    sums = [arb(0)] * (orders + 1)
    with precision(bits):
        for lo, hi in pairwise(cuts(phi, reach, 2 * sqrt(span.lo), half=half)):
            f = evaluator(branch_at(phi, (lo + hi) / 2).expr)
            made = panels(_sizes(f, span, orders), lo, hi, [goal], ceil(0.6 * digits * log(10)) + 24, bits)
            for panel in made:
                rest += panel.errors[0]
                for t, w in legendre(panel.nodes, bits):
                    x = panel.middle + panel.radius * t
                    density = (-x * x / (2 * q)).exp() / (2 * arb.pi() * q).sqrt()
                    _add(sums, x / q.sqrt(), panel.radius * w * density * f(acb(x)).real)
        error = rest * 1.0001
        if not half:
            return [s + arb(0, error) for s in sums]
        odd = phi.parity < 0
        return [2 * (s + arb(0, error)) if (n % 2 == 1) == odd else arb(0) for n, s in enumerate(sums)]


def _sizes(f: Complex, span: Span, orders: int) -> Sizes:
    n = max(orders, 1)
    # The bound grows with n: for smaller orders it holds too.
    front = (2 * pi * n) ** 0.25 * exp(1 / 24) * 1.0001

    def sizes(x: arb, y: arb) -> list[arb] | None:
        value = size(f, x, y)
        if value is None:
            return None
        high = (arb(n) / span.lo).sqrt() * abs(y) + x * x / (4 * span.lo)
        return [value * bell(x, y, span) * front * high.exp()]

    return sizes


def _add(sums: list[arb], z: arb, weight: arb) -> None:
    """Add weight times h_n(z) to the sums."""
    before, here = arb(0), weight
    for n in range(len(sums)):
        sums[n] += here
        before, here = here, (z * here - arb(n).sqrt() * before) / arb(n + 1).sqrt()


def _lost(far: float, orders: int) -> int:
    """Bits that the recurrence loses on balls."""
    return ceil(sum(log2((far + sqrt(n)) / sqrt(n + 1)) for n in range(orders + 1))) + 16
