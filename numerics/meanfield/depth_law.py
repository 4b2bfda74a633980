"""The law of an edge of chaos with all its constants, and the largest depth by an explicit criterion."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log, sqrt
from typing import Any

from gateproof.numerics.meanfield.activation import Phi
from gateproof.numerics.meanfield.depth_edge import CornerRate, SmoothRate, edge_rate
from gateproof.numerics.meanfield.depth_layers import steps_at
from gateproof.numerics.meanfield.depth_numbers import middle
from gateproof.numerics.meanfield.depth_steps import Steps
from gateproof.numerics.meanfield.engine import Engine

#: Layers after which the constant of the law is read off.
FAR = 100_000
MAX_LAYERS = 10_000_000


@dataclass(frozen=True)
class EdgeLaw:
    """eps_l^(-1/power) = rate l + root_factor sqrt(l) + log_factor log l + constant + o(1).

    ``power`` is 2 where phi' jumps, else 1; the root stands where phi'' jumps and phi' does not. ``limit`` is
    lim l^power (1 - c_l): beta_q = 1/a, or 4/s^2. ``constant`` belongs to ``start`` = 1 - c_0.
    """

    power: int
    rate: float
    root_factor: float
    log_factor: float
    constant: float
    limit: float
    start: float

    def eps(self, layer: float) -> float:
        """1 - c after a large number of layers, by the law."""
        height = self.rate * layer + self.root_factor * sqrt(layer) + self.log_factor * log(layer)
        return float((height + self.constant) ** -self.power)


def edge_law(
    engine: Engine[Any], phi: Phi, sigma_w2: Any, q: Any, eps: float = 1.0, far: int = FAR
) -> EdgeLaw:
    """The law at a point of the edge of chaos, from 1 - c_0 = eps, in floats.

    The constant is read off after ``far`` layers, right to about 1/far (1/sqrt(far) where the law has a
    root). Raises ValueError as :func:`~.depth_edge.edge_rate`.
    """
    rate = edge_rate(engine, phi, sigma_w2, q)
    return law_of(rate, steps_at(engine, sigma_w2, q), eps, far)


def law_of(rate: SmoothRate | CornerRate, steps: Steps, eps: float, far: int = FAR) -> EdgeLaw:
    """The law from the rate and the map."""
    if not 0 < eps <= 2:
        raise ValueError(f"eps = {eps}: 1 - c in (0, 2] is expected")
    here = steps.run(eps, far)
    _, first, second = steps.leading()
    root_factor = 0.0
    if isinstance(rate, CornerRate):
        s = middle(rate.s)
        power, slope, limit = 2, s / 2, middle(rate.square_rate)
        factor = (first + 0.75 * s * s) / s
    else:
        power, slope, limit = 1, middle(rate.a), middle(rate.beta_q)
        if steps.kind.root:
            # 1/eps grows by a + h_1 eps^(1/2) + (a^2 + h_2) eps + ..
            root_factor = 2 * first / sqrt(slope)
            factor = (slope * slope + second) / slope - (first / slope) ** 2
        else:
            factor = middle(rate.log_factor)
    height = 1 / here if power == 1 else 1 / sqrt(here)
    # The logarithm of the height holds one order more of the law than that of the layer does.
    reached = height / slope if not root_factor else far
    constant = height - slope * far - root_factor * sqrt(far) - factor * log(reached)
    return EdgeLaw(power, slope, root_factor, factor, constant, limit, eps)


def told_apart(steps: Steps, eps: float, eps_star: float, constant: float) -> float:
    """L_max: the last layer after which |c_l - c*| >= ``constant`` still holds, from 1 - c_0 = eps.

    Two inputs of correlation c_0 can be told apart down to the constant until then; it is the criterion's
    parameter. On the edge L_max is about beta_q/constant (2/(s sqrt(constant)) with corners), off it
    xi_c log(|c_0 - c*|/constant). ``inf`` where it is not reached in MAX_LAYERS layers, -1 where it does not
    hold at the start. Raises ValueError for a constant outside of (0, 2).
    """
    if not 0 < constant < 2:
        raise ValueError(f"constant = {constant}: a difference of correlations in (0, 2) is expected")
    if abs(eps - eps_star) < constant:
        return -1
    done, stride = 0, 1
    while done < MAX_LAYERS:
        ahead = steps.run(eps, stride)
        if abs(ahead - eps_star) >= constant and ahead != eps:
            eps, done, stride = ahead, done + stride, 2 * stride
        elif stride > 1:
            stride = 1 if stride == 2 else stride // 4
        else:
            return inf if ahead == eps else done
    return inf
