"""The correlation map near and far from c = 1 as polynomials, so that a million layers cost seconds.

1 - R(1 - eps) = eps (chi_1 - H(eps)) at a fixed variance q, where H(eps) is the mean of sigma_w^2 slope_gap
over [0, eps]. H is fitted once by the engine: near 0 slope_gap/t^m is a Chebyshev series in t and is
integrated term by term, which loses nothing near c = 1. For smooth phi t = eps and m = 1; with kinks
t = sqrt(eps), m = 1 where phi' jumps, else 2. Farther off, octave by octave, it is H itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import cos, pi, sqrt
from typing import Any

from gateproof.numerics.meanfield.activation import Phi
from gateproof.numerics.meanfield.depth_numbers import middle, working
from gateproof.numerics.meanfield.engine import Engine

#: Below these values of eps: series of their own, shorter the nearer to c = 1.
BOTTOMS = (2.0**-7, 2.0**-12, 2.0**-18)
_BOTTOM, _OCTAVE = (5, 9, 17, 33), (11, 17, 25, 41)
_ROUNDING, _LAST = 2e-15, 7


@dataclass(frozen=True)
class Kind:
    """In what H is smooth at 0: t = sqrt(eps) with ``root``, else eps; H begins with t^``power``."""

    root: bool
    power: int


def kind_of(phi: Phi) -> Kind:
    """By the kinks of phi."""
    return Kind(root=bool(phi.kinks), power=2 if phi.kinks and not phi.has_corner else 1)


class Steps:
    """eps -> 1 - R(1 - eps) in floats, at a fixed variance; 0 <= eps <= 2.

    ``error`` is the largest relative coefficient that was cut off: an estimate of the relative error of what
    a layer takes off, beside that of the engine.
    """

    def __init__(self, engine: Engine[Any], sigma_w2: Any, q: Any, chi_1: float, kind: Kind) -> None:
        self.engine, self.sigma_w2, self.q = engine, sigma_w2, q
        self.chi_1, self.kind = chi_1, kind
        with working(engine):
            self._energy = engine.slope_energy(q)
        self.error = 0.0
        self._bottoms: dict[int, tuple[float, list[float]]] = {}
        self._octaves: dict[int, list[float]] = {}
        self._power_series: dict[int, list[float]] = {}

    def __call__(self, eps: float) -> float:
        """1 - c after one layer."""
        return eps * (self.chi_1 - self.taken(eps))

    def taken(self, eps: float) -> float:
        """H(eps) = chi_1 - (1 - R(1 - eps))/eps, 0 at 0."""
        if eps <= BOTTOMS[0]:
            number = len(BOTTOMS) - 1
            while eps > BOTTOMS[number]:
                number -= 1
            top, series = self._bottom(number)
            t = sqrt(eps) if self.kind.root else eps
            return float(t**self.kind.power * clenshaw(series, 2 * t / top - 1))
        if eps > 1:
            # Kinks are felt at c = -1 too, as a root of 1 + c.
            return clenshaw(self._octave(_LAST), 2 * sqrt(max(0.0, 2 - eps)) - 1)
        number, end = 0, 2 * BOTTOMS[0]
        while eps > end:
            number, end = number + 1, 2 * end
        return clenshaw(self._octave(number), 4 * eps / end - 3)

    def run(self, eps: float, layers: int) -> float:
        """1 - c after some layers; they cost least where eps is small."""
        left = layers
        while left > 0 and (eps > BOTTOMS[1] or self.chi_1 > 1):
            following = self(eps)
            if following == eps:
                return eps
            eps, left = following, left - 1
        for number in range(1, len(BOTTOMS)):
            end = BOTTOMS[number + 1] if number + 1 < len(BOTTOMS) else 0.0
            eps, left = self._near(number, eps, left, end)
        return eps

    def _near(self, number: int, eps: float, layers: int, end: float) -> tuple[float, int]:
        """Layers until eps is below the end, by a power series in t."""
        powers = self._powers(number)
        chi_1, root, square = self.chi_1, self.kind.root, self.kind.power == 2
        while layers > 0 and eps > end:
            t = sqrt(eps) if root else eps
            taken = 0.0
            for p in powers:
                taken = taken * t + p
            eps *= chi_1 - taken * (eps if square else t)
            layers -= 1
        return eps, layers

    def _powers(self, number: int) -> list[float]:
        """H/t^m in powers of t, the highest first."""
        found = self._power_series.get(number)
        if found is None:
            top, series = self._bottom(number)
            found = self._power_series[number] = _monomials(series, top)
        return found

    def leading(self) -> tuple[float, float, float]:
        """h_0, h_1, h_2 of H = t^m (h_0 + h_1 t + h_2 t^2 + ..)."""
        powers = [0.0, 0.0, *self._powers(len(BOTTOMS) - 2)]
        return powers[-1], powers[-2], powers[-3]

    def _bottom(self, number: int) -> tuple[float, list[float]]:
        """The end in t, and the series of H/t."""
        found = self._bottoms.get(number)
        if found is None:
            kind = self.kind
            top = sqrt(BOTTOMS[number]) if kind.root else BOTTOMS[number]

            def density(t: float) -> float:
                return self._slope_gap(t * t if kind.root else t) / t**kind.power

            series = self._fitted(density, 0.0, top, _BOTTOM)
            found = self._bottoms[number] = top, _mean_of(series, kind)
        return found

    def _octave(self, number: int) -> list[float]:
        found = self._octaves.get(number)
        if found is None:
            if number == _LAST:
                found = self._fitted(lambda t: self._direct(2 - t * t), 0.0, 1.0, _OCTAVE)
            else:
                lo = BOTTOMS[0] * 2.0**number
                found = self._fitted(self._direct, lo, 2 * lo, _OCTAVE)
            self._octaves[number] = found
        return found

    def _fitted(self, f: Callable[[float], float], lo: float, hi: float, sizes: Sequence[int]) -> list[float]:
        """A Chebyshev series, longer until its last coefficients are rounding."""
        series: list[float] = []
        size = last = 1.0
        for n in sizes:
            points = [(lo + hi) / 2 + (hi - lo) / 2 * cos(pi * (k + 0.5) / n) for k in range(n)]
            series = coefficients([f(x) for x in points])
            size = max(abs(c) for c in series) or 1.0
            last = max(abs(c) for c in series[-2:])
            if last < _ROUNDING * size:
                break
        self.error = max(self.error, last / size)
        # What stands at the end is the engine's rounding; in powers of t it would be blown up.
        noise = max(_ROUNDING * size, 3 * last)
        while len(series) > 1 and abs(series[-1]) <= noise:
            series.pop()
        return series

    def _slope_gap(self, eps: float) -> float:
        with working(self.engine):
            return middle(self.sigma_w2 * self.engine.slope_gap(self.q, self._number(eps)))

    def _direct(self, eps: float) -> float:
        with working(self.engine):
            e = self._number(eps)
            return middle(self.sigma_w2 * (self._energy - self.engine.gap(self.q, e) / (self.q * e)))

    def _number(self, eps: float) -> Any:
        """The float as a number of the engine's kind."""
        return self.q * 0 + eps


