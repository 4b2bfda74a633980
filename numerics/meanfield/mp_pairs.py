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
from math import ceil, floor, log, sqrt

from flint import arb

from gateproof.numerics.meanfield.mp_panels import Estimate, NotReached, over_panels, rule
from gateproof.numerics.meanfield.mp_values import Values
from gateproof.numerics.precision import precision

#: Points (s, d) in one mean.
MAX_POINTS = 600_000


def pair_mean(values: Values, order: int, q: arb, eps: arb, digits: int) -> Estimate:
    """E (phi^(order)(u) - phi^(order)(v))^2 / 2 at correlation 1 - eps, 0 < eps <= 2, for exact q and eps.

    That is V - C for phi, and D - E phi'(u) phi'(v) for phi'. ``digits`` count against the mean itself.
    """
    with precision(values.bits):
        return _outer(values, order, q, eps, digits, lambda a, b, s, d: (a - b) ** 2 / 2)


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
    inner = _Inner(values, order, along, digits, body)
    meetings = [abs(a - b).mid() / 2 for a, b in combinations(values.cuts, 2)]
    ends = _ends(across, _width(digits), meetings, bottom=arb(0))
    size = _size(inner, across)
    tolerance = size * arb(10) ** -digits
    bell = 2 / (across * (2 * arb.pi()).sqrt())
    spread = arb(0)

    def f(points: Sequence[arb]) -> list[arb]:
        nonlocal spread
        found = []
        for d in points:
            height = -(d / across) * (d / across) / 2
            weight = bell * height.exp()
            # Where d is rare fewer digits will do.
            needed = max(4, digits + floor(float(height) / log(10)) + 1)
            part = inner(d.mid(), tolerance / (weight * across * 4 + arb(10) ** -digits), needed)
            spread = spread.max(part.error * weight * across)
            found.append(part.value * weight)
        return found

    total = over_panels(f, ends, _nodes(digits), tolerance)
    return Estimate(total.value, total.error + 4 * spread)


def _width(digits: int) -> float:
    """Where the normal density is below the digits, in deviations, with room for what grows."""
    return sqrt(2 * digits * log(10)) + 1


def _nodes(digits: int) -> int:
    return 12 + digits // 2


def _size(inner: _Inner, across: arb) -> arb:
    """A rough value, from a few d."""
    points = [(across * t).mid() for t in (arb(1) / 3, arb(1), arb(2))]
    return max(abs(inner.rough(d)).upper() for d in points)


class _Inner:
    """E over s of the body, for one d."""

    def __init__(self, values: Values, order: int, along: arb, digits: int, body: Body) -> None:
        self.values, self.order, self.along, self.body = values, order, along, body
        self.digits = digits
        self.left = MAX_POINTS
        self.symmetric = values.phi.parity != 0
        if along != 0:
            self.rate = 1 / (along * arb(2).sqrt())
            self.norm = 1 / (along * (2 * arb.pi()).sqrt())

    def __call__(self, d: arb, tolerance: arb, digits: int) -> Estimate:
        """The mean, off by less than the tolerance by estimate."""
        if self.along == 0:
            high, low = self.values.at(self.order, d), self.values.at(self.order, -d)
            return Estimate(self.body(high, low, arb(0), d), arb(0))

        def f(points: Sequence[arb]) -> list[arb]:
            # Between two ends no kink is passed: the middle of a panel tells the formulas for all of it.
            s = points[len(points) // 2].mid()
            up, down = self.values.branch(s + d), self.values.branch(s - d)
            return [self.at(s.mid(), d, up, down) for s in points]

        found = over_panels(f, self._ends(d, digits), _nodes(digits), tolerance)
        return found.times(arb(2)) if self.symmetric else found

    def _ends(self, d: arb, digits: int) -> list[arb]:
        kinks = [k + side * d for k in self.values.cuts for side in (1, -1)]
        return _ends(self.along, _width(digits), kinks, arb(0) if self.symmetric else None)

    def at(self, s: arb, d: arb, up: int | None = None, down: int | None = None) -> arb:
        """The body times the density of s, at exact points; ``up`` and ``down`` are known branches."""
        self.left -= 1
        if self.left < 0:
            raise NotReached("the mean over two variables takes too many points")
        scaled = s * self.rate
        bell = (-scaled * scaled).exp() * self.norm
        high = self.values.at(self.order, (s + d).mid(), up)
        low = self.values.at(self.order, (s - d).mid(), down)
        return self.body(high, low, s, d) * bell

    def rough(self, d: arb) -> arb:
        """The mean of the body's size, by few points between the kinks."""
        if self.along == 0:
            return abs(self(d, arb(1), self.digits).value)
        ends = self._ends(d, self.digits)
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
