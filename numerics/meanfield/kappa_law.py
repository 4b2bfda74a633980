"""Does the depth of a network go as 1/kappa^2? Exponents of beta_q against kappa, with intervals.

Over the rescaled copies a phi(b x), a = b^power, of one activation, or over several activations, under three
conditions, each on the edge of chaos:

- fixed q: all at the same variance,
- fixed sigma_b: all at the same bias,
- matched scale: each rescaled so that its critical point stands at q = 1, sigma_w = 1. There kappa becomes
  kappa q/sqrt(D), which no rescaling changes.

A rescaled copy is not computed anew: a phi(b x) at (q, sigma_b) is phi at (b^2 q, b sigma_b), with kappa
a b^3 times as large and the same beta_q.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import exp, log, sqrt
from typing import Any

from gateproof.numerics.meanfield.activation import Phi, RefusedActivation
from gateproof.numerics.meanfield.depth_numbers import middle, working
from gateproof.numerics.meanfield.engine import Engine

FIXED_Q, FIXED_BIAS, MATCHED = "fixed q", "fixed sigma_b", "matched scale"
#: Where edges of chaos are looked for, in q, and points an octave.
RANGE, PER_OCTAVE = (2.0**-30, 2.0**10), 4


@dataclass(frozen=True)
class EdgePoint:
    """On the curve chi_1 = 1 at variance q: sigma_b2 = q - V/D, a network where that is >= 0."""

    q: float
    sigma_w2: float
    sigma_b2: float
    chi_parallel: float
    beta_q: float


class EdgeCurve:
    """The curve chi_1 = 1 of one smooth activation, by its variance, in floats.

    Raises RefusedActivation where phi' jumps, since correlations then converge like l^-2 and there is no
    beta_q, and for lines, whose correlations do not move.
    """

    def __init__(self, engine: Engine[Any], phi: Phi) -> None:
        if phi.has_corner:
            raise RefusedActivation(f"the slope of the activation {phi.text!r:.60} jumps: it has no beta_q")
        if phi.piecewise_linear:
            raise RefusedActivation(f"the activation {phi.text!r:.60} is a line: it has no beta_q")
        self.engine, self.phi = engine, phi
        self._known: dict[float, EdgePoint] = {}
        self._table: list[tuple[float, float]] | None = None
        self._zero: Any = None

    def number(self, q: float) -> Any:
        """A float as a number of the engine's kind."""
        if self._zero is None:
            self._zero = self.engine.slope_energy(1) * 0
        return self._zero + q

    def at(self, q: float) -> EdgePoint:
        """The point at a variance q > 0."""
        found = self._known.get(q)
        if found is None:
            with working(self.engine):
                number = self.number(q)
                d, v = self.engine.slope_energy(number), self.engine.variance(number)
                bias = middle(number - v / d)
                parallel = middle(self.engine.variance_slope(number) / d)
                beta = middle(2 * d / (number * self.engine.curvature_energy(number)))
            found = self._known[q] = EdgePoint(q, 1 / middle(d), bias, parallel, beta)
        return found

    def for_bias(self, sigma_b2: float) -> list[EdgePoint]:
        """All points with this sigma_b2 that a scan of RANGE sees, ascending in q; no certificate."""
        if self._table is None:
            lo, hi = RANGE
            count = round(log(hi / lo) / log(2) * PER_OCTAVE)
            grid = [lo * 2 ** (k / PER_OCTAVE) for k in range(count + 1)]
            self._table = []
            for q in grid:
                try:
                    self._table.append((q, self.bias(q)))
                except ArithmeticError:
                    break  # Beyond, the engine does not resolve phi.
        found = []
        for (a, fa), (b, fb) in pairwise(self._table):
            if (fa - sigma_b2) * (fb - sigma_b2) < 0:
                found.append(self.at(self._root(a, b, sigma_b2)))
        return found

    def chosen(self, sigma_b2: float) -> EdgePoint | None:
        """The stable point of least q, else the one of least q, else None."""
        points = self.for_bias(sigma_b2)
        stable = [p for p in points if p.chi_parallel < 1]
        return next(iter([*stable, *points]), None)

    def bias(self, q: float) -> float:
        """q - V/D."""
        with working(self.engine):
            number = self.number(q)
            return middle(number - self.engine.variance(number) / self.engine.slope_energy(number))

    def _root(self, lo: float, hi: float, sigma_b2: float) -> float:
        """By secants kept in the bracket, every third step a bisection in log q."""
        low, high = self.bias(lo) - sigma_b2, self.bias(hi) - sigma_b2
        centre = lo
        for step in range(90):
            centre = sqrt(lo * hi) if step % 3 == 0 else lo - low * (hi - lo) / (high - low)
            if not lo < centre < hi:
                break
            value = self.bias(centre) - sigma_b2
            if value == 0:
                break
            if (value > 0) == (high > 0):
                hi, high = centre, value
            else:
                lo, low = centre, value
        return min(max(centre, lo), hi)


