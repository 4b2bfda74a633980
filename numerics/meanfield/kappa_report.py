"""All that is said of 1/kappa^2 as a depth law: for one activation and its copies, and over activations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gateproof.numerics.kappa import EXTREMUM, GATE, INFLECTION
from gateproof.numerics.meanfield.activation import Phi, Target
from gateproof.numerics.meanfield.activation import phi as activation
from gateproof.numerics.meanfield.engine import Engine
from gateproof.numerics.meanfield.given import bias_variance, positive_variance
from gateproof.numerics.meanfield.kappa_law import (
    FIXED_BIAS,
    FIXED_Q,
    MATCHED,
    EdgeCurve,
    EdgePoint,
    Exponent,
    LawPoint,
    exponent,
    over_activations,
    rescaled,
)
from gateproof.numerics.meanfield.kappa_readings import (
    KappaPrediction,
    KappaReading,
    central,
    kappa_predictions,
    kappa_readings,
)
from gateproof.numerics.meanfield.kappa_words import Rescaling, exponent_words, rescaling, summary

CONDITIONS = (FIXED_Q, FIXED_BIAS, MATCHED)
#: Copies b^power phi(b x): the input's scale alone, and with the slope at 0 kept.
POWERS = {0: "phi(b x)", -1: "phi(b x)/b"}


@dataclass(frozen=True)
class FittedLaw:
    """beta_q against kappa over the ``members``; ``fit`` is None where there are too few."""

    family: str
    condition: str
    members: tuple[LawPoint, ...]
    fit: Exponent | None

    def words(self) -> str:
        """One sentence."""
        return exponent_words(self.condition, self.family, self.fit)


@dataclass(frozen=True)
class KappaReport:
    """One activation: every reading, the prediction at its critical point, exponents over its copies.

    The exponents hold for every reading alike, since each kappa becomes a b^3 kappa; those ``over`` several
    activations are one set for each reading. ``point`` is the critical point at the bias asked for, None
    where there is none. ``q`` and ``sigma_b2`` were held fixed, ``a`` and ``b`` are the rescaling spelt out.
    """

    text: str
    readings: tuple[KappaReading, ...]
    point: EdgePoint | None
    predictions: tuple[KappaPrediction, ...]
    laws: tuple[FittedLaw, ...]
    rescalings: tuple[Rescaling, ...]
    q: float
    sigma_b2: float
    a: float
    b: float
    over: tuple[FittedLaw, ...] = ()

    def words(self) -> tuple[str, ...]:
        """What is invariant, what is not, and each exponent, in sentences."""
        said = [_reading_words(r) for r in self.readings]
        if self.point is None:
            said.append("There is no critical point at this bias.")
        said += [self._prediction_words(p) for p in self.predictions]
        said += [law.words() for law in (*self.laws, *self.over)]
        if self.rescalings:
            said += [r.words() for r in self.rescalings]
            said.append(summary(self.rescalings))
        return tuple(said)

    def _prediction_words(self, p: KappaPrediction) -> str:
        return (
            f"{p.reading.reading} {p.reading.theta_text}: kappa^2 (q + theta^2) is {p.curvature_ratio:.4g} "
            f"times E phi''^2, and would give beta_q = {p.beta_q:.4g} for {self.point_beta:.4g}."
        )

    @property
    def point_beta(self) -> float:
        """The true beta_q at the critical point; nan where there is none."""
        return float("nan") if self.point is None else self.point.beta_q


def _reading_words(r: KappaReading) -> str:
    if r.kappa is None:
        return f"{r.reading} {r.theta_text}: {r.reason}."
    return f"{r.reading} {r.theta_text}: kappa = {r.kappa:.6g}, 1/kappa^2 = {r.kappa**-2:.6g}."


def kappa_report(
    make: Callable[[Phi], Engine[Any]],
    target: Target | Phi,
    *,
    q: float = 1.0,
    sigma_b2: float = 0.05,
    a: float = 2.0,
    b: float = 2.0,
    level: float = 0.95,
    beside: Sequence[Target | Phi] = (),
) -> KappaReport:
    """The report on an activation, by the engine that ``make`` gives, in floats.

    ``q`` and ``sigma_b2`` are what is held fixed, a and b the rescaling that is spelt out, ``beside`` other
    activations, over which and this one exponents are fitted too. Raises RefusedActivation where phi' jumps
    (there is no kappa at a kink that matters, and no beta_q) and for lines, RefusedNumber.
    """
    q, sigma_b2 = float(positive_variance(q)), float(bias_variance(sigma_b2))
    phi = target if isinstance(target, Phi) else activation(target)
    curve = EdgeCurve(make(phi), phi)
    readings = kappa_readings(phi)
    over = _over(make, [phi, *beside], q, sigma_b2, level) if beside else ()
    point = curve.chosen(sigma_b2)
    kappa = next((r.kappa for r in readings if r.kappa is not None), None)
    if kappa is None:
        return KappaReport(phi.text, readings, point, (), (), (), q, sigma_b2, a, b, over)
    predictions = () if point is None else kappa_predictions(curve.engine, phi, curve.number(point.q))
    laws = []
    for condition in CONDITIONS:
        for power, family in POWERS.items():
            if condition == MATCHED and power:
                continue  # the same as without
            members = rescaled(curve, kappa, condition, power=power, q=q, sigma_b2=sigma_b2)
            laws.append(FittedLaw(family, condition, tuple(members), exponent(members, level)))
    said = rescaling(curve, kappa, a, b, q=q, sigma_b2=sigma_b2)
    return KappaReport(phi.text, readings, point, predictions, tuple(laws), said, q, sigma_b2, a, b, over)


def _over(
    make: Callable[[Phi], Engine[Any]],
    targets: Sequence[Target | Phi],
    q: float,
    sigma_b2: float,
    level: float,
) -> tuple[FittedLaw, ...]:
    """For each reading of theta, the exponents over several activations under each condition.

    Of each activation the point nearest to 0 counts. Those without kappa at the reading, or without a
    critical point under the condition, are left out.
    """
    curves = []
    for target in targets:
        phi = target if isinstance(target, Phi) else activation(target)
        curves.append((phi.text, EdgeCurve(make(phi), phi), central(kappa_readings(phi))))
    laws = []
    for reading in (INFLECTION, EXTREMUM, GATE):
        chosen = [(t, c, r[reading].kappa) for t, c, r in curves if reading in r]
        usable = [(t, c, k) for t, c, k in chosen if k is not None]
        for condition in CONDITIONS:
            members = over_activations(usable, condition, q=q, sigma_b2=sigma_b2)
            laws.append(FittedLaw(reading, condition, tuple(members), exponent(members, level)))
    return tuple(laws)
