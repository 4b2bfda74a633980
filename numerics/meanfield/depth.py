"""Depth scales off the edge of chaos: how fast variances, correlations and gradients forget.

At a fixed point q of the variance map with slopes chi_1 = sigma_w^2 D(q) and chi_parallel = sigma_w^2 V'(q),
differences fall like exp(-l/xi) over l layers (Poole et al. 2016, Schoenholz et al. 2017):

    xi_q = -1/log|chi_parallel|,    xi_c = -1/log R'(c*),    xi_gradient = 1/|log chi_1|.

c* is found as a root. R(c) = sum p_n c^n with p_n >= 0 and sum 1 is convex on [0, 1], so that there is one
fixed point besides 1 exactly where chi_1 > 1; it lies in [0, 1) and attracts. On [-1, 0) there is none,
save c = -1 where phi is odd and sigma_b = 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, isnan
from typing import Any

from flint import arb

from gateproof.numerics.meanfield.depth_numbers import log, middle, working
from gateproof.numerics.meanfield.depth_wide import WideGaps
from gateproof.numerics.meanfield.engine import Engine

_MAX_STEPS = 4_000
#: How far, relatively, the next layer's variance may be off a fixed point as it is given.
FIXED = 1e-6


class NoFixedPoint(ArithmeticError):
    """The variance is no fixed point of its map, or the correlation map's was not found."""


@dataclass(frozen=True)
class DepthScales:
    """In layers, ``inf`` where nothing is forgotten; numbers of the engine's kind.

    ``eps_star`` is 1 - c*, right to relative accuracy where it is small; ``slope`` is R'(c*).
    """

    chi_1: Any
    chi_parallel: Any
    xi_q: Any
    c_star: Any
    eps_star: Any
    slope: Any
    xi_c: Any
    xi_gradient: Any


def depth_scales(engine: Engine[Any], sigma_w2: Any, sigma_b2: Any, q: Any) -> DepthScales:
    """All scales at a fixed point q > 0 of q -> sigma_w2 V(q) + sigma_b2.

    Numbers are of the engine's kind. Raises NoFixedPoint where q is none, ValueError for
    sigma_b2 < 0.
    """
    with working(engine):
        _must_be_fixed(sigma_w2 * engine.variance(q) + sigma_b2, sigma_b2, q)
        chi_1 = sigma_w2 * engine.slope_energy(q)
        chi_parallel = sigma_w2 * engine.variance_slope(q)
        eps, slope = fixed_correlation(engine, sigma_w2, sigma_b2, q, chi_1)
        return DepthScales(
            chi_1, chi_parallel, forgetting(chi_parallel), 1 - eps, eps, slope, forgetting(slope),
            abs(forgetting(chi_1)),
        )  # fmt: skip


def _must_be_fixed(following: Any, sigma_b2: Any, q: Any) -> None:
    if sigma_b2 < 0:
        raise ValueError(f"sigma_b2 = {middle(sigma_b2):.6g}: a variance >= 0 is expected")
    off = abs(following - q)
    if off > q * FIXED:
        raise NoFixedPoint(
            f"q = {middle(q):.6g} is no fixed point at these sigma_w2 and sigma_b2: "
            f"the next layer has {middle(following):.6g}"
        )


def forgetting(factor: Any) -> Any:
    """-1/log|factor|: layers to fall by e; < 0 where it grows, inf where factor is +-1, 0 where it is 0."""
    size = abs(factor)
    if size == 0:
        return size
    rate = -log(size)
    if isinstance(rate, arb):
        return arb.pos_inf() if rate == 0 else 1 / rate
    return inf if rate == 0 else 1 / rate