@dataclass(frozen=True)
class LawPoint:
    """One member: kappa in the condition's own scale, and the true beta_q there."""

    name: str
    kappa: float
    beta_q: float
    point: EdgePoint


def rescaled(
    curve: EdgeCurve,
    kappa: float,
    condition: str,
    *,
    power: float = 0,
    scales: Sequence[float] = (),
    q: float = 1.0,
    sigma_b2: float = 0.05,
) -> list[LawPoint]:
    """Members b^power phi(b x) over the scales b that have a critical point with sigma_b2 >= 0.

    ``q`` is the variance for FIXED_Q, ``sigma_b2`` the bias for the others (of the copy itself).
    """
    members = []
    for b in scales or default_scales():
        base = curve.at(b * b * q) if condition == FIXED_Q else curve.chosen(b * b * sigma_b2)
        if base is None or base.sigma_b2 < 0:
            continue
        here = EdgePoint(
            base.q / (b * b),
            base.sigma_w2 / b ** (2 * power + 2),
            base.sigma_b2 / (b * b),
            base.chi_parallel,
            base.beta_q,
        )
        scaled = _scaled(kappa, base, condition, b ** (power + 3))
        members.append(LawPoint(f"b = {b:g}", scaled, base.beta_q, here))
    return members


def over_activations(
    curves: Sequence[tuple[str, EdgeCurve, float]], condition: str, *, q: float = 1.0, sigma_b2: float = 0.05
) -> list[LawPoint]:
    """Members from (name, curve, kappa) of several activations that have a critical point there."""
    members = []
    for name, curve, kappa in curves:
        base = curve.at(q) if condition == FIXED_Q else curve.chosen(sigma_b2)
        if base is not None and base.sigma_b2 >= 0:
            members.append(LawPoint(name, _scaled(kappa, base, condition, 1.0), base.beta_q, base))
    return members


def _scaled(kappa: float, base: EdgePoint, condition: str, factor: float) -> float:
    if condition == MATCHED:
        return kappa * base.q * sqrt(base.sigma_w2)
    return kappa * factor


def default_scales() -> tuple[float, ...]:
    """b from 1/2 to 2, nine values in equal ratios."""
    return tuple(2 ** (k / 4) for k in range(-4, 5))


@dataclass(frozen=True)
class Exponent:
    """beta_q ~ kappa^value over ``count`` members, with its interval at a level of confidence.

    The interval is Student's for the slope of log beta_q on log kappa: it says how far the members are from
    one power law, not how far another family is. ``spread`` is the largest residual, as a factor.
    """

    value: float
    lo: float
    hi: float
    level: float
    count: int
    spread: float

    def admits(self, exponent: float) -> bool:
        """Whether an exponent lies in the interval."""
        return self.lo <= exponent <= self.hi


def exponent(members: Sequence[LawPoint], level: float = 0.95) -> Exponent | None:
    """The fitted exponent; None for fewer than three members or where kappa is the same for all."""
    if not 0 < level < 1:
        raise ValueError(f"level = {level}: a confidence in (0, 1) is expected")
    xs = [log(m.kappa) for m in members]
    ys = [log(m.beta_q) for m in members]
    n = len(xs)
    if n < 3 or max(xs) - min(xs) < 1e-9:
        return None
    x0, y0 = sum(xs) / n, sum(ys) / n
    sxx = sum((x - x0) ** 2 for x in xs)
    value = sum((x - x0) * (y - y0) for x, y in zip(xs, ys, strict=True)) / sxx
    off = [y - y0 - value * (x - x0) for x, y in zip(xs, ys, strict=True)]
    deviation = sqrt(sum(r * r for r in off) / (n - 2) / sxx)
    half = _student(level, n - 2) * deviation
    return Exponent(value, value - half, value + half, level, n, exp(max(map(abs, off))))


def _student(level: float, degrees: int) -> float:
    """The two-sided quantile of Student's distribution."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, (1 + level) / 2))
