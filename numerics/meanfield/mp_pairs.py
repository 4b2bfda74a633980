"""Means over two correlated normal variables by nested panels, split at every kink.

With s = (u + v)/2 and d = (u - v)/2, which are independent with variances q (1 + c)/2 and q (1 - c)/2,

    V - C = E (phi(s + d) - phi(s - d))^2 / 2,

a mean of something that is small where c is near 1: nothing is lost there but what the difference under
the square loses, and for that the values have digits to spare. For a given d the kinks in s lie at those of
phi moved by d to either side; as a function of d the inner mean is smooth but where two of them meet.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, pairwise
from math import ceil, log, sqrt

from flint import arb

from gateproof.numerics.meanfield.mp_panels import Estimate, over_panels, rule
from gateproof.numerics.meanfield.mp_values import Values
from gateproof.numerics.precision import precision

#: What stands under the mean, from the values at s + d and s - d.
Pair = Callable[[arb, arb], arb]


def squared_difference(a: arb, b: arb) -> arb:
    """(a - b)^2 / 2: the mean of it for phi is V - C, for phi' it is D - E phi'(u) phi'(v)."""
    off = a - b
    return off * off / 2


def pair_mean(
    values: Values, order: int, q: arb, eps: arb, digits: int, pair: Pair = squared_difference
) -> Estimate:
    """E pair(phi^(order)(u), phi^(order)(v)) at correlation 1 - eps, 0 < eps <= 2, for exact q and eps.

    ``digits`` count against the size of the mean itself where it is a mean of something >= 0.
    """
    with precision(values.bits):
        return _outer(values, order, q, eps, digits, lambda a, b, s, d: pair(a, b))


def slope_by_density(values: Values, q: arb, eps: arb, digits: int) -> Estimate:
    """E phi'(u) phi'(v) from phi alone, by the density's derivative in c: what a jump of phi needs.

    Digits are lost as eps goes to 0 or 2, where the mean goes to infinity for a jump.
    """
    with precision(values.bits):
        along, across = q * (2 - eps) / 2, q * eps / 2

        def body(a: arb, b: arb, s: arb, d: arb) -> arb:
            return a * b * ((s * s / along - 1) / along - (d * d / across - 1) / across) / 4

        return _outer(values, 0, q, eps, digits, body)


Body = Callable[[arb, arb, arb, arb], arb]


def _outer(values: Values, order: int, q: arb, eps: arb, digits: int, body: Body) -> Estimate:
    along, across = (q * (2 - eps) / 2).sqrt().mid(), (q * eps / 2).sqrt().mid()
    width = sqrt(2 * digits * log(10)) + 1
    nodes = 12 + digits // 2
    inner = _Inner(values, order, along, digits, width, nodes, body)
    meetings = [abs(a - b).mid() / 2 for a, b in combinations(values.cuts, 2)]
    ends = _ends(across, width, meetings, bottom=arb(0))
    size = _size(inner, across)
    tolerance = size * arb(10) ** -digits
    bell = 2 / (across * (2 * arb.pi()).sqrt())
    spread = arb(0)

    def f(points: Sequence[arb]) -> list[arb]:
        nonlocal spread
        found = []
        for d in points:
            weight = bell * (-(d / across) * (d / across) / 2).exp()
            part = inner(d.mid(), tolerance / (weight * across * 4 + arb(10) ** -digits))
            spread = spread.max(part.error * weight * across)
            found.append(part.value * weight)
        return found

    total = over_panels(f, ends, nodes, tolerance)
    return Estimate(total.value, total.error + 4 * spread)


def _size(inner: _Inner, across: arb) -> arb:
    """A rough value, from a few d."""
    points = [(across * t).mid() for t in (arb(1) / 3, arb(1), arb(2))]
    return max(abs(inner.rough(d)).upper() for d in points)


class _Inner:
    """E over s of the body, for one d."""

    def __init__(
        self, values: Values, order: int, along: arb, digits: int, width: float, nodes: int, body: Body
    ) -> None:
        self.values, self.order, self.along, self.body = values, order, along, body
        self.digits, self.width, self.nodes = digits, width, nodes
        self.symmetric = values.phi.parity != 0

    def __call__(self, d: arb, tolerance: arb) -> Estimate:
        """The mean, off by less than the tolerance by estimate."""
        if self.along == 0:
            return Estimate(self.body(self._value(d), self._value(-d), arb(0), d), arb(0))
        found = over_panels(
            lambda points: [self.at(s, d) for s in points], self._ends(d), self.nodes, tolerance
        )
        return found.times(arb(2)) if self.symmetric else found

    def _ends(self, d: arb) -> list[arb]:
        kinks = [k + side * d for k in self.values.cuts for side in (1, -1)]
        return _ends(self.along, self.width, kinks, arb(0) if self.symmetric else None)

    def at(self, s: arb, d: arb) -> arb:
        """The body times the density of s."""
        s = s.mid()
        bell = (-(s / self.along) * (s / self.along) / 2).exp() / (self.along * (2 * arb.pi()).sqrt())
        up, down = s + d, s - d
        return self.body(self._value(up), self._value(down), s, d) * bell

    def _value(self, x: arb) -> arb:
        x = x.mid()
        return self.values.at(self.order, x)

    def rough(self, d: arb) -> arb:
        """The mean of the body's size, by few points between the kinks."""
        if self.along == 0:
            return abs(self(d, arb(1)).value)
        ends = self._ends(d)
        few = rule(4)
        total = arb(0)
        for lo, hi in pairwise(ends):
            half, centre = (hi - lo) / 2, (hi + lo) / 2
            for x, w in zip(few.nodes, few.weights, strict=True):
                total += abs(self.at((centre + half * x).mid(), d)) * w * half
        return total * 2 if self.symmetric else total


def _ends(scale: arb, width: float, kinks: Sequence[arb], bottom: arb | None) -> list[arb]:
    """Ends of panels about two deviations wide, with the kinks among them, ascending and apart."""
    count = ceil(width / 2)
    grid = [scale * 2 * i for i in range(0 if bottom is not None else -count, count + 1)]
    inside = sorted({k.mid() for k in kinks if grid[0] < k < grid[-1]}, key=lambda k: k.mid())
    ends = [grid[0]]
    margin = scale / 4
    fixed = [grid[0], *inside, grid[-1]]
    for lo, hi in pairwise(fixed):
        if not lo < hi:
            continue
        ends += [g for g in grid if lo + margin < g < hi - margin]
        ends.append(hi)
    return [e.mid() for e in ends]