def fixed_correlation(
    engine: Engine[Any], sigma_w2: Any, sigma_b2: Any, q: Any, chi_1: Any = None
) -> tuple[Any, Any]:
    """1 - c* for the stable fixed point c* of the correlation map, and R'(c*).

    1 - R(1 - eps) = sigma_w2 gap(q, eps)/q =: f(eps) is concave with f(0) = 0, so that Newton's method for
    f(eps) = eps falls from eps = 1 onto the root without passing it. Where chi_1 <= 1 the root is 0; a ball
    chi_1 that holds 1 gives a ball for eps that holds 0.
    """
    slope = sigma_w2 * engine.slope_energy(q) if chi_1 is None else chi_1
    one = q / q
    if isinstance(slope, arb):
        return _by_balls(engine, sigma_w2, q, slope)
    if slope <= 1:
        return 0 * one, slope
    if sigma_b2 == 0 and getattr(getattr(engine, "phi", None), "parity", 0) == -1:
        return one, sigma_w2 * engine.correlation_slope(q, 0 * one)
    eps = _newton(engine, sigma_w2, q, slope, one)
    return eps, slope - sigma_w2 * engine.slope_gap(q, eps)


def _newton(engine: Engine[Any], sigma_w2: Any, q: Any, chi_1: Any, eps: Any) -> Any:
    """Until rounding stops the fall."""
    previous = 2 * eps
    for _ in range(_MAX_STEPS):
        height = sigma_w2 * engine.gap(q, eps) / q - eps
        rise = chi_1 - sigma_w2 * engine.slope_gap(q, eps) - 1
        if isnan(middle(height)) or isnan(middle(rise)):
            break
        if height >= 0 and eps != 1:
            return eps
        step = height / rise if rise < 0 else eps / 2
        previous, eps = eps, eps - step
        if not 0 < eps <= previous:
            raise NoFixedPoint("no fixed point of the correlation map was found: q is no fixed point")
        if eps == previous or abs(previous - eps) <= eps * _tiny(engine):
            return eps
    raise NoFixedPoint("no fixed point of the correlation map was found")


def _tiny(engine: Any) -> float:
    digits = getattr(engine, "digits", None)
    return 1e-15 if digits is None else float(10.0 ** -min(digits + 2, 300))


def _by_balls(engine: Engine[Any], sigma_w2: arb, q: arb, chi_1: arb) -> tuple[arb, arb]:
    """A ball that holds the root, by the signs of f(eps) - eps on both sides of it."""
    if chi_1 <= 1:
        return arb(0), chi_1
    wide = WideGaps(engine, q)

    def side(eps: arb) -> int:
        """1 left of the root, -1 right of it, 0 where the balls do not tell."""
        ratio = sigma_w2 * wide.gap(eps) / (q * eps)
        return 1 if ratio > 1 else -1 if ratio < 1 else 0

    if not chi_1 > 1:
        # The edge itself is inside of the ball: where chi_1 passes 1 the root leaves 0 continuously.
        lo, hi = arb(0), _upper_end(side, arb(1) / 2**40)
    else:
        lo, hi = _bisected(side, _lower_end(side), _upper_end(side, arb(1)))
    # R' rises with c on [0, 1].
    lost = (wide.slope_gap(lo) if lo > 0 else arb(0)).union(wide.slope_gap(hi))
    return lo.union(hi), chi_1 - sigma_w2 * lost


Side = Callable[[arb], int]


def _lower_end(side: Side) -> arb:
    eps = arb(1) / 2
    for _ in range(_MAX_STEPS):
        if side(eps) > 0:
            return eps
        eps = eps / 4
    raise NoFixedPoint("chi_1 is too near to 1 for the precision of q and sigma_w2")


def _upper_end(side: Side, eps: arb) -> arb:
    while eps < 1 and side(eps) >= 0:
        eps = eps * 4
    return eps.min(arb(1))


def _bisected(side: Side, lo: arb, hi: arb) -> tuple[arb, arb]:
    """Halved (by the geometric mean where the ends are far apart) until the balls no longer tell."""
    for _ in range(_MAX_STEPS):
        centre = ((lo * hi).sqrt() if hi > 4 * lo else (lo + hi) / 2).mid()
        if not lo < centre < hi:
            break
        told = side(centre)
        if told == 0:
            return _flank(side, lo, centre, 1), _flank(side, hi, centre, -1)
        lo, hi = (centre, hi) if told > 0 else (lo, centre)
    return lo, hi


def _flank(side: Side, end: arb, centre: arb, sign: int) -> arb:
    """A point with a sign as near as can be to the point that is not told from the root."""
    for _ in range(_MAX_STEPS):
        near = ((end + centre) / 2).mid()
        if near in (end, centre) or side(near) != sign:
            break
        end = near
    return end
