"""What mean field theory, and the paper's 1/kappa^2, say of an activation before any training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import inf, isfinite, sqrt
from typing import Any

import numpy as np

from gateproof.kernels.runs.experiment import Cell
from gateproof.numerics.kappa import ZERO
from gateproof.numerics.meanfield.activation import phi
from gateproof.numerics.meanfield.field import MeanField
from gateproof.numerics.meanfield.initialise_record import NONE, SCALE_INVARIANT
from gateproof.numerics.meanfield.kappa_readings import central, kappa_readings
from gateproof.numerics.meanfield.plain import PlainEngine
from gateproof.numerics.meanfield.plain_functions import plain_functions

#: Inputs count as told apart while 1 - c is at least this.
APART = 0.01
#: Variance at which networks of scale-invariant activations begin: they keep every one.
ANY_Q = 1.0
#: Names of the readings of kappa, as columns; the first three are those of ``numerics.kappa``.
KAPPAS = {
    "gate": "gate threshold",
    "inflection": "inflection",
    "extremum": "extremum",
    "largest": "sup over R",
    "gaussian": "root mean square over N(0, q*)",
    "matched": "inflection, rescaled to q* = 1 and sigma_w = 1",
}


@dataclass(frozen=True)
class Place:
    """A fixed point: sigma_w^2, sigma_b^2, the variance q, E phi^2 and E phi'^2 there."""

    sigma_w2: float
    sigma_b2: float
    q: float
    variance: float
    slope: float

    @property
    def chi(self) -> float:
        """chi_1 = sigma_w^2 E phi'^2."""
        return self.sigma_w2 * self.slope

    def tangent(self, depth: int, *, residual: bool = False) -> float:
        """The neural tangent kernel of one logit at one input, in the wide limit (see ``nets``).

        Readout 1, each layer q E phi'^2/E phi^2 chi^k, k layers below the readout (the recursion of Jacot et
        al. 2018, with weights and biases both learning). Of a residual network with branches 1/sqrt(depth)
        the bound (1 + chi/depth)^depth < e^chi of each layer's factor.
        """
        per = self.q * self.slope / self.variance
        if residual:
            return 1 + per * float(np.exp(self.chi))
        return 1 + per * float(np.sum(self.chi ** np.arange(depth)))


@cache
def begin(formula: str, sigma_b2: float) -> tuple[Place, Mapping[str, Cell]]:
    """Where ``gateproof meanfield FORMULA --initialise`` begins, and all predictions there.

    Raises ValueError where there is nothing to begin with.
    """
    field = MeanField(phi(formula))
    found = field.initialise(sigma_b2=sigma_b2, jax=False)
    if found.kind == NONE or found.sigma_w2 is None or found.sigma_b2 is None or found.scales is None:
        raise ValueError(f"{formula}: {found.reason}")
    q = ANY_Q if found.kind == SCALE_INVARIANT else found.q_star
    assert q is not None
    engine = PlainEngine(field.phi)
    place = _place(engine, found.sigma_w2, found.sigma_b2, q)
    scales = found.scales
    apart = field.largest_depth(
        repr(found.sigma_w2), repr(found.sigma_b2), told_apart_by=APART,
        q=None if found.kind == SCALE_INVARIANT else q,
    )  # fmt: skip
    row: dict[str, Cell] = {
        "kind": found.kind,
        "sigma_w2": place.sigma_w2,
        "sigma_b2": place.sigma_b2,
        "q": q,
        "chi_1": place.chi,
        "xi_q": _positive(scales.xi_q),
        "beta_q": scales.limit if scales.power == 1 else None,
        "told_apart": float(apart),
    }
    return place, row | _kappas(field, engine, place)


@cache
def around(
    formula: str, sigma_b2: float, ratios: tuple[float, ...]
) -> Sequence[tuple[Place, Mapping[str, Cell]]]:
    """The stable fixed points at multiples of the critical sigma_w^2, with their depth scales.

    Raises ValueError where there is none, or no critical point.
    """
    field = MeanField(phi(formula))
    critical = [p for p in field.edge_of_chaos(sigma_b2) if p.stable]
    if not critical or critical[0].sigma_w2 is None:
        raise ValueError(f"{formula}: no critical point that attracts at sigma_b^2 = {sigma_b2:g}")
    engine, at = PlainEngine(field.phi), float(critical[0].sigma_w2)
    made = []
    for ratio in ratios:
        point = critical[0] if ratio == 1 else field.depth_scales(repr(ratio * at), sigma_b2)
        place = _place(engine, ratio * at, sigma_b2, _number(point.q_star))
        row: dict[str, Cell] = {
            "ratio": ratio,
            "sigma_w2": place.sigma_w2,
            "sigma_b2": sigma_b2,
            "q": place.q,
            "chi_1": place.chi,
            "xi_q": _positive(_number(point.xi_q)),
            "xi_c": inf if ratio == 1 else _number(point.xi_c),
            "xi_gradient": inf if ratio == 1 else _number(point.xi_gradient),
        }
        made.append((place, row))
    return made


def _place(engine: PlainEngine, w2: float, b2: float, q: float) -> Place:
    return Place(w2, b2, q, float(engine.variance(q)), float(engine.slope_energy(q)))


def _number(value: Any) -> float:
    return float(value)


def _positive(value: float | None) -> float | None:
    """A depth scale; None where it is negative (it repels) or infinite (all variances are kept)."""
    return None if value is None or not 0 < value < inf else float(value)


def _kappas(field: Any, engine: PlainEngine, place: Place) -> dict[str, Cell]:
    """kappa by each reading; None where the point or the third derivative does not exist."""
    readings = central(kappa_readings(field.phi))
    found: dict[str, Cell] = {}
    for column in ("gate", "inflection", "extremum"):
        reading = readings.get(KAPPAS[column])
        value = None if reading is None else (0.0 if reading.reason == ZERO else reading.kappa)
        found[f"kappa_{column}"] = value
    smooth = not field.phi.infinite_energy(3)
    found["kappa_largest"] = _largest(field) if smooth else None
    mean = float(engine.third_energy(place.q)) if smooth else inf
    found["kappa_gaussian"] = sqrt(mean) if isfinite(mean) else None
    own = found["kappa_inflection"]
    found["kappa_matched"] = own * place.q / sqrt(place.slope) if isinstance(own, float) else None
    return found


def _largest(field: Any) -> float:
    """sup |phi'''| on a grid that is fine about 0 and reaches to 100: in floats, no certificate."""
    grid = np.sinh(np.linspace(-np.arcsinh(1e2), np.arcsinh(1e2), 40_001))
    with np.errstate(all="ignore"):
        values = np.abs(plain_functions(field.phi).functions[3](grid))
    return float(np.max(values[np.isfinite(values)]))
