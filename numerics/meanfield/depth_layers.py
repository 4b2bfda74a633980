"""Variances and correlations layer by layer, to any finite depth, without the asymptotic laws.

    q_(l+1) = sigma_w^2 V(q_l) + sigma_b^2,        eps_(l+1) = sigma_w^2 gap(q_l, eps_l)/q_(l+1)

The second is exact for eps = 1 - c and keeps its digits as c goes to 1. Means are fitted once, octave by
octave, so that a layer costs a polynomial; the fits' errors are estimated with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import cos, frexp, inf, ldexp, pi
from typing import Any

from gateproof.numerics.meanfield.activation import Phi
from gateproof.numerics.meanfield.depth_numbers import middle, working
from gateproof.numerics.meanfield.depth_steps import Steps, clenshaw, coefficients, kind_of
from gateproof.numerics.meanfield.engine import Engine

#: A variance beyond these has gone to 0 or to infinity.
SMALLEST, LARGEST = 1e-120, 1e30
_NODES = 23
#: Layers that are worked out straight by the engine while the variance still moves.
MAX_MOVING = 5_000
_SETTLED = 4e-15
#: How near to 1 the floats of chi_1 are taken for 1.
ON_THE_EDGE = 1e-13


class Variances:
    """q -> sigma_w^2 V(q) + sigma_b^2 in floats; V(q)/q is a Chebyshev series on each octave of q."""

    def __init__(self, engine: Engine[Any], sigma_w2: Any, sigma_b2: Any) -> None:
        self.engine, self.sigma_w2, self.sigma_b2 = engine, sigma_w2, middle(sigma_b2)
        self._w2 = middle(sigma_w2)
        self._series: dict[int, list[float]] = {}
        phi = getattr(engine, "phi", None)
        self._line = self._direct(1.0) if phi is not None and phi.homogeneous else None

    def __call__(self, q: float) -> float:
        """The variance after a layer; 0 and infinity where it has gone out of range."""
        if q <= 0 or q > LARGEST or not q < inf:
            return self.sigma_b2 if q <= 0 else inf
        return self._w2 * self.energy(q) + self.sigma_b2

    def energy(self, q: float) -> float:
        """V(q)."""
        if self._line is not None:
            return self._line * q
        mantissa, exponent = frexp(q)
        if q < SMALLEST:
            mantissa, exponent = 0.5, frexp(SMALLEST)[1]
        series = self._series.get(exponent)
        if series is None:
            points = [0.75 + cos(pi * (k + 0.5) / _NODES) / 4 for k in range(_NODES)]
            series = coefficients([self._direct(ldexp(x, exponent)) for x in points])
            self._series[exponent] = series
        return q * clenshaw(series, 4 * mantissa - 3)

    def _direct(self, q: float) -> float:
        with working(self.engine):
            number = 0 * self.sigma_w2 + q
            return middle(self.engine.variance(number) / number)


def variances(
    engine: Engine[Any], sigma_w2: Any, sigma_b2: Any, q: float, layers: Sequence[int]
) -> list[float]:
    """q_l at ascending layers, from q_0 = q > 0, in floats (relative error about 1e-15 a layer at most)."""
    step = Variances(engine, sigma_w2, sigma_b2)
    found, at = [], 0
    for layer in _checked(layers):
        while at < layer:
            following = step(q)
            at = layer if following == q else at + 1
            q = following
        found.append(q)
    return found


def _checked(layers: Sequence[int]) -> Sequence[int]:
    if any(layer < 0 for layer in layers) or any(b < a for a, b in pairwise(layers)):
        raise ValueError("layers are expected as ascending whole numbers from 0 on")
    return layers


@dataclass(frozen=True)
class Layer:
    """After ``layer`` layers: the variance q and 1 - c, in floats."""

    layer: int
    q: float
    eps: float


def trajectory(
    engine: Engine[Any],
    sigma_w2: Any,
    sigma_b2: Any,
    layers: Sequence[int],
    *,
    eps: float,
    q: float | None = None,
    q_star: Any = None,
) -> list[Layer]:
    """(q_l, 1 - c_l) at ascending layers, from 1 - c_0 = eps in [0, 2] and q_0 = q.

    ``q_star`` is the fixed point that q_l goes to; q defaults to it, and the variance then stays. Where q_0
    is given, the layers until it has settled are worked out one by one by the engine. Raises ValueError for
    numbers out of range, where neither q is given, and where the variance has not settled after MAX_MOVING
    layers.
    """
    if not 0 <= eps <= 2:
        raise ValueError(f"eps = {eps}: 1 - c in [0, 2] is expected")
    if q is None and q_star is None:
        raise ValueError("a variance to begin with is expected: q, q_star or both")
    map_q = Variances(engine, sigma_w2, sigma_b2)
    steps: Steps | None = None
    here = middle(q_star) if q is None else q
    found: list[Layer] = []
    at = 0
    for layer in _checked(layers):
        while at < layer:
            if steps is None and (q is None or (q_star is not None and _settled(here, middle(q_star)))):
                steps = steps_at(engine, sigma_w2, q_star)
                here = middle(q_star)
            if steps is not None:
                eps, at = steps.run(eps, layer - at), layer
            elif at < MAX_MOVING:
                here, eps = _moved(engine, sigma_w2, map_q, here, eps)
                at += 1
            else:
                raise ValueError(f"the variance has not settled after {MAX_MOVING} layers")
        found.append(Layer(layer, here, eps))
    return found


def steps_at(engine: Engine[Any], sigma_w2: Any, q: Any) -> Steps:
    """The correlation map at a fixed point of the variance map, for an engine that has its ``phi``."""
    with working(engine):
        chi_1 = middle(sigma_w2 * engine.slope_energy(q))
    # The edge, but for the rounding of sigma_w2 and q.
    chi_1 = 1.0 if abs(chi_1 - 1) < ON_THE_EDGE else chi_1
    phi: Phi = engine.phi  # type: ignore[attr-defined]
    return Steps(engine, sigma_w2, q, chi_1, kind_of(phi))


def _settled(q: float, fixed: float) -> bool:
    return abs(q - fixed) <= _SETTLED * fixed


def _moved(engine: Engine[Any], sigma_w2: Any, map_q: Variances, q: float, eps: float) -> tuple[float, float]:
    following = map_q(q)
    if not 0 < following < inf:
        raise ValueError("the variance goes to 0 or to infinity: there is no correlation there")
    if eps == 0:
        return following, 0.0
    with working(engine):
        zero = 0 * sigma_w2
        return following, middle(sigma_w2 * engine.gap(zero + q, zero + eps)) / following
