"""How deep an initialisation carries a signal: its scales, its law, and critical points for a target depth.

Two inputs of correlation 0 are told apart after ``depth`` layers where 1 - c_depth >= ``apart``, worked out
layer by layer by the correlation map.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, sqrt
from typing import Any

from gateproof.numerics.meanfield.activation import Phi
from gateproof.numerics.meanfield.depth import NoFixedPoint, depth_scales, forgetting
from gateproof.numerics.meanfield.depth_edge import CornerRate, edge_rate
from gateproof.numerics.meanfield.depth_steps import clenshaw, coefficients
from gateproof.numerics.meanfield.initialise_search import Along, critical_curve, nearest

#: Trials of the exact map for a target depth, and by how much 1 - c may be above what is wanted.
TRIALS, NEAR = 10, 1.02
#: Terms of a map's series.
TERMS = 49


@dataclass(frozen=True)
class Scales:
    """Depth scales in layers, floats; ``inf`` where nothing is forgotten, None where not known.

    On the edge of chaos l^power (1 - c_l) tends to ``limit`` (beta_q for power 1); off it both are None.
    """

    xi_q: float
    xi_c: float | None
    xi_gradient: float
    power: int | None = None
    limit: float | None = None


def critical_scales(engine: Any, phi: Phi, sigma_w2: float, q: float, chi_parallel: float) -> Scales:
    """On the edge of chaos, where chi_1 is exactly 1."""
    try:
        rate = edge_rate(engine, phi, sigma_w2, q)
    except ValueError:
        return Scales(forgetting(chi_parallel), inf, inf)
    power, limit = (2, rate.square_rate) if isinstance(rate, CornerRate) else (1, rate.beta_q)
    return Scales(float(forgetting(chi_parallel)), inf, inf, power, float(limit))


def other_scales(engine: Any, sigma_w2: float, sigma_b2: float, q: float) -> Scales:
    """At any other fixed point."""
    try:
        found = depth_scales(engine, sigma_w2, sigma_b2, q)
    except NoFixedPoint:
        chi_1 = sigma_w2 * engine.slope_energy(q)
        xi_q = forgetting(sigma_w2 * engine.variance_slope(q))
        return Scales(float(xi_q), None, float(abs(forgetting(chi_1))))
    return Scales(float(found.xi_q), float(found.xi_c), float(found.xi_gradient))


def reached(engine: Any, sigma_w2: float, q: float, depth: int) -> float:
    """1 - c after ``depth`` layers from c = 0, at a fixed point q: layer by layer.

    The map is 1 - R(1 - eps) = eps sigma_w2 gap(q, eps)/(q eps), whose last factor is a Chebyshev series in
    sqrt(eps), in which it is smooth with kinks too; 1e-9 of it or less is cut off.
    """
    import numpy as np

    t = (1 + np.cos(np.pi * (np.arange(TERMS) + 0.5) / TERMS)) / 2
    ratios = sigma_w2 * np.asarray(engine.gap(q, t**2)) / (q * t**2)
    series = coefficients([float(r) for r in ratios])
    eps = 1.0
    for _ in range(depth):
        eps *= clenshaw(series, 2 * sqrt(eps) - 1)
        eps = min(max(eps, 0.0), 1.0)
    return eps


def for_depth(
    engine: Any, phi: Phi, sigma_b2: float, settle: float, depth: int, apart: float
) -> tuple[Along | None, float]:
    """The critical point nearest in sigma_b that carries the depth, and its 1 - c_depth; None if none does.

    Candidates are found by 1/eps = 1 + a l (or eps^(-1/2) = 1 + s l/2) and judged by the exact map; what the
    estimate is off by is taken into the next one.
    """
    cheap = engine.plain
    best: Along | None = None
    best_eps, wanted = 0.0, apart
    for _ in range(TRIALS):
        found = nearest(critical_curve(cheap, sigma_b2, settle, _by_law(cheap, phi, depth, wanted)))
        if found is None:
            break
        eps = reached(engine, found.sigma_w2, found.q, depth)
        if eps >= apart and (best is None or found.worth <= best.worth):
            best, best_eps = found, eps
        if apart <= eps and (eps <= NEAR * apart or found.worth == 0):
            break
        # A little more than is wanted, so that the trials end on the side that carries.
        wanted = min(wanted * apart * (1 + (NEAR - 1) / 2) / eps, 1.0)
    return best, best_eps


def _by_law(engine: Any, phi: Phi, depth: int, wanted: float) -> Callable[..., Any]:
    def allowed(q: Any, w: Any) -> Any:
        import numpy as np

        if phi.has_corner:
            rates = (edge_rate(engine, phi, float(a), float(b)) for a, b in zip(w, q, strict=True))
            s = np.array([float(r.s) if isinstance(r, CornerRate) else 0.0 for r in rates])
            return (1 + s * depth / 2) ** -2 >= wanted
        return 1 / (1 + w * q * engine.curvature_energy(q) / 2 * depth) >= wanted

    return allowed