def coefficients(values: Sequence[float]) -> list[float]:
    """The Chebyshev series through values at cos(pi (k + 1/2)/n)."""
    n = len(values)
    angles = [pi * (k + 0.5) / n for k in range(n)]
    found = [2 / n * sum(v * cos(j * t) for v, t in zip(values, angles, strict=True)) for j in range(n)]
    found[0] /= 2
    return found


def clenshaw(series: Sequence[float], x: float) -> float:
    """The value of a Chebyshev series at x in [-1, 1]."""
    first = second = 0.0
    twice = 2 * x
    for c in series[:0:-1]:
        first, second = c + twice * first - second, first
    return series[0] + x * first - second


def _monomials(series: Sequence[float], top: float) -> list[float]:
    """A Chebyshev series on [0, top] in powers of t, the highest first; worked out in rationals."""
    scale = 2 / Fraction(top)
    first, second = [Fraction(1)], [Fraction(-1), scale]
    total = [Fraction(0)] * len(series)
    for c in series:
        for k, x in enumerate(first):
            total[k] += Fraction(c) * x
        following = [Fraction(0), *(2 * scale * x for x in second)]
        for k, x in enumerate(second):
            following[k] -= 2 * x
        for k, x in enumerate(first):
            following[k] -= x
        first, second = second, following
    powers = [float(x) for x in total]
    while len(powers) > 1 and abs(powers[-1]) * top ** (len(powers) - 1) < 1e-17 * abs(powers[0]):
        powers.pop()
    return powers[::-1]


def _mean_of(series: Sequence[float], kind: Kind) -> list[float]:
    """The series of H/t^m from that of G = slope_gap/t^m.

    H/t^m is int_0^1 v^m G(v t) dv, with roots 2 int_0^1 v^(m+1) G(v t) dv: polynomials of the degree of G.
    """
    n = len(series)
    nodes, weights = _gauss(n // 2 + 3)
    weight = kind.power + 1 if kind.root else kind.power
    factor = 2 if kind.root else 1
    scaled = [factor * w * v**weight for v, w in zip(nodes, weights, strict=True)]
    values = []
    for k in range(n):
        t = 1 + cos(pi * (k + 0.5) / n)
        values.append(sum(w * clenshaw(series, v * t - 1) for v, w in zip(nodes, scaled, strict=True)))
    return coefficients(values)


def _gauss(n: int) -> tuple[list[float], list[float]]:
    """Gauss-Legendre on (0, 1)."""
    from flint import arb

    pairs = [arb.legendre_p_root(n, k, weight=True) for k in range(n)]
    return [(1 + float(x.mid())) / 2 for x, _ in pairs], [float(w.mid()) / 2 for _, w in pairs]
