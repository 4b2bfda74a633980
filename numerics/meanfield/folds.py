"""Folds and double-critical points in a range of the variance, in balls."""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from gateproof.numerics import interval as iv
from gateproof.numerics.meanfield.activation import Phi, RefusedActivation, must_be_continuous
from gateproof.numerics.meanfield.curves import Maps, double_curve, edge_fold_curve, fold_curve, maps_of
from gateproof.numerics.meanfield.edge import identical_slopes
from gateproof.numerics.meanfield.outcome import DOUBLE, Outcome, Point, Status, stability
from gateproof.numerics.meanfield.zeros import Curve, zeros
from gateproof.numerics.precision import precision

Range = tuple[Fraction, Fraction]


def folds(phi: Phi, sigma_b2: Fraction, within: Range, digits: int = 30, maps: Maps | None = None) -> Outcome:
    """Fixed points with chi_parallel = 1 at sigma_b2 > 0: as sigma_w2 passes there, two of them meet.

    ``within`` are the least and the largest q* looked at, 0 < lo < hi.
    """
    maps = maps or maps_of(phi)
    with precision(int(digits * 3.33) + 96):
        s = iv.rational(sigma_b2)
        return _listed(maps, fold_curve(maps, s), within, digits, s, "fold")


def double_critical(phi: Phi, within: Range, digits: int = 30, maps: Maps | None = None) -> Outcome:
    """Points with chi_1 = chi_parallel = 1, each with its sigma_w2 and sigma_b2 (which may be negative).

    Raises RefusedActivation where all critical points are such, and where phi jumps.
    """
    must_be_continuous(phi)
    if phi.homogeneous or identical_slopes(phi):
        raise RefusedActivation(f"the activation {phi.text!r:.60}: every critical point is double-critical")
    maps = maps or maps_of(phi)
    with precision(int(digits * 3.33) + 96):
        return _listed(maps, double_curve(maps), within, digits, None, "double-critical point")


def edge_folds(phi: Phi, within: Range, digits: int = 30, maps: Maps | None = None) -> Outcome:
    """Points of the edge of chaos at which sigma_b2 is stationary: there two critical points meet."""
    must_be_continuous(phi)
    if phi.homogeneous:
        raise RefusedActivation(
            f"the activation {phi.text!r:.60}: its edge of chaos is one point, sigma_b^2 = 0"
        )
    maps = maps or maps_of(phi)
    with precision(int(digits * 3.33) + 96):
        return _listed(maps, edge_fold_curve(maps), within, digits, None, "fold of the edge of chaos")


def _listed(maps: Maps, curve: Curve, within: Range, digits: int, s: arb | None, word: str) -> Outcome:
    if not 0 < within[0] < within[1]:
        raise ValueError("a range of variances is 0 < lo < hi")
    lo, hi = arb(iv.rational(within[0]).lower()), arb(iv.rational(within[1]).upper())
    found = zeros(curve, lo, hi, digits)
    points = []
    for q in found.found:
        m = maps.at(q, digits + 4)
        v, d = m.first, m.second[0]
        w = 1 / v[1] if word == "fold" else 1 / d
        b = q - v[0] * w if s is None else s
        stable = None if word != "fold of the edge of chaos" else stability(v[1] / d)
        note = DOUBLE if word == "double-critical point" else word
        points.append(Point(q, w, b, w * d, w * v[1], stable, note))
    count = (
        f"{len(points)} {word}{'s' * (len(points) != 1)}"
        if word[:4] != "fold"
        else f"{len(points)} of: {word}"
    )
    reason = f"{count} for q from {lo.str(6, radius=False)} to {hi.str(6, radius=False)}"
    status = Status.OK if points else Status.NONE
    return Outcome(status, tuple(points), reason, (lo, hi), not found.open, tuple(found.open))
