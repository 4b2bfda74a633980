"""Points found by a scan of the variance with the engines that estimate: nothing is proved.

The functions whose zeros they are (:mod:`~.curves`) are looked at on a grid; each change of sign is narrowed
by Newton's method kept in its bracket. Two zeros between neighbours of the grid are missed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import isfinite, nan
from typing import Any

from gateproof.numerics.meanfield.activation import Phi
from gateproof.numerics.meanfield.depth import NoFixedPoint, fixed_correlation, forgetting
from gateproof.numerics.meanfield.depth_edge import CornerRate, edge_rate
from gateproof.numerics.meanfield.depth_numbers import is_infinite, middle, working
from gateproof.numerics.meanfield.described import CORNERED, INFINITE, ONE, SMOOTH, FieldPoint
from gateproof.numerics.meanfield.engine import Engine
from gateproof.numerics.meanfield.value import Value

#: Points of the grid an octave, and steps of Newton's method.
PER_OCTAVE, STEPS = 4, 200
#: Where a scan begins and ends where nothing else is said.
SMALLEST, LARGEST = Fraction(1, 2**20), Fraction(2**16)

Function = Callable[[Any], Any]


@dataclass(frozen=True)
class Setting:
    """An engine for the grid and one for the zeros, and the relative error of its numbers."""

    coarse: Engine[Any]
    fine: Engine[Any]
    phi: Phi
    error: float

    def number(self, value: Fraction) -> Any:
        """The value as a number of the fine engine."""
        return value.numerator * self.one / value.denominator

    def value(self, number: Any) -> Value | None:
        """A number with its estimated error."""
        return Value.near(number, self.error)

    @property
    def one(self) -> Any:
        """1 as a number of the fine engine."""
        with working(self.fine):
            energy = self.fine.variance(1)
            return energy / energy


#: The points, and the largest variance that the engine reached.
Seen = tuple[tuple[FieldPoint, ...], Fraction]


def edge_points(setting: Setting, sigma_b2: Fraction, lo: Fraction, hi: Fraction) -> Seen:
    """What a scan sees of the edge of chaos."""

    def curve(engine: Engine[Any], s: Any, like: Function) -> Function:
        return lambda q: (q - s) * like(engine.slope_energy(q)) - like(engine.variance(q))

    def slope(s: Any) -> Function:
        e = setting.fine
        return lambda q: e.slope_energy(q) + (q - s) * e.slope_energy_slope(q) - e.variance_slope(q)

    with working(setting.fine):
        s = setting.number(sigma_b2)
        seen, reached = _changes(curve(setting.coarse, float(sigma_b2), middle), lo, hi)
        fine = curve(setting.fine, s, _same)
        found = [_narrowed(fine, slope(s), a, b, setting) for a, b in seen]
        energy = setting.fine.slope_energy
        return tuple(_described(setting, q, 1 / energy(q), s, edge=True) for q in found), reached


def fixed_points(
    setting: Setting, sigma_w2: Fraction, sigma_b2: Fraction, lo: Fraction, hi: Fraction
) -> Seen:
    """What a scan sees of the fixed points."""

    def curve(engine: Engine[Any], w: Any, s: Any, like: Function) -> Function:
        return lambda q: w * like(engine.variance(q)) + s - q

    with working(setting.fine):
        w, s = setting.number(sigma_w2), setting.number(sigma_b2)
        seen, reached = _changes(curve(setting.coarse, float(sigma_w2), float(sigma_b2), middle), lo, hi)
        fine = curve(setting.fine, w, s, _same)
        found = [
            _narrowed(fine, lambda q: w * setting.fine.variance_slope(q) - 1, a, b, setting) for a, b in seen
        ]
        return tuple(_described(setting, q, w, s, edge=False) for q in found), reached


def _same(number: Any) -> Any:
    return number


def _changes(f: Function, lo: Fraction, hi: Fraction) -> tuple[list[tuple[float, float]], Fraction]:
    """Neighbours of the grid between which the sign changes, and how far the function was computed."""
    ratio = 2 ** (1 / PER_OCTAVE)
    grid = [float(lo)]
    while grid[-1] * ratio < float(hi):
        grid.append(grid[-1] * ratio)
    grid.append(float(hi))
    values: list[tuple[float, float]] = []
    for q in grid:
        try:
            value = middle(f(q))
        except ArithmeticError:
            value = nan
        if not isfinite(value):
            break
        values.append((q, value))
    reached = hi if len(values) == len(grid) else Fraction(values[-1][0]) if values else lo
    return [(a, b) for (a, fa), (b, fb) in pairwise(values) if fa == 0 or (fa > 0) != (fb >= 0)], reached


def _narrowed(f: Function, slope: Function, a: float, b: float, setting: Setting) -> Any:
    """The zero in the bracket."""
    one = setting.one
    lo, hi = a * one, b * one
    first = f(lo)
    if first == 0:
        return lo
    falls = first > 0
    q = (lo + hi) / 2
    for _ in range(STEPS):
        value = f(q)
        if value == 0:
            return q
        if (value > 0) == falls:
            lo = q
        else:
            hi = q
        step = value / slope(q)
        following = q - step
        if not lo < following < hi:
            following = (lo + hi) / 2
        if abs(following - q) <= setting.error / 16 * q:
            return following
        q = following
    return q


def _described(setting: Setting, q: Any, w: Any, s: Any, *, edge: bool) -> FieldPoint:
    e = setting.fine
    chi_1 = 1 + 0 * q if edge else w * e.slope_energy(q)
    chi = w * e.variance_slope(q)
    parallel = setting.value(chi)
    stable = None if parallel is None else _stable(parallel)
    base: dict[str, Any] = {
        "sigma_w2": setting.value(w), "sigma_b2": setting.value(s), "q_star": setting.value(q),
        "chi_1": ONE if edge else setting.value(chi_1), "chi_parallel": parallel, "stable": stable,
        "xi_q": setting.value(forgetting(chi)),
    }  # fmt: skip
    if edge:
        return FieldPoint(**base, **_law(setting, q, w), xi_c=INFINITE, xi_gradient=INFINITE, c_star=ONE)
    base["xi_gradient"] = setting.value(0 * q if is_infinite(chi_1) else abs(forgetting(chi_1)))
    if stable is False and chi_1 > 1 and not is_infinite(chi_1):
        return FieldPoint(**base, note="c* is not worked out where the variance does not stay")
    try:
        if is_infinite(chi_1):
            raise NoFixedPoint("chi_1 is infinite: c* < 1 is not computed")
        eps, slope = fixed_correlation(e, w, s, q, chi_1)
    except (ArithmeticError, ValueError) as error:
        return FieldPoint(**base, note=f"c* was not found: {error}")
    star = ONE if eps == 0 else setting.value(1 - eps)
    return FieldPoint(**base, c_star=star, xi_c=setting.value(forgetting(slope)))


def _law(setting: Setting, q: Any, w: Any) -> dict[str, Any]:
    try:
        rate = edge_rate(setting.fine, setting.phi, w, q)
    except ValueError:
        return {"note": "phi is a line: correlations do not move"}
    if isinstance(rate, CornerRate):
        return {"law": CORNERED, "limit": setting.value(rate.square_rate)}
    beta = setting.value(rate.beta_q)
    factor = None if is_infinite(rate.b) else setting.value(rate.log_factor)
    return {"law": SMOOTH, "beta_q": beta, "limit": beta, "log_factor": factor}


def _stable(chi: Value) -> bool | None:
    if isinstance(chi.lo, float) or isinstance(chi.hi, float):
        return None
    if chi.lo > -1 and chi.hi < 1:
        return True
    return False if chi.lo > 1 or chi.hi < -1 else None
