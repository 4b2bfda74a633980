"""kappa = |f'''(theta)| beside what mean field theory says of the same activation, for each reading of theta.

The threshold-gating paper takes E phi''(u)^2 for about kappa^2 (q + theta^2), u ~ N(0, q), and from that the
largest trainable depth for proportional to 1/kappa^2. On the edge of chaos the depth rate is
beta_q = 2 D/(q K2) with K2 = E phi''^2, D = E phi'^2: what the first step gives for beta_q is put beside it.
Under phi -> a phi(b x) kappa goes to a b^3 kappa, whereas kappa q/sqrt(D) does not change where the network
stays the same (sigma_w/(a b), sigma_b/b, q/b^2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gateproof.numerics.kappa import ZERO, Kappa, kappas
from gateproof.numerics.meanfield.activation import Phi
from gateproof.numerics.meanfield.depth_numbers import is_infinite, middle, working
from gateproof.numerics.meanfield.engine import Engine
from gateproof.theory.formula import to_text


@dataclass(frozen=True)
class KappaReading:
    """One reading: kappa at ``theta``, in floats; None with a ``reason`` where there is none or it is 0."""

    reading: str
    theta: float
    theta_text: str
    kappa: float | None
    reason: str = ""


def kappa_readings(phi: Phi) -> tuple[KappaReading, ...]:
    """All points where kappa may be taken, those nearest to 0 first within each reading."""
    found = [_reading(k) for k in kappas(phi.expr).values]
    order = list(dict.fromkeys(f.reading for f in found))
    return tuple(sorted(found, key=lambda f: (order.index(f.reading), abs(f.theta), -f.theta)))


def central(readings: tuple[KappaReading, ...]) -> dict[str, KappaReading]:
    """For each reading the point nearest to 0 ("the central inflection"; of two the positive one)."""
    chosen: dict[str, KappaReading] = {}
    for found in readings:
        chosen.setdefault(found.reading, found)
    return chosen


def _reading(found: Kappa) -> KappaReading:
    theta = float(sum(found.theta) / 2)
    text = f"{theta:.12g}" if found.exact_theta is None else to_text(found.exact_theta)
    if found.refused is not None or found.lo is None or found.hi is None:
        return KappaReading(found.reading, theta, text, None, found.refused or "")
    if found.hi == 0:
        return KappaReading(found.reading, theta, text, None, ZERO)
    return KappaReading(found.reading, theta, text, float((found.lo + found.hi) / 2))


@dataclass(frozen=True)
class KappaPrediction:
    """What a reading of kappa says beside the truth, at one point of the edge of chaos with variance q.

    ``curvature_ratio`` is kappa^2 (q + theta^2)/K2: 1 where the paper's first step is right. ``beta_q`` is
    the depth rate that this step gives, to hold against the true one. ``inverse_square`` is 1/kappa^2, right
    up to a factor at best, and ``invariant`` kappa q/sqrt(D).
    """

    reading: KappaReading
    curvature_ratio: float
    beta_q: float
    inverse_square: float
    invariant: float


def kappa_predictions(engine: Engine[Any], phi: Phi, q: Any) -> tuple[KappaPrediction, ...]:
    """For every reading with kappa > 0. Empty where phi' jumps: there is no beta_q to predict."""
    with working(engine):
        curvature, slope, variance = engine.curvature_energy(q), engine.slope_energy(q), middle(q)
        if is_infinite(curvature):
            return ()
        k2, d = middle(curvature), middle(slope)
    made = []
    for reading in kappa_readings(phi):
        if reading.kappa is None:
            continue
        square = reading.kappa**2
        claimed = square * (variance + reading.theta**2)
        made.append(
            KappaPrediction(
                reading, claimed / k2, 2 * d / (variance * claimed), 1 / square,
                reading.kappa * variance / d**0.5,
            )
        )  # fmt: skip
    return tuple(made)
