"""Correlations of continuous piecewise linear activations, by Price's theorem: one smooth integral.

With phi'' = sum J_k delta(x_k) and c = cos T,

    D - E phi'(u) phi'(v) = sum_jk J_j J_k int_0^T g_jk(t) dt,
    V - C = q ((1 - c) D - sum_jk J_j J_k int_0^T g_jk(t) (cos t - cos T) dt),
    g_jk(t) = exp(-(x_j^2 + x_k^2 - 2 x_j x_k cos t)/(2 q sin^2 t))/(2 pi).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil

from flint import arb

from gateproof.numerics.ball import evaluate
from gateproof.numerics.meanfield.activation import Phi
from gateproof.numerics.meanfield.mp_panels import Estimate, over_panels
from gateproof.numerics.precision import precision


@dataclass(frozen=True)
class Corners:
    """Places of the kinks and jumps of the slope there, right to ``bits`` bits."""

    places: tuple[arb, ...]
    jumps: tuple[arb, ...]
    bits: int


def corners(phi: Phi, bits: int) -> Corners:
    """The kinks of a continuous piecewise linear activation."""
    places = tuple(evaluate(k.at, {}, bits + 32).mid() for k in phi.kinks)
    jumps = tuple(evaluate(k.slope_jump, {}, bits + 32).mid() for k in phi.kinks)
    return Corners(places, jumps, bits)


def slope_gap(kinks: Corners, q: arb, eps: arb, digits: int) -> Estimate:
    """D - E phi'(u) phi'(v) at correlation 1 - eps, eps in [0, 2]."""
    with precision(kinks.bits):
        end = _angle(eps)
        return _sum(kinks, q, end, digits, lambda t: arb(1))


def gap(kinks: Corners, q: arb, eps: arb, energy: Estimate, digits: int) -> Estimate:
    """V - C at correlation 1 - eps, from D (``energy``)."""
    with precision(kinks.bits):
        end = _angle(eps)
        bent = _sum(kinks, q, end, digits, lambda t: 2 * ((end + t) / 2).sin() * ((end - t) / 2).sin())
        return Estimate(q * (eps * energy.value - bent.value), q * (eps * energy.error + bent.error))


def _angle(eps: arb) -> arb:
    return arb.pi() if eps == 2 else 2 * (eps / 2).sqrt().asin()


def _sum(kinks: Corners, q: arb, end: arb, digits: int, weight: Callable[[arb], arb]) -> Estimate:
    total = Estimate(arb(0), arb(0))
    if end == 0:
        return total
    ends = [(end * i / 4).mid() for i in range(5)]
    ends[0] = arb(0)
    scale = 1 / (2 * arb.pi())
    nodes = 12 + ceil(0.6 * digits)
    # The sizes of all the terms, so that one that is nothing is not worked out to its own last digit.
    size = sum((abs(j) for j in kinks.jumps), arb(0)) ** 2 * end * weight(end / 4) * scale
    size = (
        size * max((_bell(x, x, end / 2, q) for x in kinks.places), key=lambda b: b.mid()) + arb(10) ** -4000
    )
    for j, (x, a) in enumerate(zip(kinks.places, kinks.jumps, strict=True)):
        for y, b in list(zip(kinks.places, kinks.jumps, strict=True))[: j + 1]:
            factor = a * b * scale * (1 if x is y else 2)

            def f(points: Sequence[arb], x: arb = x, y: arb = y) -> list[arb]:
                return [_bell(x, y, t, q) * weight(t) for t in points]

            tolerance = (size / (abs(factor) + arb(10) ** -4000)).upper() * arb(10) ** (-digits - 2)
            total = total + over_panels(f, ends, nodes, tolerance).times(factor)
    return total


def _bell(x: arb, y: arb, t: arb, q: arb) -> arb:
    """exp(-(x^2 + y^2 - 2 x y cos t)/(2 q sin^2 t)) without cancellation."""
    half = (t / 2).cos() if x == y else (t / 2).sin()
    if x == y or x == -y:
        return (-x * x / (2 * q * half * half)).exp()
    sine, low = t.sin(), (t / 2).sin()
    off = x - y
    return (-(off * off + 4 * x * y * low * low) / (2 * q * sine * sine)).exp()
