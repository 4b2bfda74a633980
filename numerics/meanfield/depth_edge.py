"""Depth laws on the edge of chaos, where chi_1 = 1: correlations converge like a power of the depth.

Smooth phi: eps = 1 - c obeys eps' = eps - a eps^2 + b eps^3 - .., so that (Hayou et al. 2019)

    1/eps_l = a l + ((a^2 - b)/a) log l + K + o(1),    a = sigma_w^2 q K2/2,    b = sigma_w^2 q^2 K3/6.

Where phi' jumps by J_k at x_k: eps' = eps - s eps^(3/2) - a eps^2 - .., so that

    eps_l^(-1/2) = s l/2 + ((a + 3 s^2/4)/s) log l + K + o(1),
    s = (2/3) sigma_w^2 sqrt(q/pi) sum J_k^2 p_q(x_k),

with p_q the density of N(0, q): l^2 eps_l -> 4/s^2, which is 9 pi^2/2 for relu.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flint import arb, ctx

from gateproof.numerics.ball import evaluate
from gateproof.numerics.meanfield.activation import Phi
from gateproof.numerics.meanfield.depth_numbers import exp, is_infinite, middle, pi_like, sqrt, working
from gateproof.numerics.meanfield.engine import Engine
from gateproof.numerics.meanfield.mp_numbers import to_mpf


@dataclass(frozen=True)
class SmoothRate:
    """eps' = eps - a eps^2 + b eps^3 - ..; ``b`` is infinite where phi'' jumps."""

    a: Any
    b: Any

    @property
    def beta_q(self) -> Any:
        """lim l (1 - c_l) = 1/a = 2 D/(q K2)."""
        return 1 / self.a

    @property
    def log_factor(self) -> Any:
        """The factor of log l in 1/eps_l."""
        return (self.a * self.a - self.b) / self.a

    def bounds(self, eps: float, layers: int) -> tuple[float, float]:
        """1 - c after some layers from 1 - c_0 = eps, proved up to rounding.

        R has derivatives >= 0 of all orders on [0, 1), hence eps - a eps^2 <= eps' <= eps - a eps^2 + b eps^3
        for eps <= 1. Raises ValueError where a eps > 1/2: the lower side would not be increasing there.
        """
        a, b = middle(self.a), middle(self.b)
        if not 0 < eps * a <= 0.5 or eps > 1:
            raise ValueError(f"eps = {eps}: at most 1 and at most 1/(2 a) = {0.5 / a:g} is expected")
        low = high = eps
        for _ in range(layers):
            low = low * (1 - a * low)
            high = min(high, high * (1 - high * (a - b * high)))
        return low, high


@dataclass(frozen=True)
class CornerRate:
    """eps' = eps - s eps^(3/2) - ..: phi' jumps."""

    s: Any

    @property
    def square_rate(self) -> Any:
        """lim l^2 (1 - c_l) = 4/s^2."""
        return 4 / (self.s * self.s)


def edge_rate(engine: Engine[Any], phi: Phi, sigma_w2: Any, q: Any) -> SmoothRate | CornerRate:
    """The law of an activation at a point of its edge of chaos with q > 0.

    Raises ValueError where phi jumps (chi_1 is infinite: it has no edge) and where phi is linear (R(c) = c).
    """
    if phi.has_jump:
        raise ValueError("the activation jumps: chi_1 is infinite, there is no edge of chaos")
    with working(engine):
        if phi.has_corner:
            return CornerRate(_corner_constant(phi, sigma_w2, q))
        curvature = engine.curvature_energy(q)
        if not is_infinite(curvature) and middle(curvature) == 0:
            raise ValueError("the activation is linear: correlations do not move")
        return SmoothRate(sigma_w2 * q * curvature / 2, sigma_w2 * q * q * engine.third_energy(q) / 6)


def _corner_constant(phi: Phi, sigma_w2: Any, q: Any) -> Any:
    """s, from the exact places and jumps."""
    pi = pi_like(q)
    total = 0 * q
    for kink in phi.kinks:
        jump, place = _like(kink.slope_jump, q), _like(kink.at, q)
        total = total + jump * jump * exp(-place * place / (2 * q)) / sqrt(2 * pi * q)
    return sigma_w2 * sqrt(q / pi) * total * 2 / 3


def _like(expr: Any, q: Any) -> Any:
    """A closed expression as a number of the kind of q, at the current precision."""
    if isinstance(q, arb):
        return evaluate(expr, {}, ctx.prec)
    if hasattr(q, "_mpf_"):
        from mpmath import mp

        return +to_mpf(evaluate(expr, {}, mp.prec + 32))
    return float(evaluate(expr, {}, 96).mid())
